#!/usr/bin/env python3
"""Compares ways to weigh the evidence of a graph (docs/understand/math.md, eq. (15)), on validation links. Needs numpy and scipy.

    tools/evidence.py --npgnn build/npgnn --work DIR GRAPH...

Of each graph, 5 % of the links are held out to fit weights on and 10 % to judge them by; `npgnn train --preset best` learns from
the rest. The tenth is no test set: it belongs to a split that appears in no table. Columns and weights are calculated here, independently of the
library. Prints AUC, AP and MRR in percent for each way, and the best validation that fewer iterations would have reached.
"""
import argparse
import json
import os
import subprocess

import numpy as np
import scipy.io
import scipy.sparse as sparse
from scipy.optimize import minimize
from scipy.stats import rankdata

CAPS = (400, 500, 600, 800)
WAYS = {  # what roots or logarithms are taken of, non-links to each link besides the first, and what else
    "logarithms": (lambda x: np.log1p(10 * x), 0, []),
    "roots": (np.sqrt, 0, []),
    "roots, 4 more": (np.sqrt, 4, []),
    "roots, 8 more": (np.sqrt, 8, []),
    "roots, 4 more, regions unpadded": (np.sqrt, 4, ["unpadded"]),
    "roots, 4 more, regions": (np.sqrt, 4, ["regions"]),
}


# ---- a graph, and a model of a part of it ----

def read_folder(folder):
    """Number of nodes, names, links as sorted unique pairs, features with rows of length 1."""
    sparse_file = os.path.join(folder, "features.mtx")
    x = scipy.io.mmread(sparse_file).tocsr() if os.path.exists(sparse_file) else sparse.csr_matrix(
        np.load(os.path.join(folder, "features.npy")))
    length = np.sqrt(np.asarray(x.multiply(x).sum(1)).ravel())
    names = os.path.join(folder, "nodes.txt")
    names = open(names).read().split("\n")[:x.shape[0]] if os.path.exists(names) else [str(i) for i in range(x.shape[0])]
    number = {name: i for i, name in enumerate(names)}
    with open(os.path.join(folder, "edges.tsv")) as lines:
        rows = [line.rstrip("\n").split("\t")[:2] for line in lines]
    links = np.array([(number[u], number[v]) for u, v in rows if u in number and v in number])
    return names, np.unique(np.sort(links, 1), axis=0), sparse.diags(1 / np.where(length > 0, length, 1)) @ x.astype(float)


def draw_non_links(rng, n, links, count):
    taken = {(u, v) for u, v in links.tolist()}
    drawn = []
    while len(drawn) < count:
        u, v = sorted(rng.integers(0, n, 2).tolist())
        if u != v and (u, v) not in taken:
            taken.add((u, v))
            drawn.append((u, v))
    return np.array(drawn)


def write_pairs(path, names, sets):
    with open(path, "w") as out:
        out.write("set\tu\tv\tlabel\n")
        for name, label, pairs in sets:
            out.writelines(f"{name}\t{names[u]}\t{names[v]}\t{label}\n" for u, v in pairs)


def prepare(graph, args):
    """The sets of pairs, the known links, the features, the embeddings and the log of the training."""
    home = os.path.join(args.work, os.path.basename(graph.rstrip("/")))
    whole, known = os.path.join(home, "whole"), os.path.join(home, "known")
    os.makedirs(known)

    def npgnn(*command):
        subprocess.run([args.npgnn, *command, "--quiet"], check=True, stdout=subprocess.DEVNULL)

    npgnn("convert", graph, "-o", whole)
    names, links, x = read_folder(whole)
    rng = np.random.default_rng(args.seed)
    order, tenth = rng.permutation(len(links)), len(links) // 10
    sets = {"judged": links[order[:tenth]], "fitted": links[order[tenth:tenth + tenth // 2]]}
    train = links[order[tenth + tenth // 2:]]
    drawn = draw_non_links(rng, len(names), links, tenth + 9 * (tenth // 2))
    sets["not judged"], sets["not fitted"] = drawn[:tenth], drawn[tenth:]
    split, model, u, log = (os.path.join(home, name) for name in ("split.tsv", "model.safetensors", "u.npy", "log.jsonl"))
    write_pairs(split, names, [("train", 1, train), ("val", 1, sets["fitted"]),
                               ("val", 0, sets["not fitted"][:len(sets["fitted"])]),
                               ("test", 1, sets["judged"]), ("test", 0, sets["not judged"])])
    for name in os.listdir(whole):
        if name != "edges.tsv":
            os.symlink(os.path.join(os.path.abspath(whole), name), os.path.join(known, name))
    with open(os.path.join(known, "edges.tsv"), "w") as out:
        out.writelines(f"{names[a]}\t{names[b]}\n" for a, b in train)
    npgnn("train", whole, "--preset", "best", "--iterations", str(max(CAPS)), "--seed", str(args.seed), "--split", split,
          "-o", model, "--log", log, "--threads", "1")
    npgnn("embed", model, known, "-o", u)
    a = sparse.coo_matrix((np.ones(len(train)), train.T), shape=(len(names),) * 2).tocsr()
    return sets, a + a.T, x, np.load(u).astype(float), log


# ---- evidence ----

def region_rows(a, degree, pad):
    scale = np.where(degree > 0, 1 / np.sqrt(np.maximum(degree + pad, 1)), 0)
    step = sparse.diags(scale) @ (a + sparse.eye(a.shape[0])) @ sparse.diags(scale)
    q = np.random.default_rng(0).choice([-1.0, 1.0], (a.shape[0], 64)) * (degree > 0)[:, None]
    for _ in range(6):
        for _ in range(4):
            q = step @ q
        q = np.linalg.qr(q)[0]
    q = step @ q
    return q / np.maximum(np.linalg.norm(q, axis=1), 1e-12)[:, None]


def columns_of(pairs, a, x, u, degree, regions):
    i, j = pairs.T
    share = sparse.diags(np.where(degree > 0, 1 / np.maximum(degree, 1), 0))
    level = np.log1p(degree)
    excess = np.where(degree > 0, level - level.sum() / (degree > 0).sum(), 0)
    found = {"own": (u[i] * u[j]).sum(1), "cosine": np.asarray(x[i].multiply(x[j]).sum(1)).ravel(), "degrees": excess[i] + excess[j],
             "neighbors": [], "paths": [], **{name: (rows[i] * rows[j]).sum(1) for name, rows in regions.items()}}
    for first in range(0, len(pairs), 4000):
        left, right = a[i[first:first + 4000]] @ share, a[j[first:first + 4000]]
        found["neighbors"].append(np.asarray(left.multiply(right).sum(1)).ravel())
        found["paths"].append(np.asarray((left @ a).multiply(right @ share).sum(1)).ravel())
    return {name: np.concatenate(part) if isinstance(part, list) else part for name, part in found.items()}


# ---- weights ----

def regress(rows, label):
    mean, spread = rows.mean(0), rows.std(0)
    z = (rows - mean) / np.where(spread > 1e-7, spread, np.inf)

    def loss(beta):
        t = beta[0] + z @ beta[1:]
        p = 1 / (1 + np.exp(-t))
        slope = np.append((p - label).mean(), z.T @ (p - label) / len(label) + 1e-3 * beta[1:])
        return np.logaddexp(0, np.where(label, -t, t)).mean() + 5e-4 * (beta[1:] ** 2).sum(), slope

    bounds = [(None, None)] + [(0, None)] * rows.shape[1]
    best = minimize(loss, np.zeros(rows.shape[1] + 1), jac=True, method="L-BFGS-B", bounds=bounds,
                    options={"maxiter": 500, "ftol": 1e-13, "gtol": 1e-9})
    return best.fun, best.x[1:] / np.where(spread > 1e-7, spread, np.inf)


def select(columns, names, label):
    """Drops columns that do not raise the log-likelihood by 2, the one that is missed least first."""
    def fit(chosen):
        return regress(np.stack([columns[name] for name in chosen], 1), label)

    loss, weights = fit(names)
    while len(names) > 1:
        tries = [([other for other in names if other != name],) for name in names if name != "own"]
        (fewer,), (worse, others) = min(((t, fit(*t)) for t in tries), key=lambda pair: pair[1][0])
        if (worse - loss) * len(label) > 2:
            break
        names, loss, weights = fewer, worse, others
    return dict(zip(names, weights))


def judge(link, other):
    score = np.concatenate([link, other])
    rank = rankdata(score)[:len(link)]
    auc = (rank.sum() - len(link) * (len(link) + 1) / 2) / len(link) / len(other)
    levels, place = np.unique(-score, return_inverse=True)  # equal scores share a place
    hits = np.bincount(place, np.arange(len(score)) < len(link), len(levels))
    ap = (hits * np.cumsum(hits) / np.cumsum(np.bincount(place))).sum() / len(link)
    ordered = np.sort(other)
    above = [len(other) - np.searchsorted(ordered, link, side) for side in ("left", "right")]
    return np.array([auc, ap, (1 / (1 + (above[0] + above[1]) / 2)).mean()]) * 100


def compare(graph, args):
    sets, a, x, u, log = prepare(graph, args)
    degree = np.asarray(a.sum(1)).ravel()
    regions = {"regions": region_rows(a, degree, degree.sum() / (degree > 0).sum()), "unpadded": region_rows(a, degree, 0)}
    raw = {name: columns_of(pairs, a, x, u, degree, regions) for name, pairs in sets.items()}
    results = {}
    for way, (bend, more, extra) in WAYS.items():
        bent = {part: {**found, **{name: bend(found[name]) for name in ("neighbors", "paths")}} for part, found in raw.items()}
        links = len(sets["fitted"])
        others = min((1 + more) * links, links + 2 ** 15)
        seen = {name: np.concatenate([bent["fitted"][name], bent["not fitted"][name][:others]]) for name in bent["fitted"]}
        weights = select(seen, ["own", "cosine", "degrees", "neighbors", "paths", *extra], np.arange(links + others) < links)
        results[way] = judge(*(sum(w * bent[part][name] for name, w in weights.items()) for part in ("judged", "not judged")))
    with open(log) as lines:
        steps = [step for step in map(json.loads, lines) if step.get("val_auc") is not None]
    caps = {cap: max(50 * (s["val_auc"] + s["val_ap"]) for s in steps if s["iteration"] <= cap) for cap in CAPS}
    return results, caps


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--npgnn", default="build/npgnn")
    parser.add_argument("--work", required=True, help="new folder for what is made on the way")
    parser.add_argument("--seed", type=int, default=201)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH")
    args = parser.parse_args()
    every = {}
    for graph in args.graphs:
        results, caps = compare(graph, args)
        print(f"{graph}: best validation within", ", ".join(f"{cap}: {value:.2f}" for cap, value in caps.items()))
        for way, result in results.items():
            every.setdefault(way, []).append(result)
            print(f"  {way:32}", "%.2f / %.2f, MRR %.1f" % tuple(result), flush=True)
    print("mean")
    for way, result in every.items():
        print(f"  {way:32}", "%.2f / %.2f, MRR %.1f" % tuple(np.mean(result, 0)))


if __name__ == "__main__":
    main()
