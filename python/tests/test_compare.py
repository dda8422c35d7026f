"""npgnn.compare: the figures of the program, scores of others, refusals."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest

import npgnn

DATA = "synthetic:nodes=300,seed=3"


@pytest.fixture(scope="module")
def graph():
    return npgnn.Graph(DATA)


def degrees(split):
    """The product of the degrees, a poor method."""
    degree = np.bincount(split.train.links.ravel(), minlength=split.graph.n_nodes)
    return degree[split.test_indices[:, 0]] * degree[split.test_indices[:, 1]]


def noise(split):
    """Scores that only a double tells apart."""
    random = np.random.default_rng(split.test_indices.ravel().tolist())
    return 1 + 1e-12 * random.permutation(len(split.test_pairs))


def test_same_figures_as_program(program, graph, tmp_path):
    """The text of the program's tables, and the 12 digits of its JSON; scores of others as a function here, and as a file
    there."""
    with open(tmp_path / "scores.tsv", "w", encoding="ascii") as out:
        for seed in range(3, 10):
            split = npgnn.split(graph, seed=seed)
            for (u, v), score in zip(split.test_pairs, noise(split).tolist()):
                out.write(f"{seed}\t{v}\t{u}\t{score!r}\n")
    command = [program, "compare", DATA, "--methods", "cosine,katz", "--scores", "noise=scores.tsv"]
    command += ["--seed", "3", "--seeds", "7", "--quiet"]
    printed = subprocess.run([*command, "--json", "all.json"], cwd=tmp_path, check=True, capture_output=True, text=True)
    result = npgnn.compare(graph, methods=["cosine", "katz"], scores={"noise": noise}, seeds=7, first_seed=3)
    assert f"{DATA}, {result}\n" == printed.stdout
    report = json.loads((tmp_path / "all.json").read_text())
    rows = iter(range(6))
    for method in report["methods"][1:]:
        for metric in ("auc", "ap", "mrr"):
            expected, row = method["difference"][metric], next(rows)
            found = {
                name: result.differences[name][row] for name in ("method", "metric", "difference", "low", "high", "p")
            }
            assert (found["method"], found["metric"]) == (method["name"], metric)
            assert found["difference"] == pytest.approx(expected["mean"], rel=1e-11)
            assert [found["low"], found["high"]] == pytest.approx(expected["interval"], rel=1e-11)
            assert found["p"] == pytest.approx(expected["p"], rel=1e-11)
            assert result.differences["better"][row] == expected["better"]
    assert list(result.runs["split"][:7]) == [run["split_hash"] for run in report["methods"][0]["seeds"]]
    assert "<td>katz</td>" in result._repr_html_()


def test_scores(graph):
    """The same scores in every form."""
    splits = [npgnn.split(graph, seed=seed) for seed in (1, 2)]
    tables = {
        "seed": np.repeat([1, 2], [len(split.test_pairs) for split in splits]),
        "u": np.concatenate([split.test_indices[:, 1] for split in splits]),
        "v": np.concatenate([split.test_indices[:, 0] for split in splits]),
        "score": np.concatenate([degrees(split) for split in splits]),
    }
    order = np.random.default_rng(1).permutation(len(tables["seed"]))
    forms = {
        "function": degrees,
        "list": [degrees(split) for split in splits],
        "dict": {2: degrees(splits[1]), 1: degrees(splits[0]).tolist()},
        "table": {name: values[order] for name, values in tables.items()},
    }
    result = npgnn.compare(graph, methods=[], scores=forms, seeds=2)
    assert list(result.differences["difference"]) == [0.0] * 9 and list(result.differences["better"]) == [0] * 9
    assert np.isnan(result.differences["p"]).all() and "p needs at least 6 seeds" in repr(result)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(tables)
    again = npgnn.compare(
        graph, methods=[], scores={"frame": frame, "blind": lambda split: np.zeros(len(split.test_pairs))}, seeds=2
    )
    assert again.reference == "frame" and list(again.summary["auc"])[1] == 0.5


def test_methods(graph, people):
    """Presets, methods, and predictors with options; the figures are those of evaluate."""
    short = npgnn.LinkPredictor("default", iterations=2, random_state=99)
    result = npgnn.compare(
        graph, methods={"aa": "adamic-adar", "short": short}, seeds=2, protocol="inductive", n_jobs=1
    )
    alone = npgnn.evaluate(graph, method="default", iterations=2, seeds=2, protocol="inductive")
    assert (
        list(result.runs["auc"][2:]) == list(alone["auc"]) and list(result.runs["method"]) == ["aa"] * 2 + ["short"] * 2
    )
    assert list(npgnn.compare(graph, methods=["cosine", short], seeds=1).summary["method"])[1] == repr(short)
    assert npgnn.compare(*people, methods=["cosine", "katz"], seeds=1, kinds={"town": "ignored"}).reference == "cosine"


@pytest.mark.parametrize(
    "options, words",
    [
        ({"methods": ["cosine"]}, "a comparison needs at least two methods"),
        ({"methods": "cosine"}, "methods must be a list or a dict of methods, got 'cosine': write ['cosine']"),
        ({"methods": ["cosine", "cosin"]}, "methods: 'cosin' is neither a preset nor one of npgnn.methods()"),
        ({"methods": ["cosine", "cosine"]}, "methods: 'cosine' is given twice"),
        ({"methods": {"a": "cosine", "b": degrees}}, "functions and arrays go into scores"),
        ({"methods": ["cosine"], "scores": {"cosine": degrees}}, "scores: the name 'cosine' is given twice"),
        ({"scores": degrees}, "scores must be a dict of names and scores"),
        (
            {"methods": ["cosine", npgnn.LinkPredictor("best", hidden=8)]},
            "hidden has no effect: method 'best' does not use it",
        ),
        ({"methods": 3}, "methods must be a list or a dict of methods, got 3"),
        ({"scores": {"mine": 7}}, "scores['mine'] must be a function of a Split, a list"),
        ({"scores": {"mine": [[1.0]]}}, "scores['mine'] has the scores of 1 splits, but there are 2 seeds"),
        ({"scores": {"mine": {1: [], 3: []}}}, "scores['mine'] has the seeds [1, 3], but the seeds are 1 to 2"),
        ({"scores": {"mine": [[1.0], [1.0]]}}, "scores['mine']: the scores of seed 1 are of shape (1,), but there are"),
        ({"scores": {"mine": lambda split: ["x"] * len(split.test_pairs)}}, "the scores of seed 1 are not numbers"),
        ({"scores": {"mine": lambda split: degrees(split) * np.nan}}, "score 0 of seed 1 is NaN"),
        ({"scores": {"mine": {"seed": [1], "u": [0], "score": [1]}}}, "must have two columns with the ends"),
        ({"scores": {"mine": {"u": [0], "v": [1], "score": [1]}}}, "scores['mine'] has no column 'seed'"),
        (
            {"scores": {"mine": {"seed": [5], "u": [0], "v": [1], "score": [1]}}},
            "seed 5 is not compared; the seeds are 1 to 2",
        ),
        (
            {"scores": {"mine": {"seed": [1], "u": [0], "v": [0], "score": [1]}}},
            "row 0: not a test pair of seed 1: 0 and 0",
        ),
        (
            {"scores": {"mine": {"seed": [], "u": [], "v": [], "score": []}}},
            "test pairs of seed 1 have no score, such as",
        ),
        ({"methods": ["cosine", "katz"], "seeds": 0}, "seeds must be an integer from 1 on"),
        ({"methods": ["cosine", "katz"], "protocol": "hard"}, "protocol must be one of"),
    ],
)
def test_refusals(graph, options, words):
    with pytest.raises(npgnn.Error) as raised:
        npgnn.compare(graph, **{"methods": ["cosine"], "seeds": 2, **options})
    assert words in str(raised.value)
