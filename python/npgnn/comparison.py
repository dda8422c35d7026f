"""Several methods on the same splits of a graph, with tests of their differences: what ``npgnn compare`` does."""

from __future__ import annotations

import ctypes
import html
from collections.abc import Iterable, Mapping
from typing import Any, Callable, Optional, Union

import numpy as np

from . import _c
from ._check import check_count, check_mapping, check_seed
from ._errors import ArgumentError, MismatchError
from .evaluation import Split, make_split_options, methods as method_names, run_evaluation, run_columns
from .evaluation import split as make_split
from .graph import Array, Edges, Graph, Nodes, as_graph, cells, is_frame, pair_indices, table
from .model import LinkPredictor, check_used, presets, warn_unweighted

METRICS = ("auc", "ap", "mrr")
LEAST_SEEDS = 6  # for p, as NPGNN_PAIRED_LEAST

#: Scores that something other than npgnn gives to the test pairs: a function of the split, the scores of each seed in
#: order of ``split.test_pairs``, or a table with the columns "seed", two ends, and "score".
Scores = Any


class Comparison:
    """The result of :func:`compare`. Printed, it is the two tables that the program prints.

    Attributes
    ----------
    reference : str
        The method that the others are compared with: the first.
    runs : DataFrame
        One row per method and seed: "method", "seed", "split" (the hash of the split), and the metrics as fractions of 1.
    summary : DataFrame
        One row per method: "method", then the mean and the standard deviation over the seeds of each metric ("auc",
        "auc_std", "ap", ...).
    differences : DataFrame
        One row per method and metric: "method", "metric", "difference" (mean over the seeds of the paired difference to the
        reference), "low" and "high" (its 95 % bootstrap interval), "better" and "worse" (seeds), and "p" of Wilcoxon's
        signed-rank test, NaN with fewer than 6 seeds. docs/use/evaluate.md says how to read them.
    """

    def __init__(self, protocol: str, runs: dict[str, dict[str, Any]], seed: int) -> None:
        self.protocol = protocol
        self.reference = next(iter(runs))
        self._values = {
            name: {metric: np.array(run[metric], np.float64) for metric in METRICS} for name, run in runs.items()
        }
        self._seeds = len(runs[self.reference]["seed"])
        self._hashes = [int(value, 16) for value in runs[self.reference]["split"]]
        every = [name for run in runs.values() for name in run]
        of_split = ("train_seconds", "full_ends", "emptied_links", "emptied_non_links", "emptied_auc", "test_links")
        columns = [name for name in dict.fromkeys(every) if name not in of_split]
        missing = [np.nan] * self._seeds
        self.runs = table(
            {
                "method": [name for name in runs for _ in range(self._seeds)],
                **{
                    name: [value for run in runs.values() for value in list(run.get(name, missing))] for name in columns
                },
            }
        )
        self._summary = {
            name: [_mean_and_deviation(values[metric]) for metric in METRICS] for name, values in self._values.items()
        }
        summary: dict[str, Any] = {"method": list(runs)}
        for i, metric in enumerate(METRICS):
            summary[metric] = np.array([row[i][0] for row in self._summary.values()])
            summary[metric + "_std"] = np.array([row[i][1] for row in self._summary.values()])
        self.summary = table(summary)
        self._rows = [
            (name, metric, _paired(values[metric], self._values[self.reference][metric], seed))
            for name, values in self._values.items()
            if name != self.reference
            for metric in METRICS
        ]
        differences: dict[str, Any] = {
            "method": [row[0] for row in self._rows],
            "metric": [row[1] for row in self._rows],
        }
        for column, member in (("difference", "mean"), ("low", "low"), ("high", "high")):
            differences[column] = np.array([getattr(row[2], member) for row in self._rows])
        for column in ("better", "worse"):
            differences[column] = np.array([getattr(row[2], column) for row in self._rows], np.int64)
        differences["p"] = np.array([row[2].p for row in self._rows])
        self.differences = table(differences)

    # ---- as text, like the program's tables ----

    def _title(self) -> str:
        digest = 0xCBF29CE484222325  # FNV-1a over the hashes of the splits
        for value in self._hashes:
            digest = (digest ^ value) * 0x100000001B3 % (1 << 64)
        if len(set(self._hashes)) == 1:
            digest = self._hashes[0]
        s = "" if self._seeds == 1 else "s"
        return f"{self.protocol}, {self._seeds} seed{s}, split{s} {digest:016x} (percent, mean ± sd)"

    def _mean_cells(self, name: str) -> list[str]:
        return [
            f"{100 * mean:.2f}" if std != std else f"{100 * mean:.2f} ± {100 * std:5.2f}"
            for mean, std in self._summary[name]
        ]

    def _difference_cells(self, row: tuple[str, str, Any]) -> list[str]:
        name, metric, found = row
        interval = "-" if found.low != found.low else f"{100 * found.low:+.2f} to {100 * found.high:+.2f}"
        p = "-" if found.p != found.p else f"{found.p:.1e}" if found.p < 0.0001 else f"{found.p:.4f}"
        return [
            name,
            metric.upper(),
            f"{100 * found.mean:+.2f}",
            interval,
            f"{found.better:3d} of {self._seeds:<3d}",
            p,
        ]

    def _notes(self) -> tuple[str, str]:
        first = f"difference from {self.reference}, 95 % interval over seeds, seeds that are better, p of Wilcoxon's signed-rank test"
        return first, (
            "" if self._seeds >= LEAST_SEEDS else "p needs at least 6 seeds: with fewer it cannot be below 0.05"
        )

    def __repr__(self) -> str:
        width = max(len("method"), *map(len, self._values))
        lines = [self._title(), "method".ljust(width) + "".join(f"  {metric.upper():>14}" for metric in METRICS)]
        for name in self._values:
            lines.append(name.ljust(width) + "".join(f"  {cell:>14}" for cell in self._mean_cells(name)))
        note, last = self._notes()
        lines += ["", note]
        lines.append(
            "method".ljust(width) + f"  metric    {'difference':>10}  {'95 % interval':>18}  {'better':>9}  {'p':>8}"
        )
        for row in self._rows:
            name, metric, difference, interval, better, p = self._difference_cells(row)
            lines.append(f"{name.ljust(width)}  {metric:<8}  {difference:>10}  {interval:>18}  {better:<10}  {p:>8}")
        return "\n".join(lines + ([last] if last else []))

    def _repr_html_(self) -> str:
        def rows(tag: str, lines: Iterable[Iterable[str]]) -> str:
            return "".join(
                "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in line) + "</tr>" for line in lines
            )

        note, last = self._notes()
        means = [[name, *self._mean_cells(name)] for name in self._values]
        differences = [self._difference_cells(row) for row in self._rows]
        heads = ["method", *(metric.upper() for metric in METRICS)], [
            "method",
            "metric",
            "difference",
            "95 % interval",
            "better",
            "p",
        ]
        return (
            f"<p>{html.escape(self._title())}</p><table>{rows('th', [heads[0]])}{rows('td', means)}</table>"
            f"<p>{html.escape(note)}</p><table>{rows('th', [heads[1]])}{rows('td', differences)}</table>"
            + (f"<p>{html.escape(last)}</p>" if last else "")
        )


def _mean_and_deviation(values: Array) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else float("nan")


def _paired(values: Array, reference: Array, seed: int) -> Any:
    found = _c.Paired()
    _c.check(
        _c.lib.npgnn_paired_compare,
        _c.byref(found),
        values.ctypes.data,
        reference.ctypes.data,
        len(values),
        seed,
        None,
    )
    return found


def compare(
    edges: Edges,
    nodes: Nodes = None,
    *,
    methods: Union[Iterable[Union[str, LinkPredictor]], Mapping[str, Union[str, LinkPredictor]]] = (
        "best",
        "universal",
    ),
    scores: Optional[Mapping[str, Scores]] = None,
    protocol: str = "transductive",
    seeds: int = 10,
    first_seed: int = 1,
    test: Optional[float] = None,
    val: Optional[float] = None,
    train_nodes: Optional[float] = None,
    known_links: Optional[float] = None,
    negative_ratio: Union[float, str] = 1.0,
    n_jobs: Optional[int] = None,
    verbose: int = 0,
    **graph_options: Any,
) -> Comparison:
    """Evaluates several methods on the same splits, one per seed, and tests the differences to the first. The figures are
    those of ``npgnn compare``.

    Parameters
    ----------
    edges, nodes, **graph_options
        As for :class:`Graph`.
    methods : list, or dict of names
        What is compared: presets, :func:`methods`, or LinkPredictors with options of their own, whose random_state is
        replaced with the seed.
    scores : dict, optional
        Scores of others, by name. A value is a function that gets a :class:`Split` and returns one score per pair of
        its ``test_pairs``; or a list of such scores, one per seed, or a dict by seed; or a DataFrame with the columns
        "seed", two ends and "score", in any order. A larger score means a likelier link; only the order counts. A
        function must look at ``split.train`` only, never at ``split.graph`` or ``split.test_labels``.
    protocol, seeds, first_seed, test, val, train_nodes, known_links, negative_ratio
        As for :func:`evaluate`. At least 6 seeds are needed for p-values.
    n_jobs, verbose
        As for :class:`LinkPredictor`.

    Returns
    -------
    Comparison
        Printed, it is a table of means and one of differences. Its attributes ``runs``, ``summary`` and
        ``differences`` are DataFrames.

    Examples
    --------
    >>> import npgnn
    >>> def common(split):
    ...     linked = {}
    ...     for u, v in split.train.edges:
    ...         linked.setdefault(u, set()).add(v)
    ...         linked.setdefault(v, set()).add(u)
    ...     return [len(linked.get(u, set()) & linked.get(v, set())) for u, v in split.test_pairs]
    >>> result = npgnn.compare("synthetic:nodes=200,seed=1", methods=["common-neighbors", "katz"], scores={"mine": common}, seeds=6)
    >>> [str(name) for name in result.summary["method"]]
    ['common-neighbors', 'katz', 'mine']
    >>> [float(value) for value in result.differences["difference"][3:]]  # the same method
    [0.0, 0.0, 0.0]
    """
    entrants = _list_methods(methods)
    check_mapping(scores, "scores", "a dict of names and scores")
    outside = dict(scores or {})
    for name in outside:
        if name in entrants:
            raise ArgumentError(f"scores: the name {name!r} is given twice; each method needs a name of its own")
        if not isinstance(name, str) or not name:
            raise ArgumentError(f"scores: the name of a method must be a string, got {name!r}")
    if len(entrants) + len(outside) < 2:
        raise ArgumentError("a comparison needs at least two methods: give more in methods or scores")
    count, first = check_count(seeds, "seeds", 1), check_seed(first_seed, "first_seed")
    how: dict[str, Any] = {
        "protocol": protocol,
        "test": test,
        "val": val,
        "train_nodes": train_nodes,
        "known_links": known_links,
        "negative_ratio": negative_ratio,
    }
    options = make_split_options(seed=0, **how)
    graph = as_graph(edges, nodes, **graph_options)
    warn_unweighted(graph, dict.fromkeys(method for method, _ in entrants.values()))
    # scores of others first, so that an error in them shows before a training
    found: dict[str, dict[str, Any]] = {name: {} for name in [*entrants, *outside]}
    readers = {name: _reader(name, given, graph, range(first, first + count)) for name, given in outside.items()}
    for seed in range(first, first + count if outside else first):
        division = make_split(graph, seed=seed, **how)
        for name, read in readers.items():
            _add_run(found[name], division, read(division, seed), name, seed)
    for name, (method, own) in entrants.items():
        job = _c.Job(n_jobs, verbose)
        found[name] = run_columns(run_evaluation(graph, method, own, options, count, first, job))
    hashes = next(iter(found.values()))["split"]
    for name, runs in found.items():
        if list(runs["split"]) != list(hashes):
            raise AssertionError(f"{name} was not tested on the same splits; please report this")
    return Comparison(protocol, found, first)


def _list_methods(given: Any) -> dict[str, tuple[str, dict[str, Any]]]:
    """Name: method and options."""
    if isinstance(given, (str, LinkPredictor)) or not isinstance(given, Iterable):
        raise ArgumentError(f"methods must be a list or a dict of methods, got {given!r}: write [{given!r}]")
    pairs = list(given.items()) if isinstance(given, Mapping) else [(one, one) for one in given]
    result: dict[str, tuple[str, dict[str, Any]]] = {}
    for name, one in pairs:
        if isinstance(one, LinkPredictor):
            name = repr(one) if name is one else name
            method, options = one.method, one.own_options()
        else:
            method, options = one, {}
        if not isinstance(name, str) or not name:
            raise ArgumentError(f"methods: the name of a method must be a string, got {name!r}")
        if not isinstance(method, str) or method not in presets() and method not in method_names():
            hint = "; functions and arrays go into scores" if callable(method) or hasattr(method, "__array__") else ""
            raise ArgumentError(f"methods: {method!r} is neither a preset nor one of npgnn.methods(){hint}")
        if name in result:
            raise ArgumentError(f"methods: {name!r} is given twice; each needs a name of its own")
        check_used(method, options)
        result[name] = (method, options)
    return result


def _reader(name: str, given: Scores, graph: Graph, seeds: range) -> Callable[[Split, int], Any]:
    """A function of split and seed that returns the scores of the test pairs."""
    what = f"scores[{name!r}]"
    if callable(given):
        return lambda division, seed: given(division)
    if is_frame(given) or isinstance(given, Mapping) and "score" in given:
        return _table_reader(what, given, graph, seeds)
    if isinstance(given, Mapping):
        if set(given) != set(seeds):
            raise ArgumentError(f"{what} has the seeds {sorted(given)}, but the seeds are {seeds[0]} to {seeds[-1]}")
        return lambda division, seed: given[seed]
    if not hasattr(given, "__len__") or isinstance(given, (str, bytes)):
        raise ArgumentError(
            f"{what} must be a function of a Split, a list with the scores of each seed, or a DataFrame, not {type(given).__name__}"
        )
    if len(given) != len(seeds):
        raise ArgumentError(f"{what} has the scores of {len(given)} splits, but there are {len(seeds)} seeds")
    return lambda division, seed: given[seed - seeds[0]]


def _table_reader(what: str, given: Any, graph: Graph, seeds: range) -> Callable[[Split, int], Any]:
    """Of a table with the columns "seed", two ends and "score"."""
    names = list(given.keys())
    for needed in ("seed", "score"):
        if needed not in names:
            raise ArgumentError(f"{what} has no column {needed!r}; it has {', '.join(map(repr, names[:8]))}")
    ends = [name for name in names if name not in ("seed", "score")]
    if len(ends) != 2:
        raise ArgumentError(
            f"{what} must have two columns with the ends of the pairs besides 'seed' and 'score', it has {len(ends)}"
        )
    pairs = pair_indices(graph, {name: given[name] for name in ends})
    number, score = np.asarray(cells(given["seed"])), np.asarray(cells(given["score"]), np.float64)
    for seed in np.unique(number).tolist():
        if seed not in seeds:
            raise ArgumentError(f"{what}: seed {seed} is not compared; the seeds are {seeds[0]} to {seeds[-1]}")
    pairs = np.sort(pairs, axis=1)

    def read(division: Split, seed: int) -> Array:
        rows = np.flatnonzero(number == seed).tolist()
        place = {tuple(pair): i for i, pair in enumerate(np.sort(division.test_indices, axis=1).tolist())}
        result = np.full(len(place), np.nan)
        seen = np.zeros(len(place), bool)
        for row in rows:
            at = place.get(tuple(pairs[row].tolist()))
            if at is None or seen[at]:
                u, v = (graph.nodes[i] for i in pairs[row].tolist())
                wrong = "has two scores for" if at is not None else f"row {row}: not a test pair of seed {seed}:"
                raise MismatchError(
                    f"{what} {wrong} {u!r} and {v!r}; npgnn.split(..., seed={seed}).test_pairs has the test pairs"
                )
            result[at], seen[at] = score[row], True
        if not seen.all():
            u, v = division.test_pairs[int(np.flatnonzero(~seen)[0])]
            raise MismatchError(
                f"{what}: {int((~seen).sum())} of {len(place)} test pairs of seed {seed} have no score, such as {u!r} and {v!r}"
            )
        return result

    return read


def _add_run(runs: dict[str, Any], division: Split, given: Any, name: str, seed: int) -> None:
    """Measures the scores of one seed."""
    what, labels = f"scores[{name!r}]", division.test_labels
    if hasattr(given, "detach"):
        given = given.detach().cpu().numpy()
    try:
        values = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"{what}: the scores of seed {seed} are not numbers") from None
    if values.shape != (len(labels),):
        raise ArgumentError(
            f"{what}: the scores of seed {seed} are of shape {values.shape}, but there are {len(labels)} test pairs: expected one "
            "score per pair of split.test_pairs"
        )
    if np.isnan(values).any():
        raise ArgumentError(f"{what}: score {int(np.flatnonzero(np.isnan(values))[0])} of seed {seed} is NaN")
    # the library takes floats, in which close scores would become ties: ranks take their place
    ranks = np.ascontiguousarray(np.unique(values, return_inverse=True)[1], np.float32).ravel()
    positives = int(labels.sum())
    auc, ap, mrr = ctypes.c_double(), ctypes.c_double(), ctypes.c_double()
    hits, at = np.zeros(3), np.array([1, 10, 100], np.int32)
    others, rest = ranks.ctypes.data + 4 * positives, len(ranks) - positives
    env = _c.byref(_c.QUIET.env)
    _c.check(_c.lib.npgnn_auc_ap, _c.byref(auc), _c.byref(ap), ranks.ctypes.data, others, positives, rest, env)
    _c.check(
        _c.lib.npgnn_mrr_hits,
        _c.byref(mrr),
        hits.ctypes.data,
        ranks.ctypes.data,
        others,
        positives,
        rest,
        at.ctypes.data,
        3,
        env,
    )
    row = {"seed": seed, "split": division.hash, "auc": auc.value, "ap": ap.value, "mrr": mrr.value}
    for metric, value in {**row, **dict(zip(("hits1", "hits10", "hits100"), hits.tolist()))}.items():
        runs.setdefault(metric, []).append(value)
