#!/usr/bin/env python3
"""Writes tests/golden/process.txt: what an independent PyTorch implementation of the neural process makes of random parameters.
tests/test_process.c reads it.

    tools/golden_process.py [FILE]

Written from the equations of docs/understand/process.md, in double, with autograd. The file is a list of arrays: "name rows cols",
then the numbers. All inputs are multiples of 2^-10, so that float and double agree on them. The gradient of a parameter is called
d_NAME.
"""
import pathlib
import sys

import torch
from torch.nn.functional import softplus

torch.set_default_dtype(torch.float64)

E, H, D = 5, 7, 3
CONTEXT, LINKS, NON_LINKS, DRAWS = 9, 4, 6, 2
RANK_WEIGHT = 0.7
PRIOR_SHIFT, LEAST_PRECISION = 0.54, 1e-3
SEED = 5

SHAPES = {
    "vote_w1": (2 * E + 1, H), "vote_b1": (1, H), "vote_w2": (H, H), "vote_b2": (1, H), "vote_w3": (H, 2 * D),
    "vote_b3": (1, 2 * D), "prior": (1, 2 * D),
    "score_w1": (E, H), "score_b1": (1, H), "score_w2": (H, H), "score_b2": (1, H), "score_w3": (H, 1), "score_b3": (1, 1),
    "film_w": (D, 4 * H), "film_b": (1, 4 * H), "line_w": (D, E + 1), "line_b": (1, E + 1),
}


def exact(values):
    return (values * 1024).round() / 1024


def posterior(p, evidence, label):
    """Mean and precision of z: Gaussian votes multiplied with a Gaussian prior."""
    pairs = torch.cat([evidence, label[:, None], label[:, None] * evidence], dim=1)
    hidden = torch.relu(pairs @ p["vote_w1"] + p["vote_b1"])
    hidden = torch.relu(hidden @ p["vote_w2"] + p["vote_b2"])
    votes = hidden @ p["vote_w3"] + p["vote_b3"]
    means = torch.cat([p["prior"][:, :D], votes[:, :D]])
    # the prior has precision about 1 where its parameter is 0, and never none at all
    precisions = torch.cat([softplus(p["prior"][:, D:] + PRIOR_SHIFT) + LEAST_PRECISION, softplus(votes[:, D:])])
    precision = precisions.sum(0)
    return (precisions * means).sum(0) / precision, precision


def scores(p, evidence, z):
    """One score per pair: hidden layers scaled and shifted by z, plus a linear part chosen by z."""
    scale1, shift1, scale2, shift2 = (z @ p["film_w"] + p["film_b"][0]).split(H)
    line = z @ p["line_w"] + p["line_b"][0]
    hidden = torch.relu((evidence @ p["score_w1"] + p["score_b1"]) * (1 + scale1) + shift1)
    hidden = torch.relu((hidden @ p["score_w2"] + p["score_b2"]) * (1 + scale2) + shift2)
    return (hidden @ p["score_w3"] + p["score_b3"])[:, 0] + evidence @ line[:E] + line[E]


def loss_of(links, non_links):
    likelihood = 0.5 * softplus(-links).mean() + 0.5 * softplus(non_links).mean()
    return likelihood + RANK_WEIGHT * softplus(non_links[None, :] - links[:, None]).mean()


def write(file, name, values):
    values = values.detach().reshape(values.shape[0] if values.dim() > 1 else 1, -1)
    file.write(f"{name} {values.shape[0]} {values.shape[1]}\n")
    for row in values:
        file.write(" ".join(f"{value:.17g}" for value in row.tolist()) + "\n")


def main():
    torch.manual_seed(SEED)
    p = {name: exact(torch.randn(shape) * 0.6).requires_grad_() for name, shape in SHAPES.items()}
    context = exact(torch.randn(CONTEXT, E))
    label = torch.tensor([1.0, -1.0, 0.0] * CONTEXT)[:CONTEXT]
    target = exact(torch.randn(LINKS + NON_LINKS, E))
    epsilon = exact(torch.randn(DRAWS, D))

    mean, precision = posterior(p, context, label)
    drawn = torch.stack([scores(p, target, mean + e / precision.sqrt()) for e in epsilon])
    loss = torch.stack([loss_of(s[:LINKS], s[LINKS:]) for s in drawn]).mean()
    loss.backward()
    prior_mean, prior_precision = posterior(p, context[:0], label[:0])

    path = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "tests/golden/process.txt"
    with open(path, "w", encoding="ascii") as file:
        for name, values in p.items():
            write(file, name, values)
        for name, values in {
                "context": context, "label": label, "target": target, "epsilon": epsilon,
                "prior_mean": prior_mean, "prior_precision": prior_precision, "mean": mean, "precision": precision,
                "scores": drawn, "scores_mean": scores(p, target, mean), "loss": loss[None]}.items():
            write(file, name, values)
        for name, values in p.items():
            write(file, "d_" + name, values.grad)


main()
