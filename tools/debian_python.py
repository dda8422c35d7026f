#!/usr/bin/env python3
"""Makes the graph data/debian-python from a Packages list of Debian:

    tools/debian_python.py /var/lib/apt/lists/*_bookworm_main_binary-amd64_Packages* data/debian-python

Nodes are the Python libraries: binary packages python3-NAME, called NAME. Two are linked when one needs or recommends the other. What is
known about a node are words of its one-line description: single words, sorted, so that no sentence is copied. Helpers that most packages
use whatever they are for are left out, and so is, again and again, what has fewer than two links. The same list gives the same files.
"""
import collections
import os
import subprocess
import sys

from debian_graphs import HELPER, paragraphs, relations, tokens

PREFIX = "python3-"
HELPERS = set("""all all-dev dbg dev distutils future importlib-metadata lib2to3 mock nose packaging pbr pkg-resources pytest setuptools
setuptools-scm six typing-extensions unittest2 wheel zipp""".split())
LEAST = 2  # links of a node
EVERYWHERE = set("python library libraries module modules implementation documentation version extension tool tools".split())


def core(pairs, least):
    """The links that are left when nodes with fewer than `least` are removed, again and again."""
    while True:
        degree = collections.Counter(name for pair in pairs for name in pair)
        kept = {pair for pair in pairs if min(degree[pair[0]], degree[pair[1]]) >= least}
        if len(kept) == len(pairs):
            return kept
        pairs = kept


def main():
    source, out = sys.argv[1:]
    text = subprocess.run([HELPER, "cat-file", source], check=True, stdout=subprocess.PIPE).stdout.decode("utf-8")
    packages = {}
    for package in paragraphs(text):
        name = package["Package"][len(PREFIX):] if package["Package"].startswith(PREFIX) else ""
        if name and name not in HELPERS:
            packages[name] = package
    pairs = set()
    for name, package in packages.items():
        for other in relations(package, "Depends", "Pre-Depends", "Recommends"):
            other = other[len(PREFIX):] if other.startswith(PREFIX) else ""
            if other in packages and other != name:
                pairs.add(tuple(sorted((name, other))))
    pairs = core(pairs, LEAST)
    names = sorted({name for pair in pairs for name in pair})
    os.makedirs(out, exist_ok=True)
    with open(f"{out}/edges.tsv", "w", encoding="utf-8") as file:
        file.writelines(f"{a}\t{b}\n" for a, b in sorted(pairs))
    with open(f"{out}/features.csv", "w", encoding="utf-8") as file:
        file.write("id,about\n")
        for name in names:
            words = sorted(set(tokens(packages[name].get("Description", ""))) - EVERYWHERE)
            file.write(f"{name},{' '.join(words)}\n")
    print(f"{len(names)} nodes, {len(pairs)} links")


main()
