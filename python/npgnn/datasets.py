"""Public data sets, stored where the program ``npgnn`` stores them."""

from __future__ import annotations

import ctypes
import os
from typing import Optional, Union

from . import _c
from ._errors import ArgumentError, FileError
from .graph import Graph

URL = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data"

# Size and SHA-256 of every file. The tests compare this list with that of the program, cli/public_datasets.c.
FILES: dict[str, dict[str, tuple[int, str]]] = {
    "cora": {
        "ind.cora.x": (22119, "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab"),
        "ind.cora.tx": (148025, "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a"),
        "ind.cora.allx": (257305, "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543"),
        "ind.cora.y": (4054, "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1"),
        "ind.cora.ty": (28135, "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad"),
        "ind.cora.ally": (47959, "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71"),
        "ind.cora.graph": (59847, "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d"),
        "ind.cora.test.index": (5000, "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875"),
    },
    "citeseer": {
        "ind.citeseer.x": (31087, "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6"),
        "ind.citeseer.tx": (260321, "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21"),
        "ind.citeseer.allx": (595021, "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668"),
        "ind.citeseer.y": (3014, "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924"),
        "ind.citeseer.ty": (24135, "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce"),
        "ind.citeseer.ally": (55623, "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95"),
        "ind.citeseer.graph": (61987, "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7"),
        "ind.citeseer.test.index": (5000, "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4"),
    },
    "pubmed": {
        "ind.pubmed.x": (23172, "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33"),
        "ind.pubmed.tx": (405505, "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d"),
        "ind.pubmed.allx": (7578385, "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e"),
        "ind.pubmed.y": (854, "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3"),
        "ind.pubmed.ty": (12135, "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd"),
        "ind.pubmed.ally": (224739, "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e"),
        "ind.pubmed.graph": (471808, "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9"),
        "ind.pubmed.test.index": (6000, "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5"),
    },
}


def _folder() -> str:
    buffer = ctypes.create_string_buffer(4096)
    if not _c.lib.npgnn_data_folder(buffer, len(buffer), 0):
        raise FileError("there is no folder for data sets: set NPGNN_DATA, XDG_CACHE_HOME or HOME")
    return os.fsdecode(buffer.value)


def _is_whole(path: str, size: int, digest: str) -> bool:
    import hashlib

    try:
        with open(path, "rb") as file:
            content = file.read(size + 1)
    except FileNotFoundError:
        return False
    return len(content) == size and hashlib.sha256(content).hexdigest() == digest


def fetch(
    name: str, *, folder: Union[str, os.PathLike[str], None] = None, url: Optional[str] = None, timeout: float = 30.0
) -> Graph:
    """Downloads a public data set, unless it is there, and returns its graph.

    Parameters
    ----------
    name : str
        "cora", "citeseer" or "pubmed": papers, the words they have, and which cites which.
    folder : str, optional
        Where to store it; None: where the program looks for data sets.
    url : str, optional
        A mirror of the files.
    timeout : float
        Seconds without an answer after which to give up.

    Examples
    --------
    >>> import npgnn
    >>> npgnn.datasets.fetch("cora")  # doctest: +SKIP
    Graph(2708 nodes, 5278 links, 1433 features)
    """
    import urllib.error  # here, since it takes longer to import than all of npgnn
    import urllib.request

    if not isinstance(name, str) or name not in FILES:
        raise ArgumentError(f"name must be one of {', '.join(FILES)}, got {name!r}")
    place = os.path.join(os.fspath(folder) if folder is not None else _folder(), "planetoid")
    os.makedirs(place, exist_ok=True)
    for file, (size, digest) in FILES[name].items():
        path = os.path.join(place, file)
        if _is_whole(path, size, digest):
            continue
        address = f"{(url or URL).rstrip('/')}/{file}"
        part = f"{path}.{os.getpid()}.part"
        try:
            with urllib.request.urlopen(address, timeout=timeout) as answer, open(part, "wb") as out:
                out.write(answer.read(size + 1))
            if not _is_whole(part, size, digest):
                raise FileError(
                    f"{address} is not the file that it should be ({size} bytes, SHA-256 {digest[:16]}...): try again, or give the "
                    "url of a mirror"
                )
            os.replace(part, path)
        except (urllib.error.URLError, TimeoutError) as error:
            raise FileError(f"cannot download {address}: {error}") from error
        finally:
            if os.path.exists(part):
                os.remove(part)
    return Graph(os.path.join(place, "ind." + name))
