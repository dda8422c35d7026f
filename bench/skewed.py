#!/usr/bin/env python3
"""Links between nodes of skewed popularity, to time searches: skewed.py shop|one|star NODES LINKS OUT

shop: users (30 of 71 nodes) and items, a table for --bipartite. one: one kind of nodes. star: every node with the first one.
"""
import sys

import numpy as np

random = np.random.default_rng(1)


def popularity(n, exponent, shift):
    weight = 1 / (np.arange(n) + shift) ** exponent
    random.shuffle(weight)
    return weight / weight.sum()


def links(count, left, right, directed):
    """Different links, each drawn by the popularity of its ends."""
    n, keys = len(right), np.empty(0, dtype=np.int64)
    while len(keys) < count:
        u = random.choice(len(left), count // 2, p=left).astype(np.int64)
        v = random.choice(n, count // 2, p=right)
        if not directed:
            u, v = np.minimum(u, v), np.maximum(u, v)
            u, v = u[u != v], v[u != v]
        keys = np.unique(np.concatenate([keys, u * n + v]))
    keys = random.permutation(keys)[:count]
    return zip((keys // n).tolist(), (keys % n).tolist())


kind, n, m, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
with open(path, "w") as out:
    if kind == "shop":
        users = n * 30 // 71
        out.write("user,item\n")
        out.writelines(f"u{u},i{v}\n" for u, v in links(m, popularity(users, 0.6, 20), popularity(n - users, 0.8, 20), True))
    elif kind == "one":
        weight = popularity(n, 0.6, 50)
        out.writelines(f"{u} {v}\n" for u, v in links(m, weight, weight, False))
    else:
        out.writelines(f"0 {leaf}\n" for leaf in range(1, n))
