"""What must agree with the sources: the structs with the header, the list of data sets with the program's, the
documentation."""

from __future__ import annotations

import ctypes
import importlib.util
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

import npgnn
from npgnn import _c

STRUCTS = {
    "error": _c.CError,
    "progress": _c.Progress,
    "pair": _c.Pair,
    "column": _c.Column,
    "graph_data": _c.GraphData,
    "load_options": _c.LoadOptions,
    "graph_info": _c.GraphInfo,
    "table_column": _c.TableColumn,
    "option_info": _c.OptionInfo,
    "prediction": _c.Prediction,
    "link": _c.Link,
    "predict_options": _c.PredictOptions,
    "search_info": _c.SearchInfo,
    "top_options": _c.TopOptions,
    "split_options": _c.SplitOptions,
    "bin": _c.Bin,
    "calibration": _c.Calibration,
    "eval_run": _c.EvalRun,
    "eval_options": _c.EvalOptions,
    "paired": _c.Paired,
    "contribution": _c.Contribution,
    "explanation": _c.Explanation,
    "test_options": _c.TestOptions,
    "model_info": _c.ModelInfo,
}


def test_structs(tmp_path):
    """Every member has the offset that the C compiler gives it."""
    header, compiler = ROOT / "include", shutil.which("cc")
    if not header.exists() or not compiler:
        pytest.skip("needs the sources and a compiler")
    lines = []
    for name, struct in STRUCTS.items():
        for member, *_ in struct._fields_:
            lines.append(f'printf("%zu\\n", offsetof(npgnn_{name}, {member.rstrip("_")}));')
        lines.append(f'printf("%zu\\n", sizeof(npgnn_{name}));')
    lines.append('printf("%zu\\n", sizeof(npgnn_options));')
    for member in ("progress", "stop", "allocator"):
        lines.append(f'printf("%zu\\n", offsetof(npgnn_env, {member}));')
    (tmp_path / "s.c").write_text(
        "#include <npgnn/npgnn.h>\n#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\nreturn 0; }\n"
    )
    subprocess.run([compiler, "-I", header, tmp_path / "s.c", "-o", tmp_path / "s"], check=True)
    out = iter(subprocess.run([tmp_path / "s"], capture_output=True, text=True, check=True).stdout.split())
    for name, struct in STRUCTS.items():
        for member, *_ in struct._fields_:
            assert int(next(out)) == getattr(struct, member).offset, f"{name}.{member}"
        # a struct with a size may grow; others are complete
        size = int(next(out))
        assert size == ctypes.sizeof(struct) or issubclass(struct, _c.Sized) and size > ctypes.sizeof(struct), name
    assert int(next(out)) <= ctypes.sizeof(_c.Options)
    assert [int(word) for word in out] == [_c.Env.progress.offset, _c.Env.stop.offset, _c.Env.resize.offset]


def test_searches():
    """The kinds of searches have the numbers that the header gives them."""
    header = ROOT / "include" / "npgnn" / "npgnn.h"
    if not header.exists():
        pytest.skip("needs the sources")
    (names,) = re.findall(r"typedef enum \{([^}]*)\} npgnn_search;", header.read_text(encoding="utf-8"))
    assert [name.strip() for name in names.split(",")] == [f"NPGNN_SEARCH_{name.upper()}" for name in _c.SEARCHES]


def test_installed_files():
    """python/meson.build installs every file of the package."""
    build = ROOT / "python" / "meson.build"
    if not build.exists():
        pytest.skip("needs the sources")
    files = {f"npgnn/{path.name}" for path in (ROOT / "python" / "npgnn").iterdir() if path.suffix in (".py", ".typed")}
    assert files == set(re.findall(r"'(npgnn/[^']+)'", build.read_text()))


def test_data_sets():
    source = ROOT / "cli" / "public_datasets.c"
    if not source.exists():
        pytest.skip("needs the sources")
    listed = dict(re.findall(r'\{"(ind\.[^"]+)", (\d+, "[0-9a-f]+)"', source.read_text()))
    ours = {
        file: f'{size}, "{digest}' for files in npgnn.datasets.FILES.values() for file, (size, digest) in files.items()
    }
    assert ours == listed


def test_fetch(tmp_path):
    data = ROOT.parent / "shared" / "data" / "planetoid"
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / "ind.cora.x").write_bytes(b"something else")
    with pytest.raises(npgnn.FileError, match="ind.cora.x is not the file that it should be"):
        npgnn.datasets.fetch("cora", folder=tmp_path / "out", url=(tmp_path / "wrong").as_uri())
    assert not list((tmp_path / "out").rglob("ind*"))
    with pytest.raises(npgnn.FileError, match="cannot download"):
        npgnn.datasets.fetch("cora", folder=tmp_path / "out", url=(tmp_path / "none").as_uri())
    if not data.exists():
        pytest.skip("the real files are not here")
    graph = npgnn.datasets.fetch("cora", folder=tmp_path / "out", url=data.resolve().as_uri())
    assert (graph.n_nodes, graph.n_links, graph.n_features) == (2708, 5278, 1433)


def test_reference_is_fresh():
    """docs/use/python.md is what the docstrings say."""
    tool, page = ROOT / "tools" / "python_reference.py", ROOT / "docs" / "use" / "python.md"
    if not tool.exists():
        pytest.skip("needs the sources")
    made = subprocess.run([sys.executable, tool], capture_output=True, text=True, check=True).stdout
    assert (
        page.read_text(encoding="utf-8") == made
    ), "run: python tools/python_reference.py > docs/use/python.md, with the package installed"


@pytest.mark.parametrize("name", ["csv_to_suggestions", "networkx_without_features", "cora_from_pyg"])
def test_examples(name, tmp_path):
    """Every example runs, and has at most 15 lines of code."""
    path = ROOT / "examples" / "python" / f"{name}.py"
    if not path.exists():
        pytest.skip("needs the sources")
    code = [line for line in path.read_text(encoding="utf-8").splitlines()[1:] if line.strip()]
    assert len(code) <= 15
    for module in set(re.findall(r"^(?:import|from) (\w+)", "\n".join(code), re.M)) - {"npgnn"}:
        pytest.importorskip(module)
    for table in ("friendships.csv", "members.csv"):
        shutil.copy(ROOT / "examples" / table, tmp_path)
    if name == "cora_from_pyg":
        data = ROOT.parent / "shared" / "data" / "planetoid"
        if not data.exists():
            pytest.skip("the real files are not here")
        (tmp_path / "cora" / "Cora").mkdir(parents=True)
        shutil.copytree(data, tmp_path / "cora" / "Cora" / "raw")
    done = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    # without pandas, the results are structured arrays, which are printed as tuples
    assert ("probability" if importlib.util.find_spec("pandas") else "[(") in done.stdout
