"""LinkPredictor: results, files, scikit-learn, refusals."""

from __future__ import annotations

import copy
import json
import os
import pickle
import re
import subprocess

import numpy as np
import pytest
import scipy.sparse

import npgnn
from npgnn import _c


@pytest.fixture(scope="module")
def graph():
    return npgnn.Graph("synthetic:nodes=300,seed=3")


@pytest.fixture(scope="module")
def universal(graph):
    return npgnn.LinkPredictor("universal").fit(graph)


def test_prediction(graph, universal):
    pairs = graph.links[:50]
    probability = universal.predict_proba(pairs)
    assert probability.shape == (50, 2) and np.allclose(probability.sum(1), 1)
    assert universal.predict_proba(pairs[:, ::-1]) == pytest.approx(probability)
    scores = universal.decision_function(pairs)
    assert (np.diff(probability[np.argsort(scores), 1]) >= 0).all()
    assert set(universal.predict(pairs)) <= {0, 1}
    assert universal.predict_proba(np.empty((0, 2), int)).shape == (0, 2)
    assert list(universal.classes_) == [0, 1] and universal.calibrated_


def test_recommendation(graph, universal):
    best = universal.recommend(k=3)
    assert len(best) == 900
    rows = universal.recommend([5, 17], k=4)
    assert list(rows["node"]) == [5] * 4 + [17] * 4
    assert list(rows["partner"][:3]) == list(best["partner"][15:18])
    known = {tuple(sorted(pair)) for pair in graph.links.tolist()}
    assert not any(tuple(sorted(pair)) in known for pair in zip(rows["node"], rows["partner"]))
    pairs = list(zip(rows["node"], rows["partner"]))
    assert np.array_equal(universal.predict_proba(pairs)[:, 1], np.asarray(rows["probability"]))
    assert set(universal.recommend([5], k=5, candidates=[1, 2, 3], known=True)["partner"]) <= {1, 2, 3}
    assert len(universal.recommend([5], k=5, min_probability=1.0)) == 0
    top = universal.top_links(5)
    assert list(top["score"]) == sorted(top["score"], reverse=True)
    drawn = universal.recommend([5], k=2, samples=3)
    assert graph.n_features and "<p>Graph(300 nodes" in graph._repr_html_()
    assert (np.asarray(drawn["low"]) <= np.asarray(drawn["high"])).all()


UNMEASURED = {"checked": None, "best": None, "recall": None, "low": None, "high": None}


def same(found, expected):
    names = getattr(expected, "columns", None)
    names = expected.dtype.names if names is None else names
    return len(found) == len(expected) and all(list(found[name]) == list(expected[name]) for name in names)


def test_search_by_candidates(graph):
    """Where all nodes are candidates, what is found is what an exact search finds, and the recall is 1."""
    model = npgnn.LinkPredictor("universal").fit(graph)
    assert not hasattr(model, "search_info_")
    everything = {"candidates": 300, "checked": 200, "recall": 1.0, "high": 1.0}
    for options in ({}, {"samples": 3}, {"known": True, "min_probability": 0.01}):
        exact = model.recommend(k=4, **options)
        assert model.search_info_ == {"candidates": 0, **UNMEASURED}
        assert same(model.recommend(k=4, search="exact", **options), exact)
        assert same(model.recommend(k=4, search=300, **options), exact)
        assert everything.items() <= model.search_info_.items()
        assert model.search_info_["best"] == 4 and 0.95 < model.search_info_["low"] < 1
        exact = model.top_links(20, **options)
        assert model.search_info_ == {"candidates": 0, **UNMEASURED}
        assert same(model.top_links(20, search=300, **options), exact)
        assert everything.items() <= model.search_info_.items() and model.search_info_["best"] == 10
    some = {"candidates": [1, 2, 3, 250], "search": 300}
    assert same(model.recommend([5, 17], k=2, **some), model.recommend([5, 17], k=2, **{**some, "search": "exact"}))
    model.recommend([5, 17], k=2, search=300)
    assert model.search_info_ == {"candidates": 300, **UNMEASURED}  # too few nodes to measure
    assert pickle.loads(pickle.dumps(model)).search_info_ == model.search_info_
    assert not hasattr(model.fit(graph), "search_info_")


def test_few_candidates():
    """With few candidates the lists have other members, and the recall says how many."""
    graph = npgnn.Graph("synthetic:nodes=600,seed=3")
    model = npgnn.LinkPredictor("universal").fit(graph)
    exact = model.recommend(k=10)
    found = model.recommend(k=10, search=np.int64(1))
    info = model.search_info_
    assert info["candidates"] == 30 and info["checked"] == 200 and info["best"] == 10  # at least three times k
    assert 0.5 < info["low"] < info["recall"] < info["high"] < 1
    common = set(zip(exact["node"], exact["partner"])) & set(zip(found["node"], found["partner"]))
    assert info["low"] - 0.02 < len(common) / len(exact) < info["high"] + 0.02 and len(common) < len(exact)
    assert np.array_equal(model.predict_proba(list(zip(found["node"], found["partner"])))[:, 1], found["probability"])
    more = model.recommend(k=10, search="candidates")
    assert model.search_info_["candidates"] == 256 and model.search_info_["recall"] > info["recall"]
    assert len(more) == len(exact)
    top = model.top_links(50, search=30)
    assert model.search_info_["candidates"] == 30
    scores, pairs = np.asarray(top["score"]), list(zip(top["source"], top["target"]))
    assert len(top) == 50 and (np.diff(scores) <= 0).all()
    assert len({frozenset(pair) for pair in pairs}) == 50 and not np.asarray(top["known"]).any()
    assert not {frozenset(pair) for pair in pairs} & {frozenset(pair) for pair in graph.links.tolist()}


def test_candidates_of_two_sides():
    random = np.random.default_rng(7)
    users = np.repeat(np.arange(200), 6)  # with fewer than 200 nodes, the recall is not measured
    items = (users + random.integers(0, 12, len(users))) % 60
    graph = npgnn.Graph({"user": users, "item": items}, bipartite=True)
    model = npgnn.LinkPredictor("universal").fit(graph)
    exact, found = model.recommend(k=3), model.recommend(k=3, search=graph.n_nodes)
    assert same(found, exact) and model.search_info_["recall"] == 1
    assert all(node[0] != partner[0] for node, partner in zip(found["node"], found["partner"]))
    top = model.top_links(30, search=30)
    assert model.search_info_["candidates"] == 30
    assert all(source[0] == "source" and target[0] == "target" for source, target in zip(top["source"], top["target"]))
    assert len(set(zip(top["source"], top["target"]))) == 30


SENTENCE = (
    r"candidates: 256 per node; they contain \d+\.\d % \(\d+\.\d to \d+\.\d\) of the 3 best, by exact search of 200 nodes"
)


def test_candidates_unasked(universal, monkeypatch, capfd):
    """A warning says that "auto" has chosen candidates. Who asks for them gets a notice."""
    verbose = npgnn.LinkPredictor("universal", verbose=1).fit(universal.graph_)
    capfd.readouterr()
    verbose.recommend(k=3, search="candidates")
    assert re.search("npgnn: " + SENTENCE + "\n", capfd.readouterr().err)
    # "auto" of a graph with more than 2^31 pairs
    monkeypatch.setattr("npgnn.model._check_search", lambda search: (_c.SEARCHES.index("candidates"), 0))
    with pytest.warns(UserWarning, match=SENTENCE + "; search='exact' scores all pairs") as seen:
        universal.recommend(k=3)
    assert len(seen) == 1 and seen[0].filename == __file__
    with pytest.warns(UserWarning, match="of the 10 best, by exact search of 200 nodes") as seen:
        universal.top_links(20)
    assert len(seen) == 1 and seen[0].filename == __file__


def test_candidates_of_a_large_graph():
    """More than 2^31 pairs, which "auto" does not score."""
    if not os.environ.get("NPGNN_SLOW"):
        pytest.skip("NPGNN_SLOW is not set: it takes 10 s of processor time")
    count, random = 46400, np.random.default_rng(1)
    ends = np.repeat(np.arange(count), 3)
    links = np.column_stack([ends, (ends + random.integers(1, 20, len(ends))) % count])
    model = npgnn.LinkPredictor("universal").fit(np.unique(np.sort(links, 1), axis=0), nodes=count)
    model.recommend(range(300), k=3)
    assert model.search_info_["candidates"] == 0
    with pytest.warns(UserWarning, match=SENTENCE):
        assert len(model.recommend(k=3)) == 3 * count
    assert model.search_info_["candidates"] == 256 and model.search_info_["recall"] > 0.9
    with pytest.warns(UserWarning, match="candidates: 256 per node"):
        assert len(model.top_links(20)) == 20
    assert len(model.recommend(k=3, search=100)) == 3 * count  # asked for: no warning


def test_explanations(graph, universal, people):
    rows = universal.recommend([5, 17], k=2, explain=True)
    assert all(isinstance(reason, str) and reason for reason in rows["reason"])
    for pair in list(zip(rows["node"], rows["partner"])) + [(0, 1)]:
        why = universal.explain(pair)
        probability = universal.predict_proba([pair])[0, 1]
        assert why["log_odds"] == pytest.approx(np.log(probability / (1 - probability)), abs=1e-3)
        assert why["baseline"] + sum(why["reasons"].values()) == pytest.approx(why["log_odds"], abs=1e-4)
        assert sum(why["columns"]["log_odds"]) == pytest.approx(sum(why["reasons"].values()), abs=1e-6)
        linked = [set(graph.links[(graph.links == node).any(1)].ravel().tolist()) - {node} for node in pair]
        assert set(why["neighbors"]) == linked[0] & linked[1]
    model = npgnn.LinkPredictor("universal").fit(people[0], nodes=people[1])
    assert "town=Rome" in model.explain(("p0", "p3"))["features"]
    assert list(model.top_links(1, explain=True)["reason"])[0]
    with pytest.raises(npgnn.ArgumentError):
        npgnn.LinkPredictor("default", iterations=1).fit(graph).explain((0, 1))


def test_files(tmp_path):
    graph = npgnn.Graph("synthetic:nodes=600,seed=3")  # which tuning helps on: best has a file of its own
    for method, options in (("universal", {}), ("best", {}), ("default", {"iterations": 5})):
        model = npgnn.LinkPredictor(method, **options).fit(graph)
        model.save(tmp_path / "m.safetensors")
        again = npgnn.load(tmp_path / "m.safetensors", graph)
        pairs = graph.links[:20]
        assert np.array_equal(again.predict_proba(pairs), model.predict_proba(pairs))
        for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            assert np.array_equal(other.predict_proba(pairs), model.predict_proba(pairs))
    with pytest.raises(npgnn.NotFittedError, match="with_graph"):
        npgnn.load(tmp_path / "m.safetensors").predict_proba([(0, 1)])
    assert model.embed().shape == (600, 32)


@pytest.mark.filterwarnings("ignore:tuning did not help")
@pytest.mark.parametrize("method", ["universal", "best"])
def test_embeddings_of_processes(method):
    """One vector per node, whose inner products rank about as the scores do."""
    split = npgnn.split("synthetic:nodes=400,degree=6,seed=3")
    model = npgnn.LinkPredictor(method).fit(split.train)
    vectors = model.embed()
    assert vectors.shape == (400, 48) and np.isfinite(vectors).all()
    assert np.array_equal(vectors, model.embed())
    pairs, labels = np.asarray(split.test_pairs, int), np.asarray(split.test_labels)
    inner = (vectors[pairs[:, 0]] * vectors[pairs[:, 1]]).sum(axis=1)
    links, others = inner[labels == 1], inner[labels == 0]
    assert (links[:, None] > others).mean() > 0.8


def test_new_nodes(people):
    """For a network, a table with new nodes is encoded as in training: unknown categories are others, missing columns
    errors."""
    links, columns = people
    model = npgnn.LinkPredictor("default", iterations=3).fit(links, nodes=columns)
    more = {name: values + [values[0]] for name, values in columns.items()}
    more["id"][-1], more["income"][-1] = "new", 1e9
    applied = model.with_graph(links, more)
    assert applied.graph_.feature_names == model.graph_.feature_names
    assert applied.graph_.encoding == model.graph_.encoding
    assert len(applied.recommend(["new"], k=5)) == 5
    best = npgnn.LinkPredictor("best", iterations=60).fit(links, nodes=columns)
    assert best.tuned_
    assert len(best.with_graph(links, more).recommend(["new"], k=5)) == 5
    assert best.with_graph(links, more).graph_.encoding == best.graph_.encoding
    del more["town"]
    with pytest.raises(npgnn.MismatchError, match="column 'town' of the training is missing"):
        model.with_graph(links, more)


def test_same_bits_as_program(program, people, tmp_path):
    """The same files, options and seed: the same model file and the same predictions."""
    from test_graph import write

    links, columns = people
    write(tmp_path / "edges.csv", {"source": [a for a, b in links], "target": [b for a, b in links]})
    write(tmp_path / "nodes.csv", columns)
    for preset, iterations in (("best", 60), ("default", 20)):
        subprocess.run(
            [
                program,
                "train",
                "--edges",
                "edges.csv",
                "--features",
                "nodes.csv",
                "--preset",
                preset,
                "--iterations",
                str(iterations),
                "--seed",
                "3",
                "-q",
                "-o",
                f"{preset}.safetensors",
            ],
            cwd=tmp_path,
            check=True,
        )
        model = npgnn.LinkPredictor(preset, iterations=iterations, random_state=3)
        out = subprocess.run(
            [
                program,
                "predict",
                f"{preset}.safetensors",
                "--edges",
                "edges.csv",
                "--features",
                "nodes.csv",
                "--top",
                "3",
                "-q",
            ],
            cwd=tmp_path,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        expected = [line.split("\t") for line in out.splitlines()]
        # from files: the same bytes; from memory: the id column has no name there, and everything else is the same
        model.fit(tmp_path / "edges.csv", nodes=tmp_path / "nodes.csv").save(tmp_path / "python.safetensors")
        assert (tmp_path / "python.safetensors").read_bytes() == (tmp_path / f"{preset}.safetensors").read_bytes()
        for fitted in (model, npgnn.LinkPredictor(preset, iterations=iterations, random_state=3).fit(links, nodes=columns)):
            assert preset != "best" or fitted.tuned_
            rows = fitted.recommend(k=3)
            assert [(u, v, f"{p:.6g}") for u, v, p in zip(rows["node"], rows["partner"], rows["probability"])] == [
                (u, v, f"{float(p):.6g}") for u, v, p, *_ in expected
            ]
    out = subprocess.run(
        [
            program,
            "eval",
            "--edges",
            "edges.csv",
            "--features",
            "nodes.csv",
            "--preset",
            "universal",
            "--seeds",
            "2",
            "--json",
            "-",
            "-q",
        ],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    result = npgnn.evaluate(links, columns, method="universal", seeds=2)
    assert [seed["auc"] for seed in json.loads(out)["seeds"]] == [
        pytest.approx(auc, abs=1e-11) for auc in result["auc"]
    ]


def test_threads_and_seeds(graph):
    pairs = graph.links[:40]
    results = [
        npgnn.LinkPredictor("default", iterations=5, random_state=seed, n_jobs=jobs).fit(graph).decision_function(pairs)
        for seed, jobs in ((1, 1), (1, 3), (None, np.int64(2)), (2, -2))
    ]
    assert np.array_equal(results[0], results[1]) and np.array_equal(results[0], results[2])
    assert not np.array_equal(results[0], results[3])


def test_evaluation(graph, tmp_path):
    result = npgnn.evaluate(graph, method="adamic-adar", seeds=3, first_seed=4)
    assert list(result["seed"]) == [4, 5, 6] and (np.asarray(result["auc"]) > 0.5).all()
    split = npgnn.split(graph, seed=9)
    split.save(tmp_path / "split.tsv")
    again = npgnn.split(graph, path=tmp_path / "split.tsv")
    assert again.hash == split.hash and again.test_pairs == split.test_pairs
    fixed = npgnn.evaluate(graph, method="adamic-adar", seeds=1, split=split)
    model = npgnn.LinkPredictor("universal").fit(split.train)
    metrics = model.test(split.test_pairs, split.test_labels)
    assert 0.6 < metrics["auc"] <= 1 and metrics["auc"] != fixed["auc"][0]
    known = {tuple(pair) for pair in split.train.links.tolist()}
    assert not known & {tuple(sorted(pair)) for pair in split.test_pairs}
    inductive = npgnn.split(graph, protocol="inductive")
    assert inductive.train.n_nodes < 300 and set(inductive.train.nodes) < set(graph.nodes)


def test_parameters():
    model = npgnn.LinkPredictor("default", iterations=3, random_state=5)
    assert model.get_params() == {"method": "default", "random_state": 5, "n_jobs": None, "verbose": 0, "iterations": 3}
    assert model.set_params(hidden=8, method="authors").get_params()["hidden"] == 8
    assert repr(npgnn.LinkPredictor(iterations=3)) == "LinkPredictor(iterations=3)"


def test_sklearn(graph):
    sklearn = pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import check_is_fitted

    model = npgnn.LinkPredictor("default", iterations=2)
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        model.predict_proba([(0, 1)])
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    search = GridSearchCV(model, {"iterations": [1, 30]}, cv=npgnn.LinkSplit(2), error_score="raise").fit(graph)
    assert search.best_params_["iterations"] == 30
    check_is_fitted(search.best_estimator_)
    assert search.best_estimator_.graph_.n_links == graph.n_links
    assert (
        cross_val_score(npgnn.LinkPredictor("universal"), graph, cv=npgnn.LinkSplit(2), error_score="raise") > 0.6
    ).all()
    pipeline = Pipeline([("links", npgnn.LinkPredictor("universal"))]).fit(graph)
    assert pipeline.predict_proba([(0, 1)]).shape == (1, 2)
    assert sklearn is not None


def test_labels(graph):
    """Labelled pairs: the model is that of the links, and all nodes of the pairs are known."""
    random = np.random.default_rng(4)
    links = graph.links
    known = {tuple(pair) for pair in links.tolist()}
    others = np.sort(random.integers(graph.n_nodes, size=(3 * len(links), 2)), axis=1)
    others = [pair for pair in np.unique(others, axis=0).tolist() if pair[0] != pair[1] and tuple(pair) not in known]
    pairs = np.concatenate([links, random.permutation(others)[: len(links)]])
    y = (np.arange(len(pairs)) < len(links)).astype(int)
    order = random.permutation(len(pairs))
    pairs, y = pairs[order], y[order]
    with pytest.warns(UserWarning, match=rf"pairs with label 0 \({len(links)} of {len(pairs)}\) are not learnt from"):
        model = npgnn.LinkPredictor("universal").fit(pairs, y)
    expected = npgnn.LinkPredictor("universal").fit(pairs[y == 1], nodes=model.graph_.n_nodes)
    assert np.array_equal(model.decision_function(pairs), expected.decision_function(pairs))
    assert model.graph_.n_links == len(links)
    with pytest.warns(UserWarning, match="not learnt from"):
        named = npgnn.LinkPredictor("universal").fit([("a", "b"), ("b", "c"), ("c", "d")], [1, 1, 0])
    assert named.graph_.nodes == ["a", "b", "c", "d"] and named.graph_.edges == [("a", "b"), ("b", "c")]
    two = {"user": [1, 2, 3, 1], "item": [1, 1, 2, 3]}
    with pytest.warns(UserWarning, match="not learnt from"):
        sides = npgnn.LinkPredictor("universal").fit(two, np.array([1, 1, 1, 0]), bipartite=True)
    assert sides.graph_.n_nodes == 6 and sides.graph_.n_links == 3
    with pytest.warns(UserWarning, match=r"pairs are given more than once \(1 of 3\)"):
        npgnn.LinkPredictor("universal").fit([("a", "b"), ("b", "a"), ("b", "c")], [1, 1, 1])
    pytest.importorskip("sklearn")
    from sklearn.model_selection import cross_val_score

    model = npgnn.LinkPredictor("universal")
    options = {"scoring": "roc_auc", "error_score": "raise"}
    with pytest.warns(UserWarning, match="not learnt from"):
        scores = cross_val_score(model, pairs, y, cv=npgnn.LinkSplit(3), **options)
        assert scores.mean() > 0.6
        again = cross_val_score(model, list(map(tuple, pairs.tolist())), y, cv=npgnn.LinkSplit(3), **options)
        assert np.array_equal(scores, again)
        none = [
            cross_val_score(model, pairs, random.permutation(y), cv=npgnn.LinkSplit(2, random_state=seed), **options).mean()
            for seed in range(6)
        ]
        assert abs(np.mean(none) - 0.5) < 0.06  # labels that mean nothing
    train, test = next(npgnn.LinkSplit(1).split(pairs, y))
    kept = set(pairs[train][y[train] == 1].ravel().tolist())
    assert set(pairs[test].ravel().tolist()) <= kept and 0.4 < y[test].mean() < 0.6


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda m, g: npgnn.LinkPredictor("worst").fit(g), "method must be one of universal, default, best"),
        (lambda m, g: npgnn.LinkPredictor(iterations=0).fit(g), 'iterations takes from 1, not "0"'),
        (lambda m, g: npgnn.LinkPredictor("universal", iterations=3).fit(g), "iterations has no effect"),
        (lambda m, g: npgnn.LinkPredictor("best", hidden=8).fit(g), "hidden has no effect: method 'best' does not use it"),
        (
            lambda m, g: npgnn.LinkPredictor("default", loss="exact", pairs_per_node=64).fit(g),
            "pairs_per_node has no effect with loss='exact'",
        ),
        (
            lambda m, g: npgnn.LinkPredictor("default", samples=3, latent=False).fit(g),
            "samples has no effect with latent=False",
        ),
        (lambda m, g: npgnn.evaluate(g, method="katz", iterations=3), "method 'katz' takes a seed alone"),
        (lambda m, g: npgnn.evaluate(g, method="cnp", samples=3), "samples has no effect: method 'cnp'"),
        (lambda m, g: npgnn.evaluate(g, method="cnp", latent=True), "latent has no effect: method 'cnp'"),
        (lambda m, g: npgnn.evaluate(g, train_nodes=0.3), "train_nodes has no effect: the protocol 'transductive'"),
        (lambda m, g: npgnn.split(g, protocol="few-shot", test=0.3), "test has no effect: the protocol 'few-shot'"),
        (lambda m, g: npgnn.evaluate(g, split=npgnn.split(g), val=0.1), "val has no effect with split"),
        (lambda m, g: npgnn.LinkPredictor(random_state=-1).fit(g), "random_state must be"),
        (lambda m, g: npgnn.LinkPredictor(n_jobs=0).fit(g), "n_jobs must be"),
        (lambda m, g: npgnn.LinkPredictor().fit(g, nodes=3), "nodes cannot be given: edges is a Graph"),
        (lambda m, g: m.fit(g, np.ones(len(g))), "y has labels of pairs, but X is a Graph"),
        (lambda m, g: m.fit(scipy.sparse.csr_matrix(np.eye(3, k=1)), [1, 1, 0]), "y has labels of pairs, but X is a csr_matrix"),
        (lambda m, g: m.fit([(0, 1)], {"age": [1, 2]}), "y must have a label of each pair, 0 or 1, not a dict: nodes are given as"),
        (lambda m, g: m.fit("e.csv", "n.csv"), "y must have a label of each pair, 0 or 1, not a str: nodes are given as nodes="),
        (lambda m, g: m.fit([(0, 1), (1, 2)], [5, 7]), "y must be 2 values of 0 and 1, one per pair; nodes and their features"),
        (lambda m, g: m.fit([(0, 1), (1, 2)], [0, 0]), "y has no label 1"),
        (lambda m, g: m.fit([("a", "b"), ("b", "a")], [0, 1]), "y: the pair ('b', 'a') has the label 0 and the label 1"),
        (lambda m, g: m.predict_proba([(0, 1)], link_rate=2), "link_rate must be above 0 and below 1, got 2"),
        (lambda m, g: m.predict_proba([(0, 1)], samples=-2), "samples must be an integer from 0 on"),
        (lambda m, g: m.predict_proba([(0, 1, 2)]), "pairs[0] is (0, 1, 2): expected a pair of nodes"),
        (lambda m, g: m.recommend([0], k=0), "k must be an integer from 1 on, got 0"),
        (lambda m, g: m.recommend("anna"), "nodes: expected a list of nodes, got 'anna': write ['anna']"),
        (lambda m, g: m.recommend(5), "nodes: expected a list of nodes, got 5: write [5]"),
        (lambda m, g: m.recommend([5, 7, 5]), "nodes: 5 is given twice"),
        (lambda m, g: m.recommend([5], candidates=[]), "candidates: the list is empty"),
        (lambda m, g: next(npgnn.LinkSplit().split({"u": [1]})), "X must be a Graph, not a dict"),
        (lambda m, g: m.recommend([0], min_probability=3), "min_probability must be from 0 to 1, got 3"),
        (lambda m, g: m.recommend([0], search="fast"), "search must be one of auto, exact, candidates, or a number of"),
        (lambda m, g: m.recommend([0], search=True), "candidates per node from 1 on, got True"),
        (lambda m, g: m.recommend([0], search=0), "candidates per node from 1 on, got 0"),
        (lambda m, g: m.recommend([0], search=2.5), "candidates per node from 1 on, got 2.5"),
        (lambda m, g: m.recommend([0], search=None), "candidates per node from 1 on, got None"),
        (lambda m, g: m.top_links(search="best"), "search must be one of auto, exact, candidates, or a number of"),
        (
            lambda m, g: npgnn.LinkPredictor("default", iterations=1).fit(g).top_links(search=50),
            "a network has no candidates to search among",
        ),
        (lambda m, g: m.test([(0, 1)], [2]), "labels must be 1 values of 0 and 1"),
        (lambda m, g: npgnn.evaluate(g, method="magic"), "method must be one of universal, default, best"),
        (lambda m, g: npgnn.evaluate(g, protocol="hard"), "protocol must be one of transductive"),
        (lambda m, g: npgnn.evaluate(g, seeds=0), "seeds must be an integer from 1 on"),
        (lambda m, g: npgnn.evaluate(g, test=1.5), "test must be a fraction"),
        (lambda m, g: npgnn.evaluate(g, negative_ratio="many"), "negative_ratio must be from 1 to 1e9"),
        (lambda m, g: npgnn.evaluate(g, split="s.tsv"), "split must be a Split, got 's.tsv'"),
        (
            lambda m, g: npgnn.evaluate(g, first_seed=1 << 64),
            "first_seed must be None, an integer from 0 on, below 2^64",
        ),
        (lambda m, g: npgnn.LinkPredictor(n_jobs=10**9).fit(g), "n_jobs must be"),
        (lambda m, g: npgnn.LinkPredictor(verbose="yes").fit(g), "verbose must be 0 or 1"),
        (lambda m, g: m.save(3), "path must be the path of a file, got 3"),
        (lambda m, g: m.test([(0, 1)], seed=-1), "seed must be"),
        (lambda m, g: m.recommend([0], known="yes"), "known must be True or False"),
        (lambda m, g: npgnn.LinkSplit(random_state="x"), "random_state must be"),
        (lambda m, g: npgnn.split(g, protocol="temporal"), "time"),
        (lambda m, g: npgnn.load(os.devnull), os.devnull),
        (lambda m, g: npgnn.datasets.fetch("facebook"), "name must be one of cora, citeseer, pubmed, got 'facebook'"),
        (lambda m, g: npgnn.LinkSplit(test_size=2), "test_size must be above 0"),
    ],
)
def test_refusals(graph, universal, call, words):
    with pytest.raises(npgnn.Error) as raised:
        call(universal, graph)
    assert words in str(raised.value)


def test_unknown_names(graph, universal):
    with pytest.raises(TypeError, match="there is no option 'iteration'; did you mean 'iterations'?"):
        npgnn.LinkPredictor(iteration=3)
    with pytest.raises(KeyError, match="no node 300"):
        universal.predict_proba([(0, 300)])
    with pytest.raises(npgnn.NotFittedError, match="not fitted"):
        npgnn.LinkPredictor().recommend([0])


def test_tuning_that_does_not_help(tmp_path):
    """On a random graph there is nothing to learn: the model is `universal`, and says so, now and when it is loaded."""
    ends = np.random.default_rng(4).integers(0, 150, (450, 2))
    links = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    with pytest.warns(UserWarning, match="tuning did not help"):
        model = npgnn.LinkPredictor("best").fit(links)
    model.save(tmp_path / "m.safetensors")
    loaded = npgnn.load(tmp_path / "m.safetensors", links)
    pairs = [(0, 1), (2, 3), (5, 8)]
    untuned = npgnn.LinkPredictor("universal").fit(links).predict_proba(pairs)
    assert not model.tuned_ and not loaded.tuned_ and loaded.method == "best"
    assert np.array_equal(model.predict_proba(pairs), untuned)
    assert np.array_equal(loaded.predict_proba(pairs), untuned)
