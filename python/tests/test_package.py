"""What is in the wheel: the libraries that it carries, the command, and the metadata."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

import npgnn
import pytest

PACKAGE = Path(npgnn.__file__).parent
COMMAND = Path(sys.executable).parent / "npgnn"
SELF_CONTAINED = (PACKAGE / "libnpgnn-openblas.so.0").exists()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, without anything in its environment that could find a library."""
    return subprocess.run([COMMAND, *arguments], env={}, cwd="/", capture_output=True, text=True, timeout=300)


def test_command() -> None:
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"npgnn {npgnn.__version__}\n"), done.stderr
    done = run("predict", "universal", "debian-python", "--top-links", "2", "--threads", "1")
    assert done.returncode == 0 and done.stdout.count("\n") == 2, done.stderr


def test_command_and_program_agree(program: str) -> None:
    arguments = ["eval", "debian-python", "--method", "katz", "--seeds", "2", "--json", "-q"]
    wanted = subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout
    cost = re.compile(r'"[a-z_]*(seconds|bytes)": [0-9.e-]+')
    assert cost.sub("", run(*arguments).stdout) == cost.sub("", wanted)


@pytest.mark.parametrize("arguments", [("fetch", "cora"), ("serve", "universal", "debian-python")])
def test_commands_that_a_wheel_has_not(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == 1 and f"which {arguments[0]} needs" in done.stderr and "./run build" in done.stderr


@pytest.mark.skipif(not SELF_CONTAINED, reason="the package uses the libraries of the system")
def test_libraries() -> None:
    """Nothing but what computes, and all of it with a name of our own."""
    carried = {re.sub(r"\.so.*", "", path.name) for path in PACKAGE.glob("*.so*")}
    ours = {"libnpgnn-" + name for name in ("openblas", "arpack", "gfortran", "quadmath", "jansson")}
    assert carried <= ours | {"libnpgnn"}
    loaded = subprocess.run(["ldd", PACKAGE / "npgnn"], capture_output=True, text=True, check=True).stdout
    assert not re.search(r"not found|crypto|ssl|curl|microhttpd|zip|bz2", loaded), loaded


def test_metadata() -> None:
    about = importlib.metadata.metadata("npgnn")
    text = about.get_payload() or about["Description"]
    assert len(text) > 1000 and about["Description-Content-Type"].startswith("text/markdown")
    for target in re.findall(r"\]\(([^)]*)\)", text):
        assert target.startswith("https://"), f"a link that leads nowhere on a package index: {target}"
    for field in ("Summary", "Keywords", "Requires-Python", "Author"):
        assert about[field], field


def test_example_of_the_description() -> None:
    text = importlib.metadata.metadata("npgnn").get_payload()
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    pytest.importorskip("pandas")
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd="/", timeout=300)
