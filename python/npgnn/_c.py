"""The C library: its structs, its functions, and how they are called.

A long call runs in a thread of its own while the main thread waits, so that Ctrl-C arrives at once: the handler of the
signal sets the stop flag of the call, and KeyboardInterrupt is raised after the call has returned. ctypes frees the GIL
during every call.

Python may raise KeyboardInterrupt between any two instructions of the main thread, also in an ``except`` or a ``finally``.
Two rules make that harmless. While the main thread waits, the handler of SIGINT records what it would raise, so that no
number of interrupts ends the wait. And whatever C uses is an argument of ``Job.run`` or is referred to by one: the thread
holds the arguments until C has returned, so that nothing is freed early even if the handler of another signal raises.
"""

from __future__ import annotations

import _thread
import ctypes
import itertools
import logging
import os
import re
import signal
import sys
import threading
from ctypes import POINTER, Structure, c_char, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_size_t, c_uint32
from ctypes import c_uint64, c_void_p
from typing import Any, Callable, Optional

from . import _errors

log = logging.getLogger("npgnn")


class Sized(Structure):
    """A struct whose first member is its size. ``keep`` has what its pointers refer to."""

    def __init__(self, **members: Any) -> None:
        super().__init__(size=ctypes.sizeof(type(self)), **members)
        self.keep: list[Any] = []


class CError(Structure):
    _fields_ = [("code", c_int), ("line", c_int64), ("file", c_char * 256), ("text", c_char * 768)]


class Progress(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("run", c_int),
        ("runs", c_int),
        ("rehearsal", c_int),
        ("iteration", c_int),
        ("iterations", c_int),
        ("validated", c_int),
        ("best_iteration", c_int),
        ("loss", c_double),
        ("kl", c_double),
        ("val_auc", c_double),
        ("val_ap", c_double),
        ("seconds", c_double),
    ]


PROGRESS = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Progress))
LOG = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)


class Env(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("threads", c_int),
        ("progress", PROGRESS),
        ("log", LOG),
        ("user", c_void_p),
        ("stop", POINTER(c_int)),
        ("resize", c_void_p),
        ("allocator_user", c_void_p),
    ]


class Pair(Structure):
    _fields_ = [("u", c_int32), ("v", c_int32)]


class Column(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("kind", c_char_p),
        ("numbers", POINTER(c_double)),
        ("texts", POINTER(c_char_p)),
        ("side", c_int),
    ]


class GraphData(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("nodes", c_int32),
        ("sources", c_int32),
        ("names", POINTER(c_char_p)),
        ("labels", c_void_p),
        ("edges", c_void_p),
        ("edge_count", c_int64),
        ("weights", c_void_p),
        ("times", c_void_p),
        ("features", c_void_p),
        ("ptr", c_void_p),
        ("col", c_void_p),
        ("val", c_void_p),
        ("columns", c_int32),
        ("column_names", POINTER(c_char_p)),
        ("table", POINTER(Column)),
        ("table_columns", c_int32),
        ("table_rows", c_int32 * 2),
        ("encoding", c_char_p),
        ("skip_bad_cells", c_int),
        ("normalize", c_int),
        ("binarize", c_int),
        ("table_nodes", c_void_p * 2),
    ]


class LoadOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("edges", c_char_p),
        ("features", c_char_p),
        ("data_dir", c_char_p),
        ("normalize", c_int),
        ("binarize", c_int),
        ("weighted", c_int),
        ("source", c_char_p),
        ("target", c_char_p),
        ("weight", c_char_p),
        ("time", c_char_p),
        ("id", c_char_p),
        ("header", c_int),
        ("skip_bad_rows", c_int),
        ("kinds", POINTER(c_char_p)),
        ("ignored", POINTER(c_char_p)),
        ("kind_count", c_int32),
        ("ignored_count", c_int32),
        ("encoding", c_char_p),
        ("bipartite", c_int),
        ("target_features", c_char_p),
    ]


class GraphInfo(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("nodes", c_int32),
        ("edges", c_int64),
        ("columns", c_int32),
        ("nonzeros", c_int64),
        ("features_dense", c_int),
        ("isolated", c_int32),
        ("featureless", c_int32),
        ("max_degree", c_int32),
        ("classes", c_int32),
        ("weighted", c_int),
        ("input_edges", c_int64),
        ("merged_duplicates", c_int64),
        ("merged_reverse", c_int64),
        ("dropped_self_loops", c_int64),
        ("fingerprint", c_uint64),
        ("sources", c_int32),
        ("dated", c_int),
    ]


class TableColumn(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("kind", c_char_p),
        ("rows", c_int64),
        ("missing", c_int64),
        ("first", c_int32),
        ("columns", c_int32),
        ("side", c_int),
        ("summary", c_char * 160),
        ("outcome", c_char * 128),
    ]


class OptionInfo(Structure):
    _fields_ = [("key", c_char_p), ("values", c_char_p), ("help", c_char_p)]


class Options(Sized):
    """Options are set and read by their keys. The struct may be smaller than this: the library reads what it knows."""

    _fields_ = [("size", c_size_t), ("members", c_uint64 * 127)]


class Prediction(Structure):
    _fields_ = [
        ("probability", c_float),
        ("spread", c_float),
        ("low", c_float),
        ("high", c_float),
        ("score", c_float),
    ]


class Link(Structure):
    _fields_ = [("pair", Pair), ("prediction", Prediction), ("known", c_int)]


class Contribution(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("text", c_char_p),
        ("reason", c_int),
        ("value", c_double),
        ("average", c_double),
        ("log_odds", c_double),
    ]


class Explanation(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("log_odds", c_double),
        ("baseline", c_double),
        ("reasons", c_double * 16),
        ("walks", c_double),
        ("walk_lift", c_double),
        ("columns", POINTER(Contribution)),
        ("neighbors", POINTER(c_int32)),
        ("features", POINTER(c_int32)),
        ("text", c_char_p),
        ("reason_count", c_int32),
        ("column_count", c_int32),
        ("neighbor_count", c_int32),
        ("feature_count", c_int32),
    ]


class PredictOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("samples", c_int),
        ("seed", c_uint64),
        ("link_rate", c_double),
        ("memory", c_size_t),
    ]


class SearchInfo(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("candidates", c_int32),
        ("checked", c_int32),
        ("best", c_int32),
        ("recall", c_double),
        ("low", c_double),
        ("high", c_double),
    ]


class TopOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("from_", c_void_p),
        ("to", c_void_p),
        ("from_count", c_int32),
        ("to_count", c_int32),
        ("known", c_int),
        ("min_probability", c_double),
        ("rank", c_int),
        ("search", c_int),
        ("candidates", c_int32),
        ("unchecked", c_int),
        ("info", POINTER(SearchInfo)),
    ]


class SplitOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("protocol", c_int),
        ("test", c_double),
        ("val", c_double),
        ("train_nodes", c_double),
        ("seed", c_uint64),
        ("negative_ratio", c_double),
        ("known_links", c_double),
    ]


class Bin(Structure):
    _fields_ = [("pairs", c_double), ("predicted", c_double), ("observed", c_double)]


class Calibration(Structure):
    _fields_ = [
        ("link_rate", c_double),
        ("ece", c_double),
        ("balanced_ece", c_double),
        ("link_ece", c_double),
        ("log_loss", c_double),
        ("brier", c_double),
        ("skill", c_double),
        ("bins", Bin * 10),
        ("top", Bin * 3),
    ]


class EvalRun(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("seed", c_uint64),
        ("split_hash", c_uint64),
        ("iterations", c_int),
        ("best_iteration", c_int),
        ("auc", c_double),
        ("ap", c_double),
        ("mrr", c_double),
        ("hits1", c_double),
        ("hits10", c_double),
        ("hits100", c_double),
        ("hard_mrr", c_double),
        ("hard_hits1", c_double),
        ("hard_hits10", c_double),
        ("hard_hits100", c_double),
        ("val_auc", c_double),
        ("val_ap", c_double),
        ("auc_interval", c_double * 2),
        ("ap_interval", c_double * 2),
        ("calibration", Calibration),
        ("train_seconds", c_double),
        ("degree_auc", c_double),
        ("full_mrr", c_double),
        ("full_hits10", c_double),
        ("full_mrr_se", c_double),
        ("full_hits10_se", c_double),
        ("full_ends", c_double),
        ("emptied_links", c_double),
        ("emptied_non_links", c_double),
        ("emptied_auc", c_double),
        ("test_links", c_double),
        ("untuned_auc", c_double),
        ("untuned_ap", c_double),
    ]


class EvalOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("method", c_char_p),
        ("model", POINTER(Options)),
        ("split", POINTER(SplitOptions)),
        ("fixed", c_void_p),
        ("first_seed", c_uint64),
        ("scores", c_void_p),
        ("scores_user", c_void_p),
        ("negatives", c_int),
        ("bootstrap", c_int),
    ]


class Paired(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("better", c_int),
        ("worse", c_int),
        ("mean", c_double),
        ("low", c_double),
        ("high", c_double),
        ("p", c_double),
    ]


class TestOptions(Sized):
    __test__ = False  # not a test of pytest
    _fields_ = [
        ("size", c_size_t),
        ("negatives", c_int),
        ("negative_ratio", c_double),
        ("keep_known", c_int),
        ("samples", c_int),
        ("seed", c_uint64),
        ("link_rate", c_double),
        ("bootstrap", c_int),
    ]


class ModelInfo(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("columns", c_int32),
        ("parameters", c_int64),
        ("iterations", c_int),
        ("fingerprint", c_uint64),
        ("context_fingerprint", c_uint64),
        ("train_nodes", c_int32),
        ("train_edges", c_int64),
        ("normalize", c_int),
        ("binarize", c_int),
        ("weighted", c_int),
        ("val_auc", c_double),
        ("val_ap", c_double),
        ("calibrated", c_int),
        ("link_rate", c_double),
        ("version", c_char * 16),
        ("across_graphs", c_int),
        ("tuned", c_int),
        ("hidden_links_auc", c_double * 2),
        ("hidden_nodes_auc", c_double * 2),
    ]


# name: what it returns, then its arguments. p is any pointer. Functions that end with "e" take an error, and are
# called by `check`.
_FUNCTIONS: dict[str, tuple[Any, str]] = {
    "version": (c_char_p, ""),
    "cores": (c_int, ""),
    "preset_info": (c_int, "ppi"),
    "options_preset": (c_int, "pse"),
    "options_set": (c_int, "psse"),
    "options_get": (c_int, "pzpse"),
    "options_info": (c_int, "pi"),
    "options_uses": (c_int, "pse"),
    "method_info": (c_int, "ppi"),
    "method_uses": (c_int, "s"),
    "data_folder": (c_int, "pzi"),
    "load": (c_int, "psppe"),
    "names_are_ends": (c_int, "ss"),
    "names_are_two_kinds": (c_int, "ss"),
    "name_is_id": (c_int, "s"),
    "graph_new": (c_int, "pppe"),
    "graph_with_edges": (c_int, "pppLe"),
    "graph_describe": (c_int, "ppe"),
    "graph_nodes": (c_int32, "p"),
    "graph_edges": (c_int64, "p"),
    "graph_list": (None, "pppp"),
    "graph_name": (c_char_p, "pip"),
    "graph_label": (c_int32, "pi"),
    "graph_features": (c_int32, "pppi"),
    "graph_column_name": (c_char_p, "pi"),
    "graph_table": (c_int, "ppi"),
    "graph_encoding": (c_char_p, "p"),
    "graph_save": (c_int, "pse"),
    "graph_free": (None, "p"),
    "fit": (c_int, "ppppe"),
    "model_universal": (c_int, "ppe"),
    "model_save": (c_int, "pse"),
    "model_load": (c_int, "pspe"),
    "model_describe": (c_int, "ppe"),
    "model_options": (c_int, "ppe"),
    "model_encoding": (c_char_p, "p"),
    "model_embed": (c_int, "ppppe"),
    "model_free": (None, "p"),
    "predictor_new": (c_int, "pppppe"),
    "predictor_run": (c_int, "pppze"),
    "predictor_top": (c_int, "pppipe"),
    "predictor_top_links": (c_int, "pppipe"),
    "predictor_explain": (c_int, "ppPe"),
    "predictor_free": (None, "p"),
    "reason_name": (c_char_p, "i"),
    "split_options_default": (c_int, "pie"),
    "split_new": (c_int, "ppppe"),
    "split_load": (c_int, "ppspe"),
    "split_save": (c_int, "pse"),
    "split_pairs": (c_size_t, "pppi"),
    "split_train": (c_void_p, "pp"),
    "split_hash": (c_uint64, "p"),
    "split_protocol": (c_int, "p"),
    "split_free": (None, "p"),
    "evaluate": (c_int, "ppippe"),
    "test": (c_int, "pppppzzppe"),
    "auc_ap": (c_int, "ppppzzpe"),
    "mrr_hits": (c_int, "ppppzzpzpe"),
    "paired_compare": (c_int, "pppiUpe"),
    "pairs_loss_new": (c_int, "ppiiiUpe"),
    "pairs_loss_run": (c_double, "pppu"),
    "pairs_loss_free": (None, "p"),
}
_TYPES = {
    "p": c_void_p,
    "s": c_char_p,
    "i": c_int,
    "u": c_uint32,
    "U": c_uint64,
    "z": c_size_t,
    "L": c_int64,
    "P": Pair,
    "e": POINTER(CError),
}


def _open() -> ctypes.CDLL:
    # inside the package, so that no other libnpgnn of the system is taken
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libnpgnn.so")
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"npgnn was installed without its library, or the library cannot be loaded: {error}"
        ) from error
    for name, (returns, arguments) in _FUNCTIONS.items():
        function = getattr(library, "npgnn_" + name)
        function.restype = returns
        function.argtypes = [_TYPES[letter] for letter in arguments]
    return library


lib = _open()
USES_OPTIONS, USES_WEIGHTS = 1, 2  # NPGNN_USES_
SEARCHES = ("auto", "exact", "candidates")  # NPGNN_SEARCH_


def text(value: Optional[bytes]) -> str:
    return value.decode("utf-8", "replace") if value else ""


_TABLES = {"nodes": "nodes", "sources": "nodes", "targets": "target_nodes"}
# What messages of the library call an option of the program, and how it is written in Python.
_WORDS: list[tuple[re.Pattern[str], Any]] = [
    (re.compile(pattern), words)
    for pattern, words in (
        (r"^(nodes|sources|targets):(\d+): ", lambda found: f"{_TABLES[found[1]]}: row {int(found[2]) - 1}: "),
        (r"^(sources|targets): ", lambda found: f"{_TABLES[found[1]]}: "),
        (r"\(([^()]+):category, \1:text\)", r"(kinds={'\1': 'category'} or kinds={'\1': 'text'})"),
        (r"'([^']*)' is not COLUMN:KIND with a kind of ", r"kinds: '\1' is not a column and a kind, which is one of "),
        (r"'npgnn info' lists them", "Graph.columns() lists them"),
        (r"--bipartite", "bipartite=True"),
        (r"--weighted", "weight=True"),
        (r"--weight COLUMN", "weight='COLUMN'"),
        (r"node features are given as --features FILE", "features are given as nodes=FILE"),
        (r"--features\b", "nodes"),
        (r"--target-features\b", "target_nodes"),
        (r"--(edges|source|target|weight|time|id)\b", r"\1"),
    )
]


def python_words(message: str) -> str:
    for pattern, words in _WORDS:
        message = pattern.sub(words, message)
    return message


def failure(code: int, error: CError) -> Exception:
    """The exception for an error code."""
    kind = _errors.BY_CODE.get(code, _errors.Error)
    exception = kind(python_words(text(error.text)))
    exception.file = text(error.file)
    exception.line = int(error.line)
    return exception


def check(function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function that takes an error as its last argument, and raises what it reports."""
    error = CError()
    code = function(*arguments, ctypes.byref(error))
    if code:
        raise failure(code, error)


# ---- jobs: calls that take long ----

_running: dict[int, "Job"] = {}
_numbers = itertools.count(1)
_current = threading.local()  # job: the one that this thread runs


def _see_progress(user: Optional[int], progress: Any) -> int:
    job = _running.get(user or 0)
    if job is None or job.report is None:
        return 0
    try:
        job.report(progress.contents)
        return 0
    except BaseException as exception:  # nothing may pass through C
        job.exception = exception
        return 1


def _see_log(user: Optional[int], message: bytes) -> None:
    try:
        (getattr(_current, "job", None) or QUIET).notice(text(message))
    except BaseException:  # nothing may pass through C
        pass


_on_progress, _on_log = PROGRESS(_see_progress), LOG(_see_log)


class Job:
    """How calls run: threads, progress, the stop flag. Handles of the library copy the environment: they must keep
    their job."""

    def __init__(self, n_jobs: Optional[int] = None, verbose: int = 0) -> None:
        if n_jobs is not None and (
            isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__") or not 0 < abs(int(n_jobs)) <= 4096
        ):
            raise _errors.ArgumentError(
                f"n_jobs must be None (all cores), a positive number up to 4096, or a negative one (-1: all cores, -2: all but one), got {n_jobs!r}"
            )
        if not isinstance(verbose, int):
            raise _errors.ArgumentError(f"verbose must be 0 or 1, got {verbose!r}")
        self.verbose = verbose
        self.report: Optional[Callable[[Any], None]] = None
        self.exception: Optional[BaseException] = None
        self.notices: Optional[list[str]] = None  # where those of a call are collected
        self.stop = c_int(0)
        self.number = next(_numbers)
        self.busy = threading.Lock()  # held while C runs
        threads = 0 if n_jobs is None or n_jobs == -1 else int(n_jobs)
        if threads < 0:
            threads = max(lib.npgnn_cores() + 1 + threads, 1)
        self.env = Env(threads=threads, progress=_on_progress, log=_on_log, user=self.number)
        self.env.stop = ctypes.pointer(self.stop)

    def notice(self, message: str) -> None:
        """Logs a message and, with verbose, prints it."""
        message = python_words(message)
        if self.notices is not None:
            self.notices.append(message)
        log.info(message)
        if self.verbose:
            print("npgnn: " + message, file=sys.stderr)

    def run(self, function: Callable[..., int], *arguments: Any) -> None:
        """Calls a function that takes an error, such that Ctrl-C ends it. Raises what it reports. The arguments must own
        the memory that they point to: ``array.ctypes`` rather than ``array.ctypes.data``, and handles themselves."""
        with self.busy:  # an earlier call, which the handler of another signal has left, must return first
            self.stop.value = 0
            self.exception = None
        error = CError()
        codes: list[int] = []
        begun, over = threading.Lock(), threading.Lock()
        over.acquire()

        def work() -> None:
            if not begun.acquire(blocking=False):
                return  # the main thread has given up
            with self.busy:
                _running[self.number] = _current.job = self
                try:
                    code = function(*arguments, ctypes.byref(error))
                except BaseException as exception:  # an argument of a wrong type
                    code, self.exception = 0, exception
                del _running[self.number], _current.job
            codes.append(code)
            over.release()

        if threading.current_thread() is threading.main_thread():
            self._wait(work, codes, begun, over)
        else:
            work()
        exception, self.exception = self.exception, None
        if exception is not None:
            raise exception
        if codes[0]:
            raise failure(codes[0], error)

    def cancel(self, exception: BaseException) -> None:
        """Makes the current call end with an exception."""
        self.stop.value = 1
        self.exception = exception

    def _wait(self, work: Callable[[], None], codes: list[int], begun: threading.Lock, over: threading.Lock) -> None:
        """Runs the work in a thread, and waits until it has left its code. Plain locks and _thread, because an exception
        from a handler inside Event.wait, Thread.start or Thread.join leaves their locks in a wrong state."""
        before: Any = signal.getsignal(signal.SIGINT)

        def interrupt(number: int, frame: Any) -> None:
            try:
                before(number, frame)
            except BaseException as exception:  # usually KeyboardInterrupt
                self.cancel(exception)

        try:
            if callable(before):
                signal.signal(signal.SIGINT, interrupt)  # from here on, SIGINT raises nothing
            try:
                _thread.start_new_thread(work, ())
            except BaseException as exception:
                self.cancel(exception)
                if begun.acquire(blocking=False):  # the work has not begun, and never will
                    codes.append(0)
            while not codes:
                try:
                    over.acquire()
                except BaseException as exception:  # the handler of another signal raised it
                    self.cancel(exception)
        finally:
            self.stop.value = 1  # the handler of another signal may have raised outside the inner try
            if signal.getsignal(signal.SIGINT) is interrupt:
                signal.signal(signal.SIGINT, before)


QUIET = Job()  # its environment is for handles that need no progress; it runs nothing itself


def byref(value: Any) -> Any:
    return ctypes.byref(value)


class _Out:
    """The argument of a function that makes the object of a handle. It keeps the handle."""

    def __init__(self, handle: "Handle") -> None:
        self._handle, self._as_parameter_ = handle, ctypes.byref(handle.pointer)


class Handle:
    """Owns an object of the library, and frees it. What the object refers to is kept until then."""

    pointer = c_void_p()  # while it is not made

    def __init__(self, free: Callable[[Any], None], *keep: Any) -> None:
        self.pointer = self._as_parameter_ = c_void_p()
        self._free = free
        self._keep = keep

    def out(self) -> Any:
        return _Out(self)

    def __del__(self) -> None:
        if self.pointer:
            self._free(self.pointer)
            self.pointer = c_void_p()
