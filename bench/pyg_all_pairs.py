#!/usr/bin/env python3
"""The all-pairs loss in PyG's graph auto-encoder, in place of recon_loss: AUC, AP and seconds.

    bench/pyg_all_pairs.py DATA [--seeds 5] [--epochs 200]

DATA is a graph with features in any form that npgnn reads, such as cora. The encoder is two GCN layers (32 and 16
wide). All losses share the splits of npgnn, the initial weights and the number of epochs. The epoch with the best
validation AUC counts.

  recon_loss   PyG's: the links, and as many non-links drawn anew in each epoch
  exact        npgnn.torch.all_pairs_loss: all pairs
  sampled      the same estimated from 50 pairs per node

Needs npgnn, torch, torch_geometric and scikit-learn.
"""

import argparse
import time

import numpy as np
import torch
from sklearn.metrics import average_precision_score, roc_auc_score
from torch_geometric.nn import GAE, GCNConv

import npgnn
from npgnn.torch import AllPairsLoss


class Encoder(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = GCNConv(width, 32), GCNConv(32, 16)

    def forward(self, x, links):
        return self.second(self.first(x, links).relu(), links)


def judge(z, pairs, labels):
    scores = (z[pairs[:, 0]] * z[pairs[:, 1]]).sum(1)
    return roc_auc_score(labels, scores), average_precision_score(labels, scores)


def train(loss_name, x, split, seed, epochs):
    """(AUC, AP) of the test pairs, and the seconds that the epochs took without validation."""
    torch.manual_seed(seed)
    links = torch.from_numpy(split.train.links.T.astype(np.int64))
    links = torch.cat([links, links.flip(0)], 1)
    val, test = np.array(split.val_pairs, int), np.array(split.test_pairs, int)
    model = GAE(Encoder(x.shape[1]))
    pairs = AllPairsLoss(links, len(x), {"exact": None, "sampled": 50}.get(loss_name), seed=seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    best, seconds = (0.0, (0.0, 0.0)), 0.0
    for _ in range(epochs):
        begin = time.perf_counter()
        optimizer.zero_grad()
        z = model.encode(x, links)
        loss = model.recon_loss(z, links) if loss_name == "recon_loss" else pairs(z)
        loss.backward()
        optimizer.step()
        seconds += time.perf_counter() - begin
        with torch.no_grad():
            z = model.encode(x, links)
        valued = judge(z, val, split.val_labels)[0]
        if valued > best[0]:
            best = (valued, judge(z, test, split.test_labels))
    return (*best[1], seconds)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("data", help="a graph with features, as a folder, file or name")
    arguments.add_argument("--seeds", type=int, default=5)
    arguments.add_argument("--epochs", type=int, default=200)
    given = arguments.parse_args()
    graph = npgnn.Graph(given.data)
    x = torch.tensor(graph.features.toarray())
    print("loss         AUC             AP              seconds")
    for name in ("recon_loss", "exact", "sampled"):
        runs = np.array(
            [train(name, x, npgnn.split(graph, seed=seed), seed, given.epochs) for seed in range(1, given.seeds + 1)]
        )
        mean, spread = 100 * runs.mean(0), 100 * runs.std(0, ddof=1)
        print(
            f"{name:12} {mean[0]:.1f} +- {spread[0]:.1f}     {mean[1]:.1f} +- {spread[1]:.1f}     {runs[:, 2].mean():.1f}"
        )


if __name__ == "__main__":
    main()
