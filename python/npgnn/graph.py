"""Graphs, from whatever the caller has them in.

Every input becomes three things: the ids of the nodes in order, the links as pairs of indices, and the features as a
matrix or as a table of typed columns. Nodes are numbered as the program ``npgnn`` numbers them, so that both give the
same results.
"""

from __future__ import annotations

import copy
import ctypes
import html
import itertools
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import _c
from ._check import check_count, check_flags, check_mapping, check_path, warn
from ._errors import ArgumentError, MismatchError

Array = NDArray[Any]

#: What ``edges`` may be: a Graph, a DataFrame, a networkx.Graph, a scipy.sparse matrix, an array of shape (m, 2), a
#: PyG ``Data``, a list of pairs, or the path of a file.
Edges = Any

#: What ``nodes`` may be: a DataFrame or a mapping of columns, a matrix with one row per node (numpy or scipy.sparse),
#: a number of nodes, a list of ids, or the path of a file of features.
Nodes = Any


class Graph:
    """An undirected graph: nodes with ids, links, and features. It never changes.

    Parameters
    ----------
    edges : DataFrame, networkx.Graph, scipy.sparse matrix, array, PyG Data, list of pairs, or path
        The links, in any order and direction. Of a DataFrame, the two columns whose names are those of ends (such as
        "source" and "target", or "user_id" and "item_id"), or its only two. A sparse matrix is the adjacency
        matrix. A path is a file or a folder, or the name of a data set that was fetched. Directions are not used: a
        UserWarning says where the links seem to have them. Neither is the order of links and rows: nodes are numbered
        in the order of their ids, plain integers by value before all others by their bytes, and all results are the
        same to the bit in every order. Where the numbers of rows are the ids, as in matrices, these are the numbers.
    nodes : DataFrame, mapping of columns, matrix, int, list of ids, or path, optional
        The nodes and their features. The columns of a DataFrame are encoded by their dtypes: numbers are scaled,
        categories and strings become columns of 0 and 1 or of words, dates become numbers, and missing values get a
        column of their own. The ids are the index, or a column whose name says so. A matrix has one row per node and
        is taken as it is; row i is node i or, if the nodes of a networkx graph are not numbers from 0 on, the i-th of
        ``graph.nodes``.
    source, target : str, optional
        Columns of ``edges`` with the two ends of a link.
    weight : str or bool, optional
        Column or edge attribute with the weight of a link; True: the values of a sparse matrix, or the weights of a file.
        The weights of links that are given several times are added. False: links have no weights. None: the same, with a
        UserWarning where something looks like weights.
    time : str, optional
        Column or edge attribute with the time of a link: numbers or dates.
    id : str, optional
        Column of ``nodes`` with the ids.
    kinds : dict, optional
        Kinds of columns of ``nodes`` which replace the ones found from their dtypes and values: "number", "category",
        "flag", "date", "text", "raw" (a number that is not scaled) or "ignored".
    bipartite : bool, optional
        True: sources and targets are two kinds of nodes, whose ids have nothing in common. ``nodes`` then has the
        sources. A node is named by its id, or by the pair ("source", id) or ("target", id) if an id is on both sides. The
        rows of a sparse matrix are the sources, its columns the targets. The nodes of a networkx graph need an attribute
        "bipartite" that is 0 for sources and 1 for targets. False: there is one kind of nodes. None: the same, with a
        UserWarning where there seem to be two, such as users and items, and an error if they share an id.
    target_nodes : DataFrame, mapping of columns or list of ids, optional
        With ``bipartite``, the targets and their features.
    normalize : bool
        Divide each feature row by the sum of its absolute values.
    binarize : bool
        Replace every non-zero feature with 1.
    skip_bad_rows : bool
        Leave out links without an end, weight or time, and cells which are not of the kind of their column. False: they are
        errors.

    Examples
    --------
    >>> import npgnn
    >>> graph = npgnn.Graph([("anna", "bert"), ("bert", "carl")])
    >>> graph
    Graph(3 nodes, 2 links)
    >>> graph.nodes
    ['anna', 'bert', 'carl']
    >>> graph = npgnn.Graph([(0, 1), (1, 2)], {"age": [30, 41, None], "city": ["Rome", "Oslo", "Rome"]}, kinds={"city": "category"})
    >>> graph.feature_names
    ['age', 'age=(missing)', 'city=Rome', 'city=(other)']
    """

    nodes: list[Any]

    def __init__(
        self,
        edges: Edges,
        nodes: Nodes = None,
        *,
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
        _encoding: Optional[str] = None,
        _job: Optional[_c.Job] = None,
    ) -> None:
        self._handle = _c.Handle(_c.lib.npgnn_graph_free)
        self._index: Optional[dict[Any, int]] = None
        job = _job or _c.Job()
        unweighted, one_kind = weight is False, bipartite is not None and not bipartite  # said, rather than assumed
        weight = None if unweighted else weight
        bipartite = False if bipartite is None else bipartite
        check_flags(bipartite=bipartite, normalize=normalize, binarize=binarize, skip_bad_rows=skip_bad_rows)
        check_mapping(kinds, "kinds", "a dict of names of columns and kinds")
        is_path = isinstance(edges, (str, os.PathLike))
        if weight is True and not is_path and not _is_sparse(edges) and not _is_tensor(edges):
            raise ArgumentError(
                "weight=True is for a sparse matrix, whose values are the weights: give the name of a column or attribute"
            )
        if target_nodes is not None and not bipartite:
            raise ArgumentError("target_nodes needs bipartite=True: a graph with one kind of nodes has one table")
        if is_path:
            self._load(
                edges,
                nodes,
                source,
                target,
                weight,
                time,
                id,
                kinds,
                bipartite,
                target_nodes,
                normalize,
                binarize,
                skip_bad_rows,
                _encoding,
                job,
                unweighted,
                one_kind,
            )
            return
        links = _read_edges(edges, source, target, weight, time, skip_bad_rows, bipartite=bipartite)
        warnings = [] if bipartite or one_kind else _check_kinds(links)
        warnings += [note for kind, note in links.notes if kind == "weight" and not unweighted]
        if links.left_out:
            job.notice(f"edges: rows without two ends, or without a weight or time, were left out: {links.left_out}")
        ordered = None  # a matrix has the rows of a networkx graph in its order, unless its nodes are numbers from 0 on
        if nodes is None:
            nodes = links.nodes
        elif _is(edges, "networkx", "Graph") and not set(edges) == set(range(len(edges))):
            ordered = list(edges)
        first = _read_nodes(nodes, id, "nodes", kinds or {}, links, ordered)
        if id is not None and first.table is None and target_nodes is None:
            raise ArgumentError(f"id names the column {id!r} of nodes, but nodes is no table")
        data = _c.GraphData(normalize=normalize, binarize=binarize, skip_bad_cells=skip_bad_rows)
        keep = data.keep
        if bipartite:
            second = _read_nodes(
                target_nodes if target_nodes is not None else links.targets, id, "target_nodes", kinds or {}, links
            )
            names, pairs = _number_sides(links, first, second, data)
            tables = [(first, 0), (second, 1)]
            if first.matrix is not None or second.matrix is not None:
                raise ArgumentError(
                    "features of a graph with two sides must be tables: their columns differ from side to side"
                )
        else:
            names, pairs = _number(links, first)
            names, rank = _arrange(names, first)
            pairs = rank[pairs]
            tables = [(first, 0)]
        self.nodes = names
        unknown = set(kinds or {}) - {column for reading, _ in tables for column in reading.columns}
        if unknown:
            raise ArgumentError(f"kinds: nodes has no column {sorted(unknown)[0]!r}")
        data.nodes = len(names)
        data.edges = _pointer(pairs, keep)
        data.edge_count = len(pairs)
        if links.weights is not None:
            data.weights = _pointer(np.ascontiguousarray(links.weights, np.float32), keep)
        if links.times is not None:
            data.times = _pointer(np.ascontiguousarray(links.times, np.float64), keep)
        if not _are_indices(names):
            data.names = _strings(_texts(names), keep)
        _set_features(data, tables, _encoding, keep)
        job.run(_c.lib.npgnn_graph_new, self._handle.out(), _c.byref(data), _c.byref(_c.QUIET.env))
        for note in warnings if bipartite else warnings + self._directions(links):
            warn(note)

    def _directions(self, links: "_Links") -> list[str]:
        """What to say if links seem to have directions: those of an undirected graph are given once, or all twice."""
        info = self._info()
        one = info.edges - info.merged_reverse
        if not one or not (links.directed or info.merged_reverse):
            return []
        added = ", and the weights of both directions are added" if links.weights is not None else ""
        return [
            f"edges: directions are not used{added}: {one} of {info.edges} links are in one direction only. To say that links have "
            f"no direction, give {'' if links.directed else 'each once, or '}all in both directions"
        ]

    def _load(
        self,
        edges: Any,
        nodes: Any,
        source: Any,
        target: Any,
        weight: Any,
        time: Any,
        id: Any,
        kinds: Any,
        bipartite: bool,
        target_nodes: Any,
        normalize: bool,
        binarize: bool,
        skip_bad_rows: bool,
        encoding: Any,
        job: _c.Job,
        unweighted: bool,
        one_kind: bool,
    ) -> None:
        """Reads files, with the readers of the program."""
        for name, value in (("nodes", nodes), ("target_nodes", target_nodes)):
            if value is not None and not isinstance(value, (str, os.PathLike)):
                raise ArgumentError(
                    f"{name} must be the path of a file, because edges is one, not {type(value).__name__}"
                )
        path = os.fspath(edges)
        options = _c.LoadOptions(
            normalize=normalize, binarize=binarize, skip_bad_rows=skip_bad_rows, bipartite=bipartite
        )
        keep = options.keep
        for member, value in (
            ("features", nodes),
            ("target_features", target_nodes),
            ("source", source),
            ("target", target),
            ("weight", None if weight is True else weight),
            ("time", time),
            ("id", id),
            ("encoding", encoding),
        ):
            if value is not None:
                setattr(options, member, os.fsencode(value))
        options.weighted = weight is not None
        if kinds:
            chosen = [f"{column}:{kind}" for column, kind in kinds.items() if kind != "ignored"]
            ignored = [column for column, kind in kinds.items() if kind == "ignored"]
            options.kinds, options.kind_count = _strings(chosen, keep), len(chosen)
            options.ignored, options.ignored_count = _strings(ignored, keep), len(ignored)
        data: Optional[bytes] = os.fsencode(path)
        if nodes is not None or target_nodes is not None:
            options.edges, data = data, None
        job.notices = []
        job.run(_c.lib.npgnn_load, self._handle.out(), data, _c.byref(options), _c.byref(_c.QUIET.env))
        notices, job.notices = job.notices, None
        for notice in notices:
            if "look like two kinds of nodes" in notice and not one_kind:
                if "became one node" in notice:
                    raise ArgumentError(notice[:-1] + ", bipartite=False makes them one)")
                warn(notice)
            elif "ignoring directions" in notice:
                warn(notice)
            elif not unweighted and weight is None and re.search(r"ignoring (the weights|columns? '[^:]*$)", notice):
                warn(notice + "; weight= and time= use columns, weight=False leaves them out" * ("column" in notice))
        self._take_names()

    def _take_names(self) -> None:
        pointer, buffer = self._handle.pointer, ctypes.create_string_buffer(12)
        count = _c.lib.npgnn_graph_nodes(pointer)
        names = [_c.text(_c.lib.npgnn_graph_name(pointer, i, buffer)) for i in range(count)]
        self.nodes = list(range(count)) if all(name == str(i) for i, name in enumerate(names)) else names

    @classmethod
    def _adopt(cls, nodes: list[Any]) -> "Graph":
        graph = cls.__new__(cls)
        graph._handle = _c.Handle(_c.lib.npgnn_graph_free)
        graph._index = None
        graph.nodes = nodes
        return graph

    # ---- reading ----

    def _info(self) -> _c.GraphInfo:
        info = _c.GraphInfo()
        _c.check(_c.lib.npgnn_graph_describe, _c.byref(info), self._handle.pointer)
        return info

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(_c.lib.npgnn_graph_nodes(self._handle.pointer))

    @property
    def n_links(self) -> int:
        """Number of links, each counted once."""
        return int(_c.lib.npgnn_graph_edges(self._handle.pointer))

    @property
    def n_features(self) -> int:
        """Number of feature columns, after encoding."""
        return int(self._info().columns)

    @property
    def features(self) -> Any:
        """The features after encoding, as a scipy.sparse matrix in CSR of shape (n_nodes, n_features)."""
        import scipy.sparse

        info, pointer = self._info(), self._handle.pointer
        ptr = np.zeros(info.nodes + 1, np.int64)
        col, val = np.empty(info.nonzeros, np.int32), np.empty(info.nonzeros, np.float32)
        for i in range(info.nodes):
            at = int(ptr[i])
            ptr[i + 1] = at + _c.lib.npgnn_graph_features(
                col.ctypes.data + 4 * at, val.ctypes.data + 4 * at, pointer, i
            )
        return scipy.sparse.csr_matrix((val, col, ptr), (info.nodes, info.columns))

    @property
    def feature_names(self) -> Optional[list[str]]:
        """Names of the feature columns, after encoding; None if they have none."""
        names = [_c.lib.npgnn_graph_column_name(self._handle.pointer, i) for i in range(self.n_features)]
        return [_c.text(name) for name in names] if names and names[0] is not None else None

    @property
    def fingerprint(self) -> int:
        """A hash of links and features. The program prints the same one for the same graph (``npgnn info``)."""
        return int(self._info().fingerprint)

    @property
    def links(self) -> Array:
        """All links as indices into ``nodes``: an array of shape (n_links, 2), u < v, in order."""
        pairs = np.empty((self.n_links, 2), np.int32)
        _c.lib.npgnn_graph_list(pairs.ctypes.data, None, None, self._handle.pointer)
        return pairs

    @property
    def edges(self) -> list[tuple[Any, Any]]:
        """All links as pairs of ids, in order.

        Examples
        --------
        >>> import npgnn
        >>> npgnn.Graph([("bert", "anna"), ("bert", "carl"), ("bert", "anna")]).edges
        [('anna', 'bert'), ('bert', 'carl')]
        """
        return [(self.nodes[u], self.nodes[v]) for u, v in self.links.tolist()]

    @property
    def adjacency(self) -> Any:
        """The links as a symmetric scipy.sparse matrix in CSR of shape (n_nodes, n_nodes): 1, or the weights of a
        weighted graph."""
        import scipy.sparse

        pairs, weights = np.empty((self.n_links, 2), np.int32), np.ones(self.n_links, np.float32)
        given = weights.ctypes.data if self._info().weighted else None
        _c.lib.npgnn_graph_list(pairs.ctypes.data, given, None, self._handle.pointer)
        half = scipy.sparse.coo_matrix((weights, (pairs[:, 0], pairs[:, 1])), (self.n_nodes, self.n_nodes))
        return (half + half.T).tocsr()

    @property
    def encoding(self) -> Optional[str]:
        """How the columns of the table became features, as JSON; None if the features are a matrix."""
        value = _c.lib.npgnn_graph_encoding(self._handle.pointer)
        return None if value is None else _c.text(value)

    def columns(self) -> Any:
        """What became of each column of the table of nodes: a DataFrame, or an array if pandas is not installed.

        Examples
        --------
        >>> import npgnn
        >>> graph = npgnn.Graph([(0, 1), (1, 2)], {"age": [30, 41, None], "member": [True, False, True]})
        >>> [str(kind) for kind in graph.columns()["kind"]]
        ['number', 'flag']
        """
        rows: list[tuple[Any, ...]] = []
        column = _c.TableColumn()
        while _c.lib.npgnn_graph_table(_c.byref(column), self._handle.pointer, len(rows)):
            rows.append(
                (
                    _c.text(column.name),
                    _c.text(column.kind),
                    int(column.missing),
                    int(column.columns),
                    _c.text(column.summary),
                    _c.text(column.outcome),
                )
            )
        names = ("name", "kind", "missing", "features", "values", "becomes")
        return table({name: [row[i] for row in rows] for i, name in enumerate(names)})

    def index(self, node: Any) -> int:
        """The index of a node; KeyError if the graph does not have it."""
        if self._index is None:
            self._index = {name: i for i, name in enumerate(self.nodes)}
        try:
            return self._index[node]
        except (KeyError, TypeError):
            # a number that was read from a file is a string there
            found = self._index.get(str(node)) if not isinstance(node, str) else None
            if found is None:
                raise KeyError(_no_node(node)) from None
            return found

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the graph as a folder, which must not exist, or as one file if the path ends with ``.npg``. The program and
        ``npgnn.Graph(path)`` read both; a file is mapped into memory, and processes that use it share one copy."""
        _c.check(_c.lib.npgnn_graph_save, self._handle.pointer, check_path(path, "path"))

    def __repr__(self) -> str:
        counts = [(self.n_nodes, "node"), (self.n_links, "link"), (self.n_features, "feature")]
        parts = [f"{count} {name}{'' if count == 1 else 's'}" for count, name in counts if count or name != "feature"]
        return f"Graph({', '.join(parts)})"

    def _repr_html_(self) -> str:
        columns = self.columns()
        names = ("name", "kind", "missing", "features", "values", "becomes")
        head = "".join(f"<th>{name}</th>" for name in names)
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(columns[name][i]))}</td>" for name in names) + "</tr>"
            for i in range(len(columns))
        )
        return f"<p>{html.escape(repr(self))}</p>" + (f"<table><tr>{head}</tr>{rows}</table>" if rows else "")

    # ---- scikit-learn: a graph is an array of its links ----

    @property
    def shape(self) -> tuple[int, int]:
        """(n_links, 2): for scikit-learn, a graph is an array of its links."""
        return (self.n_links, 2)

    def __len__(self) -> int:
        return self.n_links

    def __getitem__(self, key: Any) -> "Graph":
        """The graph with all its nodes and some of its links: ``graph[[0, 3, 4]]``, ``graph[:100]``,
        ``graph[mask]``."""
        key = key[0] if isinstance(key, tuple) else key
        return self.with_links(self.links[key], _indices=True)

    def with_links(self, pairs: Any, *, _indices: bool = False) -> "Graph":
        """The same nodes and features with other links.

        Examples
        --------
        >>> import npgnn
        >>> graph = npgnn.Graph([("anna", "bert"), ("bert", "carl")])
        >>> graph.with_links([("anna", "carl")])
        Graph(3 nodes, 1 link)
        """
        found = np.ascontiguousarray(pairs if _indices else pair_indices(self, pairs), np.int32).reshape(-1, 2)
        other = Graph._adopt(self.nodes)
        _c.check(
            _c.lib.npgnn_graph_with_edges, other._handle.out(), self._handle.pointer, found.ctypes.data, len(found)
        )
        return other

    def __reduce__(self) -> Any:
        with tempfile.TemporaryDirectory() as scratch:
            folder = os.path.join(scratch, "graph")
            self.save(folder)
            files = {}
            for name in os.listdir(folder):
                with open(os.path.join(folder, name), "rb") as file:
                    files[name] = file.read()
        info = self._info()
        return _restore, (files, self.nodes, bool(info.weighted), bool(info.dated))


def _restore(files: dict[str, bytes], nodes: list[Any], weighted: bool, dated: bool) -> Graph:
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        graph = Graph(folder, weight="weight" if weighted else None, time="time" if dated else None)
    graph.nodes = nodes
    return graph


def as_graph(edges: Edges, nodes: Nodes = None, **options: Any) -> Graph:
    """The graph of what the caller gave."""
    if not isinstance(edges, Graph):
        return Graph(edges, nodes, **options)
    given = [name for name, value in options.items() if value not in (None, False) and not name.startswith("_")]
    if nodes is not None or given:
        raise ArgumentError(
            f"{'nodes' if nodes is not None else given[0]} cannot be given: edges is a Graph, which is complete"
        )
    return edges


def labelled_links(pairs: Any, y: Any, nodes: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The links among labelled pairs, and the nodes of all pairs, as the arguments of a Graph."""
    if np.ndim(_tensor(y) if _is_tensor(y) else y) != 1:
        raise ArgumentError(f"y must have a label of each pair, 0 or 1, not a {type(y).__name__}: nodes are given as nodes=")
    if (
        isinstance(pairs, (Graph, str, os.PathLike))
        or _is_sparse(pairs)
        or type(pairs).__module__.startswith("networkx.")
        or not (is_frame(pairs) or isinstance(pairs, Iterable))
    ):
        raise ArgumentError(
            f"y has labels of pairs, but X is a {type(pairs).__name__}: give a list, an array or a DataFrame of pairs, or no labels "
            "for a graph, which has links only"
        )
    if not is_frame(pairs) and not isinstance(pairs, (np.ndarray, Mapping)):
        pairs = list(pairs)
    chosen = [options.get(name) or None for name in ("source", "target", "weight", "time")]
    links = _read_edges(pairs, chosen[0], chosen[1], chosen[2], chosen[3], False, "X")
    labels = check_labels(y, len(links.left))
    if not labels.any():
        raise ArgumentError("y has no label 1, but a model learns from links")
    both = _add_names([], (links.left, links.right))
    keys = np.sort(both, axis=1) if not options.get("bipartite") else both
    _, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    place = place.reshape(-1)
    if len(first) < len(keys):
        mixed = labels != labels[first[place]]
        if mixed.any():
            i = int(np.flatnonzero(mixed)[0])
            pair = links.left.tolist()[i], links.right.tolist()[i]
            raise ArgumentError(f"y: the pair {pair!r} has the label 0 and the label 1")
        warn(
            f"X: pairs are given more than once ({len(keys) - len(first)} of {len(keys)}); where X is split, pairs of the training are "
            "then tested, and scores are too high: remove them"
        )
    if not labels.all():
        warn(
            f"y: pairs with label 0 ({int((~labels).sum())} of {len(labels)}) are not learnt from: a model learns from links, which "
            "have label 1, and draws pairs without a link itself"
        )
    if options.get("bipartite"):
        sides = [list(dict.fromkeys(end.tolist())) for end in (links.left, links.right)]
        options = {"target_nodes": sides[1], **{k: v for k, v in options.items() if k != "target_nodes" or v is not None}}
        nodes = sides[0] if nodes is None else nodes
    elif nodes is None:
        nodes = _number(links, _Nodes())[0]
    if is_frame(pairs):
        pairs = pairs[labels]
    elif isinstance(pairs, Mapping):
        pairs = {name: cells(values)[labels] for name, values in pairs.items()}
    else:
        pairs = pairs[labels] if isinstance(pairs, np.ndarray) else list(itertools.compress(pairs, labels))
    return pairs, {"nodes": nodes, **options}


def check_labels(y: Any, count: int, name: str = "y") -> Array:
    """Labels of pairs as booleans."""
    labels = np.asarray(_tensor(y) if _is_tensor(y) else y)
    if labels.shape != (count,) or not np.isin(labels, (0, 1)).all():
        hint = "; nodes and their features are given as nodes=" if name == "y" else ""
        raise ArgumentError(f"{name} must be {count} values of 0 and 1, one per pair{hint}")
    return labels.astype(bool)


def number_ends(pairs: Any) -> Array:
    """Pairs as numbers of their ends, for dividing them: two kinds of nodes have numbers of their own."""
    if isinstance(pairs, Graph):
        return pairs.links
    links = _read_edges(pairs, None, None, None, None, False)
    if links.ends is None or not _c.lib.npgnn_names_are_two_kinds(*(name.encode() for name in links.ends)):
        return _add_names([], (links.left, links.right))
    left, right = (_add_names([], (end,)) for end in (links.left, links.right))
    return np.hstack([left, right + len(left)])


def pair_indices(graph: Graph, pairs: Any) -> Array:
    """Pairs of ids as indices (count, 2)."""
    if isinstance(pairs, Graph):
        if pairs.nodes is not graph.nodes and pairs.nodes != graph.nodes:
            raise MismatchError("pairs is a graph with other nodes than the model's")
        return pairs.links
    if isinstance(pairs, np.ndarray) and pairs.size == 0:
        return np.empty((0, 2), np.int32)
    links = _read_edges(pairs, None, None, None, None, False, "pairs")
    if len(links.left) == 0:
        return np.empty((0, 2), np.int32)
    if links.left.dtype.kind in "iu" and _are_indices(graph.nodes):
        found = np.column_stack([links.left, links.right])
        wrong = (found < 0) | (found >= graph.n_nodes)
        if wrong.any():
            raise KeyError(_no_node(int(found[wrong][0])))
        return found.astype(np.int32)
    flat = [graph.index(node) for ends in (links.left, links.right) for node in ends.tolist()]
    return np.array(flat, np.int32).reshape(2, -1).T.copy()


# ---- links ----


def _no_node(node: Any) -> str:
    return f"the graph has no node {node!r} (nodes without links are given as nodes=)"


class _Links:
    """Links as they were given: ids, and what else was in the same object."""

    def __init__(
        self,
        left: Any,
        right: Any,
        weights: Any = None,
        times: Any = None,
        nodes: Any = None,
        targets: Any = None,
        directed: bool = False,
    ) -> None:
        self.left, self.right = _ids(left), _ids(right)
        self.weights, self.times = weights, times
        self.nodes = nodes  # a table, a matrix, a number or a list of ids that came with the links
        self.targets = targets  # the same of the second side
        self.left_out = 0  # bad rows
        self.directed = directed  # given as what has directions, such as a networkx.DiGraph
        self.ends: Optional[tuple[str, str]] = None  # names of the columns
        self.rows_are_nodes = False  # of a matrix: row i is the i-th source, column j the j-th target
        self.notes: list[tuple[str, str]] = []  # assumptions: about what, and what to say


def _objects(values: Iterable[Any]) -> Array:
    """An array of objects, one per value: numpy would take tuples for rows."""
    return np.fromiter(values, object)


def _ids(values: Any) -> Array:
    array = cells(values)
    if array.ndim != 1:
        raise ArgumentError(f"the ids of nodes must be one column, not an array of shape {array.shape}")
    if array.dtype.kind in "bmM":
        raise ArgumentError(f"a column of type {array.dtype} cannot have the ids of nodes")
    if array.dtype.kind == "i" or array.dtype.kind == "u" and int(array.max(initial=0)) <= _INT64:
        return array.astype(np.int64, copy=False)
    ids = array.tolist()
    if any(issubclass(kind, (float, np.floating)) for kind in set(map(type, ids))):
        ids = [_whole(value) for value in ids]
        if _plain(ids):
            return np.array(ids, np.int64)
    return _objects(ids)


_INT64 = np.iinfo(np.int64).max


def _whole(value: Any) -> Any:
    """An id that a missing value elsewhere in its column has turned into a float: an integer again. None: missing."""
    if not isinstance(value, (float, np.floating)):
        return value
    if value != value or abs(value) == np.inf:
        return None
    if value != np.floor(value):
        raise ArgumentError(f"{value!r} cannot be the id of a node, which is an integer, a string or another name")
    if abs(float(value)) > 1 << 53:
        raise ArgumentError(
            f"the id {value!r} is a float, which has lost digits of an integer above 2^53: read the ids as integers or strings"
        )
    return int(value)


def _list(values: Any) -> list[Any]:
    return values.tolist() if hasattr(values, "tolist") else list(values)


def _plain(values: list[Any]) -> bool:
    return all(isinstance(value, (int, np.integer)) and not isinstance(value, bool) for value in values)


def _missing(value: Any) -> bool:
    return value is None or value is _pandas_na() or (isinstance(value, float) and value != value) or value == ""


def _missing_ids(ids: Array) -> Array:
    values = ids.tolist()
    if set(map(type, values)) <= {str, int} and "" not in values:  # the usual case, quickly
        return np.zeros(len(values), bool)
    return np.fromiter(map(_missing, values), bool, len(values))


def _pandas_na() -> Any:
    pandas = sys.modules.get("pandas")
    return pandas.NA if pandas is not None else _missing


def _is(value: Any, module: str, *names: str) -> bool:
    """Whether a value is of a class of a module, which is not imported for that."""
    return any(kind.__module__.split(".")[0] == module and kind.__name__ in names for kind in type(value).__mro__)


def is_frame(value: Any) -> bool:
    return _is(value, "pandas", "DataFrame")


def _is_sparse(value: Any) -> bool:
    return hasattr(value, "tocoo") and type(value).__module__.startswith("scipy.sparse")


def _is_tensor(value: Any) -> bool:
    return _is(value, "torch", "Tensor")


def _read_edges(
    edges: Any,
    source: Any,
    target: Any,
    weight: Any,
    time: Any,
    skip: bool,
    what: str = "edges",
    bipartite: bool = False,
) -> _Links:
    columns = [
        name
        for name, value in (("source", source), ("target", target), ("weight", weight), ("time", time))
        if value is not None
    ]
    if _is_tensor(edges):
        edges = _from_tensor(edges, what)
    if _is(edges, "networkx", "Graph"):
        links = _from_networkx(edges, weight, time, bipartite)
    elif type(edges).__module__.startswith("networkx.") and not columns:  # graph.edges, which is also a Mapping
        links = _from_view(edges, what)
    elif _is(edges, "pandas", "Series"):
        raise ArgumentError(f"{what} is a pandas.Series: give a DataFrame with a column for each end, such as its reset_index()")
    elif is_frame(edges) or isinstance(edges, Mapping):
        links = _from_columns(edges, source, target, weight, time, what)
    elif _is(edges, "torch_geometric", "HeteroData"):
        raise ArgumentError(
            f"{what} is a HeteroData: give the edge_index of one type of edges and, if its ends are of two types, bipartite=True "
            "with nodes and target_nodes as tables"
        )
    elif hasattr(edges, "edge_index"):
        links = _from_pyg(edges, weight, time)
    elif _is_sparse(edges) and columns in ([], ["weight"]) and weight in (None, True):
        links = _from_matrix(edges, weight is not None, bipartite, what)
    elif columns:
        hint = ": weight=True takes the values of the matrix" if _is_sparse(edges) and columns[0] == "weight" else ""
        raise ArgumentError(
            f"{columns[0]} names a column, but {what} has none: it is of type {type(edges).__name__}{hint}"
        )
    elif isinstance(edges, np.ndarray):
        if edges.ndim != 2 or edges.shape[1] != 2:
            hint = ""
            if edges.ndim == 2 and edges.shape[0] == 2:
                hint = ": transpose it"
            elif edges.ndim == 2 and edges.shape[0] == edges.shape[1] or bipartite:
                hint = "; make an adjacency matrix sparse: scipy.sparse.csr_matrix(matrix)"
            elif edges.ndim == 2 and edges.shape[1] > 2:
                hint = "; for weights or times, give columns: pandas.DataFrame(array), and source=, target= and weight= or time="
            raise ArgumentError(f"{what} is an array of shape {edges.shape}: expected (links, 2){hint}")
        links = _Links(edges[:, 0], edges[:, 1])
    elif isinstance(edges, Iterable) and not isinstance(edges, (str, bytes)):
        links = _from_pairs(edges, what)
    else:
        raise ArgumentError(
            f"{what} cannot be a {type(edges).__name__}: give a DataFrame, an array of shape (links, 2), a list of pairs, "
            "a networkx.Graph, a scipy.sparse matrix or a PyG Data"
        )
    return _without_missing(links, skip, what)


def _from_tensor(tensor: Any, what: str) -> Any:
    """PyG's edge_index as an array (links, 2); a sparse tensor as a matrix of scipy."""
    array = _tensor(tensor)
    if _is_sparse(array):
        return array
    if array.ndim != 2 or array.shape[0] != 2:
        hint = "; transpose it" if array.ndim == 2 and array.shape[1] == 2 else ""
        raise ArgumentError(
            f"{what} is a tensor of shape {tuple(array.shape)}: expected (2, links), as PyG's edge_index{hint}"
        )
    return array.T


def _tensor(tensor: Any) -> Any:
    """A tensor as an array, a sparse one as a matrix of scipy. Both share its memory where they can."""
    tensor = tensor.detach().cpu()
    if str(tensor.dtype) == "torch.bfloat16":  # which numpy does not have
        tensor = tensor.float()
    if str(tensor.layout) == "torch.strided":
        return tensor.numpy()
    import scipy.sparse

    tensor = tensor.to_sparse_coo().coalesce()
    return scipy.sparse.coo_matrix((tensor.values().numpy(), tensor.indices().numpy()), tuple(tensor.shape))


def _from_matrix(matrix: Any, weighted: bool, bipartite: bool, what: str) -> _Links:
    """An adjacency matrix. Of a symmetric one, each link is taken once: the weights of both directions are added. With two
    sides, rows are the sources and columns the targets."""
    import scipy.sparse

    matrix = matrix.tocoo()
    if matrix.dtype.kind == "b":
        matrix = matrix.astype(np.int8)
    if not np.isfinite(matrix.data).all():
        raise ArgumentError(f"{what} is a matrix with values that are not finite")
    if not bipartite and matrix.shape[0] != matrix.shape[1]:
        raise ArgumentError(
            f"{what} is a matrix of shape {matrix.shape}, but an adjacency matrix is square: with bipartite=True, rows and columns "
            "are two kinds of nodes"
        )
    directed = False  # a triangle has each link once
    if not bipartite and (matrix.row < matrix.col).any() and (matrix.row > matrix.col).any():
        directed = (abs(matrix - matrix.T) > 0).nnz > 0 if weighted else True
        if weighted and not directed:
            matrix = scipy.sparse.triu(matrix).tocoo()
    kept = matrix.data != 0
    links = _Links(
        matrix.row[kept].astype(np.int64),
        matrix.col[kept].astype(np.int64),
        matrix.data[kept] if weighted else None,
        nodes=matrix.shape[0],
        targets=matrix.shape[1] if bipartite else None,
        directed=directed,
    )
    links.rows_are_nodes = bipartite
    if not weighted:
        _note_weights(links, f"{what}: the values of the matrix", matrix.data[kept], "weight=True makes them weights of links")
    return links


def _note_weights(links: _Links, what: str, values: Array, how: str) -> None:
    """Notes that values that may be weights are not used, unless all are the same."""
    if values.dtype.kind not in "iufb":
        return
    values = values[np.isfinite(values)]
    if len(values) and (values != values[0]).any():
        text = f"{what}, from {values.min():g} to {values.max():g}, are not used: {how}, which some methods use"
        if np.isin(values, (0, 1)).all():
            text = f"{what} are 0 and 1, but all rows were taken for links: fit(X, y) takes labels of pairs; {how}"
        links.notes.append(("weight", f"{text}; weight=False says that they are not needed"))


def _from_pairs(edges: Iterable[Any], what: str) -> _Links:
    left, right = [], []
    for i, pair in enumerate(edges):
        if isinstance(pair, (str, bytes)) or not isinstance(pair, (Sequence, np.ndarray)) or len(pair) != 2:
            hint = ""
            if i == 0 and isinstance(edges, tuple) and len(edges) == 2:
                hint = f": write [{edges!r}]"
            elif isinstance(pair, tuple) and len(pair) == 3:
                hint = "; for weights or times, give columns: a DataFrame, and weight= or time="
            raise ArgumentError(f"{what}[{i}] is {pair!r}: expected a pair of nodes{hint}")
        left.append(pair[0])
        right.append(pair[1])
    return _Links(left, right)


def _from_view(edges: Any, what: str) -> _Links:
    """The edges of a networkx graph, with data or without."""
    ends = list(edges)
    links = _from_pairs([end[:2] for end in ends], what)
    links.directed = type(edges).__name__.startswith(("Out", "In"))  # views of directed graphs
    data = [end[-1].get("weight", 1) if isinstance(end[-1], Mapping) else end[-1] for end in ends if len(end) > 2]
    values = _objects(data)
    if not _is(edges, "networkx", "OutMultiEdgeDataView") and data and _plain_numbers(values):  # there, a number may be a key
        how = "the graph itself instead of its edges, with weight= or time=, uses them"
        _note_weights(links, f"{what}: the data of the edges", values.astype(np.float64), how)
    return links


_NEIGHBOURS = "a dict of neighbours is a networkx graph: networkx.Graph(edges)"


def _from_columns(edges: Any, source: Any, target: Any, weight: Any, time: Any, what: str) -> _Links:
    names = list(edges.keys())
    if not is_frame(edges):
        _check_names(names, what, _NEIGHBOURS)
    for argument, column in (("source", source), ("target", target), ("weight", weight), ("time", time)):
        if column is not None and column not in names:
            raise ArgumentError(
                f"{argument}: {what} has no column {column!r}; it has {', '.join(map(repr, names[:8]))}"
            )
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ArgumentError(f"{what} has two columns with the name {twice!r}: rename one")
    others = [name for name in names if name not in (weight, time)]
    source, target = _find_ends(others, source, target, edges, what)
    links = _Links(
        cells(edges[source]),
        cells(edges[target]),
        None if weight is None else _weights(cells(edges[weight]), weight),
        None if time is None else _times(edges[time], time),
    )
    links.ends = str(source), str(target)
    if not is_frame(edges) and any(name in end.tolist() for name in (source, target) for end in (links.left, links.right)):
        raise ArgumentError(f"{what} is a dict whose keys are nodes: {_NEIGHBOURS}")
    for name in others if weight is None else []:
        if name not in (source, target) and not _c.lib.npgnn_name_is_id(str(name).encode()):
            values = cells(edges[name])
            if values.dtype.kind == "O" and _plain_numbers(values):
                values = values.astype(np.float64)
            if not np.array_equal(values, np.arange(len(values))):  # not the numbers of the rows
                _note_weights(links, f"{what}: the values of the column {name!r}", values, f"weight={name!r} makes them weights of links, time={name!r} times")
    return links


def _plain_numbers(values: Array) -> bool:
    return set(map(type, values.tolist())) <= {int, float}


def _find_ends(names: list[Any], source: Any, target: Any, edges: Any, what: str) -> tuple[Any, Any]:
    """The columns with the ends of the links: those that were given, otherwise by their names, otherwise the only two."""

    def fit(a: Any, b: Any) -> bool:
        return bool(a != b and _c.lib.npgnn_names_are_ends(str(a).encode(), str(b).encode()))

    found: list[tuple[Any, Any]] = []
    if source is not None and target is not None:
        return source, target
    given = source if source is not None else target
    if given is not None:
        rest = [name for name in names if name != given]
        close = [name for name in rest if fit(given, name) or fit(name, given)]
        found = [(given, name) if source is not None else (name, given) for name in close or rest if close or len(rest) == 1]
    else:
        found = [(a, b) for a in names for b in names if fit(a, b)]
        if not found and (len(names) == 2 or names[:2] == [0, 1] and not _has_words(cells(edges[names[2]]))):
            found = [(names[0], names[1])]  # 0 and 1: a table without names; with words in a third column, it may be triples
    if not found:
        hint = ""
        if len(names) < 2 and is_frame(edges) and any(name is not None for name in edges.index.names):
            hint = "; reset_index() makes columns of its index"
        elif len(names) > 2:
            hint = (
                f": their names, {', '.join(map(repr, names[:8]))}, do not say which two. "
                + ("Give source= and target=" if what == "edges" else "Give these two alone")
            )
        raise ArgumentError(f"{what} needs two columns with the ends of the links, it has {len(names)}{hint}")
    return found[0]


def _has_words(values: Array) -> bool:
    """Whether a column has texts that are neither numbers nor dates."""
    words = [value for value in values.tolist() if isinstance(value, str) and value] if values.dtype.kind in "OUT" else []
    try:
        _times(_objects(words), "")
        return False
    except ArgumentError:
        return True


def _check_kinds(links: _Links) -> list[str]:
    """What to say if the ends seem to be two kinds of nodes. An error if ids of both would become one node."""
    if links.ends is None or not _c.lib.npgnn_names_are_two_kinds(*(name.encode() for name in links.ends)):
        return [note for kind, note in links.notes if kind == "sides"]
    source, target = links.ends
    targets = set(links.right.tolist())
    both = [name for name in dict.fromkeys(links.left.tolist()) if name in targets]
    if both:
        raise ArgumentError(
            f"edges: {source!r} and {target!r} look like two kinds of nodes, but ids are in both columns, such as "
            f"{both[0]!r} ({len(both)} in all): bipartite=True keeps the two kinds apart, bipartite=False makes one node of "
            "each such id"
        )
    return [
        f"edges: {source!r} and {target!r} look like two kinds of nodes, but were taken for one, in which any two nodes may be linked: "
        "bipartite=True predicts links between the two kinds only, bipartite=False says that there is one kind"
    ]


def _check_names(names: list[Any], what: str, otherwise: str) -> None:
    """Of a dict: its keys are names of columns."""
    wrong = next((name for name in names if not isinstance(name, str)), None)
    if wrong is not None:
        raise ArgumentError(f"{what} is a dict with the key {wrong!r}: the keys must be names of columns; {otherwise}")


def cells(column: Any) -> Array:
    if hasattr(column, "to_numpy"):
        return np.asarray(column.to_numpy())
    if isinstance(column, np.ndarray):
        return column
    values = _list(column)
    if values and _plain(values):
        array = np.asarray(values)
        if array.dtype.kind in "iu":  # numpy makes floats of integers above and below 2^63
            return array
    return _objects(values)


def _weights(values: Any, name: Any) -> Array:
    """Missing ones are NaN."""
    try:
        return np.array([np.nan if _missing(value) else value for value in values], np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"weight: {name!r} has values that are not numbers: {error}") from None


def _times(column: Any, name: Any) -> Array:
    """Numbers as they are, dates as days since 1970; missing ones are NaN."""
    if str(getattr(column, "dtype", "")).startswith("datetime64[") and getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert(None)  # UTC
    values = cells(column)
    try:
        if values.dtype.kind == "O":
            values = _objects(None if _missing(value) else value for value in values.tolist())
        if values.dtype.kind not in "iufM":
            try:
                return values.astype(np.float64)
            except (TypeError, ValueError):
                values = values.astype("datetime64[ns]")
        if values.dtype.kind == "M":
            days = values.astype("datetime64[ns]").astype(np.int64) / 86400e9
            return np.asarray(np.where(np.isnat(values), np.nan, days), np.float64)
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"time: {name!r} has values that are neither numbers nor dates such as 2024-12-31 ({error}); "
            "pandas.to_datetime reads other formats"
        ) from None


def _from_networkx(graph: Any, weight: Optional[str], time: Optional[str], bipartite: bool) -> _Links:
    ends = list(graph.edges(data=True))
    for argument, attribute in (("weight", weight), ("time", time)):
        if attribute is not None and ends and not any(attribute in end[2] for end in ends):
            raise ArgumentError(f"{argument}: no edge of the networkx graph has the attribute {attribute!r}")
    pairs = [(end[0], end[1]) for end in ends]
    rows: Any = dict(graph.nodes(data=True))
    sides = [list(rows)]
    if bipartite:  # networkx's convention: an attribute that is 0 for the sources and 1 for the targets
        side = {node: data.get("bipartite") for node, data in rows.items()}
        wrong = next((node for node, value in side.items() if value not in (0, 1)), None)
        if wrong is not None:
            raise ArgumentError(
                f"bipartite: node {wrong!r} of the networkx graph needs an attribute 'bipartite' that is 0 for sources and 1 for targets"
            )
        same = next((pair for pair in pairs if side[pair[0]] == side[pair[1]]), None)
        if same is not None:
            raise ArgumentError(f"bipartite: the nodes {same[0]!r} and {same[1]!r} are linked, but on the same side")
        pairs = [pair if side[pair[0]] == 0 else (pair[1], pair[0]) for pair in pairs]
        sides = [[node for node in rows if side[node] == i] for i in (0, 1)]
    two_sides = not bipartite and {data.get("bipartite") for data in rows.values()} == {0, 1}
    tables: list[Any] = []
    for ids in sides:
        names = {name for node in ids for name in rows[node] if not (bipartite and name == "bipartite")}
        columns = {str(name): [rows[node].get(name) for node in ids] for name in sorted(names, key=str)}
        tables.append(_Table(columns, ids) if columns else ids)
    links = _Links(
        [pair[0] for pair in pairs],
        [pair[1] for pair in pairs],
        None if weight is None else _weights([end[2].get(weight, 1) for end in ends], weight),
        None if time is None else _times(_objects(end[2].get(time) for end in ends), time),
        tables[0],
        tables[1] if bipartite else None,
        directed=graph.is_directed(),
    )
    if two_sides:
        links.notes.append(
            (
                "sides",
                "edges: the nodes have the attribute 'bipartite', but were taken for one kind: bipartite=True predicts links between "
                "the two sides only, bipartite=False says that there is one kind",
            )
        )
    given = _objects(end[2].get("weight", 1) for end in ends)
    if weight is None and _plain_numbers(given):
        what = "edges: the values of the attribute 'weight'"
        _note_weights(links, what, given.astype(np.float64), "weight='weight' makes them weights of links")
    return links


def _from_pyg(data: Any, weight: Optional[str], time: Optional[str]) -> _Links:
    ends, values = _tensor(data.edge_index), dict[str, Array]()
    for argument, name in (("weight", weight), ("time", time)):
        if name is None:
            continue
        if getattr(data, name, None) is None:
            raise ArgumentError(f"{argument}: the Data has no attribute {name!r}")
        values[argument] = _tensor(getattr(data, name)).reshape(-1)
        if len(values[argument]) != ends.shape[1]:
            raise ArgumentError(
                f"{argument}: {name!r} has {values[argument].size} values, but there are {ends.shape[1]} edges"
            )
    if "weight" in values and "time" not in values and ends.size:  # usually both directions, as in a matrix
        import scipy.sparse

        count = int(ends.max()) + 1
        links = _from_matrix(scipy.sparse.coo_matrix((values["weight"], ends), (count, count)), True, False, "edges")
    else:  # PyG has both directions of a link without direction
        links = _Links(ends[0], ends[1], values.get("weight"), values.get("time"), directed=True)
    for name in ("edge_weight", "edge_attr") if weight is None else ():
        given = getattr(data, name, None)
        if given is not None and name != time and _tensor(given).size == ends.shape[1]:
            what = f"edges: the values of {name}"
            _note_weights(links, what, _tensor(given).reshape(-1), f"weight={name!r} makes them weights of links")
    x = getattr(data, "x", None)
    links.nodes = int(data.num_nodes) if x is None else x
    return links


def _without_missing(links: _Links, skip: bool, what: str) -> _Links:
    """Without links that have no end, weight or time: with `skip` they are left out, otherwise they are errors."""
    if len(links.left) != len(links.right):
        raise ArgumentError(f"{what}: {len(links.left)} sources, but {len(links.right)} targets")
    bad = np.zeros(len(links.left), bool)
    checks: list[tuple[str, Any]] = []
    if links.left.dtype == object or links.right.dtype == object:
        checks.append(("has no node at one end", _missing_ids(links.left) | _missing_ids(links.right)))
    if links.weights is not None:
        weights = np.asarray(links.weights, np.float64)
        checks.append(("has no weight", np.isnan(weights)))
        checks.append(
            ("has a weight that is not positive and finite", ~np.isnan(weights) & ~((weights > 0) & (weights < np.inf)))
        )
    if links.times is not None:
        checks.append(("has no time", ~np.isfinite(np.asarray(links.times, np.float64))))
    for problem, found in checks:
        if found.any() and not skip:
            how = "remove such rows, and their labels" if what == "X" else "skip_bad_rows=True leaves such rows out"
            raise ArgumentError(f"{what}: the link in row {int(np.flatnonzero(found)[0])} {problem}; {how} ({int(found.sum())})")
        bad |= found
    if not bad.any():
        return links
    good, kept = ~bad, copy.copy(links)
    kept.left, kept.right = links.left[good], links.right[good]
    kept.weights = None if links.weights is None else np.asarray(links.weights)[good]
    kept.times = None if links.times is None else np.asarray(links.times)[good]
    kept.left_out = int(bad.sum())
    return kept


# ---- nodes ----


class _Table:
    """Columns with the ids of their rows."""

    def __init__(self, columns: Mapping[str, Any], ids: Optional[list[Any]]) -> None:
        self.columns, self.ids = columns, ids


class _Nodes:
    """Nodes as they were given."""

    def __init__(self) -> None:
        self.ids: Optional[list[Any]] = None  # of the rows; None: row i is node i
        self.rows = 0
        self.count: Optional[int] = None  # nodes, where that is all that is known
        self.matrix: Any = None
        self.matrix_names: Optional[list[str]] = None
        self.columns: dict[str, Any] = {}
        self.kinds: Mapping[str, str] = {}
        self.place: Any = None  # the node of each row; None: row i is node i
        self.table: Any = None  # the table as it was given, for messages


def _read_nodes(
    nodes: Any,
    id: Optional[str],
    what: str,
    kinds: Mapping[str, str],
    links: _Links,
    ordered: Optional[list[Any]] = None,
) -> _Nodes:
    result = _Nodes()
    result.kinds = kinds
    if nodes is None:
        return result
    if _is(nodes, "pandas", "Series"):
        nodes = nodes.to_frame(nodes.name if nodes.name is not None else "value")
    if isinstance(nodes, (str, os.PathLike)):
        raise ArgumentError(
            f"{what} is the path {os.fspath(nodes)!r}, but edges is not a path: read both in Python, such as with "
            "pandas.read_csv, or give both as paths"
        )
    if isinstance(nodes, (bool, bytes)):
        raise ArgumentError(f"{what} must be a table, a matrix, a list of ids or a number of nodes, not {nodes!r}")
    if isinstance(nodes, (int, np.integer)):
        result.count = check_count(nodes, what, 0)
    elif isinstance(nodes, _Table):
        result.ids, result.columns = nodes.ids, dict(nodes.columns)
        result.rows = len(next(iter(result.columns.values())))
    elif is_frame(nodes) or isinstance(nodes, Mapping):
        _read_table(result, nodes, id, what, links)
    elif _is_tensor(nodes) or _is_sparse(nodes) or (isinstance(nodes, np.ndarray) and nodes.ndim == 2):
        result.matrix = _tensor(nodes) if _is_tensor(nodes) else nodes
        if result.matrix.ndim != 2 or result.matrix.dtype.kind not in "fiub":
            raise ArgumentError(
                f"{what} must be a matrix of numbers with one row per node, got {result.matrix.dtype} of shape "
                f"{tuple(result.matrix.shape)}"
            )
        result.rows = result.matrix.shape[0]
        if ordered is not None:
            if result.rows != len(ordered):
                raise ArgumentError(
                    f"{what} has {result.rows} rows, but the networkx graph has {len(ordered)} nodes: expected one row per node, in "
                    "the order of graph.nodes"
                )
            result.ids = ordered
    elif isinstance(nodes, Iterable):
        result.ids = _ids(nodes).tolist()
        result.rows = len(result.ids)
        if _are_indices(result.ids):
            result.count, result.rows, result.ids = len(result.ids), 0, None
    else:
        raise ArgumentError(
            f"{what} cannot be a {type(nodes).__name__}: give a table, a matrix, a list of ids or a number of nodes"
        )
    return result


def _read_table(result: _Nodes, nodes: Any, id: Optional[str], what: str, links: _Links) -> None:
    names = list(nodes.keys())
    index = getattr(nodes, "index", None) if is_frame(nodes) else None
    if not is_frame(nodes):
        _check_names(names, what, "a dict of rows is a DataFrame: pandas.DataFrame.from_dict(nodes, orient='index')")
    if id is not None and id not in names and not (index is not None and index.name == id):
        raise ArgumentError(f"id: {what} has no column {id!r}; it has {', '.join(map(repr, names[:8]))}")
    chosen: Any = id if id in names else None  # a column, or None: the index, or the number of the row
    counts = index is None or _is(index, "pandas", "RangeIndex")
    if id is None:
        # The index, unless it only counts the rows; then columns whose name is one for ids. Of several, the first that
        # has an id of a link: the index of a DataFrame of which rows were selected counts rows, too.
        found = [] if counts else [None]
        found += [name for name in names if str(name) and _c.lib.npgnn_name_is_id(str(name).encode())]
        if len(found) > 1:
            ends = {str(end) for ids in (links.left, links.right) for end in ids.tolist()}
            found = [name for name in found if not ends.isdisjoint(map(str, _row_ids(nodes, name)))] or found
        chosen = found[0] if found else None
    if chosen is not None or not counts:
        result.ids = _row_ids(nodes, chosen)
    if result.ids is not None and any(map(_missing, result.ids)):
        raise ArgumentError(f"{what}: row {list(map(_missing, result.ids)).index(True)} has no id")
    result.columns = {str(name): nodes[name] for name in names if name != chosen}
    lengths = {name: len(nodes[name]) for name in names}
    result.rows = max(lengths.values(), default=0) if index is None else len(index)
    for name, length in lengths.items():
        if length != result.rows:
            raise ArgumentError(f"{what}: column {name!r} has {length} values, but there are {result.rows} rows")
    result.table = nodes


def _row_ids(nodes: Any, column: Any) -> list[Any]:
    """The ids of the rows of a table: a column, or None for the index."""
    return list(_ids(nodes.index.to_numpy() if column is None else cells(nodes[column])).tolist())


def _id_hint(nodes: _Nodes, end: Any) -> str:
    """Which column of a table has the id of an end of a link."""
    if nodes.table is None:
        return ""
    for name in nodes.table.keys():
        if str(end) in map(str, _list(nodes.table[name])):
            return f"; is it a column? id={name!r}"
    return "; id= names the column of the ids"


# ---- numbering the nodes ----


def _are_indices(ids: Sequence[Any]) -> bool:
    return all(type(name) is int and name == i for i, name in enumerate(ids))


def _name(name: Any) -> str:
    return name if isinstance(name, str) else ":".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _canonical(names: list[Any]) -> list[int]:
    """The positions of ids in the canonical order, which is that of npi_names_compare: plain integers by value, then all
    others by their bytes."""
    if all(type(name) is int and name >= 0 for name in names):
        return sorted(range(len(names)), key=names.__getitem__)
    keys: list[tuple[int, int, bytes]] = []
    for name in names:
        text = _encode(_name(name))
        plain = text.isdigit() and (text[:1] != b"0" or len(text) == 1)
        keys.append((0, len(text), text) if plain else (1, 0, text))
    return sorted(range(len(names)), key=keys.__getitem__)


def _arrange(names: list[Any], nodes: _Nodes) -> tuple[list[Any], Array]:
    """The ids in canonical order, and the new index of each, so that the graph does not depend on the order in which links
    and rows are given. The rows of `nodes`, which are the first ids, follow."""
    rank = np.arange(len(names), dtype=np.int32)
    if _are_indices(names):
        return names, rank
    order = _canonical(names)
    rank[order] = np.arange(len(names), dtype=np.int32)
    if nodes.ids is not None and nodes.matrix is None:
        nodes.place = rank[: nodes.rows]
    elif nodes.ids is not None:
        nodes.matrix = nodes.matrix.tocsr()[order] if _is_sparse(nodes.matrix) else nodes.matrix[order]
    return [names[i] for i in order], rank


def _texts(names: list[Any]) -> list[str]:
    """The ids as texts, which must differ."""
    texts = [_name(name) for name in names]
    if len(set(texts)) < len(texts):
        seen: dict[str, Any] = {}
        for name, text in zip(names, texts):
            if text in seen:
                raise ArgumentError(
                    f"the ids {seen[text]!r} and {name!r} are two nodes, but both are written {text!r}: rename one, or make them the same"
                )
            seen[text] = name
    return texts


def _add_names(names: list[Any], ends: Sequence[Array]) -> Array:
    """Adds ids that are new in order of first appearance, link by link. Returns the indices (links, ends)."""
    if not names and all(end.dtype.kind in "iu" for end in ends):  # the same, quickly
        values, first, place = np.unique(np.column_stack(ends), return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order))
        names.extend(values[order].tolist())
        return rank[place].reshape(-1, len(ends))
    index = {name: i for i, name in enumerate(names)}
    every = list(itertools.chain.from_iterable(zip(*(end.tolist() for end in ends))))
    for name in dict.fromkeys(every):
        if name not in index:
            index[name] = len(names)
            names.append(name)
    return np.fromiter(map(index.__getitem__, every), np.int32, len(every)).reshape(-1, len(ends))


def _same_type(ids: list[Any], links: _Links) -> _Links:
    """Ids that are numbers on one side and strings on the other are compared as strings."""
    kinds = {isinstance(name, str) for name in ids[:1]} | {isinstance(end, str) for end in links.left[:1].tolist()}
    if len(kinds) < 2:
        return links
    if isinstance(ids[0], str):
        text = [_objects(str(name) for name in end) for end in (links.left, links.right)]
        return _Links(text[0], text[1], links.weights, links.times, links.nodes)
    known = {str(name): name for name in ids}
    back = [_objects(known.get(name, name) for name in end) for end in (links.left, links.right)]
    return _Links(back[0], back[1], links.weights, links.times, links.nodes)


def _number(links: _Links, nodes: _Nodes) -> tuple[list[Any], Array]:
    """The ids of all nodes, and the links as indices."""
    if nodes.ids is not None:  # rows have ids: nodes that only links have follow
        if len(set(nodes.ids)) < len(nodes.ids):
            twice = next(name for name in nodes.ids if nodes.ids.count(name) > 1)
            labels = len(nodes.ids) == len(links.left) and set(nodes.ids) <= {0, 1}
            hint = ": nodes are ids or features, not labels of pairs, which LinkPredictor.fit takes" if labels else ""
            raise ArgumentError(f"nodes: the id {twice!r} occurs twice{hint}")
        links = _same_type(nodes.ids, links)
        names = list(nodes.ids)
        pairs = _add_names(names, (links.left, links.right))
        if len(names) > nodes.rows:
            if len(pairs) and nodes.rows and not (pairs < nodes.rows).any():
                raise MismatchError(
                    f"none of the ids in edges, such as {names[nodes.rows]!r}, is the id of a row of nodes, such as "
                    f"{names[0]!r}{_id_hint(nodes, names[nodes.rows])}"
                )
            _c.log.warning(
                "nodes with links but without a row in nodes: %d, such as %r; their features are zero",
                len(names) - nodes.rows,
                names[nodes.rows],
            )
        return names, pairs
    integers = links.left.dtype.kind in "iu" and links.right.dtype.kind in "iu" or len(links.left) == 0
    count = (
        nodes.count if nodes.count is not None else nodes.rows if nodes.columns or nodes.matrix is not None else None
    )
    if not integers:
        if count is not None:
            first = next(name for name in links.left.tolist() + links.right.tolist() if not isinstance(name, int))
            raise MismatchError(
                f"nodes has no ids, so edges must be integers from 0 to {count - 1}, not {first!r}{_id_hint(nodes, first)}"
            )
        names = []
        return names, _add_names(names, (links.left, links.right))
    pairs = np.column_stack([links.left, links.right]) if len(links.left) else np.empty((0, 2), np.int64)
    largest, least = (int(pairs.max()), int(pairs.min())) if len(pairs) else (-1, 0)
    if count is not None:
        if largest >= count or least < 0:
            raise MismatchError(
                f"edges has node {largest if largest >= count else least}, but nodes are numbered 0 to {count - 1}"
            )
        return list(range(count)), np.ascontiguousarray(pairs, np.int32)
    # as the program does: integers are indices where at least half of the numbers up to the largest are used
    few = len(pairs) > 0 and least == 0 and largest < 2 * pairs.size
    if few and 2 * np.count_nonzero(np.bincount(pairs.ravel().astype(np.int64))) >= largest + 1:
        return list(range(largest + 1)), np.ascontiguousarray(pairs, np.int32)
    names = []
    return names, _add_names(names, (links.left, links.right))


def _number_sides(links: _Links, sources: _Nodes, targets: _Nodes, data: _c.GraphData) -> tuple[list[Any], Array]:
    """The ids of the sources and then of the targets, and the links as indices."""
    sides: list[list[Any]] = []
    pairs = np.empty((len(links.left), 2), np.int32)
    for column, (nodes, ends, count) in enumerate(
        ((sources, links.left, links.nodes), (targets, links.right, links.targets))
    ):
        names = list(nodes.ids) if nodes.ids is not None else list(range(nodes.rows or nodes.count or 0))
        if links.rows_are_nodes:  # of a matrix
            if len(names) != count:
                what = ("target_nodes", "columns") if column else ("nodes", "rows")
                raise MismatchError(f"{what[0]} has {len(names)} nodes, but edges is a matrix of {count} {what[1]}")
            pairs[:, column] = ends
        else:
            pairs[:, column] = _add_names(names, (ends,))[:, 0]
        names, rank = _arrange(names, nodes)
        pairs[:, column] = rank[pairs[:, column]]
        sides.append(names)
    pairs[:, 1] += len(sides[0])
    data.sources = len(sides[0])
    if set(sides[0]) & set(sides[1]):
        sides = [[("source", name) for name in sides[0]], [("target", name) for name in sides[1]]]
    if not len(pairs):
        raise ArgumentError("edges: a graph with two sides needs links")
    return sides[0] + sides[1], pairs


# ---- features ----


def _pointer(array: Array, keep: list[Any]) -> Any:
    keep.append(array)
    return ctypes.c_void_p(array.ctypes.data)


def _strings(values: Sequence[Optional[str]], keep: list[Any]) -> Any:
    array = (ctypes.c_char_p * max(len(values), 1))(*[None if value is None else _encode(value) for value in values])
    keep.append(array)
    return ctypes.cast(array, ctypes.POINTER(ctypes.c_char_p))


def _encode(value: str) -> bytes:
    if "\0" in value:
        raise ArgumentError(f"{value!r} has a zero byte")
    return value.encode("utf-8", "surrogateescape")


def _set_features(
    data: _c.GraphData, tables: list[tuple[_Nodes, int]], encoding: Optional[str], keep: list[Any]
) -> None:
    first = tables[0][0]
    if first.matrix is not None:
        _set_matrix(data, first, keep)
        return
    columns: list[_c.Column] = []
    for nodes, side in tables:
        data.table_rows[side] = nodes.rows
        if nodes.place is not None:
            data.table_nodes[side] = _pointer(np.ascontiguousarray(nodes.place, np.int32), keep)
        for name, values in nodes.columns.items():
            columns.append(_table_column(name, values, nodes.kinds.get(name), side, keep))
    if columns:
        array = (_c.Column * len(columns))(*columns)
        keep.append(array)
        data.table, data.table_columns = ctypes.cast(array, ctypes.POINTER(_c.Column)), len(columns)
    if encoding is not None:
        data.encoding = encoding.encode()


def _set_matrix(data: _c.GraphData, nodes: _Nodes, keep: list[Any]) -> None:
    matrix = nodes.matrix
    data.columns = matrix.shape[1]
    if not _is_sparse(matrix):
        data.features = _pointer(np.ascontiguousarray(matrix, np.float32), keep)
        return
    matrix = matrix.tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    data.ptr = _pointer(np.ascontiguousarray(matrix.indptr, np.int64), keep)
    data.col = _pointer(np.ascontiguousarray(matrix.indices, np.int32), keep)
    data.val = _pointer(np.ascontiguousarray(matrix.data, np.float32), keep)


def _table_column(name: str, values: Any, kind: Optional[str], side: int, keep: list[Any]) -> _c.Column:
    """A column of the table as the library takes it, by its dtype."""
    column = _c.Column(side=side, name=_encode(name))
    dtype = str(getattr(values, "dtype", ""))
    array = values.to_numpy() if hasattr(values, "to_numpy") else cells(values)
    numbers: Optional[Array] = None
    texts: list[Optional[str]] = []
    if dtype == "category":
        kind = kind or "category"
        texts = [None if _missing(value) else str(value) for value in np.asarray(array, object).tolist()]
    elif array.dtype.kind == "M":
        kind = kind or "date"
        texts = [None if value == "NaT" else value for value in np.datetime_as_string(array, "s").tolist()]
    elif dtype.startswith("period["):
        kind = kind or "date"
        dates = np.asarray(values.dt.to_timestamp().to_numpy())
        texts = [None if value == "NaT" else value for value in np.datetime_as_string(dates, "s").tolist()]
    elif array.dtype.kind == "m":
        numbers = np.where(np.isnat(array), np.nan, array / np.timedelta64(1, "s"))
    elif array.dtype.kind in "iufb":
        kind = "flag" if array.dtype.kind == "b" and kind is None else kind
        numbers = array.astype(np.float64)
    else:
        given = [None if _missing(value) else value for value in np.asarray(array, object).tolist()]
        present = [value for value in given if value is not None]
        if present and all(isinstance(value, (bool, np.bool_)) for value in present):
            kind = kind or "flag"
            numbers = np.array([np.nan if value is None else value for value in given], np.float64)
        elif present and all(isinstance(value, (int, float, np.number)) for value in present):
            numbers = np.array([np.nan if value is None else value for value in given], np.float64)
        else:
            if present and all(hasattr(value, "isoformat") for value in present):  # date, datetime, Timestamp
                kind = kind or "date"
                given = [None if value is None else value.isoformat() for value in given]
            texts = [None if value is None else str(value) for value in given]
    if kind is not None:
        column.kind = kind.encode()
    if numbers is not None:
        numbers = np.ascontiguousarray(numbers, np.float64)
        keep.append(numbers)
        column.numbers = numbers.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    else:
        column.texts = _strings(texts, keep)
    return column


# ---- results ----


def table(columns: dict[str, Any]) -> Any:
    """A DataFrame or, without pandas, a structured array: both give a column by its name."""
    try:
        import pandas
    except ImportError:
        arrays = {name: _as_array(values) for name, values in columns.items()}
        result = np.empty(len(next(iter(arrays.values()))), [(name, array.dtype) for name, array in arrays.items()])
        for name, array in arrays.items():
            result[name] = array
        return result
    return pandas.DataFrame(columns)


def _as_array(values: Any) -> Array:
    if isinstance(values, np.ndarray):
        return values
    if values and all(isinstance(value, (int, float)) for value in values):
        return np.array(values)
    return _objects(values)
