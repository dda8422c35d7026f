#!/usr/bin/env python3
"""Large graphs as graph files (.npg): how long npgnn takes to open them, and in how much memory of its own, compared with text.

    bench/graph_file.py --npgnn build/npgnn --nodes 10000000

Three graphs with five links per node: links between numbers, links between names (a text file is written first), and the synthetic graph
with 50 words per node. Opening is `npgnn info`; the shortest of three runs counts, with the files in the page cache. The program fails
unless text and file have the same fingerprint. Ten million nodes need 12 GB of memory and 8 GB in --folder.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import time

import numpy

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--npgnn", default="build/npgnn")
parser.add_argument("--nodes", type=int, default=1_000_000)
parser.add_argument("--folder", help="where the files are written (default: a temporary folder)")
parser.add_argument("--seed", type=int, default=1)
arguments = parser.parse_args()
LINKS = 5


def run(*words):
    """Seconds, those of all cores together, the largest private and file-backed memory that was seen while the command ran, in
    MB, and its output."""
    private = shared = 0
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with subprocess.Popen([arguments.npgnn, *map(str, words)], stdout=subprocess.PIPE) as process:
        while process.poll() is None:
            try:
                status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines())
                private = max(private, int(status["RssAnon"].split()[0]))
                shared = max(shared, int(status["RssFile"].split()[0]))
            except (KeyError, OSError):
                pass
            time.sleep(0.005)
        seconds = time.monotonic() - start
        output = process.stdout.read()
    if process.returncode != 0:
        raise SystemExit(f"npgnn {' '.join(map(str, words))}: status {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, busy, private / 1024, shared / 1024, output


def opened(data):
    best = min((run("info", data, "--quiet", "--json", "-") for _ in range(3)), key=lambda one: one[0])
    return *best[:4], json.loads(best[4])["fingerprint"]


def write_links(path, prefix):
    """A ring, so that every node is there, and random links; in blocks, because text takes much more memory than numbers."""
    random = numpy.random.default_rng(arguments.seed)
    n, block = arguments.nodes, 1_000_000
    with open(path, "w", encoding="ascii") as file:
        for first in range(0, n * LINKS, block):
            count = min(block, n * LINKS - first)
            u = first + numpy.arange(count)
            v = numpy.where(u < n, (u + 1) % n, random.integers(0, n, count))
            file.write("".join([f"{prefix}{a}\t{prefix}{b}\n" for a, b in zip((u % n).tolist(), v.tolist())]))


def measure(name, data, folder):
    path = os.path.join(folder, "graph.npg")
    convert = run("convert", data, "-o", path, "--quiet")
    mapped = opened(path)
    text = run("info", data, "--quiet", "--json", "-")
    if json.loads(text[4])["fingerprint"] != mapped[4]:
        raise SystemExit(f"{name}: the graph file is another graph")
    print(f"{name:<10} file {os.path.getsize(path) / 1e6:7.0f} MB   convert {convert[0]:6.1f} s, {convert[2]:6.0f} MB   "
          f"open {mapped[0]:6.2f} s ({mapped[1]:.2f} s of processor time), {mapped[2]:5.0f} MB private, {mapped[3]:5.0f} MB shared   "
          f"without it {text[0]:6.1f} s ({text[1]:.1f}), {text[2]:6.0f} MB", flush=True)
    os.remove(path)


with tempfile.TemporaryDirectory(dir=arguments.folder) as scratch:
    for kind, letters in (("numbers", ""), ("names", "node-")):
        links = os.path.join(scratch, "links.tsv")
        write_links(links, letters)
        measure(kind, links, scratch)
        os.remove(links)
    measure("synthetic", f"synthetic:nodes={arguments.nodes},words=1000,degree={LINKS},length=50", scratch)
