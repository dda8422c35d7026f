#!/usr/bin/env python3
"""npgnn beside PyTorch Geometric's VGAE: accuracy and seconds to train, on the same splits and the same machine.

    bench/compare_pyg.py DATA... [--npgnn PROGRAM] [--threads N] [--seeds N]

PyTorch Geometric's model is its class VGAE with two graph convolutions (32, 16), its recon_loss with one random non-link to each
link, 200 epochs of Adam at 0.01; the epoch with the best validation AUC counts, and validation is part of the time. It runs on the GPU where there is one, and on the processor. The
splits are npgnn's (85 / 5 / 10). Before anything is timed the cosine of the features must get the same AUC and AP in both programs.
Needs torch, torch_geometric and numpy.
"""
import argparse
import json
import os
import subprocess
import tempfile
import time

import numpy as np
import torch
from torch_geometric.nn import VGAE, GCNConv

from splits import judge, judge_cosine, read_features, read_split

EPOCHS, RATE = 200, 0.01
OURS = {"vgae": ["--method", "vgae"], "default": ["--preset", "default"], "best": ["--preset", "best"]}


class Encoder(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.hidden, self.mean, self.spread = GCNConv(features, 32), GCNConv(32, 16), GCNConv(32, 16)

    def forward(self, x, edges):
        h = self.hidden(x, edges).relu()
        return self.mean(h, edges), self.spread(h, edges)


# ---- the two programs ----

def run_npgnn(args, data, *options):
    command = [args.npgnn, "eval", data, "--seeds", "1", "--threads", str(args.threads), "--quiet", "--json", "-", *options]
    run = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["seeds"][0]
    return 100 * run["auc"], 100 * run["ap"], run["train_seconds"]


def run_pyg(x, split, device, seed):
    torch.manual_seed(seed)
    x = torch.from_numpy(x).to(device)
    train = torch.from_numpy(split["train", "1"]).to(device)
    edges = torch.cat([train, train.flip(0)], 1)
    model = VGAE(Encoder(x.shape[1])).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)

    def scores(z, which):
        return [(z[a] * z[b]).sum(1) for a, b in (split[which, "1"], split[which, "0"])]

    def epoch():
        model.train()
        optimizer.zero_grad()
        z = model.encode(x, edges)
        (model.recon_loss(z, edges) + model.kl_loss() / x.shape[0]).backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            return model.encode(x, edges).cpu().numpy()

    best, found = -1, None
    start = time.perf_counter()
    for _ in range(EPOCHS):
        z = epoch()
        value = judge(*scores(z, "val"))[0]
        if value > best:
            best, found = value, z
    seconds = time.perf_counter() - start
    return *judge(*scores(found, "test")), seconds


# ---- side by side ----

def check_cosine(args, data, split_file, x, split):
    here = judge_cosine(x, split)
    there = run_npgnn(args, data, "--method", "cosine", "--split", split_file)
    if max(abs(here[0] - there[0]), abs(here[1] - there[1])) > 0.05:
        raise SystemExit(f"{data}: the cosine gets {here} here and {there[:2]} in npgnn: not the same split")


def compare(args, data, folder):
    rows = {}
    converted = os.path.join(folder, "graph")
    subprocess.run([args.npgnn, "convert", data, "-o", converted, "--quiet"], check=True)
    x = read_features(converted)
    for seed in range(1, args.seeds + 1):
        split_file = os.path.join(folder, f"split{seed}.tsv")
        run_npgnn(args, data, "--method", "cosine", "--seed", str(seed), "--save-split", split_file)
        split = read_split(split_file)
        check_cosine(args, data, split_file, x, split)
        programs = {f"npgnn {name}, {args.threads} threads": options for name, options in OURS.items()}
        for name, options in programs.items():
            rows.setdefault(name, []).append(run_npgnn(args, data, "--seed", str(seed), "--split", split_file, *options))
        for device in ["cuda", "cpu"] if torch.cuda.is_available() else ["cpu"]:
            if seed == 1:
                run_pyg(x, split, device, seed)  # the first run of a process pays for loading and compiling
            name = f"PyG VGAE, {torch.cuda.get_device_name() if device == 'cuda' else f'{args.threads} threads'}"
            rows.setdefault(name, []).append(run_pyg(x, split, device, seed))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", nargs="+", metavar="DATA", help="as for npgnn, with numbered nodes and sparse features")
    parser.add_argument("--npgnn", default="build/npgnn")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    for data in args.data:
        with tempfile.TemporaryDirectory() as folder:
            rows = compare(args, data, folder)
        print(f"{os.path.basename(data)}, {args.seeds} seeds: AUC, AP (percent), seconds to train")
        for name, runs in rows.items():
            mean, spread = np.mean(runs, 0), np.std(runs, 0, ddof=min(1, len(runs) - 1))
            print(f"  {name:32} {mean[0]:5.1f} ± {spread[0]:.1f}   {mean[1]:5.1f} ± {spread[1]:.1f}   {mean[2]:7.2f} ± {spread[2]:.2f}", flush=True)


if __name__ == "__main__":
    main()
