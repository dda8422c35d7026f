#!/usr/bin/env python3
"""Turns the JSON of `npgnn reproduce` into the Markdown tables of docs/results/reproduction.md.

    npgnn reproduce --json results.json ... && tools/tables.py results.json
"""
import json
import sys


def pair(cell):
    paper = cell.get("paper")
    return f"{100 * paper['auc']:.1f} / {100 * paper['ap']:.1f}" if paper else "–"


def percent(cell, key):
    return {name: 100 * cell[key][name] for name in ("auc", "ap")}


def spread(cell):
    mean, deviation = percent(cell, "mean"), percent(cell, "std")
    return " / ".join(f"{mean[name]:.1f} ± {deviation[name]:.1f}" for name in ("auc", "ap"))


def main():
    with open(sys.argv[1]) as file:
        cells = json.load(file)["cells"]
    for table in dict.fromkeys(cell["table"] for cell in cells):
        rows = [cell for cell in cells if cell["table"] == table]
        datasets = list(dict.fromkeys(cell["dataset"] for cell in rows))
        print(f"\n### {table.capitalize()}, {rows[0]['n']} seeds\n")
        print("| | " + " | ".join(f"{name.capitalize()} | paper" for name in datasets) + " |")
        print("|---" * (1 + 2 * len(datasets)) + "|")
        for label in dict.fromkeys(cell["label"] for cell in rows):
            line = []
            for name in datasets:
                cell = next((c for c in rows if c["label"] == label and c["dataset"] == name), None)
                line += [spread(cell), pair(cell)] if cell else ["", ""]
            print(f"| {label} | " + " | ".join(line) + " |")


if __name__ == "__main__":
    main()
