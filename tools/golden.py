#!/usr/bin/env python3
"""Writes tests/golden/*.txt: what tools/twin.py makes of one small graph under every option. tests/test_golden.c reads them.

    tools/golden.py [FOLDER]

The files are a list of blocks. "name rows cols" starts an array, its numbers follow; "case key=value ..." starts a case:
the options under which the arrays after it hold. All inputs are multiples of 2^-10, so that float and double agree on them.
"""
import itertools
import pathlib
import sys

import torch

import twin

N, M, F = 23, 40, 11
SIZES = {"hidden": 4, "latent-size": 3, "decoder-hidden": 5, "output-size": 4}
SAMPLES, ITERATIONS, CONTEXT_EDGES = 3, 20, 6
LONELY = N - 1  # no links and no features, as some nodes of Citeseer
SEED = 3


def exact(values):
    return (values * 1024).round() / 1024


def random_edges(n, m):
    pairs = [(u, v) for u, v in itertools.combinations(range(n), 2)]
    return sorted(pairs[i] for i in torch.randperm(len(pairs))[:m])


def make_inputs():
    """Everything the network is given."""
    torch.manual_seed(SEED)
    edges = random_edges(N - 1, M)
    x = exact(torch.rand(N, F) * 2 + 0.2) * (torch.rand(N, F) < 0.2)
    x[LONELY] = 0
    nodes = sorted(torch.randperm(N)[:9].tolist())
    place = {node: i for i, node in enumerate(nodes)}
    draws = [[edges[i] for i in torch.randperm(M)[:CONTEXT_EDGES]] for _ in range(ITERATIONS)]
    return {
        "edges": edges, "features": x, "context_edges": draws[0], "context_nodes": nodes,
        "context_nodes_edges": [(place[u], place[v]) for u, v in edges if u in place and v in place],
        "epsilon": exact(torch.randn(SAMPLES, SIZES["latent-size"])),
        "curve_contexts": [edge for draw in draws for edge in draw],
        "curve_epsilon": exact(torch.randn(ITERATIONS * SAMPLES, SIZES["latent-size"])),
    }


def make_parameters():
    h, d, g, k = SIZES.values()
    shapes = {"W1": (F, h), "W_mu": (h, d), "W_sigma": (h, d), "W2": (F + d, g), "b1": (g,), "W3": (g, k), "b2": (k,)}
    return {name: exact(torch.randn(shape) * 0.7) for name, shape in shapes.items()}


def without_latent(parameters):
    """W1, W_mu and W_sigma do not exist, and W2 ends with the rows that x meets."""
    return {name: value[:F] if name == "W2" else value for name, value in parameters.items()
            if name not in ("W1", "W_mu", "W_sigma")}


def make_cases():
    """Every combination of the two-way options, the context being their parity: so every six of the seven options meet in
    every way. Then the ablation, the conditional neural process, and the presets."""
    choices = {
        "encoder-output": ("linear", "relu"), "aggregate": ("vector", "scalar"), "sigma-mean": ("mean-log", "log-mean"),
        "decoder-output": ("linear", "sigmoid"), "monte-carlo": ("likelihood", "embedding"),
        "likelihood": ("weighted", "plain"),
    }
    for which in itertools.product((0, 1), repeat=len(choices)):
        values = {key: choices[key][i] for key, i in zip(choices, which)}
        context = ("edges", "nodes")[sum(which) % 2]
        start = ("1", "0.25")[which[0] ^ which[-1]]
        yield {**twin.DEFAULT, **values, "context": context, "samples": str(SAMPLES), "kl-weight": "0.75", "sigma-start": start}
    for output, likelihood in itertools.product(choices["decoder-output"], choices["likelihood"]):
        yield {**twin.DEFAULT, "latent": "0", "decoder-output": output, "likelihood": likelihood, "context": "edges"}
    for encoder, aggregate, context in itertools.product(choices["encoder-output"], choices["aggregate"], ("edges", "nodes")):
        yield {**twin.DEFAULT, "sample-latent": "0", "encoder-output": encoder, "aggregate": aggregate, "context": context}
    for preset in (twin.DEFAULT, twin.PAPER_LITERAL, twin.AUTHORS):
        for context in ("edges", "nodes"):
            yield {**preset, "context": context}


def check_kinks(parameters, graphs):
    """A float must not fall on the other side of a relu than a double: no input of one may be close to 0, unless it is 0
    because the node has neither features nor neighbours."""
    for a, x in graphs:
        for before in twin.layers(parameters, a, x, {"encoder-output": "relu"})[0]:
            nearest = before[before != 0].abs().min().item()
            assert nearest > 1e-4, f"an input of a relu is {nearest}: choose another SEED"


def write_array(file, name, values):
    values = torch.as_tensor(values, dtype=torch.float64)
    rows = values.reshape(1, -1) if values.dim() < 2 else values
    print(name, *rows.shape, file=file)
    for row in rows.tolist():
        print(*(f"{value:.14g}" for value in row), file=file)


def write_case(file, options):
    words = {**SIZES, **options}
    print("case", *(f"{key}={value}" for key, value in words.items()), file=file)


def write_forward(file, p, a, x, options):
    """What prediction uses: q(z | graph), and for one sample the embeddings at its mean."""
    mu = None
    if options["latent"] == "1":
        mu, log_sigma = twin.encode(p, a, x, options)
        write_array(file, "latent", torch.stack([mu, log_sigma]))
    if options["samples"] == "1":
        write_array(file, "embedding", twin.decode(p, x, mu, options))


def write_cases(file, inputs, parameters):
    x, a = inputs["features"], twin.adjacency(N, inputs["edges"])
    contexts = {
        "edges": (twin.adjacency(N, inputs["context_edges"]), None),
        "nodes": (twin.adjacency(len(inputs["context_nodes"]), inputs["context_nodes_edges"]), inputs["context_nodes"]),
    }
    check_kinks(parameters, [(a, x)] + [(c, x if nodes is None else x[nodes]) for c, nodes in contexts.values()])
    for options in make_cases():
        p = parameters if options["latent"] == "1" else without_latent(parameters)
        epsilon = inputs["epsilon"][: int(options["samples"])]
        rec, kl, gradient = twin.gradients(p, x, a, *contexts[options["context"]], epsilon, options)
        empty = {name for name, value in gradient.items() if value.abs().max() == 0}
        assert empty == ({"W_sigma"} if options["sample-latent"] == "0" else set()), "a gradient that is 0 checks nothing"
        write_case(file, options)
        write_array(file, "objective", [rec, kl])
        write_forward(file, p, a, x, options)
        for name, value in gradient.items():
            write_array(file, name, value)


def write_curves(file, inputs, parameters):
    """Two trainings with a context and an epsilon of their own in each iteration."""
    x, a = inputs["features"], twin.adjacency(N, inputs["edges"])
    draws = torch.tensor(inputs["curve_contexts"]).reshape(ITERATIONS, CONTEXT_EDGES, 2)
    contexts = [twin.adjacency(N, draw.tolist()) for draw in draws]
    epsilons = inputs["curve_epsilon"].reshape(ITERATIONS, SAMPLES, -1)
    other = {"encoder-output": "relu", "aggregate": "scalar", "sigma-mean": "log-mean", "decoder-output": "sigmoid",
             "monte-carlo": "embedding", "likelihood": "plain", "kl-weight": "0.75"}
    for changes in ({}, other):
        options = {**twin.DEFAULT, **changes, "context": "edges", "samples": str(SAMPLES)}
        curve, trained = twin.train(parameters, x, a, contexts, epsilons, options)
        write_case(file, {**options, "learning-rate": "0.01"})
        write_array(file, "curve", curve)
        for name, value in trained.items():
            write_array(file, name, value)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1] / "tests" / "golden"
    folder.mkdir(parents=True, exist_ok=True)
    inputs, parameters = make_inputs(), make_parameters()
    with open(folder / "inputs.txt", "w") as file:
        for name, values in {**inputs, **parameters}.items():
            write_array(file, name, values)
    with open(folder / "cases.txt", "w") as file:
        write_cases(file, inputs, parameters)
    with open(folder / "curves.txt", "w") as file:
        write_curves(file, inputs, parameters)


if __name__ == "__main__":
    main()
