#!/usr/bin/env python3
"""Makes a self-contained wheel: tools/wheel.py [--openblas FILE] [--arpack FILE] [--out FOLDER]

  1. meson-python builds the package (pyproject.toml), which loads BLAS and ARPACK under names of our own.
  2. OpenBLAS (its pthread build: no OpenMP run time comes along) and ARPACK are put beside the library under these
  names, and so are
     the libraries that all of these need. No other BLAS of the process is taken for ours, and ours for no other.
  3. The tag of the wheel says which glibc it needs, by the symbols that its libraries use, and that it is for every
  Python 3: nothing
     in it depends on the version.

What auditwheel does, from Debian's packages alone: python3-mesonpy, patchelf, binutils. Libraries that every Linux
with Python has (LEFT_OUT) stay outside, as manylinux wants it.
"""

from __future__ import annotations

import argparse
import base64
import glob
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build-wheel")
OPENBLAS, ARPACK = "libnpgnn-openblas.so.0", "libnpgnn-arpack.so.2"
PROGRAM = "npgnn"
LEFT_OUT = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|gcc_s|z|expat))\.so\.\d+")
LIMIT = 30 << 20


def run(*command: str) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"wheel: {' '.join(command)} failed:\n{done.stdout}")
    return done.stdout


def find(pattern: str, what: str, package: str) -> str:
    found = sorted(glob.glob(pattern))
    return found[0] if found else sys.exit(f"wheel: {what} is missing: install {package}")


def build(folder: str) -> None:
    """Builds the package, and unpacks it into a folder."""
    try:
        import mesonpy
    except ImportError:
        sys.exit("wheel: meson-python is missing: install python3-mesonpy")
    os.chdir(ROOT)
    plain = os.path.join(BUILD, "plain")
    os.makedirs(plain)
    name = mesonpy.build_wheel(plain, {"setup-args": [f"-Dblas={OPENBLAS}", f"-Darpack={ARPACK}"]})
    with zipfile.ZipFile(os.path.join(plain, name)) as wheel:
        wheel.extractall(folder)


def needed(path: str) -> list[str]:
    return run("patchelf", "--print-needed", path).split()


def own_name(library: str) -> str:
    return "libnpgnn-" + library.removeprefix("lib")


def add_libraries(package: str, openblas: str, arpack: str) -> list[str]:
    """Puts the libraries into the package. Returns the files that they come from."""
    known: dict[str, str] = {}
    for line in run(shutil.which("ldconfig") or "/sbin/ldconfig", "-p").splitlines():
        match = re.match(r"\s*(\S+) \(.*\) => (\S+)", line)
        if match:
            known.setdefault(match[1], match[2])
    sources = {OPENBLAS: openblas, ARPACK: arpack}
    waiting = ["libnpgnn.so", PROGRAM, OPENBLAS, ARPACK]
    os.chmod(os.path.join(package, PROGRAM), 0o755)  # zipfile unpacks no permissions
    for name in waiting:  # grows while it is read
        path = os.path.join(package, name)
        if name in sources:
            shutil.copyfile(os.path.realpath(sources[name]), path)
            os.chmod(path, 0o755)
            run("patchelf", "--set-soname", name, path)
        for library in needed(path):
            if LEFT_OUT.fullmatch(library) or library in waiting:
                continue
            if re.match(r"lib(blas|lapack|openblas)\.so", library):
                ours = OPENBLAS
            elif library not in known:
                sys.exit(f"wheel: {library}, which {name} needs, is not installed")
            else:
                ours = own_name(library)
                sources.setdefault(ours, known[library])
            if "gomp" in library:
                sys.exit(
                    f"wheel: {sources[name]} needs OpenMP, which would be a second run time beside that of others: give a pthread build"
                )
            run("patchelf", "--replace-needed", library, ours, path)
            if ours not in waiting:
                waiting.append(ours)
        run("patchelf", "--set-rpath", "$ORIGIN", path)
    return list(sources.values())


def add_licences(folder: str, files: list[str]) -> None:
    """The licences of the libraries inside, as Debian's packages have them."""
    os.makedirs(folder)
    shutil.copyfile(os.path.join(ROOT, "LICENSE"), os.path.join(folder, "npgnn.txt"))
    for file in files:
        real = os.path.realpath(file)
        owner = next(
            (
                found
                for path in (real, real.removeprefix("/usr"))
                for found in [
                    subprocess.run(
                        ["dpkg", "-S", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
                    ).stdout
                ]
                if found
            ),
            "",
        )
        text = f"/usr/share/doc/{owner.partition(':')[0]}/copyright"
        if os.path.exists(text):
            shutil.copyfile(text, os.path.join(folder, owner.partition(":")[0] + ".txt"))
        else:
            print(f"wheel: no licence of {file} was found: do not give the wheel to others without it", file=sys.stderr)


def glibc(package: str) -> str:
    """The newest glibc whose symbols the libraries use."""
    versions = {(2, 17)}
    for path in [os.path.join(package, PROGRAM), *glob.glob(os.path.join(package, "*.so*"))]:
        versions |= {(int(a), int(b)) for a, b in re.findall(r"GLIBC_(\d+)\.(\d+)", run("objdump", "-T", path))}
    return "{}_{}".format(*max(versions))


def pack(folder: str, out: str, tag: str) -> str:
    """Writes the wheel, with the tag and the sums of its files."""
    (information,) = glob.glob(os.path.join(folder, "*.dist-info"))
    path = os.path.join(information, "WHEEL")
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file.read().splitlines() if line and not line.startswith("Tag:")]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*lines, f"Tag: {tag}"]) + "\n")
    name = os.path.join(out, f"{os.path.basename(information).removesuffix('.dist-info')}-{tag}.whl")
    record = os.path.relpath(os.path.join(information, "RECORD"), folder)
    rows = []
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        files = sorted(
            os.path.relpath(os.path.join(place, file), folder) for place, _, names in os.walk(folder) for file in names
        )
        for file in files:
            if file == record:
                continue
            with open(os.path.join(folder, file), "rb") as content:
                data = content.read()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{file},sha256={digest},{len(data)}")
            wheel.write(os.path.join(folder, file), file)
        wheel.writestr(record, "\n".join([*rows, f"{record},,"]) + "\n")
    return name


def main() -> None:
    arguments = argparse.ArgumentParser(description="Makes a self-contained wheel.")
    arguments.add_argument("--openblas", help="the pthread build of OpenBLAS (default: Debian's)")
    arguments.add_argument("--arpack", help="ARPACK (default: Debian's)")
    arguments.add_argument("--out", default=os.path.join(ROOT, "dist"), help="where the wheel goes")
    given = arguments.parse_args()
    openblas = given.openblas or find(
        "/usr/lib/*/openblas-pthread/libopenblas.so.0", "OpenBLAS's pthread build", "libopenblas0-pthread"
    )
    arpack = given.arpack or find("/usr/lib/*/libarpack.so.2", "ARPACK", "libarpack2")
    folder = os.path.join(BUILD, "unpacked")
    for place in ("plain", "unpacked"):
        shutil.rmtree(os.path.join(BUILD, place), ignore_errors=True)
    build(folder)
    package = os.path.join(folder, "npgnn")
    files = add_libraries(package, openblas, arpack)
    add_licences(os.path.join(package, "licences"), files)
    os.makedirs(given.out, exist_ok=True)
    for old in glob.glob(os.path.join(given.out, "npgnn-*.whl")):
        os.remove(old)
    wheel = pack(folder, given.out, f"py3-none-manylinux_{glibc(package)}_{platform.machine()}")
    size = os.path.getsize(wheel)
    if size > LIMIT:
        sys.exit(f"wheel: {wheel} has {size / 2**20:.1f} MB, more than {LIMIT >> 20} MB")
    print(f"wheel: {os.path.relpath(wheel, ROOT)}, {size / 2**20:.1f} MB")


if __name__ == "__main__":
    main()
