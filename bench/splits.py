"""Graphs and splits that npgnn writes, and the metrics AUC and AP: what the comparison scripts share. Needs numpy."""
import os

import numpy as np


def read_features(folder):
    """The features of a graph that `npgnn convert` wrote, as a dense array (n, f)."""
    with open(os.path.join(folder, "features.mtx")) as lines:
        kind = next(lines)
        size = next(line for line in lines if not line.startswith("%")).split()
        cells = np.loadtxt(lines, ndmin=2)
    x = np.zeros((int(size[0]), int(size[1])), np.float32)
    x[cells[:, 0].astype(int) - 1, cells[:, 1].astype(int) - 1] = 1 if "pattern" in kind else cells[:, 2]
    return x


def read_split(path):
    """A split file as a dict from (set, label) to an array (2, pairs): ("train", "1"), ("val", "0"), ..."""
    sets = {}
    with open(path) as lines:
        for line in lines:
            part = line.split()
            if len(part) == 4 and part[0] in ("train", "val", "test"):
                sets.setdefault((part[0], part[3]), []).append((int(part[1]), int(part[2])))
    return {key: np.array(pairs).T for key, pairs in sets.items()}


def judge(link, other):
    """AUC and AP in percent. Ties count half in the AUC; AP gives all tied pairs the rank of the last of them."""
    score = np.concatenate([link, other])
    order = np.argsort(score, kind="stable")
    _, first, count = np.unique(score[order], return_index=True, return_counts=True)
    rank = np.empty(len(score))
    rank[order] = np.repeat(first + (count + 1) / 2, count)
    auc = (rank[:len(link)].sum() - len(link) * (len(link) + 1) / 2) / len(link) / len(other)
    label = np.arange(len(score)) < len(link)
    levels, place = np.unique(-score, return_inverse=True)
    hits = np.bincount(place, label, len(levels))
    seen, found = np.cumsum(np.bincount(place, minlength=len(levels))), np.cumsum(hits)
    return 100 * auc, 100 * (hits * found / seen).sum() / len(link)


def judge_cosine(x, split):
    """AUC and AP of the cosine of the features on the test pairs. npgnn gets the same if both read the same data."""
    length = np.linalg.norm(x, axis=1)
    x = x / np.where(length > 0, length, 1)[:, None]
    return judge(*((x[a] * x[b]).sum(1).round(6) for a, b in (split["test", "1"], split["test", "0"])))
