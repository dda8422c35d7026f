#!/usr/bin/env python3
"""tables.py [--npgnn PROGRAM] [--seeds N] [--only WORD]: what columns of tables do to the accuracy.

First the data of the guide, with and without columns of random values (an age, a salary, a year of birth), and a table of
18,300 numbers, one of which becomes 1e9. Then tables whose numbers, dates, categories and words decide who is linked, beside
columns that do not. Prints the mean test AUC of each preset, with random links and inductive.

With --rows N, writes a table of N rows and 20 columns instead, and measures the time and memory that reading it takes.
"""
import argparse
import csv
import math
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("--npgnn", default="build/npgnn")
parser.add_argument("--seeds", type=int, default=5)
parser.add_argument("--presets", default="default,best,universal")
parser.add_argument("--protocols", default="random-links,inductive")
parser.add_argument("--rows", type=int, default=0, help="of a large table to read")
parser.add_argument("--only", default="", help="only tables whose names contain this")
args = parser.parse_args()
EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"
RANDOM = {
    "age": lambda rng: rng.randint(18, 90),
    "salary": lambda rng: round(rng.lognormvariate(10.5, 0.6)),
    "year of birth": lambda rng: rng.randint(1930, 2006),
}


def write(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def guide(folder, added):
    """The guide's tables, with columns of random values."""
    with open(EXAMPLES / "members.csv", newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    for name in added:
        rng = random.Random(name)
        for row in rows:
            row.append(RANDOM[name](rng))
    write(folder / "features.csv", header + added, rows)
    (folder / "edges.csv").write_bytes((EXAMPLES / "friendships.csv").read_bytes())


def link(folder, n, odds, degree, rng):
    """Links of n nodes with probability proportional to odds(i, j), `degree` per node on average."""
    weights = {(i, j): odds(i, j) for i in range(n) for j in range(i)}
    scale = n * degree / 2 / sum(weights.values())
    write(folder / "edges.csv", ["source", "target"],
          [(f"p{i}", f"p{j}") for (i, j), odd in weights.items() if rng.random() < odd * scale])


def cells(folder, outlier):
    """300 rows of 61 numbers: six of a position, seen through noise. One cell may be 1e9."""
    rng = random.Random(3)
    n, seen = 300, 61
    place = [[rng.gauss(0, 1) for _ in range(6)] for _ in range(n)]
    mix = [[rng.gauss(0, 1) for _ in range(6)] for _ in range(seen)]
    rows = [[f"p{i}"] + [f"{sum(a * b for a, b in zip(place[i], m)) + rng.gauss(0, 1):.3f}" for m in mix] for i in range(n)]
    if outlier:
        rows[20][30] = "1e9"
    write(folder / "features.csv", ["id"] + [f"x{c}" for c in range(seen)], rows)
    link(folder, n, lambda i, j: math.exp(-math.dist(place[i], place[j]) ** 2 / 2), 8, rng)


def people(folder, decides):
    """A customer table with six kinds of columns; `decides` names those that links depend on."""
    rng = random.Random(5)
    n = 400
    towns, hobbies = "Oslo Lyon Graz Cork Riga Pisa".split(), "chess sailing films hiking opera cooking reading judo".split()
    town = [rng.randrange(6) for _ in range(n)]
    age = [rng.uniform(18, 90) for _ in range(n)]
    income = [rng.lognormvariate(10.5, 0.6) for _ in range(n)]
    since = [rng.randrange(3650) for _ in range(n)]
    likes = [rng.sample(range(8), 2) for _ in range(n)]
    member = [rng.randrange(2) for _ in range(n)]
    rows = [(f"p{i}", towns[town[i]], "" if rng.random() < 0.05 else round(age[i]), round(income[i]),
             f"20{10 + since[i] // 365:02}-{1 + since[i] % 12:02}-{1 + since[i] % 28:02}", "yes" if member[i] else "no",
             f"I like {hobbies[likes[i][0]]} and also {hobbies[likes[i][1]]}") for i in range(n)]
    write(folder / "features.csv", ["id", "town", "age", "income", "since", "member", "about"], rows)

    def odds(i, j):
        log = 0.0
        if "town" in decides:
            log += 2.5 * (town[i] == town[j])
        if "age" in decides:
            log -= ((age[i] - age[j]) / 9) ** 2 / 2
        if "income" in decides:
            log -= ((math.log(income[i]) - math.log(income[j])) / 0.25) ** 2 / 2
        if "since" in decides:
            log -= ((since[i] - since[j]) / 500) ** 2 / 2
        if "about" in decides:
            log += 2 * len(set(likes[i]) & set(likes[j]))
        return math.exp(log)
    link(folder, n, odds, 8, rng)


TABLES = {"guide": lambda folder: guide(folder, [])}
for column in RANDOM:
    TABLES[f"guide + {column}"] = lambda folder, column=column: guide(folder, [column])
TABLES["guide + all three"] = lambda folder: guide(folder, list(RANDOM))
TABLES["18,300 cells"] = lambda folder: cells(folder, False)
TABLES["18,300 cells, one 1e9"] = lambda folder: cells(folder, True)
for what in "town about", "age", "age income", "age since", "town age", "town about age income":
    TABLES["people by " + what] = lambda folder, what=what: people(folder, what)

if args.rows:
    with tempfile.TemporaryDirectory() as temporary:
        folder, rng, words = pathlib.Path(temporary), random.Random(9), [f"word{i}" for i in range(3000)]
        kinds = [f"number{i}" for i in range(10)] + [f"town{i}" for i in range(4)] + ["a", "b", "c", "since", "about", "mail"]
        write(folder / "features.csv", ["id"] + kinds,
              ([f"u{i}"] + [f"{rng.random() * 1000:.4f}" for _ in range(10)] + [f"place {rng.randrange(50)}" for _ in range(4)]
               + [rng.choice(["yes", "no"]) for _ in range(3)]
               + [f"20{rng.randrange(25):02}-{1 + rng.randrange(12):02}-{1 + rng.randrange(28):02}"]
               + [" ".join(rng.choices(words, k=5)), f"{i}@example.com"] for i in range(args.rows)))
        write(folder / "edges.csv", ["source", "target"],
              ((f"u{rng.randrange(args.rows)}", f"u{rng.randrange(args.rows)}") for _ in range(args.rows)))
        began = time.monotonic()
        subprocess.run([args.npgnn, "info", "--edges", folder / "edges.csv", "--features", folder / "features.csv"], check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{time.monotonic() - began:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of processor time, "
              f"{used.ru_maxrss / 1024:.0f} MB")
    sys.exit()

columns = [(preset, protocol) for preset in args.presets.split(",") for protocol in args.protocols.split(",")]
print("| table | " + " | ".join(f"{preset}, {protocol}" for preset, protocol in columns) + " |")
print("|---" * (1 + len(columns)) + "|")
for name, make in TABLES.items():
    if args.only not in name:
        continue
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        make(folder)
        fields = []
        for preset, protocol in columns:
            # new nodes are few: more of them make the inductive figures less noisy
            more = ["--test", "0.2"] if protocol.endswith("inductive") else []
            done = subprocess.run(
                [args.npgnn, "eval", "--edges", folder / "edges.csv", "--features", folder / "features.csv", "--preset", preset,
                 "--protocol", protocol, "--seeds", str(args.seeds), "--skip-bad-rows", "--quiet", *more],
                stdout=subprocess.PIPE, text=True, check=True)
            mean = [line.split() for line in done.stdout.splitlines() if line.split()[:1] == ["mean"]][0]
            fields.append(mean[1])
        print(f"| {name} | " + " | ".join(fields) + " |", flush=True)
