"""Checks of arguments. What they raise names the argument."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._errors import ArgumentError


def warn(message: str) -> None:
    """Warns of an assumption. The place that is shown is the caller's, outside this package."""
    package, depth, frame = os.path.dirname(os.path.abspath(__file__)), 1, sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(os.path.abspath(frame.f_code.co_filename)) == package:
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=depth + 1)


def check_count(value: Any, name: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value < 1 << 31:
        raise ArgumentError(f"{name} must be an integer from {least} on, got {value!r}")
    return int(value)


def check_seed(value: Any, name: str) -> int:
    """A seed, from an integer or a generator of numpy. None is 1, as for the program."""
    if value is None:
        return 1
    if isinstance(value, np.random.Generator):
        return int(value.integers(1 << 32))
    if isinstance(value, np.random.RandomState):
        return int(value.randint(1 << 31))
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < 1 << 64:
        raise ArgumentError(
            f"{name} must be None, an integer from 0 on, below 2^64, or a random generator of numpy, got {value!r}"
        )
    return int(value)


def check_flags(**flags: Any) -> None:
    for name, value in flags.items():
        if not isinstance(value, (bool, np.bool_)):
            raise ArgumentError(f"{name} must be True or False, got {value!r}")


def check_mapping(value: Any, name: str, what: str) -> None:
    if value is not None and not isinstance(value, Mapping):
        raise ArgumentError(f"{name} must be {what}, got {value!r}")


def check_path(value: Any, name: str) -> bytes:
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise ArgumentError(f"{name} must be the path of a file, got {value!r}")
    path = os.fsencode(value)
    if b"\0" in path:
        raise ArgumentError(f"{name} has a zero byte: {value!r}")
    return path
