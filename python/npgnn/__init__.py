"""npgnn: link prediction in graphs.

>>> import npgnn
>>> model = npgnn.LinkPredictor("universal")
>>> model = model.fit([("anna", "bert"), ("bert", "carl"), ("carl", "anna"), ("carl", "dora"), ("dora", "emil"), ("emil", "carl")])
>>> model.predict_proba([("anna", "dora")]).shape
(1, 2)
"""

from __future__ import annotations

import importlib
from typing import Any

from . import _c, datasets
from ._errors import (
    ArgumentError,
    DivergedError,
    Error,
    FileError,
    FormatError,
    MismatchError,
    NotFittedError,
    OutOfMemoryError,
)
from .comparison import Comparison, compare
from .evaluation import LinkSplit, Split, evaluate, methods, split
from .graph import Graph
from .model import LinkPredictor, load, option_names, presets


def __getattr__(name: str) -> Any:
    """npgnn.torch, which needs PyTorch, is imported when it is first used."""
    if name == "torch":
        return importlib.import_module(".torch", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__version__ = _c.text(_c.lib.npgnn_version())

__all__ = [
    "ArgumentError",
    "Comparison",
    "DivergedError",
    "Error",
    "FileError",
    "FormatError",
    "Graph",
    "LinkPredictor",
    "LinkSplit",
    "MismatchError",
    "NotFittedError",
    "OutOfMemoryError",
    "Split",
    "compare",
    "datasets",
    "evaluate",
    "load",
    "methods",
    "option_names",
    "presets",
    "split",
]
