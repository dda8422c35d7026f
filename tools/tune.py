#!/usr/bin/env python3
"""Chooses the options of the preset default on validation data: runs a grid of settings over data sets, protocols and seeds.

    tools/tune.py GRID --npgnn build/npgnn --data-dir DIR --jobs 2 --out results.jsonl
    tools/tune.py GRID --out results.jsonl --report

Each run is one `npgnn eval` with one thread; what is finished is in the --out file and is not run again. The report ranks
the settings by the mean of validation AUC and AP over all tasks; test figures are not looked at. Grids are at the end.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import time

TASKS = {  # the authors' protocols, as in docs/results/best.md; few-shot tuning needs validation links: those of a tenth of the nodes
    "cora-t": ("ind.cora", "random-links", []),
    "citeseer-t": ("ind.citeseer", "random-links", []),
    "cora-i": ("ind.cora", "paper-inductive", []),
    "citeseer-i": ("ind.citeseer", "paper-inductive", []),
    "cora-f": ("ind.cora", "paper-few-shot", ["--train-nodes", "0.3", "--val", "0.1"]),
    "citeseer-f": ("ind.citeseer", "paper-few-shot", ["--train-nodes", "0.3", "--val", "0.1"]),
    "pubmed-t": ("ind.pubmed", "random-links", ["--loss", "sampled"]),
    "pubmed-i": ("ind.pubmed", "paper-inductive", ["--loss", "sampled"]),
}
SMALL = [name for name in TASKS if not name.startswith("pubmed")]
PUBMED = [name for name in TASKS if name.startswith("pubmed")]


def evaluate(job, args):
    setting, task, seed = job
    data, protocol, extra = TASKS[task]
    command = [args.npgnn, "eval", os.path.join(args.data_dir, data), "--protocol", protocol, *extra, *setting.split(),
               "--seeds", "1", "--seed", str(seed), "--threads", "1", "--quiet", "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True)
    row = {"setting": setting, "task": task, "seed": seed}
    if done.returncode != 0:
        return {**row, "error": done.stderr.strip()[-200:]}
    run = json.loads(done.stdout)["seeds"][0]
    return {**row, **{key: run[key] for key in ("val_auc", "val_ap", "auc", "ap", "train_seconds", "best_iteration")}}


def read(path):
    if not os.path.exists(path):
        return []
    with open(path) as lines:
        return [json.loads(line) for line in lines]


def key(row):
    return row["setting"], row["task"], row["seed"]


def run(grid, args):
    known = {key(row) for row in read(args.out)}
    jobs = [(setting, task, seed) for seed in grid["seeds"] for setting in grid["settings"] for task in grid["tasks"]]
    jobs = [job for job in jobs if job not in known]
    end = time.time() + args.seconds
    with open(args.out, "a") as out, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        def work(job):
            return evaluate(job, args) if time.time() < end else None
        for row in pool.map(work, jobs):
            if row:
                out.write(json.dumps(row) + "\n")
                out.flush()


def report(grid, args, figures):
    rows = [row for row in read(args.out) if "error" not in row]
    lines = []
    for setting in grid["settings"]:
        cells = []
        for task in grid["tasks"]:
            values = [50 * (row[figures[0]] + row[figures[1]]) for row in rows
                      if row["setting"] == setting and row["task"] == task]
            cells.append(sum(values) / len(values) if values else float("nan"))
        seconds = [row["train_seconds"] for row in rows if row["setting"] == setting]
        lines.append((sum(cells) / len(cells), cells, max(seconds, default=0), setting))
    print("   mean " + " ".join(f"{task:>10}" for task in grid["tasks"]) + "  seconds  setting")
    for mean, cells, seconds, setting in sorted(lines, key=lambda line: -line[0]):
        print(f"{mean:7.2f} " + " ".join(f"{cell:10.2f}" for cell in cells) + f" {seconds:8.1f}  {setting or '(as it is)'}")


SEEDS = (101, 102)  # not the seeds of any table
GRIDS = {
    "default": {"tasks": SMALL, "seeds": SEEDS, "settings": [
        "--input-scale 0 --input-dropout 0", "--input-scale 0 --input-dropout 0.25", "--input-scale 0 --input-dropout 0.5",
        "--input-scale 1 --input-dropout 0.5", "--input-scale 0 --input-dropout 0.5 --keep-best on",
        "--input-scale 0 --input-dropout 0.7", "--input-scale 0 --input-dropout 0.5 --samples 4"]},
    "pubmed-default": {"tasks": PUBMED, "seeds": SEEDS[:1], "settings": [
        f"--input-scale 0 --iterations 2000 --input-dropout {share}" for share in (0, 0.25, 0.5)]},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grid", choices=GRIDS)
    parser.add_argument("--npgnn", default="build/npgnn")
    parser.add_argument("--data-dir", default="data/planetoid")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1e9, help="start no run after this long")
    parser.add_argument("--out", default="tune.jsonl")
    parser.add_argument("--report", action="store_true", help="only rank what is finished")
    parser.add_argument("--test", action="store_true", help="report test figures: for the docs, never for choosing")
    args = parser.parse_args()
    grid = GRIDS[args.grid]
    if not args.report:
        run(grid, args)
    report(grid, args, ("auc", "ap") if args.test else ("val_auc", "val_ap"))


if __name__ == "__main__":
    main()
