"""What the tests share. They run against the installed package, never against the files beside them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def program() -> str:
    """The command-line program of the same build, for comparisons."""
    path = os.environ.get("NPGNN_PROGRAM") or shutil.which("npgnn")
    if not path:
        pytest.skip("NPGNN_PROGRAM does not name the program")
    return path


@pytest.fixture
def people() -> tuple[list[tuple[str, str]], dict[str, list[object]]]:
    """Links of 60 people in three towns, and a table with every kind of column."""
    random = np.random.default_rng(5)
    names = [f"p{i}" for i in range(60)]
    links = set()
    while len(links) < 150:
        i, j = random.integers(60, size=2)
        if i != j and (i % 3 == j % 3 or random.random() < 0.1):
            links.add((names[min(i, j)], names[max(i, j)]))
    table: dict[str, list[object]] = {
        "id": list(names),
        "town": [["Rome", "Oslo", "Bern"][i % 3] for i in range(60)],
        "income": [None if i % 10 == 7 else float(1000 * (i % 3) + i) for i in range(60)],
        "member": [i % 2 == 0 for i in range(60)],
        "born": [f"19{50 + i % 40}-03-{1 + i % 28:02d}" for i in range(60)],
        "about": [f"likes {['ski', 'chess', 'tennis'][i % 3]} and reading" for i in range(60)],
    }
    return sorted(links), table
