"""LinkPredictor: the models of npgnn behind scikit-learn's interface."""

from __future__ import annotations

import ctypes
import difflib
import os
import sys
import tempfile
import threading
from collections.abc import Iterable
from typing import Any, Optional, Union

import numpy as np

from . import _c
from ._check import check_count, check_flags, check_path, check_seed, warn
from ._errors import ArgumentError, MismatchError, not_fitted
from .graph import Array, Edges, Graph, Nodes, as_graph, check_labels, labelled_links, pair_indices, table

UNIVERSAL = "universal"


def presets() -> dict[str, str]:
    """The names of the presets, each with a description.

    Examples
    --------
    >>> import npgnn
    >>> "best" in npgnn.presets()
    True
    """
    found = {UNIVERSAL: "learnt across graphs: nothing is trained"}
    name, about = ctypes.c_char_p(), ctypes.c_char_p()
    index = 0
    while _c.lib.npgnn_preset_info(_c.byref(name), _c.byref(about), index):
        found[_c.text(name.value)] = _c.text(about.value)
        index += 1
    return found


def option_names() -> dict[str, str]:
    """The options of the presets, each with its values and a description. They are keywords of LinkPredictor and
    evaluate.

    Examples
    --------
    >>> import npgnn
    >>> npgnn.option_names()["iterations"]
    'from 1: number of training iterations'
    """
    found = {}
    info = _c.OptionInfo()
    index = 0
    while _c.lib.npgnn_options_info(_c.byref(info), index):
        found[_c.text(info.key).replace("-", "_")] = f"{_c.text(info.values)}: {_c.text(info.help)}"
        index += 1
    del found["seed"]  # random_state
    return found


def check_options(options: dict[str, Any]) -> None:
    known = option_names()
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"npgnn.option_names() lists them: {', '.join(known)}"
            raise TypeError(f"there is no option {name!r}; {hint}")


def make_options(method: str, options: dict[str, Any], seed: Optional[int]) -> _c.Options:
    """The options of a preset with changes."""
    result = _c.Options()
    _c.check(_c.lib.npgnn_options_preset, _c.byref(result), method.encode())
    for name, value in options.items():
        given = ("on" if value else "off") if isinstance(value, (bool, np.bool_)) else str(value)
        _c.check(_c.lib.npgnn_options_set, _c.byref(result), name.replace("_", "-").encode(), given.encode())
    if seed is not None:
        _c.check(_c.lib.npgnn_options_set, _c.byref(result), b"seed", str(seed).encode())
    return result


def check_used(method: str, options: dict[str, Any]) -> None:
    """Refuses options that do not exist, or that a preset or method does not use, as the program does."""
    check_options(options)
    preset = method in presets() and method != UNIVERSAL
    if options and not preset and not _c.lib.npgnn_method_uses(method.encode()) & _c.USES_OPTIONS:
        why = "trains nothing and" if method == UNIVERSAL else "takes a seed alone and"
        raise ArgumentError(f"{next(iter(options))} has no effect: method {method!r} {why} has no options")
    own = {"latent": True, "sample_latent": False} if method == "cnp" else {}  # a network whose z is chosen already
    start = method if preset else "default"

    def unused(name: str, changes: dict[str, Any]) -> bool:
        key = name.replace("_", "-").encode()
        return bool(_c.lib.npgnn_options_uses(_c.byref(make_options(start, changes, None)), key, None) == 0)

    for name in options:
        if name in own or unused(name, own):
            raise ArgumentError(f"{name} has no effect: method {method!r} does not use it")
        if unused(name, {**options, **own}):
            beside = [f"{key}={value!r}" for key, value in options.items() if unused(name, {**own, key: value})]
            raise ArgumentError(f"{name} has no effect with {' and '.join(beside) or 'these options'}")


def warn_unweighted(graph: Graph, methods: Iterable[str]) -> None:
    """Warns if the links have weights that a method does not use."""
    if not graph._info().weighted:
        return
    processes = (UNIVERSAL, "best")
    unused = [
        name
        for name in methods
        if name in processes
        or not _c.lib.npgnn_method_uses(b"npgnn" if name in presets() else name.encode()) & _c.USES_WEIGHTS
    ]
    if unused:
        names = " and ".join(map(repr, unused))
        warn(f"{names} {'does' if len(unused) == 1 else 'do'} not use the weights of links: every link counts once")


def check_method(method: Any) -> str:
    if not isinstance(method, str) or method not in presets():
        raise ArgumentError(f"method must be one of {', '.join(presets())}, got {method!r}")
    return method


class Bar:
    """Shows the progress of a job with tqdm, or without it as lines on standard error."""

    def __init__(self, job: _c.Job, what: str) -> None:
        self.job, self.what, self.bar, self.key = job, what, None, ()  # type: _c.Job, str, Any, tuple[Any, ...]
        if job.verbose:
            job.report = self.show

    def show(self, progress: Any) -> None:
        run = f" {progress.run + 1}/{progress.runs}" if progress.runs > 1 else ""
        label = self.what + run + (" (rehearsal)" if progress.rehearsal else "")
        key = (progress.run, progress.rehearsal)
        try:
            from tqdm.auto import tqdm
        except ImportError:
            tenth = max(progress.iterations // 10, 1)
            if progress.iteration % tenth == 0:
                loss = f", loss {progress.loss:.4g}" if progress.loss == progress.loss else ""
                print(f"npgnn: {label}: {progress.iteration} of {progress.iterations}{loss}", file=sys.stderr)
            return
        if self.bar is None or key != self.key:
            self.close()
            self.bar, self.key = tqdm(total=progress.iterations, desc=label), key
        self.bar.update(progress.iteration - self.bar.n)
        if progress.loss == progress.loss:
            self.bar.set_postfix(loss=f"{progress.loss:.4g}", refresh=False)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()
        self.job.report = None


class LinkPredictor:
    """Predicts the missing links of a graph.

    Parameters
    ----------
    method : str
        "best" (default): the most accurate, fitted to the graph in seconds. "universal": learnt across many graphs,
        and trained on none of yours. "default": the network of the paper, which needs features. ``npgnn.presets()``
        lists them all.
    random_state : int or numpy generator, optional
        The seed. None is 1: the same data and options always give the same bits, for any number of threads.
    n_jobs : int, optional
        Number of threads. None and -1: all cores that the process may use; -2: all but one.
    verbose : int
        1: show progress (with tqdm, where it is installed) and notices.
    **options
        Options of the preset, such as ``iterations=200``; ``npgnn.option_names()`` lists them.

    Attributes
    ----------
    graph_ : Graph
        The graph that was fitted, and that predictions are about.
    classes_ : array
        ``[0, 1]``: no link, and a link.
    n_features_in_ : int
        Number of feature columns after encoding.
    calibrated_ : bool
        Whether probabilities were calibrated on held-out links.
    tuned_ : bool
        Whether "best" was tuned on the graph. If that does not help on links and nodes that were hidden, a warning says so,
        and the model is used untuned, as "universal" is.
    n_iter_ : int
        Number of iterations that were trained.
    search_info_ : dict
        How the latest :meth:`recommend` or :meth:`top_links` searched. "candidates": how many were retrieved per node;
        0 if all pairs were scored. "recall": the share of the best partners that the candidates contain, from 0 to 1;
        "low" and "high": its 95 % interval. They were measured by searching "checked" of the nodes exactly for the
        "best" partners of each. These five are None where nothing was measured.

    Examples
    --------
    >>> import npgnn
    >>> graph = npgnn.Graph("synthetic:nodes=200,seed=1")
    >>> model = npgnn.LinkPredictor("universal").fit(graph)
    >>> probability = model.predict_proba([(0, 1), (2, 3)])
    >>> probability.shape
    (2, 2)
    >>> best = model.recommend([17], k=3)
    >>> len(best)
    3
    """

    _estimator_type = "classifier"

    def __init__(
        self,
        method: str = "best",
        *,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        verbose: int = 0,
        **options: Any,
    ) -> None:
        check_options(options)
        self.method = method
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self._options = options

    # ---- parameters, as scikit-learn wants them ----

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, with the options that were set."""
        return {
            "method": self.method,
            "random_state": self.random_state,
            "n_jobs": self.n_jobs,
            "verbose": self.verbose,
            **self._options,
        }

    def set_params(self, **params: Any) -> "LinkPredictor":
        """Sets parameters and options. A fitted model keeps what it has learnt until it is fitted again."""
        own = ("method", "random_state", "n_jobs", "verbose")
        options = {name: value for name, value in params.items() if name not in own}
        check_options(options)
        for name in own:
            if name in params:
                setattr(self, name, params[name])
        self._options = {**self._options, **options}
        return self

    def own_options(self) -> dict[str, Any]:
        """The options of the preset that were set."""
        return dict(self._options)

    def __repr__(self) -> str:
        defaults: dict[str, Any] = {"method": "best", "random_state": None, "n_jobs": None, "verbose": 0}
        shown = [f"{name}={value!r}" for name, value in self.get_params().items() if value != defaults.get(name, self)]
        return f"LinkPredictor({', '.join(shown)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=False),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(two_d_array=False),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "graph_")

    # ---- fitting ----

    def fit(self, X: Edges, y: Any = None, *, nodes: Nodes = None, **graph_options: Any) -> "LinkPredictor":
        """Fits the model to a graph.

        Parameters
        ----------
        X : as the ``edges`` of :class:`Graph`
            The links.
        y : array of 0 and 1, optional
            Labels of X, which is then a list, an array or a DataFrame of pairs: 1 for links, 0 for pairs without a link. The
            model is fitted to the links. The other pairs are not learnt from, which a UserWarning says: they add their
            nodes to the graph, and count in ``score``. None: all of X are links.
        nodes, **graph_options
            As for :class:`Graph`. Pairs to predict may have nodes without links, such as those of a fold that
            scikit-learn tests on, if ``nodes`` has all nodes.

        Returns
        -------
        self

        Examples
        --------
        >>> import npgnn
        >>> links = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("c", "a"), ("d", "e")]
        >>> model = npgnn.LinkPredictor("universal").fit(links, nodes=["a", "b", "c", "d", "e", "f"])
        >>> model.predict_proba([("a", "f")]).shape
        (1, 2)
        """
        method, seed = check_method(self.method), check_seed(self.random_state, "random_state")
        job = _c.Job(self.n_jobs, self.verbose)
        check_used(method, self._options)
        options = None if method == UNIVERSAL else make_options(method, self._options, seed)
        if y is not None:
            X, graph_options = labelled_links(X, y, nodes, graph_options)
            nodes = graph_options.pop("nodes")
        if not isinstance(X, Graph):
            graph_options["_job"] = job
        graph = as_graph(X, nodes, **graph_options)
        warn_unweighted(graph, [method])
        model = _c.Handle(_c.lib.npgnn_model_free, job)
        with Bar(job, "fit"):
            if options is None:
                job.run(_c.lib.npgnn_model_universal, model.out(), _c.byref(job.env))
            else:
                job.run(_c.lib.npgnn_fit, model.out(), graph._handle, _c.byref(options), _c.byref(job.env))
        self._set(model, graph, job)
        self.__dict__.pop("search_info_", None)  # of another model
        if method == "best" and not self.tuned_ and not np.isnan(_describe(model).hidden_links_auc[0]):
            warn("tuning did not help on links and nodes of this graph that were hidden: the model is used untuned, as "
                 "'universal' is")
        return self

    def _set(self, model: _c.Handle, graph: Optional[Graph], job: _c.Job) -> None:
        info = _describe(model)
        self._model, self._job = model, job
        self._lock = threading.Lock()
        self._predictors: dict[tuple[int, int, float], _c.Handle] = {}
        self.classes_ = np.array([0, 1])
        self.n_iter_ = int(info.iterations)
        # universal calibrates itself when it is applied
        self.calibrated_ = bool(info.calibrated) or bool(info.across_graphs)
        self.tuned_ = bool(info.tuned)
        self._prepare = {"normalize": bool(info.normalize), "binarize": bool(info.binarize)}
        if graph is None:
            self.__dict__.pop("graph_", None)
            self.n_features_in_ = int(info.columns)
        else:
            self.graph_ = graph
            self.n_features_in_ = graph.n_features
            names = graph.feature_names
            if names is not None:
                self.feature_names_in_ = np.array(names, object)

    def with_graph(self, edges: Edges, nodes: Nodes = None, **graph_options: Any) -> "LinkPredictor":
        """The same model, applied to another graph: new nodes, new links, or after ``npgnn.load``. Nothing is trained.

        The table of nodes is encoded as it was for the training. "universal" takes any features.

        Examples
        --------
        >>> import npgnn
        >>> model = npgnn.LinkPredictor("universal").fit([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (3, 4), (4, 5), (5, 3)])
        >>> other = model.with_graph([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("c", "a"), ("d", "e")])
        >>> other.graph_
        Graph(5 nodes, 6 links)
        """
        if not hasattr(self, "_model"):
            raise not_fitted("this LinkPredictor is not fitted: call fit(edges, nodes=nodes), or npgnn.load(path)")
        other = LinkPredictor(**self.get_params())
        encoding = _c.lib.npgnn_model_encoding(self._model.pointer)
        if not isinstance(edges, Graph):
            info = _describe(self._model)
            graph_options = {**self._prepare, **graph_options}
            if encoding is not None:
                graph_options["_encoding"] = _c.text(encoding)
            elif not info.across_graphs:  # the others take any features
                graph_options["_encoding"] = "raw"
        graph = as_graph(edges, nodes, **graph_options)
        other._set(self._model, graph, _c.Job(self.n_jobs, self.verbose))
        other._predictor(-1, 0.0)  # refuses features that do not fit
        return other

    # ---- predicting ----

    def _ready(self) -> Graph:
        if not hasattr(self, "_model"):
            raise not_fitted("this LinkPredictor is not fitted: call fit(edges, nodes=nodes) first")
        if not hasattr(self, "graph_"):
            raise not_fitted("this model was loaded without a graph: call with_graph(edges, nodes) first")
        return self.graph_

    def _predictor(self, samples: int, link_rate: float, seed: int = 1) -> _c.Handle:
        """The model applied to the graph; kept, because that takes time."""
        key = (samples, seed, link_rate)
        found = self._predictors.get(key)
        if found is None:
            options = _c.PredictOptions(samples=samples, seed=seed, link_rate=link_rate)
            found = _c.Handle(_c.lib.npgnn_predictor_free, self._model, self.graph_, self._job)
            with Bar(self._job, "apply"):
                self._job.run(
                    _c.lib.npgnn_predictor_new,
                    found.out(),
                    self._model,
                    self.graph_._handle,
                    _c.byref(options),
                    _c.byref(self._job.env),
                )
            self._predictors = {key: found}
        return found

    def _predict(self, pairs: Any, samples: Optional[int], link_rate: Optional[float]) -> Array:
        graph = self._ready()
        found = np.ascontiguousarray(pair_indices(graph, pairs))
        predictions = np.zeros((len(found), 5), np.float32)
        draws, rate = _check_prediction(samples, link_rate)
        with self._lock:
            predictor = self._predictor(draws, rate)
            call = self._job.run if len(found) * (draws + 1) > 10000 else _c.check
            call(_c.lib.npgnn_predictor_run, predictions.ctypes, predictor, found.ctypes, len(found))
        return predictions

    def predict_proba(self, pairs: Any, *, samples: Optional[int] = None, link_rate: Optional[float] = None) -> Array:
        """Probabilities of links.

        Parameters
        ----------
        pairs : list of pairs of ids, DataFrame, array of shape (count, 2), or Graph
            The pairs that are asked about. Of a graph, its links.
        samples : int, optional
            Average over so many draws of what is not known: the latent variable and, of universal and best, what other
            examples would have told. 0: no draws. None: as the model was trained.
        link_rate : float, optional
            The share of links that you expect among the pairs you ask about; 0.5 ignores how rare links are. None: as
            in the graph.

        Returns
        -------
        array of shape (count, 2)
            The probabilities of no link and of a link.

        Examples
        --------
        >>> import npgnn
        >>> model = npgnn.LinkPredictor("universal").fit("synthetic:nodes=200,seed=1")
        >>> bool((model.predict_proba([(0, 1)], link_rate=0.5) >= model.predict_proba([(0, 1)]))[0, 1])
        True
        """
        probability = self._predict(pairs, samples, link_rate)[:, 0].astype(np.float64)
        return np.column_stack([1 - probability, probability])

    def decision_function(self, pairs: Any) -> Array:
        """The scores of pairs: the same order as the probabilities, but finer."""
        return self._predict(pairs, None, None)[:, 4].astype(np.float64)

    def predict(self, pairs: Any, *, link_rate: Optional[float] = 0.5) -> Array:
        """1 for pairs whose probability is above one half, otherwise 0. The default takes links and non-links for
        equally likely."""
        return (self._predict(pairs, None, link_rate)[:, 0] > 0.5).astype(np.int64)

    def recommend(
        self,
        nodes: Any = None,
        k: int = 10,
        *,
        candidates: Any = None,
        known: bool = False,
        explain: bool = False,
        min_probability: float = 0.0,
        samples: Optional[int] = None,
        link_rate: Optional[float] = None,
        search: Union[str, int] = "auto",
    ) -> Any:
        """The best partners of nodes, among all nodes.

        Parameters
        ----------
        nodes : list of ids, optional
            None: all nodes.
        k : int
            How many partners per node.
        candidates : list of ids, optional
            The nodes that may be recommended; None: all. ``search`` decides how many of them are scored.
        known : bool
            True: also links that the graph has.
        explain : bool
            True: add a column "reason" that says in words why. Of "best" and "universal" only.
        min_probability : float
            Leave out less probable links.
        samples, link_rate
            As for :meth:`predict_proba`.
        search : {"auto", "exact", "candidates"} or int
            "exact" scores all pairs. "candidates" retrieves 256 candidates per node and scores these, for "best" and
            "universal" only; a number retrieves so many, but at least 3 k. "auto" is exact for networks, and up to 2^31
            pairs (``nodes`` times all nodes); beyond, it uses candidates, and a UserWarning says so. ``search_info_``
            has the share of the best that the candidates contain.

        Returns
        -------
        DataFrame, or a structured array if pandas is not installed
            Columns "node", "partner", "probability", "score" and "known", best first for each node; with samples also
            "spread", "low" and "high".

        Examples
        --------
        >>> import npgnn
        >>> model = npgnn.LinkPredictor("universal").fit([("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("d", "e"), ("e", "c")])
        >>> best = model.recommend(["a"], k=2)
        >>> sorted(best["partner"])
        ['d', 'e']
        """
        graph = self._ready()
        check_flags(explain=explain)
        options = self._search_options(graph, {"nodes": nodes, "candidates": candidates}, known, min_probability, search)
        count, k = options.from_count if options.from_ else graph.n_nodes, check_count(k, "k", 1)
        k = min(k, max(graph.n_nodes, 1))
        links = np.zeros(max(count * k, 1), _LINK)
        found = np.zeros(max(count, 1), np.int32)
        draws, rate = _check_prediction(samples, link_rate)
        with self._lock, Bar(self._job, "recommend"):
            predictor = self._predictor(draws, rate)
            with Bar(self._job, "search"):
                self._job.run(
                    _c.lib.npgnn_predictor_top,
                    links.ctypes,
                    found.ctypes,
                    predictor,
                    k,
                    _c.byref(options),
                )
            info = self.search_info_ = _search_info(options)
        self._report_candidates(info, search)
        rows = links[: count * k].reshape(count, k)
        rows = rows[np.arange(k) < found[:count, None]]
        return self._table(graph, rows, ("node", "partner"), draws, predictor if explain else None)

    def top_links(
        self,
        k: int = 10,
        *,
        sources: Any = None,
        targets: Any = None,
        known: bool = False,
        explain: bool = False,
        min_probability: float = 0.0,
        samples: Optional[int] = None,
        link_rate: Optional[float] = None,
        search: Union[str, int] = "auto",
    ) -> Any:
        """The k most probable missing links of the whole graph, each listed once; otherwise as :meth:`recommend`. With
        candidates, each node has at least 30.

        Examples
        --------
        >>> import npgnn
        >>> model = npgnn.LinkPredictor("universal").fit("synthetic:nodes=200,seed=1")
        >>> len(model.top_links(2))
        2
        """
        graph = self._ready()
        check_flags(explain=explain)
        options = self._search_options(graph, {"sources": sources, "targets": targets}, known, min_probability, search)
        k = check_count(k, "k", 1)
        links = np.zeros(k, _LINK)
        found = ctypes.c_int32()
        draws, rate = _check_prediction(samples, link_rate)
        with self._lock:
            predictor = self._predictor(draws, rate)
            with Bar(self._job, "search"):
                self._job.run(
                    _c.lib.npgnn_predictor_top_links,
                    links.ctypes,
                    _c.byref(found),
                    predictor,
                    k,
                    _c.byref(options),
                )
            info = self.search_info_ = _search_info(options)
        self._report_candidates(info, search)
        return self._table(graph, links[: found.value], ("source", "target"), draws, predictor if explain else None)

    def _search_options(
        self, graph: Graph, ends: dict[str, Any], known: bool, least: float, search: Union[str, int]
    ) -> _c.TopOptions:
        kind, count = _check_search(search)
        if not isinstance(least, (int, float, np.number)) or not 0 <= least <= 1:
            raise ArgumentError(f"min_probability must be from 0 to 1, got {least!r}")
        check_flags(known=known)
        info = ctypes.pointer(_c.SearchInfo())
        options = _c.TopOptions(known=known, min_probability=least, search=kind, candidates=count, info=info)
        for member, (name, ids) in zip(("from_", "to"), ends.items()):
            if ids is None:
                continue
            if isinstance(ids, (str, bytes, int, float)) or not isinstance(ids, Iterable):
                raise ArgumentError(f"{name}: expected a list of nodes, got {ids!r}: write [{ids!r}]")
            given = ids.tolist() if hasattr(ids, "tolist") else list(ids)
            array = np.array([graph.index(node) for node in given], np.int32)
            if len(np.unique(array)) < len(array):
                twice = next(node for i, node in enumerate(given) if node in given[:i])
                raise ArgumentError(f"{name}: {twice!r} is given twice")
            options.keep.append(array)
            setattr(options, member, array.ctypes.data if len(array) else None)
            setattr(options, member.rstrip("_") + "_count", len(array))
            if not len(array):
                raise ArgumentError(f"{name}: the list is empty")
        return options

    def _report_candidates(self, info: dict[str, Any], search: Union[str, int]) -> None:
        """Says how good the candidates are: as a warning if they were not asked for, otherwise as a notice."""
        if info["recall"] is None:
            return
        percent = "{recall:.1f} % ({low:.1f} to {high:.1f})".format(
            **{name: 100 * info[name] for name in ("recall", "low", "high")}
        )
        note = (
            f"candidates: {info['candidates']} per node; they contain {percent} of the {info['best']} best, "
            f"by exact search of {info['checked']} nodes"
        )
        if search == "auto":
            warn(note + "; search='exact' scores all pairs, search='candidates' gives no warning")
        else:
            self._job.notice(note)

    def explain(self, pair: Any, *, samples: Optional[int] = None, link_rate: Optional[float] = None) -> dict[str, Any]:
        """Why a pair has its probability. Of "best" and "universal" only.

        Parameters
        ----------
        pair : pair of ids
            The two nodes.
        samples, link_rate
            As for :meth:`predict_proba`.

        Returns
        -------
        dict
            "text": the main reasons in words. "log_odds": of a link; it is the "baseline", that of an average
            non-link, plus the sum of "reasons", which are contributions by kind, or of the "log_odds" of "columns",
            which has one row per piece of evidence. "neighbors": nodes that both are linked to. "features": names or
            numbers of features that both have. "walks" and "walk_lift": walks of three steps between the two, and how
            many times as likely they are as by chance.

        Examples
        --------
        >>> import npgnn
        >>> model = npgnn.LinkPredictor("universal").fit([("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("d", "e"), ("e", "c")])
        >>> why = model.explain(("a", "d"))
        >>> why["neighbors"]
        ['c']
        >>> bool(abs(why["baseline"] + sum(why["reasons"].values()) - why["log_odds"]) < 1e-4)
        True
        """
        graph = self._ready()
        index = pair_indices(graph, [pair])[0]
        with self._lock:
            return self._explain(
                graph, self._predictor(*_check_prediction(samples, link_rate)), int(index[0]), int(index[1])
            )

    def _explain(self, graph: Graph, predictor: _c.Handle, u: int, v: int) -> dict[str, Any]:
        found = _c.Explanation()
        _c.check(_c.lib.npgnn_predictor_explain, _c.byref(found), predictor.pointer, _c.Pair(u, v))
        names = graph.feature_names
        columns = found.columns[: found.column_count]
        return {
            "text": _c.text(found.text),
            "log_odds": float(found.log_odds),
            "baseline": float(found.baseline),
            "reasons": {
                _c.text(_c.lib.npgnn_reason_name(i)): float(found.reasons[i]) for i in range(found.reason_count)
            },
            "columns": table(
                {
                    "name": [_c.text(column.name) for column in columns],
                    "text": [_c.text(column.text) for column in columns],
                    "value": [float(column.value) for column in columns],
                    "average": [float(column.average) for column in columns],
                    "log_odds": [float(column.log_odds) for column in columns],
                }
            ),
            "neighbors": [graph.nodes[i] for i in found.neighbors[: found.neighbor_count]],
            "features": [names[i] if names else int(i) for i in found.features[: found.feature_count]],
            "walks": float(found.walks),
            "walk_lift": float(found.walk_lift),
        }

    def _table(self, graph: Graph, rows: Array, ends: tuple[str, str], draws: int, explain: Optional[_c.Handle]) -> Any:
        columns: dict[str, Any] = {
            ends[0]: [graph.nodes[i] for i in rows["u"]],
            ends[1]: [graph.nodes[i] for i in rows["v"]],
        }
        columns["probability"] = rows["probability"].astype(np.float64)
        if draws > 0:
            for name in ("spread", "low", "high"):
                columns[name] = rows[name].astype(np.float64)
        columns["score"] = rows["score"].astype(np.float64)
        columns["known"] = rows["known"] != 0
        if explain is not None:
            found, reasons = _c.Explanation(), []
            with self._lock:
                for u, v in zip(rows["u"].tolist(), rows["v"].tolist()):
                    _c.check(_c.lib.npgnn_predictor_explain, _c.byref(found), explain.pointer, _c.Pair(u, v))
                    reasons.append(_c.text(found.text))
            columns["reason"] = reasons
        return table(columns)

    def embed(self) -> Array:
        """The embeddings of all nodes: of shape (nodes, output_size) for a network, (nodes, 48) for "best" and
        "universal".

        The inner product of two rows ranks pairs. That of a network is its score; that of "best" and "universal" is
        the closest to their scores that one vector per node gives, up to a constant.

        Examples
        --------
        >>> import npgnn
        >>> npgnn.LinkPredictor("universal").fit("synthetic:nodes=200,seed=1").embed().shape
        (200, 48)
        """
        graph = self._ready()
        options, value = _c.Options(), ctypes.create_string_buffer(32)
        _c.check(_c.lib.npgnn_model_options, _c.byref(options), self._model.pointer)
        _c.check(_c.lib.npgnn_options_get, value, len(value), _c.byref(options), b"output-size")
        result = np.zeros((graph.n_nodes, int(value.value)), np.float32)
        with self._lock:
            self._job.run(
                _c.lib.npgnn_model_embed,
                result.ctypes,
                self._model,
                graph._handle,
                _c.byref(self._job.env),
            )
        return result

    # ---- testing ----

    def test(self, pairs: Any, labels: Any = None, *, seed: int = 1) -> dict[str, float]:
        """Tests the model on pairs: AUC, average precision and more, as fractions of 1.

        Parameters
        ----------
        pairs : as for :meth:`predict_proba`
            Links that are hidden from the model; with ``labels`` also non-links. Links that the model's graph has are
            removed from it before anything is scored.
        labels : array, optional
            1 for links, 0 for non-links. None: all pairs are links, and as many non-links are drawn.
        seed : int
            Of the draws.

        Examples
        --------
        >>> import npgnn
        >>> split = npgnn.split("synthetic:nodes=200,seed=1")
        >>> metrics = npgnn.LinkPredictor("universal").fit(split.train).test(split.test_pairs, split.test_labels)
        >>> metrics["auc"] > 0.7
        True
        """
        graph = self._ready()
        found = pair_indices(graph, pairs)
        positive = np.ones(len(found), bool) if labels is None else check_labels(labels, len(found), "labels")
        ordered = np.ascontiguousarray(np.concatenate([found[positive], found[~positive]]), np.int32)
        run, options = _c.EvalRun(), _c.TestOptions(samples=-1, seed=check_seed(seed, "seed"))
        with self._lock:
            self._job.run(
                _c.lib.npgnn_test,
                _c.byref(run),
                None,
                self._model,
                graph._handle,
                ordered.ctypes,
                int(positive.sum()),
                len(ordered),
                _c.byref(options),
                _c.byref(self._job.env),
            )
        return {name: float(getattr(run, name)) for name in ("auc", "ap", "mrr", "hits1", "hits10", "hits100")}

    def score(self, pairs: Any, y: Any = None) -> float:
        """The AUC on pairs, for scikit-learn: of links ``pairs`` (a Graph: its links) against as many non-links or,
        with labels y, of the pairs with label 1 against those with label 0."""
        return self.test(pairs, y)["auc"]

    # ---- files ----

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the model as a safetensors file, which ``npgnn.load`` and the program read. The graph is not in it."""
        if not hasattr(self, "_model"):
            raise not_fitted("this LinkPredictor is not fitted: there is nothing to save")
        _c.check(_c.lib.npgnn_model_save, self._model.pointer, check_path(path, "path"))

    def __getstate__(self) -> dict[str, Any]:
        state = {
            name: value
            for name, value in self.__dict__.items()
            if name not in ("_model", "_job", "_lock", "_predictors")
        }
        if hasattr(self, "_model"):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "model")
                self.save(path)
                with open(path, "rb") as file:
                    state["_bytes"] = file.read()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        content = state.pop("_bytes", None)
        self.__dict__.update(state)
        if content is not None:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "model")
                with open(path, "wb") as file:
                    file.write(content)
                model, job = _read(path, self.n_jobs, self.verbose)
            self._set(model, state.get("graph_"), job)


_LINK = np.dtype(
    [
        ("u", "i4"),
        ("v", "i4"),
        ("probability", "f4"),
        ("spread", "f4"),
        ("low", "f4"),
        ("high", "f4"),
        ("score", "f4"),
        ("known", "i4"),
    ]
)


def _describe(model: _c.Handle) -> _c.ModelInfo:
    info = _c.ModelInfo()
    _c.check(_c.lib.npgnn_model_describe, _c.byref(info), model.pointer)
    return info


def _check_search(search: Any) -> tuple[int, int]:
    """The kind of search, and how many candidates it retrieves per node; 0 is the library's number."""
    if isinstance(search, str) and search in _c.SEARCHES:
        return _c.SEARCHES.index(search), 0
    if isinstance(search, bool) or not isinstance(search, (int, np.integer)) or not 1 <= search < 1 << 31:
        raise ArgumentError(
            f"search must be one of {', '.join(_c.SEARCHES)}, or a number of candidates per node from 1 on, got {search!r}"
        )
    return _c.SEARCHES.index("candidates"), int(search)


def _search_info(options: _c.TopOptions) -> dict[str, Any]:
    """``search_info_`` after a search with these options."""
    info = options.info.contents
    found: dict[str, Any] = {"candidates": int(info.candidates)}
    for name, kind in (("checked", int), ("best", int), ("recall", float), ("low", float), ("high", float)):
        found[name] = kind(getattr(info, name)) if info.checked > 0 else None
    return found


def _check_prediction(samples: Any, link_rate: Any) -> tuple[int, float]:
    draws = -1 if samples is None else check_count(samples, "samples", 0)
    if link_rate is not None and not (isinstance(link_rate, (int, float, np.number)) and 0 < link_rate < 1):
        raise ArgumentError(f"link_rate must be above 0 and below 1, got {link_rate!r}")
    return draws, 0.0 if link_rate is None else float(link_rate)


def _read(path: Union[str, os.PathLike[str]], n_jobs: Optional[int], verbose: int) -> tuple[_c.Handle, _c.Job]:
    job = _c.Job(n_jobs, verbose)
    model = _c.Handle(_c.lib.npgnn_model_free, job)
    _c.check(_c.lib.npgnn_model_load, model.out(), check_path(path, "path"), _c.byref(job.env))
    return model, job


def load(
    path: Union[str, os.PathLike[str]],
    edges: Edges = None,
    nodes: Nodes = None,
    *,
    n_jobs: Optional[int] = None,
    verbose: int = 0,
    **graph_options: Any,
) -> LinkPredictor:
    """Reads a model that ``LinkPredictor.save`` or the program wrote.

    Parameters
    ----------
    path : str
        The file.
    edges, nodes, **graph_options : optional
        The graph to predict on, as for :class:`Graph`. Without it, call :meth:`LinkPredictor.with_graph` before
        predicting.

    Examples
    --------
    >>> import npgnn, os, tempfile
    >>> links = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (3, 4), (4, 5), (5, 3)]
    >>> path = os.path.join(tempfile.mkdtemp(), "m.safetensors")
    >>> npgnn.LinkPredictor("universal").fit(links).save(path)
    >>> npgnn.load(path, links).predict_proba([(1, 3)]).shape
    (1, 2)
    """
    model, job = _read(path, n_jobs, verbose)
    info = _describe(model)
    fitted, process = info.train_nodes > 0, bool(info.across_graphs)
    method = ("best" if fitted else UNIVERSAL) if process else "default"
    predictor = LinkPredictor(method, n_jobs=n_jobs, verbose=verbose)
    predictor._set(model, None, job)
    return predictor if edges is None else predictor.with_graph(edges, nodes, **graph_options)
