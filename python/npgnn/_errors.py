"""Exceptions. Each has the sentence of the C library, which names the file and line or the argument at fault."""

from __future__ import annotations

import sys
from typing import Any


class Error(Exception):
    """Base class of all errors of npgnn.

    Attributes
    ----------
    file : str
        The file at fault, "" if there is none.
    line : int
        The line in that file, or the row of a table; 0 if lines do not apply.
    """

    file: str = ""
    line: int = 0


class ArgumentError(Error, ValueError):
    """An argument or option is out of range."""


class FormatError(Error, ValueError):
    """A file or a table is malformed."""


class MismatchError(Error, ValueError):
    """Two inputs do not belong together, such as a model and a graph with other features."""


class FileError(Error, OSError):
    """A file cannot be opened, read or written."""


class OutOfMemoryError(Error, MemoryError):
    """Out of memory."""


class DivergedError(Error, ArithmeticError):
    """Training or a prediction met a number that is not finite."""


class NotFittedError(Error, ValueError, AttributeError):
    """A predictor was used before ``fit``, or before it had a graph."""


BY_CODE: dict[int, type[Error]] = {
    -1: OutOfMemoryError,
    -2: FileError,
    -3: FormatError,
    -4: ArgumentError,
    -5: MismatchError,
    -6: DivergedError,
}


def not_fitted(text: str) -> Exception:
    """A NotFittedError which is also scikit-learn's, where the program uses scikit-learn."""
    module: Any = sys.modules.get("sklearn.exceptions")
    if module is None:
        return NotFittedError(text)
    both: type[Exception] = type("NotFittedError", (NotFittedError, module.NotFittedError), {})
    return both(text)
