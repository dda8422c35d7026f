"""How good is a method on a graph: evaluations, splits, and a splitter for scikit-learn."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Mapping
from typing import Any, Optional, Union

import numpy as np

from . import _c
from ._check import check_count, check_path, check_seed
from ._errors import ArgumentError
from .graph import Array, Edges, Graph, Nodes, as_graph, check_labels, is_frame, number_ends, table
from .model import UNIVERSAL, Bar, check_used, make_options, presets, warn_unweighted

PROTOCOLS = (
    "transductive",
    "inductive",
    "few-shot",
    "inductive-hidden",
    "production",
    "temporal",
    "paper-inductive",
    "paper-few-shot",
    "random-links",
)
NEGATIVES = ("uniform", "hard", "all")


def methods() -> dict[str, str]:
    """The methods that can be evaluated besides the presets, each with a description.

    Examples
    --------
    >>> import npgnn
    >>> "adamic-adar" in npgnn.methods()
    True
    """
    found = {}
    name, about = ctypes.c_char_p(), ctypes.c_char_p()
    index = 0
    while _c.lib.npgnn_method_info(_c.byref(name), _c.byref(about), index):
        found[_c.text(name.value)] = _c.text(about.value)
        index += 1
    return found


def make_split_options(
    protocol: str, test: Any, val: Any, train_nodes: Any, known_links: Any, negative_ratio: Any, seed: Any
) -> _c.SplitOptions:
    if protocol not in PROTOCOLS:
        raise ArgumentError(f"protocol must be one of {', '.join(PROTOCOLS)}, got {protocol!r}")
    few_shot = protocol in ("few-shot", "paper-few-shot")
    for name, value, used in (
        ("test", test, not few_shot),
        ("train_nodes", train_nodes, few_shot),
        ("known_links", known_links, protocol == "production"),
    ):
        if value is not None and not used:
            raise ArgumentError(f"{name} has no effect: the protocol {protocol!r} does not use it")
    options = _c.SplitOptions()
    _c.check(_c.lib.npgnn_split_options_default, _c.byref(options), PROTOCOLS.index(protocol))
    for name, value in (("test", test), ("val", val), ("train_nodes", train_nodes), ("known_links", known_links)):
        if value is not None:
            if not isinstance(value, (int, float, np.number)) or not 0 <= value <= 1:
                raise ArgumentError(f"{name} must be a fraction from 0 to 1, got {value!r}")
            setattr(options, name, value)
    if isinstance(negative_ratio, str) and negative_ratio == "full":
        options.negative_ratio = -1.0
    elif isinstance(negative_ratio, (int, float, np.number)) and 1 <= negative_ratio <= 1e9:
        options.negative_ratio = negative_ratio
    else:
        raise ArgumentError(f'negative_ratio must be from 1 to 1e9, or "full", got {negative_ratio!r}')
    options.seed = check_seed(seed, "seed")
    return options


def evaluate(
    edges: Edges,
    nodes: Nodes = None,
    *,
    method: str = "best",
    protocol: str = "transductive",
    seeds: int = 3,
    first_seed: int = 1,
    test: Optional[float] = None,
    val: Optional[float] = None,
    train_nodes: Optional[float] = None,
    known_links: Optional[float] = None,
    negatives: str = "uniform",
    negative_ratio: Union[float, str] = 1.0,
    split: Optional["Split"] = None,
    n_jobs: Optional[int] = None,
    verbose: int = 0,
    source: Optional[str] = None,
    target: Optional[str] = None,
    weight: Union[str, bool, None] = None,
    time: Optional[str] = None,
    id: Optional[str] = None,
    kinds: Optional[Mapping[str, str]] = None,
    bipartite: Optional[bool] = None,
    target_nodes: Nodes = None,
    normalize: bool = False,
    binarize: bool = False,
    skip_bad_rows: bool = False,
    **options: Any,
) -> Any:
    """Hides links of a graph, fits a method to the rest, and measures how well the hidden links are ranked above
    non-links.

    Parameters
    ----------
    edges, nodes, source, target, weight, time, id, kinds, bipartite, target_nodes, normalize, binarize, skip_bad_rows
        As for :class:`Graph`.
    method : str
        A preset ("best", "universal", "default") or one of :func:`methods`, such as "adamic-adar".
    protocol : str
        What is hidden: "transductive" (some links), "inductive" (all links of some nodes), "few-shot",
        "inductive-hidden", "production" or "temporal" (the latest links, by ``time``). "paper-inductive" and
        "paper-few-shot" draw non-links as the paper's authors do, which makes them easier. "random-links" is the usual
        split of the field, in which a node that has lost all its links betrays them: the columns "emptied_links",
        "emptied_non_links" and "emptied_auc" say how many test pairs touch one, and the AUC of that alone.
    seeds, first_seed : int
        Number of seeds, and the first. Each has a split of its own.
    test, val, train_nodes, known_links : float, optional
        Fractions; None: the default of the protocol.
    negatives : str
        What links are ranked against: "uniform", "hard" or "all".
    negative_ratio : float or "full"
        Non-links per link.
    split : Split, optional
        Use this split for every seed.
    n_jobs, verbose, **options
        As for :class:`LinkPredictor`.

    Returns
    -------
    DataFrame, or a structured array if pandas is not installed
        One row per seed, with the columns "seed", "split" (the hash of the split), "auc", "ap", "mrr", "hits1", "hits10", "hits100" and more, as
        fractions of 1. What was not measured is NaN.

    Examples
    --------
    >>> import npgnn
    >>> result = npgnn.evaluate("synthetic:nodes=200,seed=1", method="adamic-adar", seeds=2)
    >>> [int(seed) for seed in result["seed"]]
    [1, 2]
    """
    names = methods()
    if not isinstance(method, str) or method not in names and method not in presets():
        raise ArgumentError(f"method must be one of {', '.join([*presets(), *names])}, got {method!r}")
    check_used(method, options)
    if negatives not in NEGATIVES:
        raise ArgumentError(f"negatives must be one of {', '.join(NEGATIVES)}, got {negatives!r}")
    job = _c.Job(n_jobs, verbose)
    how = make_split_options(protocol, test, val, train_nodes, known_links, negative_ratio, 0)
    count, first = check_count(seeds, "seeds", 1), check_seed(first_seed, "first_seed")
    graph = as_graph(
        edges,
        nodes,
        source=source,
        target=target,
        weight=weight,
        time=time,
        id=id,
        kinds=kinds,
        bipartite=bipartite,
        target_nodes=target_nodes,
        normalize=normalize,
        binarize=binarize,
        skip_bad_rows=skip_bad_rows,
    )
    warn_unweighted(graph, [method])
    if split is not None and not isinstance(split, Split):
        raise ArgumentError(f"split must be a Split, got {split!r}")
    given = {"test": test, "val": val, "train_nodes": train_nodes, "known_links": known_links}
    for name in [key for key, value in given.items() if value is not None] if split is not None else []:
        raise ArgumentError(f"{name} has no effect with split, which has pairs of its own")
    if split is not None and split.graph is not graph and split.graph.fingerprint != graph.fingerprint:
        raise ArgumentError("split is of another graph than edges")
    runs = run_evaluation(graph, method, options, how, count, first, job, negatives, split)
    return table(run_columns(runs))


def run_evaluation(
    graph: Graph,
    method: str,
    options: dict[str, Any],
    how: _c.SplitOptions,
    count: int,
    first_seed: int,
    job: _c.Job,
    negatives: str = "uniform",
    split: Optional["Split"] = None,
) -> Any:
    """The results of seeds, as the library's structs."""
    preset = method in presets() and method != UNIVERSAL
    model = make_options(method if preset else "default", options, None)
    settings = _c.EvalOptions(
        method=b"npgnn" if preset else method.encode(),
        model=ctypes.pointer(model),
        split=ctypes.pointer(how),
        first_seed=first_seed,
        negatives=NEGATIVES.index(negatives),
    )
    if split is not None:
        graph = split.graph
        settings.fixed = split._handle.pointer
        settings.keep = [split]
    runs = (_c.EvalRun * count)()
    runs[0].size = ctypes.sizeof(_c.EvalRun)
    with Bar(job, method):
        job.run(
            _c.lib.npgnn_evaluate, _c.byref(runs), graph._handle, count, _c.byref(settings), _c.byref(job.env)
        )
    return runs


def run_columns(runs: Any) -> dict[str, Any]:
    """The results as columns, one value per seed."""
    columns: dict[str, Any] = {
        "seed": np.array([run.seed for run in runs], np.int64),
        "split": [f"{run.split_hash:016x}" for run in runs],
    }
    for name, kind, *_ in _c.EvalRun._fields_:
        if kind is ctypes.c_double:
            columns[name] = np.array([getattr(run, name) for run in runs])
    for name in ("ece", "log_loss", "brier", "skill"):
        columns[name] = np.array([getattr(run.calibration, name) for run in runs])
    columns["iterations"] = np.array([run.iterations for run in runs], np.int64)
    return columns


class Split:
    """A graph divided into training, validation and test. Made by :func:`split`.

    Attributes
    ----------
    graph : Graph
        The whole graph.
    train : Graph
        What is known in training. With protocols that hide nodes it has fewer nodes.
    val_pairs, test_pairs : list of pairs of ids
        The held-out pairs.
    val_indices, test_indices : array of shape (count, 2)
        The same pairs as indices into ``graph.nodes``.
    val_labels, test_labels : array
        1 for links, 0 for non-links. Links come first.
    """

    def __init__(self, graph: Graph, handle: _c.Handle) -> None:
        self.graph, self._handle = graph, handle
        nodes = ctypes.c_void_p()
        known = ctypes.c_void_p(_c.lib.npgnn_split_train(_c.byref(nodes), handle.pointer))
        names = graph.nodes
        if nodes.value:
            count = _c.lib.npgnn_graph_nodes(known)
            kept = np.ctypeslib.as_array(ctypes.cast(nodes, ctypes.POINTER(ctypes.c_int32)), (count,))
            names = [names[i] for i in kept]
        # a copy: the split owns the graph known in training
        pairs = np.empty((int(_c.lib.npgnn_graph_edges(known)), 2), np.int32)
        _c.lib.npgnn_graph_list(pairs.ctypes.data, None, None, known)
        self.train = Graph._adopt(names)
        _c.check(_c.lib.npgnn_graph_with_edges, self.train._handle.out(), known, pairs.ctypes.data, len(pairs))
        self.val_indices, self.val_pairs, self.val_labels = self._pairs(0)
        self.test_indices, self.test_pairs, self.test_labels = self._pairs(1)

    def _pairs(self, which: int) -> tuple[Array, list[tuple[Any, Any]], Array]:
        pointer, positives = ctypes.c_void_p(), ctypes.c_size_t()
        count = _c.lib.npgnn_split_pairs(_c.byref(pointer), _c.byref(positives), self._handle.pointer, which)
        if count == 0:
            return np.empty((0, 2), np.int32), [], np.empty(0, np.int64)
        pairs = np.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_int32)), (count, 2)).copy()
        names = self.graph.nodes
        labels = (np.arange(count) < positives.value).astype(np.int64)
        return pairs, [(names[u], names[v]) for u, v in pairs.tolist()], labels

    @property
    def hash(self) -> str:
        """A hash of the held-out pairs, as the program prints it."""
        return f"{_c.lib.npgnn_split_hash(self._handle.pointer):016x}"

    @property
    def protocol(self) -> str:
        """The name of its protocol."""
        return PROTOCOLS[_c.lib.npgnn_split_protocol(self._handle.pointer)]

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes a file with the columns set, u, v and label, which ``npgnn.split(..., path=path)`` and the program
        read."""
        _c.check(_c.lib.npgnn_split_save, self._handle.pointer, check_path(path, "path"))

    def __repr__(self) -> str:
        return f"Split({self.protocol}, {self.train.n_links} links to train on, {len(self.val_pairs)} and {len(self.test_pairs)} pairs held out)"


def split(
    edges: Edges,
    nodes: Nodes = None,
    *,
    protocol: str = "transductive",
    test: Optional[float] = None,
    val: Optional[float] = None,
    train_nodes: Optional[float] = None,
    known_links: Optional[float] = None,
    negative_ratio: Union[float, str] = 1.0,
    seed: int = 1,
    path: Union[str, os.PathLike[str], None] = None,
    **graph_options: Any,
) -> Split:
    """Divides a graph into training, validation and test. No held-out pair is in another set, in either direction.

    Parameters
    ----------
    edges, nodes, **graph_options
        As for :class:`Graph`.
    protocol, test, val, train_nodes, known_links, negative_ratio
        As for :func:`evaluate`.
    seed : int
        The seed.
    path : str, optional
        Read the split from this file instead.

    Examples
    --------
    >>> import npgnn
    >>> split = npgnn.split("synthetic:nodes=200,seed=1", test=0.2)
    >>> split.train.n_nodes, int(split.test_labels.sum()) == len(split.test_pairs) // 2
    (200, True)
    """
    graph = as_graph(edges, nodes, **graph_options)
    handle = _c.Handle(_c.lib.npgnn_split_free, graph)
    if path is not None:
        _c.check(
            _c.lib.npgnn_split_load,
            handle.out(),
            graph._handle.pointer,
            check_path(path, "path"),
            _c.byref(_c.QUIET.env),
        )
    else:
        options = make_split_options(protocol, test, val, train_nodes, known_links, negative_ratio, seed)
        _c.check(_c.lib.npgnn_split_new, handle.out(), graph._handle.pointer, _c.byref(options), _c.byref(_c.QUIET.env))
    return Split(graph, handle)


class LinkSplit:
    """A splitter of links for scikit-learn, such as ``GridSearchCV(model, grid, cv=npgnn.LinkSplit()).fit(graph)``.

    Each split hides some links. A link is hidden only if both of its nodes keep another one. (Of the links of very sparse graphs,
    degrees then tell a little: an AUC of 51 to 52 at a mean degree of 3 to 1. :func:`evaluate` has 50.) The score is the AUC of the
    hidden links against as many non-links; another one is ``scoring=lambda model, links, y=None: model.test(links)["ap"]``.
    Labelled pairs are divided likewise: ``cross_val_score(model, pairs, y, cv=npgnn.LinkSplit(), scoring="roc_auc")`` scores
    the hidden pairs, of which those with label 0 also have nodes that keep a link. Other splitters may hide all pairs of a node;
    give them ``params={"nodes": nodes}`` (``fit_params`` before scikit-learn 1.4).

    Parameters
    ----------
    n_splits : int
        Number of splits.
    test_size : float
        Fraction of the links that are hidden.
    random_state : int
        The seed.

    Examples
    --------
    >>> import npgnn
    >>> graph = npgnn.Graph("synthetic:nodes=200,seed=1")
    >>> train, test = next(npgnn.LinkSplit(3).split(graph))
    >>> len(train) + len(test) == graph.n_links
    True
    """

    def __init__(self, n_splits: int = 3, *, test_size: float = 0.1, random_state: int = 1) -> None:
        self.n_splits = check_count(n_splits, "n_splits", 1)
        if not isinstance(test_size, (int, float)) or not 0 < test_size < 1:
            raise ArgumentError(f"test_size must be above 0 and below 1, got {test_size!r}")
        self.test_size, self.random_state = test_size, check_seed(random_state, "random_state")

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of splits."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Indices of the links that are kept, and of those that are hidden. X is a Graph, or pairs as an array, a DataFrame or
        a list. With labels y, 0 of a pair without a link, such pairs are hidden in the same way."""
        if not isinstance(X, (Graph, np.ndarray, list)) and not is_frame(X):
            raise ArgumentError(
                f"X must be a Graph, not a {type(X).__name__}: scikit-learn selects links of it; write fit(npgnn.Graph(X))"
            )
        links = number_ends(X)
        labels = np.ones(len(links), bool) if y is None else check_labels(y, len(links))
        for number in range(self.n_splits):
            random = np.random.default_rng([self.random_state, number])
            hidden = np.zeros(len(links), bool)
            degree = np.bincount(links[labels].ravel(), minlength=links.max(initial=0) + 1)
            for label in (True, False):  # the nodes of both keep a link, so that the number of links does not tell them apart
                rows = np.flatnonzero(labels == label)
                wanted = max(int(self.test_size * len(rows)), 1)
                for i in random.permutation(rows):
                    if wanted and (degree[links[i]] > label).all():
                        degree[links[i]] -= label
                        hidden[i] = True
                        wanted -= 1
            if not hidden[labels].any():
                raise ArgumentError("no link can be hidden: each is the only one of a node")
            yield np.flatnonzero(~hidden), np.flatnonzero(hidden)
