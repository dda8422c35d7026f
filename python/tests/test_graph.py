"""Graphs from every kind of input, the same ones as from files, and refusals that name the argument."""

from __future__ import annotations

import csv
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse

import npgnn

RING = [(i, (i + 1) % 8) for i in range(8)] + [(0, 4), (2, 6)]
RING_ENDS = [list(end) for end in zip(*RING)]
X = np.arange(24, dtype=np.float32).reshape(8, 3) % 5


def test_inputs_agree():
    expected = npgnn.Graph(RING, X)
    array = np.array(RING)
    half = scipy.sparse.coo_matrix((np.ones(10), array.T), (8, 8))
    matrix = half + half.T
    for edges in (
        array,
        array.astype(np.int32),
        array[:, ::-1],
        matrix.tocoo(),
        matrix,
        [list(pair) for pair in RING],
        {"u": array[:, 0], "v": array[:, 1]},
    ):
        for nodes in (X, X.astype(np.float64), scipy.sparse.csr_matrix(X), scipy.sparse.csc_matrix(X)):
            graph = npgnn.Graph(edges, nodes)
            assert graph.fingerprint == expected.fingerprint
            assert graph.nodes == list(range(8))
    assert (expected.n_nodes, expected.n_links, expected.n_features) == (8, 10, 3)
    assert [tuple(pair) for pair in expected.links.tolist()] == sorted((min(pair), max(pair)) for pair in RING)


def test_features():
    for nodes in (X, scipy.sparse.random(8, 40, 0.1, random_state=1, dtype=np.float32)):
        expected = nodes if nodes is X else nodes.toarray()
        assert np.array_equal(npgnn.Graph(RING, nodes).features.toarray(), expected)
    assert npgnn.Graph(RING).features.shape == (8, 0)


def test_networkx():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph(RING)
    assert npgnn.Graph(graph, X[list(graph.nodes)]).n_links == 10
    named = networkx.relabel_nodes(graph, {i: f"n{i}" for i in range(8)})
    for i, node in enumerate(named):
        named.nodes[node]["age"] = float(i)
    for u, v in named.edges:
        named.edges[u, v]["weight"] = 2.0
    converted = npgnn.Graph(named, weight="weight")
    assert converted.nodes == list(named.nodes)
    assert converted.feature_names == ["age"]
    with pytest.raises(npgnn.ArgumentError, match="no edge of the networkx graph has the attribute 'w'"):
        npgnn.Graph(named, weight="w")
    # graph.edges, which is also a Mapping
    for edges in (graph.edges, graph.edges(data=True), networkx.MultiDiGraph(graph).edges):
        assert npgnn.Graph(edges).fingerprint == npgnn.Graph(RING).fingerprint
    # a matrix has the rows in the order of graph.nodes, unless nodes are numbers from 0 on
    features = npgnn.Graph(networkx.Graph([("b", "a"), ("a", "c")]), X[:3]).features.toarray()
    assert np.array_equal(features, X[[1, 0, 2]])  # of a, b and c
    assert npgnn.Graph(networkx.Graph([(2, 1), (1, 0)]), X[:3]).nodes == [0, 1, 2]
    with pytest.raises(npgnn.ArgumentError, match="nodes has 8 rows, but the networkx graph has 3 nodes"):
        npgnn.Graph(networkx.Graph([("b", "a"), ("a", "c")]), X)
    # isolated nodes and self-loops stay as nodes; directions and parallel edges are merged
    mixed = networkx.MultiDiGraph([(1, 2), (2, 1), (1, 2), (3, 3)])
    mixed.add_node("alone")
    assert npgnn.Graph(mixed).nodes == [1, 2, 3, "alone"] and npgnn.Graph(mixed).edges == [(1, 2)]
    # tuples and other hashable ids
    grid = npgnn.Graph(networkx.grid_2d_graph(3, 3))
    assert grid.index((2, 1)) == 7


def test_networkx_two_sides():
    networkx = pytest.importorskip("networkx")
    women = networkx.davis_southern_women_graph()
    graph = npgnn.Graph(women, bipartite=True)
    assert (graph.n_nodes, graph.n_links, graph.n_features) == (32, 89, 0) and graph._info().sources == 18
    women.add_node("nobody")
    with pytest.raises(npgnn.ArgumentError, match="bipartite: node 'nobody' of the networkx graph needs an attribute"):
        npgnn.Graph(women, bipartite=True)
    women.add_edge(*[node for node in women if node in ("E1", "E2")])
    women.nodes["nobody"]["bipartite"] = 0
    with pytest.raises(
        npgnn.ArgumentError, match="bipartite: the nodes 'E1' and 'E2' are linked, but on the same side"
    ):
        npgnn.Graph(women, bipartite=True)


def test_weights():
    """The same weights in every form."""
    array, weights = np.array(RING), np.arange(1, 11, dtype=np.float64)
    expected = npgnn.Graph({"u": array[:, 0], "v": array[:, 1], "w": weights}, weight="w")
    half = scipy.sparse.coo_matrix((weights, array.T), (8, 8))
    assert npgnn.Graph(half + half.T, weight=True).fingerprint == expected.fingerprint
    assert npgnn.Graph(half + half.T, weight=False).fingerprint == npgnn.Graph(RING).fingerprint
    # one direction alone: neither half of the matrix has all links, so that they seem to be directed
    with pytest.warns(UserWarning, match="the weights of both directions are added: 10 of 10 links are in one direction"):
        assert npgnn.Graph(half, weight=True).fingerprint == expected.fingerprint
    with pytest.warns(UserWarning, match="directions are not used: 10 of 10 links are in one direction only"):
        assert npgnn.Graph(half, weight=False).fingerprint == npgnn.Graph(RING).fingerprint
    assert np.array_equal(expected.adjacency.toarray(), (half + half.T).toarray())
    torch = pytest.importorskip("torch")

    class Data:
        edge_index = torch.tensor(np.concatenate([array, array[:, ::-1]]).T.copy())
        edge_weight = torch.tensor(np.concatenate([weights, weights]))
        num_nodes = 8

    assert npgnn.Graph(Data(), weight="edge_weight").fingerprint == expected.fingerprint
    assert npgnn.Graph(torch.tensor((half + half.T).toarray()).to_sparse(), weight=True).fingerprint == expected.fingerprint
    with pytest.raises(npgnn.ArgumentError, match="weight: the Data has no attribute 'edge_attr'"):
        npgnn.Graph(Data(), weight="edge_attr")


def test_pyg():
    torch = pytest.importorskip("torch")

    class Data:  # what is used of torch_geometric.data.Data
        edge_index = torch.tensor(np.concatenate([np.array(RING), np.array(RING)[:, ::-1]]).T.copy())
        x = torch.tensor(X)
        num_nodes = 8

    expected = npgnn.Graph(RING, X)
    assert npgnn.Graph(Data()).fingerprint == expected.fingerprint
    for x in (Data.x, Data.x.bfloat16(), Data.x.double(), Data.x.to_sparse(), Data.x.clone().requires_grad_()):
        assert npgnn.Graph(Data.edge_index, x).fingerprint == expected.fingerprint
    with pytest.raises(npgnn.ArgumentError, match="transpose it"):
        npgnn.Graph(Data.edge_index.T, X)


def write(path, columns):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(columns)
        for row in zip(*columns.values()):
            out.writerow(["" if value is None else int(value) if isinstance(value, bool) else value for value in row])


def test_table_as_file(people, tmp_path):
    """A mapping, a DataFrame and a CSV file give the same features to the bit."""
    links, columns = people
    write(tmp_path / "edges.csv", {"source": [a for a, b in links], "target": [b for a, b in links]})
    write(tmp_path / "nodes.csv", columns)
    file = npgnn.Graph(tmp_path / "edges.csv", tmp_path / "nodes.csv")
    graph = npgnn.Graph(links, columns)
    assert graph.nodes == file.nodes == sorted(columns["id"])
    assert graph.feature_names == file.feature_names
    assert graph.fingerprint == file.fingerprint
    assert list(graph.columns()["kind"]) == ["category", "number", "flag", "date", "text"]
    pandas = pytest.importorskip("pandas")
    for frame in (
        pandas.DataFrame(columns),
        pandas.DataFrame(columns).set_index("id"),
        pandas.read_csv(tmp_path / "nodes.csv"),
        pandas.DataFrame(columns).astype({"town": "category", "born": "datetime64[ns]"}).convert_dtypes(),
    ):
        edges = pandas.read_csv(tmp_path / "edges.csv")
        converted = npgnn.Graph(edges, frame)
        assert converted.fingerprint == file.fingerprint, frame.dtypes


def test_missing_rows(people, tmp_path):
    """The features of nodes that only links have are zero, as with files."""
    links, columns = people
    fewer = {name: values[:50] for name, values in columns.items()}
    write(tmp_path / "edges.csv", {"source": [a for a, b in links], "target": [b for a, b in links]})
    write(tmp_path / "nodes.csv", fewer)
    file = npgnn.Graph(tmp_path / "edges.csv", tmp_path / "nodes.csv")
    graph = npgnn.Graph(links, fewer)
    assert graph.nodes == file.nodes
    assert graph.fingerprint == file.fingerprint


def test_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "link_id": [7, 8, 9],
            "member": ["a", "b", "a"],
            "friend": ["b", "c", "c"],
            "since": ["2020-01-01", "2020-02-01", "2021-01-01"],
        }
    )
    graph = npgnn.Graph(frame)
    assert graph.nodes == ["a", "b", "c"]
    assert npgnn.Graph(frame, source="friend", target="member").edges == graph.edges
    dated = npgnn.Graph(frame, time="since")
    assert dated._info().dated
    frame.loc[1, "friend"] = None
    with pytest.raises(npgnn.ArgumentError, match="edges: the link in row 1 has no node at one end"):
        npgnn.Graph(frame)
    assert npgnn.Graph(frame, skip_bad_rows=True).n_links == 2
    frame = pandas.DataFrame({"u": ["a", "b"], "v": ["b", "c"], "w": [2.0, None], "t": ["2020-01-01", None]})
    for option in ({"weight": "w"}, {"time": "t"}):
        for converted in (frame, frame.astype({"t": "datetime64[ns]"})):
            with pytest.raises(npgnn.ArgumentError, match=f"edges: the link in row 1 has no {list(option)[0]}"):
                npgnn.Graph(converted, **option)
            assert npgnn.Graph(converted, skip_bad_rows=True, **option).n_links == 1
    whole = pandas.DataFrame({"u": [1, 2, None], "v": pandas.array([2, 3, 4], "Int64")})
    assert npgnn.Graph(whole, skip_bad_rows=True).nodes == [1, 2, 3]


def test_times_with_zone():
    pandas = pytest.importorskip("pandas")
    dates = pandas.to_datetime(["2020-01-01 00:00", "2020-06-01 12:00"]).tz_localize("Europe/Berlin")
    frame = pandas.DataFrame({"u": ["a", "b"], "v": ["b", "c"], "t": dates})
    plain = frame.assign(t=dates.tz_convert(None))
    assert npgnn.Graph(frame, time="t").fingerprint == npgnn.Graph(plain, time="t").fingerprint


def test_ids_of_rows():
    """A DataFrame of which rows were selected or moved still has the column of ids; a message names it."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"person_id": ["a", "b", "c", "d"], "code": ["w", "x", "y", "z"], "age": [1.0, 5.0, 2.0, 7.0]}
    )
    edges = [("a", "b"), ("b", "c"), ("c", "d")]
    for nodes in (
        frame,
        frame[::-1],
        frame[frame.age > 1],
        frame[frame.age > 1].reset_index(),
        frame.set_index("person_id"),
    ):
        graph = npgnn.Graph(edges, nodes, kinds={"code": "ignored"})
        assert set(graph.nodes) == set("abcd") and "age" in graph.feature_names
    assert npgnn.Graph(edges, frame.set_index("person_id").age).feature_names == ["age"]
    with pytest.raises(
        npgnn.MismatchError, match="such as 'w', is the id of a row of nodes, such as 'a'; is it a column"
    ):
        npgnn.Graph([("w", "x")], frame)


def warned(call):
    """What a call warns of. The warnings name this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert {one.filename for one in caught} <= {__file__} and all(one.category is UserWarning for one in caught)
    return [str(one.message) for one in caught]


def test_two_kinds():
    """Users and items that share ids are refused until the caller says what they are."""
    shared, apart = {"user_id": [1, 2, 3], "item_id": [1, 2, 9]}, {"user_id": [1, 2], "item_id": [10, 20]}
    with pytest.raises(npgnn.ArgumentError, match=r"ids are in both columns, such as 1 \(2 in all\): bipartite=True keeps"):
        npgnn.Graph(shared)
    assert npgnn.Graph(shared, bipartite=True).n_nodes == 6 and npgnn.Graph(shared, bipartite=False).n_nodes == 4
    with pytest.raises(npgnn.ArgumentError, match="ids are in both columns, such as 1"):  # also if a row is left out
        npgnn.Graph({"user_id": [1, 2, None], "item_id": [1, 2, 9]}, skip_bad_rows=True)
    (text,) = warned(lambda: npgnn.LinkPredictor("universal").fit(apart))
    assert "'user_id' and 'item_id' look like two kinds of nodes, but were taken for one" in text
    for given in (True, False):
        assert not warned(lambda: npgnn.Graph(apart, bipartite=given))
    assert not warned(lambda: npgnn.Graph({"source": [1, 2], "target": [2, 3]}))
    for names in (("users", "items"), ("item_idx", "user_idx"), ("course_id", "student_id"), ("gene", "disease")):
        with pytest.raises(npgnn.ArgumentError, match="look like two kinds of nodes, but ids are in both columns"):
            npgnn.Graph(dict(zip(names, ([1, 2, 3], [1, 2, 9]))))


def test_two_kinds_in_files(tmp_path):
    write(tmp_path / "shared.csv", {"user_id": [1, 2, 3], "item_id": [2, 3, 1]})
    write(tmp_path / "apart.csv", {"user_id": [1, 2, 3], "item_id": [20, 30, 10], "rating": [1, 2, 3]})
    with pytest.raises(npgnn.ArgumentError, match=r"became one node: 3 \(bipartite=True keeps them apart, bipartite=False"):
        npgnn.Graph(tmp_path / "shared.csv")
    assert npgnn.Graph(tmp_path / "shared.csv", bipartite=False).n_nodes == 3
    weights, kinds = warned(lambda: npgnn.Graph(tmp_path / "apart.csv"))
    assert "ignoring column 'rating'; weight= and time= use columns" in weights
    assert "(bipartite=True predicts links between the two only)" in kinds
    assert not warned(lambda: npgnn.Graph(tmp_path / "apart.csv", bipartite=True, weight=False))
    assert npgnn.Graph(tmp_path / "apart.csv", bipartite=True, weight=True)._info().weighted


def test_columns_of_ends():
    frame = {"who": ["a", "b"], "n": [1, 2], "whom": ["b", "c"]}
    with pytest.raises(npgnn.ArgumentError, match="their names, 'who', 'n', 'whom', do not say which two. Give source= and"):
        npgnn.Graph(frame)
    with pytest.raises(npgnn.ArgumentError, match="do not say which two"):
        npgnn.Graph(frame, source="who")
    assert npgnn.Graph(frame, source="who", target="whom", weight="n").nodes == ["a", "b", "c"]
    assert npgnn.Graph(frame, weight="n").nodes == ["a", "b", "c"]  # the only two that are left
    assert npgnn.Graph({"who": ["a"], "whom": ["b"]}).n_links == 1
    with pytest.raises(npgnn.ArgumentError, match="Give these two alone"):
        npgnn.LinkPredictor("universal").fit([("a", "b"), ("b", "c")]).predict_proba(frame)


def test_dropped_weights():
    frame, matrix = {"u": [1, 2], "v": [2, 3], "n": [2.0, 3.0]}, scipy.sparse.coo_matrix(([2, 3], ([0, 1], [1, 2])), (3, 3))
    (text,) = warned(lambda: npgnn.Graph(frame))
    assert "the values of the column 'n', from 2 to 3, are not used: weight='n' makes them weights" in text
    (text,) = warned(lambda: npgnn.Graph({"u": [1, 2, None], "v": [2, 3, 4], "n": [2.0, 3.0, 4.0]}, skip_bad_rows=True))
    assert "the values of the column 'n'" in text
    (text,) = warned(lambda: npgnn.Graph(matrix))
    assert "the values of the matrix, from 2 to 3, are not used: weight=True makes them weights" in text
    (text,) = warned(lambda: npgnn.Graph({**frame, "n": [1, 0]}))
    assert "'n' are 0 and 1, but all rows were taken for links: fit(X, y) takes labels of pairs" in text
    same = {**frame, "n": [7, 7], "link_id": [5, 3], "text": ["x", "y"]}
    for call in (
        lambda: npgnn.Graph(frame, weight=False),
        lambda: npgnn.Graph(frame, weight="n"),
        lambda: npgnn.Graph(same),
        lambda: npgnn.Graph(matrix, weight=False),
        lambda: npgnn.Graph(matrix, weight=True),
        lambda: npgnn.Graph(matrix.astype(bool)),
    ):
        assert not warned(call)
    weighted = npgnn.Graph(frame, weight="n")
    assert warned(lambda: npgnn.LinkPredictor("universal").fit(weighted)) == [
        "'universal' does not use the weights of links: every link counts once"
    ]
    graph = npgnn.Graph({"u": RING_ENDS[0], "v": RING_ENDS[1], "w": range(1, 11)}, X, weight="w")
    assert warned(lambda: npgnn.compare(graph, methods=["katz", "cosine"], seeds=1, test=0.3, val=0)) == [
        "'katz' and 'cosine' do not use the weights of links: every link counts once"
    ]
    assert not warned(lambda: npgnn.LinkPredictor("default", iterations=1).fit(graph))


def test_dropped_directions():
    one_way, both_ways = [(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 0), (1, 2), (2, 1)]

    def matrix(pairs):
        return scipy.sparse.coo_matrix((np.ones(len(pairs)), np.array(pairs).T), (3, 3))

    for directed in (both_ways[:3], np.array(both_ways[:3]), matrix(one_way), matrix(both_ways[:3])):
        (text,) = warned(lambda: npgnn.Graph(directed))
        assert "directions are not used" in text and "in one direction only" in text
    for undirected in (one_way, both_ways, matrix(both_ways), scipy.sparse.triu(matrix(both_ways)), matrix(one_way[:2])):
        assert not warned(lambda: npgnn.Graph(undirected))
    (text,) = warned(lambda: npgnn.Graph(matrix(one_way), weight=True))
    assert "the weights of both directions are added" in text
    networkx = pytest.importorskip("networkx")
    assert len(warned(lambda: npgnn.Graph(networkx.DiGraph(one_way)))) == 1
    assert not warned(lambda: npgnn.Graph(networkx.DiGraph(both_ways)))
    assert not warned(lambda: npgnn.Graph(networkx.Graph(one_way)))


def test_networkx_assumptions():
    networkx = pytest.importorskip("networkx")
    women = networkx.davis_southern_women_graph()
    (text,) = warned(lambda: npgnn.Graph(women))
    assert "the nodes have the attribute 'bipartite', but were taken for one kind: bipartite=True" in text
    assert not warned(lambda: npgnn.Graph(women, bipartite=True)) and not warned(lambda: npgnn.Graph(women, bipartite=False))
    (text,) = warned(lambda: npgnn.Graph(networkx.karate_club_graph()))
    assert "the values of the attribute 'weight', from 1 to 7, are not used: weight='weight'" in text


def test_views_of_edges():
    """Edges that are taken out of a networkx graph: their data are not used."""
    networkx = pytest.importorskip("networkx")
    graph = networkx.karate_club_graph()
    for view in (graph.edges(data=True), graph.edges(data="weight")):
        (text,) = warned(lambda: npgnn.Graph(view))
        assert "the data of the edges, from 1 to 7, are not used: the graph itself" in text
        assert not warned(lambda: npgnn.Graph(view, weight=False))
    for view in (graph.edges, graph.edges(), graph.edges(data="club"), networkx.MultiGraph(graph).edges(keys=True)):
        assert not warned(lambda: npgnn.Graph(view))
    directed = networkx.DiGraph([(0, 1), (1, 2)])
    for view in (directed.edges, directed.edges(), directed.in_edges):
        (text,) = warned(lambda: npgnn.Graph(view))
        assert "directions are not used" in text


def test_triples_without_names():
    """A table without names of columns has its ends in the first two, unless the third has words."""
    pandas = pytest.importorskip("pandas")
    triples = pandas.DataFrame([["a", "knows", "b"], ["b", "likes", "c"], ["c", "knows", "a"]])
    with pytest.raises(npgnn.ArgumentError, match="do not say which two. Give source= and target="):
        npgnn.Graph(triples)
    assert npgnn.Graph(triples, source=0, target=2).nodes == ["a", "b", "c"]
    for third in ([1, 2], [1.5, None], ["2024-01-31", "2024-02-01"], ["1", ""]):
        assert npgnn.Graph(pandas.DataFrame({0: ["a", "b"], 1: ["b", "c"], 2: third}), weight=False).n_links == 2


def test_labels_are_no_nodes():
    with pytest.raises(npgnn.ArgumentError, match=r"the id 1 occurs twice: .*not labels of pairs, which LinkPredictor.fit"):
        npgnn.evaluate([("a", "b"), ("b", "c"), ("a", "c")], [1, 1, 0], method="cosine")
    with pytest.raises(npgnn.ArgumentError, match="the id 'a' occurs twice$"):
        npgnn.Graph([("a", "b")], ["a", "a"])
    missing = {"source": [1, None, 2], "target": [2, 3, 3]}
    for skip in (False, True):
        with pytest.raises(npgnn.ArgumentError, match=r"row 1 has no node at one end; remove such rows, and their labels \(1\)"):
            npgnn.LinkPredictor("universal").fit(missing, [1, 1, 1], skip_bad_rows=skip)


def test_tables_of_two_sides_in_messages():
    links = {"user": [1, 2], "item": [1, 2]}
    with pytest.raises(npgnn.ArgumentError, match="^target_nodes: row 1: the number in column 'price' is not finite"):
        npgnn.Graph(links, bipartite=True, target_nodes={"id": [1, 2], "price": [1.0, np.inf]})
    with pytest.raises(npgnn.ArgumentError, match="^nodes: row 0: the number in column 'age' is not finite"):
        npgnn.Graph(links, {"id": [1, 2], "age": [-np.inf, 1.0]}, bipartite=True)


def test_matrix_with_two_sides():
    """Row i and column j are nodes, also without links."""
    matrix = scipy.sparse.coo_matrix(([1, 1], ([0, 2], [1, 4])), (4, 6))
    with pytest.raises(npgnn.ArgumentError, match=r"edges is a matrix of shape \(4, 6\), but an adjacency matrix is square"):
        npgnn.Graph(matrix)
    graph = npgnn.Graph(matrix, bipartite=True)
    assert (graph.n_nodes, graph.n_links, graph._info().sources) == (10, 2, 4)
    assert [graph.index(node) for node in (("source", 3), ("target", 0), ("target", 5))] == [3, 4, 9]
    assert graph.links.tolist() == [[0, 5], [2, 8]]
    named = npgnn.Graph(matrix, list("abcd"), bipartite=True, target_nodes={"price": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    assert named.edges == [("a", 1), ("c", 4)] and named.nodes[:5] == ["a", "b", "c", "d", 0]
    with pytest.raises(npgnn.MismatchError, match="nodes has 2 nodes, but edges is a matrix of 4 rows"):
        npgnn.Graph(matrix, ["a", "b"], bipartite=True)


def test_odd_ids():
    big = 2**63
    assert npgnn.Graph([(big, 5), (5, big + 1)]).nodes == [5, big, big + 1]
    mixed = npgnn.Graph({"u": np.array([big + 1, big + 2], np.uint64), "v": np.array([1, 2])})
    assert mixed.nodes == [1, 2, big + 1, big + 2]
    assert npgnn.Graph([(1.0, 2), (2, 3.0)]).nodes == [1, 2, 3]
    assert npgnn.Graph((i, i + 1) for i in range(3)).n_links == 3 and npgnn.Graph(zip("ab", "bc")).n_links == 2
    assert npgnn.Graph(np.array([["a", "b"]])).nodes == ["a", "b"] and npgnn.Graph([]).n_nodes == 0
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([1, 2], pandas.MultiIndex.from_tuples([("a", "b"), ("b", "c")], names=["u", "v"]))
    names = pandas.MultiIndex.from_tuples([("ends", "u"), ("ends", "v")])
    assert npgnn.Graph(pandas.DataFrame([[1, 2], [2, 3]], columns=names)).nodes == [1, 2, 3]
    assert npgnn.Graph(pandas.DataFrame({"u": ["a", "b"], "v": ["b", "c"]}, dtype="category")).nodes == ["a", "b", "c"]
    assert npgnn.Graph(pandas.DataFrame({"u": [], "v": []})).n_links == 0
    assert npgnn.Graph(pandas.DataFrame([[0, 1], [1, 2]])).nodes == [0, 1, 2]
    for edges, words in (
        (series, "edges is a pandas.Series: give a DataFrame"),
        (series.to_frame("w"), "it has 1; reset_index() makes columns of its index"),
        (pandas.DataFrame([[1, 2]], columns=["u", "u"]), "edges has two columns with the name 'u'"),
        (pandas.DataFrame({"u": pandas.to_datetime(["2020-01-01"]), "v": [1]}), "cannot have the ids of nodes"),
        (pandas.DataFrame({"u": pandas.Categorical(["a", None]), "v": ["b", "c"]}), "row 1 has no node at one end"),
    ):
        with pytest.raises(npgnn.ArgumentError) as raised:
            npgnn.Graph(edges)
        assert words in str(raised.value)


def test_missing_nodes_are_reported(caplog):
    npgnn.Graph([("a", "b")], {"id": ["a"], "age": [3]})
    assert "nodes with links but without a row in nodes: 1, such as 'b'" in caplog.text


def test_ids():
    assert npgnn.Graph([(10**9, 5), (5, 7)]).nodes == [5, 7, 10**9]  # too large for indices
    assert npgnn.Graph([(0, 1), (1, 3)]).nodes == [0, 1, 2, 3]
    random = np.random.default_rng(2).integers(50, 90, (60, 2))
    for array in (random, random.astype(np.uint64)):  # two digits have the same order as numbers and as texts
        graph, same = npgnn.Graph(array), npgnn.Graph([(f"n{u}", f"n{v}") for u, v in array])
        assert [f"n{node}" for node in graph.nodes] == same.nodes and np.array_equal(graph.links, same.links)
    assert npgnn.Graph(np.array([[0, 1], [1, 2]], np.uint64)).nodes == [0, 1, 2]
    assert npgnn.Graph([(0, 1)], 5).n_nodes == 5
    assert npgnn.Graph([("b", "a")], ["a", "b", "c"]).nodes == ["a", "b", "c"]
    assert npgnn.Graph([("1", "2")], {"id": [1, 2, 3], "age": [4, 5, 6]}).nodes == [1, 2, 3]
    graph = npgnn.Graph([("a", "b"), ("b", "c")])
    assert graph.index("c") == 2
    with pytest.raises(KeyError, match="no node 'x'"):
        graph.index("x")


def test_order_of_ids():
    """Plain integers by value, then all others by their bytes: as the program has them."""
    names = ["10", "9", "1" * 30, "007", "-1", "b", "a", "a10", "a9", "B", "\u00e9", "z", "0", ""]
    pairs = [(a, b) for a, b in zip(names, names[1:-1])]
    assert npgnn.Graph(pairs).nodes == ["0", "9", "10", "1" * 30, "-1", "007", "B", "a", "a10", "a9", "b", "z", "\u00e9"]
    assert npgnn.Graph([(-1, 5), (5, "x"), ("x", (2, "y"))]).nodes == [5, -1, (2, "y"), "x"]


def test_order_of_rows(people, tmp_path):
    """Shuffled links and rows give the same graph and the same predictions, as do shuffled files."""
    pytest.importorskip("pandas")
    links, columns = people
    columns = {name: values[:57] for name, values in columns.items()}  # three nodes have links only
    expected = npgnn.Graph(links, columns)
    predicted = npgnn.LinkPredictor("universal").fit(expected).recommend(k=3)
    random = np.random.default_rng(1)
    for _ in range(3):
        shuffled = [links[i][:: random.choice([1, -1])] for i in random.permutation(len(links))]
        rows = random.permutation(57)
        table = {name: [values[i] for i in rows] for name, values in columns.items()}
        graph = npgnn.Graph(shuffled, table)
        assert graph.nodes == expected.nodes and graph.fingerprint == expected.fingerprint
        again = npgnn.LinkPredictor("universal").fit(graph).recommend(k=3)
        assert len(again) == len(predicted) and (again == predicted).all(axis=None)
        write(tmp_path / "edges.csv", {"source": [a for a, _ in shuffled], "target": [b for _, b in shuffled]})
        write(tmp_path / "nodes.csv", table)
        assert npgnn.Graph(tmp_path / "edges.csv", tmp_path / "nodes.csv").fingerprint == expected.fingerprint
    networkx = pytest.importorskip("networkx")
    prints = set()
    for _ in range(3):
        graph = networkx.Graph()
        graph.add_nodes_from(random.permutation([f"p{i}" for i in range(60)]).tolist())
        graph.add_edges_from(links[i] for i in random.permutation(len(links)))
        matrix = np.array([[int(name[1:]) % 7, 1.0] for name in graph.nodes])
        prints.add(npgnn.Graph(graph, matrix).fingerprint)
    assert len(prints) == 1


def test_order_of_rows_of_two_sides():
    users = {"id": ["u3", "u1", "u2"], "age": [20.0, 30.0, 50.0]}
    items = {"id": ["b", "a"], "price": [1.0, 9.0]}
    edges = [("u1", "a"), ("u2", "b"), ("u3", "b"), ("u9", "a"), ("u1", "c")]
    reverse = lambda table: {name: values[::-1] for name, values in table.items()}  # noqa: E731
    graph = npgnn.Graph(edges, users, bipartite=True, target_nodes=items)
    other = npgnn.Graph(edges[::-1], reverse(users), bipartite=True, target_nodes=reverse(items))
    assert graph.nodes == other.nodes == ["u1", "u2", "u3", "u9", "a", "b", "c"]
    assert graph.fingerprint == other.fingerprint


def test_links_out():
    graph = npgnn.Graph({"u": ["b", "b", "c"], "v": ["a", "c", "d"], "w": [2.0, 0.5, 1.0]}, weight="w")
    assert graph.edges == [("a", "b"), ("b", "c"), ("c", "d")]
    matrix = graph.adjacency.toarray()
    assert matrix.tolist() == [[0, 2, 0, 0], [2, 0, 0.5, 0], [0, 0.5, 0, 1], [0, 0, 1, 0]]
    assert npgnn.Graph(graph.edges).adjacency.sum() == 6


def test_two_sides():
    edges = {"user": [1, 2, 3, 1], "item": [1, 1, 2, 3]}
    graph = npgnn.Graph(
        edges,
        {"id": [1, 2, 3], "age": [20, 30, 40]},
        bipartite=True,
        target_nodes={"id": [1, 2, 3], "price": [1.5, 2.5, 9.0]},
    )
    assert graph.n_nodes == 6
    assert graph.index(("target", 1)) == 3
    model = npgnn.LinkPredictor("universal").fit(graph)
    assert {node[0] for node in model.recommend([("source", 2)], k=3)["partner"]} == {"target"}


def test_selection():
    graph = npgnn.Graph(RING, X)
    half = graph[np.arange(len(graph)) % 2 == 0]
    assert (half.n_nodes, half.n_links, half.n_features) == (8, 5, 3)
    assert graph[[0, 1], ...].n_links == 2


def test_pickle(people):
    graph = npgnn.Graph(*people)
    again = pickle.loads(pickle.dumps(graph))
    assert again.fingerprint == graph.fingerprint and again.nodes == graph.nodes and again.encoding == graph.encoding
    weighted = npgnn.Graph(
        {"u": [("x", 1), "b"], "v": ["b", "c"], "w": [2.0, 3.0], "t": [1.0, 2.0]}, weight="w", time="t"
    )
    again = pickle.loads(pickle.dumps(weighted))
    assert again.fingerprint == weighted.fingerprint and again.nodes == weighted.nodes and again._info().dated


def test_graph_file(people, tmp_path):
    graph = npgnn.Graph(*people)
    graph.save(tmp_path / "people.npg")
    again = npgnn.Graph(tmp_path / "people.npg")
    assert again.fingerprint == graph.fingerprint and again.encoding == graph.encoding
    assert again.nodes == [str(node) for node in graph.nodes]
    (tmp_path / "cut.npg").write_bytes((tmp_path / "people.npg").read_bytes()[:-1])
    with pytest.raises(npgnn.FormatError, match="damaged"):
        npgnn.Graph(tmp_path / "cut.npg")


@pytest.mark.parametrize(
    "edges, nodes, options, words",
    [
        (np.zeros((2, 5), int), None, {}, "edges is an array of shape (2, 5): expected (links, 2): transpose it"),
        (np.ones((4, 3)), None, {}, "of shape (4, 3): expected (links, 2); for weights or times, give columns"),
        (np.array([[True, False]]), None, {}, "a column of type bool cannot have the ids of nodes"),
        ([(1.5, 2)], None, {}, "1.5 cannot be the id of a node"),
        ([(1e17, 2.0)], None, {}, "the id 1e+17 is a float, which has lost digits"),
        ([(None, 1)], None, {}, "the link in row 0 has no node at one end"),
        (scipy.sparse.coo_matrix([[0, np.nan], [1, 0]]), None, {}, "a matrix with values that are not finite"),
        (
            {"user": [1, 2], "item": [3, 4]},
            None,
            {"bipartite": True, "target_nodes": {"id": [3, 4], "year": ["1999", "soon"]}, "kinds": {"year": "number"}},
            "target_nodes: row 1: 'soon' in column 'year' is not a number",
        ),
        (
            [(0, 1)],
            {"age": [*map(str, range(30)), "x"]},
            {},
            "nodes: row 30: 'x' in column 'age' is not a number, although 30 other values are: correct it, leave it empty, or "
            "choose another kind for the column (kinds={'age': 'category'} or kinds={'age': 'text'})",
        ),
        ([("a", "b", "c")], None, {}, "edges[0] is ('a', 'b', 'c'): expected a pair of nodes"),
        (["ab"], None, {}, "edges[0] is 'ab'"),
        (("a", "b"), None, {}, "edges[0] is 'a': expected a pair of nodes: write [('a', 'b')]"),
        (np.zeros((5, 5)), None, {}, "make an adjacency matrix sparse: scipy.sparse.csr_matrix(matrix)"),
        ({0: [1], 1: [0]}, None, {}, "edges is a dict with the key 0: the keys must be names of columns"),
        ({"a": ["b", "c"], "b": ["c", "a"]}, None, {}, "edges is a dict whose keys are nodes: a dict of neighbours is a networkx graph"),
        ({"a": ["b", "c"], "b": ["a"]}, None, {}, "edges is a dict whose keys are nodes"),
        (RING, {0: [1.0], 1: [2.0]}, {}, "nodes is a dict with the key 0"),
        ([(1, 2), (2, "1")], None, {}, "the ids 1 and '1' are two nodes, but both are written '1'"),
        ({"u": [1], "v": [2], "w": ["x"]}, None, {"weight": "w"}, "weight: 'w' has values that are not numbers"),
        ({"u": [1], "v": [2], "w": [-1]}, None, {"weight": "w"}, "the link in row 0 has a weight that is not positive"),
        ({"u": [1], "v": [2], "t": ["31.12.2024"]}, None, {"time": "t"}, "time: 't' has values that are neither"),
        ([(0, 1)], 10**30, {}, "nodes must be an integer from 0 on"),
        ([(0, 1)], None, {"id": "name"}, "id names the column 'name' of nodes, but nodes is no table"),
        ([(0, 1)], None, {"kinds": "number"}, "kinds must be a dict of names of columns and kinds, got 'number'"),
        ([(0, 1)], None, {"normalize": "yes"}, "normalize must be True or False, got 'yes'"),
        (RING, None, {"weight": True}, "weight=True is for a sparse matrix"),
        (RING, "nodes.csv", {}, "nodes is the path 'nodes.csv', but edges is not a path"),
        (7, None, {}, "edges cannot be a int"),
        (RING, X[:4], {}, "edges has node 7, but nodes are numbered 0 to 3"),
        ([("a", "b")], X, {}, "edges must be integers from 0 to 7, not 'a'"),
        (RING, X, {"weight": "w"}, "weight names a column, but edges has none"),
        ({"u": [1], "v": [2]}, None, {"time": "when"}, "time: edges has no column 'when'; it has 'u', 'v'"),
        (RING, {"id": [0, 1, 0]}, {}, "nodes: the id 0 occurs twice"),
        ([(0, 1)], {"age": [1, 2]}, {"kinds": {"size": "number"}}, "kinds: nodes has no column 'size'"),
        ([(0, 1)], {"age": [1, 2], "size": [1]}, {}, "nodes: column 'size' has 1 values, but there are 2 rows"),
        ([(0, 1)], {"age": ["x", "2"]}, {"kinds": {"age": "number"}}, "nodes: row 0: 'x' in column 'age' is not a number"),
        ([(0, 1)], {"age": [1, 2]}, {"kinds": {"age": "integer"}}, "column 'age': 'integer' is not a kind"),
        (
            [("a", "b")],
            {"id": ["x", "y"], "age": [1, 2]},
            {},
            "none of the ids in edges, such as 'a', is the id of a row of nodes",
        ),
        ([(0, 1)], -3, {}, "nodes must be an integer from 0 on"),
        ([(0, 1)], np.array([["a", "b"]]), {}, "nodes must be a matrix of numbers"),
        ([(0, 1)], np.full((2, 1), np.nan), {}, "the feature of node 0 in column 0 is not finite"),
        ([(0, 1)], None, {"target_nodes": X}, "target_nodes needs bipartite=True"),
        ("no/such/file", None, {}, "no/such/file"),
        ("synthetic", X, {}, "nodes must be the path of a file"),
    ],
)
def test_refusals(edges, nodes, options, words):
    with pytest.raises(npgnn.Error) as raised:
        npgnn.Graph(edges, nodes, **options)
    assert words in str(raised.value)
