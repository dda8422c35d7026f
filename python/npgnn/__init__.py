"""npgnn: link prediction in graphs.

>>> import npgnn
>>> model = npgnn.LinkPredictor("universal")
>>> model = model.fit([("anna", "bert"), ("bert", "carl"), ("carl", "anna"), ("carl", "dora"), ("dora", "emil"), ("emil", "carl")])
>>> model.predict_proba([("anna", "dora")]).shape
(1, 2)
"""

from __future__ import annotations

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
