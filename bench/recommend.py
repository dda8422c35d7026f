#!/usr/bin/env python3
"""recommend.py [--npgnn PROGRAM] [--threads N] DATA...: the ten best partners of every node, timed and checked.

Trains with the presets default (50 iterations) and best, lists the partners of all nodes, and compares those of some nodes with
a plain sort of the scores of all their pairs. Fails where they differ.
"""
import argparse
import os
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("--npgnn", default="build/npgnn")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--samples", type=int, default=0, help="draws of the latent")
parser.add_argument("data", nargs="+")
args = parser.parse_args()
K, CHECKED = 10, 40


# A process starts with the peak of the one that starts it, so a small one has to.
LAUNCH = """
import os, sys, time
began = time.monotonic()
process = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(process, 0)
print(time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def run(*words):
    """Runs the program; returns seconds, those of all cores together, and peak bytes."""
    command = [args.npgnn, *words, "--threads", str(args.threads), "--quiet"]
    done = subprocess.run([sys.executable, "-c", LAUNCH, *command], stdout=subprocess.PIPE, text=True, check=True)
    return tuple(float(word) for word in done.stdout.split())


def rows(path):
    """The lines of a table, by their first column."""
    lists = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            lists.setdefault(fields[0], []).append(fields[1:])
    return lists


def differing(model, data, folder, top):
    """Of CHECKED nodes, those whose list is not what sorting gives."""
    pairs, scores = os.path.join(folder, "pairs"), os.path.join(folder, "scores")
    nodes = list(top)
    picked = nodes[:: max(1, len(nodes) // CHECKED)][:CHECKED]
    with open(pairs, "w", encoding="utf-8") as file:
        file.writelines(f"{u}\t{v}\n" for u in picked for v in nodes if u != v)
    run("predict", model, data, "--pairs", pairs, "-o", scores, "--raw", "--samples", str(args.samples))
    every = rows(scores)
    best = {u: sorted((float(score) for _, score in every[u]), reverse=True)[:K] for u in picked}
    return [u for u in picked if [float(fields[1]) for fields in top[u]] != best[u]]


print("| data | nodes | preset | seconds | of CPU | peak memory |\n|---|---|---|---|---|---|")
for data in args.data:
    for preset in "default", "best":
        with tempfile.TemporaryDirectory() as folder:
            model, out = os.path.join(folder, "model.safetensors"), os.path.join(folder, "top.tsv")
            run("train", data, "-o", model, "--preset", preset, *(["--iterations", "50", "--val", "0.05"] if preset == "default" else []))
            ask = ["predict", model, data, "--top", str(K), "-o", out, "--raw", "--samples", str(args.samples)]
            run(*ask, "--exclude", "none")
            top = rows(out)
            if args.samples == 0 and differing(model, data, folder, top):
                sys.exit(f"{data}, {preset}: not the best partners: {differing(model, data, folder, top)}")
            seconds, cpu, peak = min(run(*ask) for _ in range(3))
        print(f"| {os.path.basename(data)} | {len(top):,} | {preset} | {seconds:.1f} | {cpu:.1f} | {peak / 1e6:.0f} MB |", flush=True)
