#!/usr/bin/env python3
"""agreement.py NPGNN DUMP CORPUS: the program agrees with independent code.

Metrics: AUC and AP with scikit-learn, on random scores, on scores with many ties, and on equal scores; MRR with scikit-learn where no
scores are equal, and with its definition.

Splits, evidence and scores of methods: with slow twins in Python that are written from the documentation, on twenty real graphs of
CORPUS/networks.npz. Without that file on graphs that are generated here, and the test says so.
"""
import bisect
import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from sklearn.metrics import average_precision_score, label_ranking_average_precision_score, roc_auc_score
except ImportError as missing:
    system = "/usr/bin/python3"  # which sees the packages of the system
    if os.path.exists(system) and "NPGNN_SYSTEM_PYTHON" not in os.environ:
        os.execve(system, [system, *sys.argv], dict(os.environ, NPGNN_SYSTEM_PYTHON="1"))
    print(f"skipped: {missing}")
    sys.exit(77)

npgnn, dump = map(os.path.abspath, sys.argv[1:3])
corpus = pathlib.Path(sys.argv[3]) / "networks.npz"
GRAPHS = 20
SPLIT, NEGATIVE, REVEAL = 3, 4, 15  # purposes of random numbers (src/base/rng.h)
TRAIN, VAL, TEST, KNOWN, NONE = range(5)


def near(ours, theirs, what, relative, absolute=1e-12):
    if not abs(ours - theirs) <= max(relative * abs(theirs), absolute):
        sys.exit(f"{what}: {ours!r}, not {theirs!r}")


# ---- metrics ----


def reciprocal_ranks(positive, negative):
    ordered = sorted(negative)
    for score in positive:
        below, not_above = bisect.bisect_left(ordered, score), bisect.bisect_right(ordered, score)
        yield 1 / (1 + len(ordered) - not_above + (not_above - below) / 2)


def check_metrics(folder):
    rng = np.random.default_rng(1)
    data = ["synthetic:nodes=300,seed=3", "--seeds", "3", "--negative-ratio", "3", "--quiet"]
    subprocess.run([npgnn, "compare", *data, "--save-splits", folder], check=True, stdout=subprocess.DEVNULL)
    scores = {
        "random": lambda n: rng.permutation(n) / 1024,
        "normal": lambda n: rng.standard_normal(n).astype(np.float32),
        "tied": lambda n: rng.integers(0, 4, n),
        "rounded": lambda n: np.round(rng.standard_normal(n), 1).astype(np.float32),
        "equal": np.zeros,
        "huge": lambda n: (rng.choice([-1, 1], n) * 10.0 ** rng.integers(-30, 30, n)).astype(np.float32),
    }
    truth, drawn = [], {name: [] for name in scores}
    for seed in (1, 2, 3):
        lines = (folder / f"split-{seed}.tsv").read_text().splitlines()
        test = [line.split("\t")[1:] for line in lines if line.startswith("test\t")]
        truth.append(np.array([int(label) for *_, label in test]))
        for name, draw in scores.items():
            values = np.asarray(draw(len(test)), float)
            drawn[name].append(values)
            with open(folder / name, "a") as out:
                for (u, v, _), value in zip(test, values):
                    out.write(f"{seed}\t{u}\t{v}\t{value!r}\n".replace("np.float64(", "").replace(")", ""))
    command = [npgnn, "compare", *data, "--methods", "cosine", "--json", folder / "report"]
    for name in scores:
        command += ["--scores", f"{name}={folder / name}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    compared = 0
    for method in json.loads((folder / "report").read_text())["methods"]:
        for label, values, run in zip(truth, drawn.get(method["name"], []), method["seeds"]):
            where = f"{method['name']}, seed {run['seed']}"
            positive, negative = values[label == 1], values[label == 0]
            near(run["auc"], roc_auc_score(label, values), f"AUC, {where}", 1e-11)
            near(run["ap"], average_precision_score(label, values), f"AP, {where}", 1e-11)
            near(run["mrr"], np.mean(list(reciprocal_ranks(positive, negative))), f"MRR, {where}", 1e-11)
            compared += 3
            if len(set(values)) == len(values):
                table = np.column_stack([positive, np.tile(negative, (len(positive), 1))])
                first = np.zeros(table.shape, int)
                first[:, 0] = 1
                near(run["mrr"], label_ranking_average_precision_score(first, table), f"MRR, {where}", 1e-11)
                compared += 1
    print(f"metrics: {compared} figures agree with scikit-learn")
    assert compared >= 6 * 3 * 3


# ---- graphs ----


def load_graphs():
    """(number of nodes, sorted links u < v) of some graphs, of 60 to 1,500 links."""
    if corpus.exists():
        stored = np.load(corpus)
        sets = [stored[name] for name in sorted(stored.files)]
        sets = [links for links in sets if 60 <= len(links) <= 1500]
        sets = sets[:: max(1, len(sets) // GRAPHS)][:GRAPHS]
    else:
        print("skipped: there is no corpus of real graphs; generated ones instead")
        rng = np.random.default_rng(2)
        sets = [rng.integers(0, 30 + 5 * i, (80 + 30 * i, 2)) for i in range(6)]
    for links in sets:
        links = links[links[:, 0] != links[:, 1]]
        _, numbers = np.unique(links, return_inverse=True)
        links = np.unique(np.sort(numbers.reshape(-1, 2), axis=1), axis=0)
        yield int(links.max()) + 1, [tuple(map(int, link)) for link in links]


# ---- splits ----


class Random:
    """Philox4x32-10, by the paper (Salmon et al. 2011)."""

    def __init__(self, seed, purpose, stream):
        self.key, self.prefix, self.index = (seed & 0xFFFFFFFF, seed >> 32), (purpose, stream), 0

    def below(self, bound):
        word = [self.index & 0xFFFFFFFF, self.index >> 32, *self.prefix]
        k0, k1 = self.key
        for _ in range(10):
            p0, p1 = 0xD2511F53 * word[0], 0xCD9E8D57 * word[2]
            word = [(p1 >> 32) ^ word[1] ^ k0, p1 & 0xFFFFFFFF, (p0 >> 32) ^ word[3] ^ k1, p0 & 0xFFFFFFFF]
            k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
        self.index += 1
        return ((word[0] << 32 | word[1]) * bound) >> 64


def choose(total, test, val, seed):
    random, places = Random(seed, SPLIT, 0), []
    for i in range(total):
        pick = random.below(total - i)
        places.append(TEST if pick < test else VAL if pick < test + val else TRAIN)
        test -= places[-1] == TEST
        val -= places[-1] == VAL
    return places


def place(a, b, protocol):
    if a == b:
        return a
    if protocol == "inductive-hidden" or TRAIN not in (a, b):
        return NONE
    return max(a, b)


def rejected(random, links, draw, count, seen):
    """`count` different non-links, in the order drawn."""
    found = []
    while len(found) < count:
        u, v = draw(random)
        pair = (min(u, v), max(u, v))
        if u is not v and pair[0] != pair[1] and pair not in links and pair not in seen:
            seen.add(pair)
            found.append(pair)
    return found


def draw_uniform(n, links, counts, seed):
    random, pairs = Random(seed, NEGATIVE, 0), n * (n - 1) // 2
    available, wanted = pairs - len(links), sum(counts)
    if wanted > available // 2 or available < pairs // 4:
        rest = [(u, v) for u in range(n) for v in range(u + 1, n) if (u, v) not in links]
        out = [[], []]
        for i, pair in enumerate(rest):
            pick, left = random.below(len(rest) - i), [counts[s] - len(out[s]) for s in (0, 1)]
            if pick < left[0]:
                out[0].append(pair)
            elif pick < sum(left):
                out[1].append(pair)
        return out
    seen = set()
    return [rejected(random, links, lambda r: (r.below(n), r.below(n)), count, seen) for count in counts]


def shuffle(items, random):
    for i in range(len(items) - 1, 0, -1):
        j = random.below(i + 1)
        items[i], items[j] = items[j], items[i]


def draw_class(links, owns, partners, count, random):
    """`count` non-links of two own nodes or, if there are partners, of an own node and a partner, in random order."""
    if count == 0:
        return []
    nodes, first = owns + partners, len(owns) if partners else 0
    pairs = [(nodes[i], nodes[j]) for i in range(len(owns)) for j in range(max(first, i + 1), len(nodes))]
    rest = [(min(pair), max(pair)) for pair in pairs if (min(pair), max(pair)) not in links]
    assert count <= len(rest)
    if count > len(rest) // 2 or len(rest) < len(owns) * (len(nodes) - (first or 1)) // 8:
        out = []
        for i, pair in enumerate(rest):
            if random.below(len(rest) - i) < count - len(out):
                out.append(pair)
    else:

        def draw(r):
            i, j = r.below(len(owns)), first + r.below(len(nodes) - first)
            return (nodes[i], nodes[j]) if i < j else (0, 0)

        out = rejected(random, links, draw, count, set())
    shuffle(out, random)
    return out


def draw_links(n, links, wanted, seed):
    """The drawn links in order, and the nodes all of whose links were drawn."""
    links = list(links)
    shuffle(links, Random(seed, SPLIT, 0))
    for at in range(wanted + (len(links) - wanted) // 3 + 1):
        emptied = set(range(n)) - {node for link in links[at:] for node in link}
        held = [link for link in links[:at] if not emptied & set(link)]
        if len(held) == wanted:
            break
    return held, emptied


NONE_NEW, ONE_NEW, BOTH_NEW = 0, 1, 3


SHARES = {"transductive": (0.1, 0.05), "random-links": (0.1, 0.05), "inductive": (0.3, 0.2), "inductive-hidden": (0.4, 0.3), "production": (0.3, 0.2)}


def slow_split(n, links, protocol, seed):
    """The lines of the split file, as a set."""
    kind = protocol.removeprefix("paper-")
    few, fair = kind == "few-shot", kind == protocol and protocol != "random-links"
    lines, held = set(), {VAL: [], TEST: []}
    role, aside = None, set()
    if kind == "transductive":
        wanted = [int(0.1 * len(links)), int(0.05 * len(links))]
        drawn, aside = draw_links(n, links, sum(wanted), seed)
        test = wanted[0] if len(drawn) == sum(wanted) else int(wanted[0] / sum(wanted) * len(drawn))
        where = {link: TEST if i < test else VAL for i, link in enumerate(drawn)}
        places = [where.get(link, TRAIN) for link in links]
        lines |= {("untested", i, "-", "-") for i in aside}
    elif kind == "random-links":
        places = choose(len(links), int(0.1 * len(links)), int(0.05 * len(links)), seed)
    else:
        val = 0 if few else int(SHARES[kind][1] * n + 1e-9)
        test = n - int(0.3 * n + 1e-9) if few else int(SHARES[kind][0] * n + 1e-9)
        role = choose(n, test, val, seed)
        places = [place(role[u], role[v], kind) for u, v in links]
        lines |= {("val-node", i, "-", "-") for i in range(n) if role[i] == VAL}
        lines |= {("test-node", i, "-", "-") for i in range(n) if role[i] == TEST}
    if kind == "production":
        for own in (VAL, TEST):
            random, left = Random(seed, REVEAL, own), places.count(own)
            known = left // 2
            for e, where in enumerate(places):
                if known > 0 and where == own:
                    if random.below(left) < known:
                        places[e] = KNOWN
                        known -= 1
                    left -= 1

    # nodes that are in no held-out pair, and links of each kind: by how many nodes of the set they have
    known = {node for where, link in zip(places, links) if where in (TRAIN, KNOWN) for node in link}
    needs = [i for i in range(n) if role is None or role[i] == TRAIN or kind == "production"]
    aside |= set(needs) - known
    role_of = role or [TRAIN] * n
    every, others = set(links), {VAL: [], TEST: []}

    def new_ends(link, own):
        return BOTH_NEW if role_of[link[0]] == role_of[link[1]] == own else ONE_NEW if role else NONE_NEW

    def nodes_of(where):
        return [i for i in range(n) if role_of[i] == where and i not in aside]

    if fair:
        places = [NONE if where in held and aside & set(link) else where for where, link in zip(places, links)]
        for number, own in enumerate((VAL, TEST) if role else ()):
            for which in (ONE_NEW, BOTH_NEW):
                mine = [e for e, where in enumerate(places) if where == own and new_ends(links[e], own) == which]
                owns, partners = nodes_of(own), nodes_of(TRAIN)
                pairs = len(owns) * len(partners) if which == ONE_NEW else len(owns) * (len(owns) - 1) // 2
                inside = [
                    link for link in links if not aside & set(link) and own in (role_of[link[0]], role_of[link[1]])
                    and {role_of[node] for node in link} <= {own, TRAIN} and new_ends(link, own) == which
                ]
                excess, left = max(0, len(mine) - (pairs - len(inside))), len(mine)
                random = Random(seed, REVEAL, 8 + 4 * number + which)
                for e in mine if excess else ():
                    if random.below(left) < excess:
                        places[e] = NONE
                        excess -= 1
                        if excess == 0:
                            break
                    left -= 1
    for where, link in zip(places, links):
        if where in held:
            held[where].append(link)
        elif where == KNOWN or (where == TRAIN and role is None):
            lines.add(("known" if where == KNOWN else "train", *link, 1))

    if not fair:
        others[VAL], others[TEST] = draw_uniform(n, every, [len(held[VAL]), len(held[TEST])], seed)
    elif role is None:
        both = draw_class(every, nodes_of(TRAIN), [], len(held[VAL]) + len(held[TEST]), Random(seed, NEGATIVE, 8))
        others[VAL], others[TEST] = both[: len(held[VAL])], both[len(held[VAL]) :]
    else:
        for number, own in enumerate((VAL, TEST)):
            for which in (ONE_NEW, BOTH_NEW):
                count = sum(new_ends(link, own) == which for link in held[own])
                partners = nodes_of(TRAIN) if which == ONE_NEW else []
                others[own] += draw_class(every, nodes_of(own), partners, count, Random(seed, NEGATIVE, 8 + 4 * number + which))
    for name, own in (("val", VAL), ("test", TEST)):
        lines |= {(name, *pair, 1) for pair in held[own]} | {(name, *pair, 0) for pair in others[own]}
    return {tuple(map(str, line)) for line in lines}


def check_splits(folder, graphs):
    compared = 0
    for number, (n, links) in enumerate(graphs):
        path, out = folder / "edges.tsv", folder / "split.tsv"
        path.write_text("".join(f"{u}\t{v}\n" for u, v in links))
        for protocol in ("transductive", "inductive", "few-shot", "inductive-hidden", "production", "paper-inductive", "random-links"):
            seed = 1 + number
            command = [npgnn, "eval", "--edges", path, "--protocol", protocol, "--method", "common-neighbors"]
            if protocol.removeprefix("paper-") in SHARES:
                shares = SHARES[protocol.removeprefix("paper-")]
                command += ["--test", str(shares[0]), "--val", str(shares[1])]
            command += ["--seeds", "1", "--seed", str(seed), "--save-split", out, "--quiet"]
            ended = subprocess.run(command, capture_output=True, text=True)
            if ended.returncode != 0:
                assert any(word in ended.stderr for word in ("empty", "non-links", "both ends keep others")), ended.stderr
                continue  # too small, or too dense, for this protocol
            ours = {tuple(line.split("\t")) for line in out.read_text().splitlines() if line[0] != "#"}
            ours.discard(("set", "u", "v", "label"))
            theirs = slow_split(n, links, protocol, seed)
            if ours != theirs:
                sys.exit(f"{protocol} split of graph {number}: {len(ours ^ theirs)} lines differ: {sorted(ours ^ theirs)[:6]}")
            compared += 1
    print(f"splits: {compared} of {len(graphs)} graphs agree line by line")
    assert compared > 3 * len(graphs)


# ---- evidence, and the scores of methods ----


def check_evidence(folder, graphs):
    rng = np.random.default_rng(3)
    compared = 0
    for number, (n, links) in enumerate(graphs):
        a = np.zeros((n, n))
        for u, v in links:
            a[u, v] = a[v, u] = 1
        d = a.sum(1)
        walk = a / d[:, None]
        pairs = [tuple(map(int, rng.choice(n, 2, replace=False))) for _ in range(60)] + links[:60]
        text = f"{n} {len(links)} {len(pairs)}\n" + "\n".join(f"{u} {v}" for u, v in [*links, *pairs])
        rows = subprocess.run([dump], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
        common = a @ a
        powers = {2: walk @ walk}
        powers[3] = powers[2] @ walk
        powers[4] = powers[3] @ walk
        for (u, v), row in zip(pairs, rows, strict=True):
            logs = np.log1p(d[u]), np.log1p(d[v])
            expected = [sum(logs), abs(logs[0] - logs[1]), min(logs), np.sqrt(common[u, v])]
            expected.append(common[u, v] / (d[u] + d[v] - common[u, v]))
            expected += [np.log1p(powers[t][u, v] / (d[v] / (2 * len(links)))) for t in (2, 3, 4)]
            for ours, theirs in zip(map(float, row.split()), expected, strict=True):
                near(ours, theirs, f"evidence of {u} and {v} in graph {number}", 2e-6, 1e-6)
                compared += 1

        path, asked = folder / "edges.tsv", folder / "pairs.tsv"
        path.write_text("".join(f"{u}\t{v}\n" for u, v in links))
        asked.write_text("".join(f"{u}\t{v}\n" for u, v in pairs))
        half = a / np.sqrt(np.outer(d, d))
        katz = sum(0.005**k * np.linalg.matrix_power(a, k) for k in range(1, 9))
        with np.errstate(divide="ignore"):
            weight = np.where(d > 1, 1 / np.log(d), 0)
        twins = {
            "common-neighbors": common,
            "adamic-adar": a @ np.diag(weight) @ a,
            "resource-allocation": a @ np.diag(1 / d) @ a,
            "katz": katz,
            "three-steps": half @ half @ half,
        }
        for method, matrix in twins.items():
            command = [npgnn, "predict", "--method", method, "--edges", path, "--pairs", asked, "--quiet"]
            lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
            for (u, v), line in zip(pairs, lines, strict=True):
                near(float(line.split("\t")[2]), matrix[u, v], f"{method} of {u} and {v} in graph {number}", 2e-5)
                compared += 1
    print(f"evidence and scores: {compared} numbers agree")


def main():
    graphs = list(load_graphs())
    for check, *more in ((check_metrics,), (check_splits, graphs), (check_evidence, graphs)):
        with tempfile.TemporaryDirectory() as folder:
            check(pathlib.Path(folder), *more)


main()
