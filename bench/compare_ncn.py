#!/usr/bin/env python3
"""Neural common neighbours (NCN and NCNC) on npgnn's splits of the Planetoid graphs: AUC, AP and seconds to train.

    bench/compare_ncn.py --npgnn build/npgnn --data DIR --seeds 10
    bench/compare_ncn.py ... --work FOLDER      keep graphs, splits and finished runs in FOLDER, and continue from them

Our own implementation, in plain PyTorch, of Wang, Yang and Zhang, "Neural Common Neighbor with Completion for Link
Prediction" (ICLR 2024, arXiv:2302.00890). n nodes, width d, N(i) the neighbours of i, Â = D̃^-½ (A + I) D̃^-½:

    H0 = X W + w,  Hl = Â H(l-1),  G = Σ_l a_l Hl over l ≥ 1     (n, d); a is learnt
    H = G + MLP(G)                                               embeddings (n, d)
    C_ij = Σ_u P_u h_u                                           (d)
      NCN    P_u = 1 for u in N(i) ∩ N(j)
      NCNC   also P_u = α sig(β (NCN(u, j) - γ) + log π) for u in N(i) but not in N(j), and likewise for N(j)
    score(i, j) = MLP(MLP(h_i ⊙ h_j) + b MLP(C_ij))

An MLP is linear layers with layer norm, dropout and relu. The loss is the cross-entropy of a batch of training links
and as many random pairs that are not training links. The links of the batch are removed from A before embeddings and
neighbours are computed, because the links to predict are not in A either. P is a constant in the gradient.

Training stops when the validation AUC has not risen for PATIENCE epochs; the epoch with the best one counts. The
setting of a graph is the one with the best mean validation AUC over the first TUNE_SEEDS seeds. The candidates are what
the authors of NCN and of HeaRT (Li et al., NeurIPS 2023, arXiv:2306.10453) report, and one of ours. Test pairs choose
nothing.

Before training, the cosine of the features must get the same AUC and AP as in npgnn. Needs torch and numpy; runs on the
GPU if there is one. A GPU adds in no fixed order, so figures vary slightly between runs.
"""
import argparse
import concurrent.futures
import functools
import json
import multiprocessing
import os
import subprocess
import tempfile
import time
import warnings

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from splits import judge, judge_cosine, read_features, read_split

warnings.filterwarnings("ignore", message="Sparse invariant checks")

MAX_EPOCHS, PATIENCE, TUNE_SEEDS = 500, 50, 2

# What both sources have in common per graph: dropout of X, of G and of the links in N(i), linear layers of the last
# MLP, and α, β, γ, π of the completion.
SHARED = {
    "cora": dict(drop_x=0.7, drop_g=0.3, drop_links=0.4, final=2, alpha=1.0, beta=4.3, gamma=2.8, pi=0.75),
    "citeseer": dict(drop_x=0.4, drop_g=0.0, drop_links=0.0, final=3, alpha=0.4, beta=6.5, gamma=4.4, pi=0.75),
    "pubmed": dict(drop_x=0.3, drop_g=0.0, drop_links=0.0, final=2, alpha=0.3, beta=5.3, gamma=0.5, pi=0.5),
}
# Width d, layers of Â, dropout of X W and in the MLPs, learning rates of (W, a) and of the MLPs, weight decay, links
# per batch. wide-deep is ours: a point of HeaRT's grid that neither source reports.
FIELDS = ("width", "layers", "drop_xw", "drop_mlp", "rates", "decay", "batch")
SETTINGS = {
    "cora": {
        "ncn-authors": (256, 1, 0.05, 0.05, (0.0043, 0.0024), 0, 1152),
        "heart-ncn": (256, 3, 0.3, 0.3, (0.01, 0.01), 1e-4, 1024),
        "heart-ncnc": (128, 2, 0.1, 0.1, (0.01, 0.01), 1e-4, 1024),
        "wide-deep": (256, 3, 0.5, 0.5, (0.001, 0.001), 0, 1024),
    },
    "citeseer": {
        "ncn-authors": (256, 1, 0.75, 0.55, (0.0085, 0.0078), 0, 384),
        "heart-ncn": (256, 1, 0.1, 0.1, (0.001, 0.001), 1e-7, 1024),
        "heart-ncnc": (256, 1, 0.5, 0.5, (0.001, 0.001), 1e-7, 1024),
        "wide-deep": (256, 3, 0.5, 0.5, (0.001, 0.001), 0, 1024),
    },
    "pubmed": {
        "ncn-authors": (256, 1, 0.1, 0.05, (0.0097, 0.002), 0, 2048),
        "heart-ncn": (256, 3, 0.1, 0.1, (0.01, 0.01), 1e-7, 1024),
        "heart-ncnc": (256, 3, 0.3, 0.3, (0.001, 0.001), 0, 1024),
    },
}


# ---- the graph on the device ----

class Links:
    """Undirected links as the sorted keys u n + v of both directions, with rows as in CSR."""

    def __init__(self, keys, n):
        self.keys, self.n = keys, n
        self.row, self.col = keys // n, keys % n
        self.degree = torch.bincount(self.row, minlength=n)
        self.start = self.degree.cumsum(0) - self.degree

    def has(self, u, v):
        if len(self.keys) == 0:
            return torch.zeros_like(u, dtype=torch.bool)
        key = u * self.n + v
        return self.keys[torch.searchsorted(self.keys, key).clamp_(max=len(self.keys) - 1)] == key

    def neighbours(self, nodes):
        """All neighbours of `nodes`: which of the nodes each belongs to, and the neighbour."""
        count = self.degree[nodes]
        owner = torch.repeat_interleave(torch.arange(len(nodes), device=nodes.device), count)
        first = count.cumsum(0) - count
        inside = torch.arange(len(owner), device=nodes.device) - first[owner]
        return owner, self.col[self.start[nodes][owner] + inside]

    def thinned(self, keep):
        return Links(self.keys[keep], self.n)

    def operator(self):
        """A as a sparse matrix (n, n), and the diagonal of D̃^-½ as a column."""
        index, one = torch.stack([self.row, self.col]), torch.ones(len(self.keys), device=self.keys.device)
        matrix = torch.sparse_coo_tensor(index, one, (self.n, self.n), check_invariants=False, is_coalesced=True)
        return matrix, (self.degree + 1).float().rsqrt()[:, None]


class Propagate(torch.autograd.Function):
    """Y = Â H = D̃^-½ (A + I) D̃^-½ H. Â is symmetric, so dH = Â dY."""

    @staticmethod
    def multiply(operator, h):
        matrix, scale = operator
        h = scale * h
        return scale * (torch.sparse.mm(matrix, h) + h)

    @staticmethod
    def forward(context, operator, h):
        context.operator = operator
        return Propagate.multiply(operator, h)

    @staticmethod
    def backward(context, dy):
        return None, Propagate.multiply(context.operator, dy)


# ---- the model ----

def mlp(inputs, width, outputs, depth, drop, tail):
    """depth linear layers with LN, dropout and relu between them, and after the last if tail."""
    layers = []
    for k in range(depth):
        last = k == depth - 1
        layers.append(nn.Linear(inputs if k == 0 else width, outputs if last else width))
        if not last or tail:
            layers += [nn.LayerNorm(layers[-1].out_features), nn.Dropout(drop), nn.ReLU()]
    return nn.Sequential(*layers)


class Encoder(nn.Module):
    def __init__(self, features, s):
        super().__init__()
        self.s = s
        self.linear = nn.Linear(features, s["width"])
        self.share = nn.Parameter(torch.ones(s["layers"]))  # a

    def forward(self, x, operator):
        s, g = self.s, 0
        h = self.linear(functional.dropout(x, s["drop_x"], self.training))
        h = functional.dropout(h, s["drop_xw"], self.training)
        for share in self.share:
            h = Propagate.apply(operator, h)
            g = g + share * h
        return functional.dropout(g, s["drop_g"], self.training)


class Decoder(nn.Module):
    def __init__(self, s, completion):
        super().__init__()
        self.s, self.completion = s, completion
        wide, drop = s["width"], s["drop_mlp"]
        self.residual = mlp(wide, wide, wide, 2, drop, tail=True)
        self.of_pair = mlp(wide, wide, wide, 1, drop, tail=True)
        self.of_common = mlp(wide, wide, wide, 2, drop, tail=True)
        self.final = mlp(wide, wide, 1, s["final"], drop, tail=False)
        self.weight = nn.Parameter(torch.ones(1))  # b

    def score(self, h, i, j, owner, node, weight=None):
        """Scores of the pairs (i, j), where pair owner[k] has node[k] in its sum C, times weight[k]."""
        terms = h.index_select(0, node)
        terms = terms if weight is None else terms * weight[:, None]
        pooled = torch.zeros(len(i), h.shape[1], device=h.device).index_add(0, owner, terms)
        product = h.index_select(0, i) * h.index_select(0, j)
        return self.final(self.of_pair(product) + self.weight * self.of_common(pooled)).squeeze(1)

    def plain(self, h, links, i, j):
        """NCN: the neighbours of the end with fewer, as far as the other end has them too."""
        swap = links.degree[i] > links.degree[j]
        few, many = torch.where(swap, j, i), torch.where(swap, i, j)
        owner, node = links.neighbours(few)
        common = links.has(many[owner], node)
        return self.score(h, i, j, owner[common], node[common])

    def forward(self, g, links, i, j):
        h = g + self.residual(g)
        if not self.completion:
            return self.plain(h, links, i, j)
        s, owners, nodes, weights = self.s, [], [], []
        for end, other in ((i, j), (j, i)):
            owner, node = links.neighbours(end)
            common = links.has(other[owner], node)
            if end is i:  # once, not from both ends
                owners.append(owner[common])
                nodes.append(node[common])
                weights.append(torch.ones(len(nodes[0]), device=h.device))
            missing = ~common & (node != other[owner])
            owner, node = owner[missing], node[missing]
            with torch.no_grad():
                logit = s["beta"] * (self.plain(h, links, node, other[owner]) - s["gamma"])
            owners.append(owner)
            nodes.append(node)
            weights.append(s["alpha"] * torch.sigmoid(logit + np.log(s["pi"])))
        return self.score(h, i, j, torch.cat(owners), torch.cat(nodes), torch.cat(weights))


# ---- training ----

def train(x, split, s, completion, seed, device, max_epochs):
    """Validation AUC of the best epoch, its test AUC and AP, the number of that epoch, and seconds to train."""
    torch.manual_seed(seed)
    x = torch.from_numpy(x).to(device)
    n = len(x)
    sets = {key: torch.from_numpy(pairs).to(device) for key, pairs in split.items()}
    known = sets["train", "1"]
    m = known.shape[1]
    keys, order = torch.cat([known[0] * n + known[1], known[1] * n + known[0]]).sort()
    links = Links(keys, n)
    place = torch.empty_like(order)  # where in keys the two directions of link e are: place[e], place[e + m]
    place[order] = torch.arange(2 * m, device=device)
    full = links.operator()

    encoder, decoder = Encoder(x.shape[1], s).to(device), Decoder(s, completion).to(device)
    groups = [{"params": part.parameters(), "lr": rate} for part, rate in zip((encoder, decoder), s["rates"])]
    optimizer = torch.optim.Adam(groups, weight_decay=s["decay"])

    def non_links(count):
        """Random pairs that are not training links; held-out links are unknown here, so they may be among them."""
        u, v = torch.randint(n, (2, count + count // 8 + 64), device=device)
        fine = (u != v) & ~links.has(u, v)
        u, v = u[fine], v[fine]
        assert len(u) >= count, "the graph is too dense for so few draws"
        return torch.stack([u[:count], v[:count]])

    def epoch():
        encoder.train()
        decoder.train()
        shuffled, others = torch.randperm(m, device=device), non_links(m)
        for first in range(0, m, s["batch"]):
            batch = shuffled[first:first + s["batch"]]
            keep = torch.ones(2 * m, dtype=torch.bool, device=device)
            keep[place[batch]] = keep[place[batch + m]] = False
            rest = links.thinned(keep)
            g = encoder(x, rest.operator())
            if s["drop_links"] > 0:  # of N only, both directions of a link together
                dropped = (torch.rand(m, device=device) < s["drop_links"]).nonzero().squeeze(1)
                keep[place[dropped]] = keep[place[dropped + m]] = False
                rest = links.thinned(keep)
            i, j = torch.cat([known[:, batch], others[:, first:first + len(batch)]], 1)
            label = (torch.arange(2 * len(batch), device=device) < len(batch)).float()
            optimizer.zero_grad()
            functional.binary_cross_entropy_with_logits(decoder(g, rest, i, j), label).backward()
            optimizer.step()

    @torch.no_grad()
    def measure(which):
        encoder.eval()
        decoder.eval()
        g = encoder(x, full)
        scores = [torch.cat([decoder(g, links, *part) for part in sets[which, label].split(4096, 1)]) for label in "10"]
        return judge(*(score.double().cpu().numpy() for score in scores))

    start = time.perf_counter()
    best, best_epoch, state = -1, 0, None
    for number in range(1, max_epochs + 1):
        epoch()
        auc = measure("val")[0]
        if auc > best:
            best, best_epoch = auc, number
            state = [{k: v.clone() for k, v in part.state_dict().items()} for part in (encoder, decoder)]
        elif number - best_epoch >= PATIENCE:
            break
    seconds = time.perf_counter() - start
    encoder.load_state_dict(state[0])
    decoder.load_state_dict(state[1])
    auc, ap = measure("test")
    return dict(val_auc=best, auc=auc, ap=ap, epoch=best_epoch, epochs=number, seconds=seconds)


# ---- data and runs ----

def prepare(args, name):
    """The graph as plain tables and a split per seed in args.work, unless they are there already."""
    data, graph = os.path.join(args.data, f"ind.{name}"), os.path.join(args.work, name)
    if not os.path.exists(graph):
        subprocess.run([args.npgnn, "convert", data, "-o", graph, "--quiet"], check=True)
    for seed in range(1, args.seeds + 1):
        split = os.path.join(args.work, f"{name}.{seed}.tsv")
        if not os.path.exists(f"{split}.json"):
            command = [args.npgnn, "eval", data, "--method", "cosine", "--seeds", "1", "--seed", str(seed),
                       "--save-split", split, "--quiet", "--json", f"{split}.json"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@functools.lru_cache(maxsize=1)
def features_of(folder):
    return read_features(folder)


def run(work, name, model, setting, seed, device, threads, max_epochs):
    """Checks that the split is npgnn's, and trains once."""
    torch.set_num_threads(threads)
    x, split = features_of(os.path.join(work, name)), read_split(os.path.join(work, f"{name}.{seed}.tsv"))
    with open(os.path.join(work, f"{name}.{seed}.tsv.json")) as file:
        there = json.load(file)["seeds"][0]
    here, there = judge_cosine(x, split), (100 * there["auc"], 100 * there["ap"])
    if max(abs(a - b) for a, b in zip(here, there)) > 0.05:
        raise RuntimeError(f"{name}, seed {seed}: AUC and AP of the cosine are {here[0]:.2f}, {here[1]:.2f} here and "
                           f"{there[0]:.2f}, {there[1]:.2f} in npgnn: not the same split; remove {work}, start again")
    s = SHARED[name] | dict(zip(FIELDS, SETTINGS[name][setting]))
    return train(x, split, s, model == "ncnc", seed, device, max_epochs)


class Runs:
    """Finished runs by (name, model, setting, seed), kept in a file of one JSON object per line."""

    def __init__(self, args, pool, device):
        self.args, self.pool, self.device, self.done = args, pool, device, {}
        self.path = os.path.join(args.work, "runs.jsonl")
        if os.path.exists(self.path):
            with open(self.path) as lines:
                for line in lines:
                    result = json.loads(line)
                    self.done[tuple(result.pop("key"))] = result

    def get(self, keys):
        """The results of the runs `keys`, after running those that are missing."""
        threads = self.args.threads or max(1, (os.cpu_count() or 1) // self.args.jobs)
        waiting = {self.pool.submit(run, self.args.work, *key, self.device, threads, self.args.max_epochs): key
                   for key in keys if key not in self.done}
        for future in concurrent.futures.as_completed(waiting):
            key, result = waiting[future], future.result()
            self.done[key] = result
            with open(self.path, "a") as file:
                file.write(json.dumps({"key": key} | result) + "\n")
            if self.args.verbose:
                print(*key, {k: round(v, 2) for k, v in result.items()}, flush=True)
        return [self.done[key] for key in keys]


def compare(args, runs):
    seeds = range(1, args.seeds + 1)
    tuned = seeds[:TUNE_SEEDS]
    pairs = [(name, model) for name in args.sets for model in args.models]
    runs.get([(name, model, setting, seed) for name, model in pairs for setting in SETTINGS[name] for seed in tuned])
    chosen = {}
    for name, model in pairs:
        found = {}
        for setting in SETTINGS[name]:
            found[setting] = np.mean([runs.done[name, model, setting, seed]["val_auc"] for seed in tuned])
        chosen[name, model] = max(found, key=found.get)
        print(f"{name:9} {model:5} validation AUC, {len(tuned)} seeds: "
              + ", ".join(f"{setting} {value:.2f}" for setting, value in found.items()), flush=True)
    if args.tune_only:
        return
    runs.get([(name, model, chosen[name, model], seed) for name, model in pairs for seed in seeds])
    print(f"\n{args.seeds} seeds, {args.jobs} at a time: test AUC, AP (percent), seconds to train, best epoch")
    for name, model in pairs:
        results = runs.get([(name, model, chosen[name, model], seed) for seed in seeds])
        table = np.array([[result[k] for k in ("auc", "ap", "seconds", "epoch")] for result in results])
        mean, spread = table.mean(0), table.std(0, ddof=min(1, len(table) - 1))
        print(f"{name:9} {model:5} {chosen[name, model]:12} {mean[0]:6.2f} ± {spread[0]:.2f}  {mean[1]:6.2f} ± "
              f"{spread[1]:.2f}  {mean[2]:6.1f} ± {spread[2]:.1f}  {mean[3]:5.0f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--npgnn", default="build/npgnn")
    parser.add_argument("--data", metavar="DIR", default=".", help="folder with Planetoid's files ind.cora.x and so on")
    parser.add_argument("--sets", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--models", nargs="+", choices=["ncn", "ncnc"], default=["ncn", "ncnc"])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--work", metavar="FOLDER", help="keep graphs, splits and finished runs here, to continue")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time; more take longer each")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads per run (default: all cores / jobs)")
    parser.add_argument("--max-epochs", type=int, default=MAX_EPOCHS)
    parser.add_argument("--export-only", action="store_true", help="write graphs and splits to --work, and stop")
    parser.add_argument("--tune-only", action="store_true", help="choose the settings, and stop")
    parser.add_argument("--verbose", action="store_true", help="print every run")
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with tempfile.TemporaryDirectory() as temporary:
        args.work = args.work or temporary
        os.makedirs(args.work, exist_ok=True)
        for name in args.sets:
            prepare(args, name)
        if args.export_only:
            return
        where = torch.cuda.get_device_name() if device == "cuda" else "CPU"
        print(f"PyTorch {torch.__version__}, {where}", flush=True)
        spawn = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(args.jobs, mp_context=spawn) as pool:
            compare(args, Runs(args, pool, device))


if __name__ == "__main__":
    main()
