#!/usr/bin/env python3
"""The same model in npgnn and in PyTorch, timed side by side on the processor.

    bench/compare_torch.py [--planetoid DIR/ind.cora] [--threads N] [--rounds N] [--npgnn PROGRAM]

Without --planetoid: a random graph of Cora's size. First the two must agree: scores, the latent and the loss, on parameters
that npgnn trained. Then rounds of all four programs follow each other, so that what else the machine does hits them alike;
the fastest iteration of each counts. The PyTorch model uses the cheapest formulation that we know: one sparse product for
both uses of X, sparse adjacency, fused losses, no validation.

  dense    all n x n scores and their cross-entropy, as the authors' program does
  edges    the edges, and as many random pairs that are none, as PyTorch Geometric's examples do; torch_geometric's own
           negative_sampling where it is installed
"""
import argparse
import json
import os
import pickle
import struct
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

warnings.filterwarnings("ignore", message="Sparse CSR tensor support")
warnings.filterwarnings("ignore", category=DeprecationWarning)  # old names inside Planetoid's files

H, D, G, K = 32, 32, 64, 32  # widths of npgnn's defaults: encoder, latent, decoder, embedding
PLAIN = ["--input-dropout", "0", "--sigma-start", "1"]  # the model of the paper and nothing more
CONTEXT = 0.1
RATE = 0.01


# ---- data ----

def random_graph(n=2708, m=5278, f=1433, words=18, seed=1):
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, n, (3 * m, 2))
    edges = np.unique(np.sort(edges[edges[:, 0] != edges[:, 1]], axis=1), axis=0)
    edges = edges[np.sort(rng.permutation(len(edges))[:m])]
    rows = np.repeat(np.arange(n), words)
    cells = np.unique(rows * f + rng.integers(0, f, n * words))
    return n, f, edges, cells // f, cells % f, np.ones(len(cells), np.float32)


def planetoid(prefix):
    """Edges and features of a Planetoid data set (needs scipy, whose matrices its files contain)."""
    def part(name):
        with open(f"{prefix}.{name}", "rb") as file:
            return pickle.load(file, encoding="latin1")
    allx, tx, graph = part("allx"), part("tx"), part("graph")
    order = np.loadtxt(f"{prefix}.test.index", dtype=int)
    n = max(allx.shape[0], order.max() + 1, max(graph) + 1)
    allx, tx = allx.tocoo(), tx.tocoo()
    rows = np.concatenate([allx.row, order[tx.row]])
    edges = np.array([(min(u, v), max(u, v)) for u, near in graph.items() for v in near if u != v])
    return (n, allx.shape[1], np.unique(edges, axis=0), rows, np.concatenate([allx.col, tx.col]),
            np.concatenate([allx.data, tx.data]).astype(np.float32))


def write_files(folder, data):
    n, f, edges, rows, cols, values = data
    np.savetxt(f"{folder}/edges.tsv", edges, fmt="%d", delimiter="\t")
    with open(f"{folder}/features.mtx", "w") as file:
        file.write(f"%%MatrixMarket matrix coordinate real general\n{n} {f} {len(values)}\n")
        for row, col, value in zip(rows, cols, values):
            file.write(f"{row + 1} {col + 1} {value:.9g}\n")
    return ["--edges", f"{folder}/edges.tsv", "--features", f"{folder}/features.mtx"]


def read_model(path):
    """The tensors of a safetensors file."""
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        header, block = json.loads(file.read(size)), file.read()
    return {name: np.frombuffer(block[t["data_offsets"][0]:t["data_offsets"][1]], np.float32).reshape(t["shape"])
            for name, t in header.items() if name != "__metadata__"}


# ---- the model in PyTorch ----

class Model:
    def __init__(self, data, parameters=None):
        import torch
        self.torch = torch
        self.n, self.f, edges, rows, cols, values = data
        self.edges = torch.from_numpy(np.ascontiguousarray(edges.T)).long()
        x = torch.sparse_coo_tensor(np.stack([rows, cols]), values, (self.n, self.f)).coalesce()
        self.x_forms = {"sparse": x, "csr": x.to_sparse_csr(), "dense": x.to_dense()}
        self.x = x
        self.whole = self.normalised(self.edges)
        shapes = {"W1": (self.f, H), "W_mu": (H, D), "W_sigma": (H, D), "W2": (self.f + D, G), "b1": (G,), "W3": (G, K),
                  "b2": (K,)}
        torch.manual_seed(1)
        self.p = {}
        for name, shape in shapes.items():
            start = torch.zeros(shape) if len(shape) == 1 else torch.nn.init.xavier_uniform_(torch.empty(shape))
            if parameters and name in parameters:
                start = torch.from_numpy(parameters[name].copy())
            self.p[name] = start.requires_grad_()

    def normalised(self, edges):
        """D^-1/2 (A + I) D^-1/2, sparse."""
        torch = self.torch
        loops = torch.arange(self.n)
        index = torch.cat([edges, edges.flip(0), torch.stack([loops, loops])], 1)
        scale = (torch.bincount(index[0], minlength=self.n).float()).rsqrt()
        return torch.sparse_coo_tensor(index, scale[index[0]] * scale[index[1]], (self.n, self.n))

    def encode(self, adjacency, xw1):
        torch, p = self.torch, self.p
        hidden = torch.relu(torch.sparse.mm(adjacency, xw1))
        heads = torch.sparse.mm(adjacency, hidden @ torch.cat([p["W_mu"], p["W_sigma"]], 1)).mean(0)
        return heads[:D], heads[D:]

    def features(self):
        """X [W1 | W2x]: one pass over X for both."""
        torch, p = self.torch, self.p
        w = torch.cat([p["W1"], p["W2"][:self.f]], 1)
        return self.x @ w if self.x.layout is torch.strided else torch.sparse.mm(self.x, w)

    def decode(self, xw2, z):
        torch, p = self.torch, self.p
        bias = p["b1"] if z is None else p["b1"] + z @ p["W2"][self.f:]
        return torch.sigmoid(xw2 + bias) @ p["W3"] + p["b2"]

    def dense_loss(self, u):
        """Binary cross-entropy over all ordered pairs, links and the diagonal weighted up."""
        torch = self.torch
        if not hasattr(self, "labels"):
            self.labels = torch.eye(self.n)
            self.labels[self.edges[0], self.edges[1]] = 1
            self.labels[self.edges[1], self.edges[0]] = 1
        links = 2.0 * self.edges.shape[1]
        others = float(self.n) * self.n - links
        loss = torch.nn.functional.binary_cross_entropy_with_logits(u @ u.T, self.labels, reduction="sum",
                                                                     pos_weight=torch.tensor(others / links))
        return loss / (2 * others)

    def negatives(self):
        torch, m = self.torch, self.edges.shape[1]
        try:
            from torch_geometric.utils import negative_sampling
            return negative_sampling(self.edges, self.n, m)
        except ImportError:
            pass
        if not hasattr(self, "keys"):
            self.keys = torch.sort(torch.cat([self.edges[0] * self.n + self.edges[1],
                                              self.edges[1] * self.n + self.edges[0]]))[0]
        drawn = torch.randint(self.n * self.n, (m + m // 8,))
        place = torch.searchsorted(self.keys, drawn).clamp_(max=len(self.keys) - 1)
        drawn = drawn[self.keys[place] != drawn][:m]
        return torch.stack([torch.div(drawn, self.n, rounding_mode="floor"), drawn % self.n])

    def edges_loss(self, u):
        softplus = self.torch.nn.functional.softplus
        no = self.negatives()
        return (softplus(-(u[self.edges[0]] * u[self.edges[1]]).sum(1)).mean() +
                softplus((u[no[0]] * u[no[1]]).sum(1)).mean())

    def loss(self, pairs_loss):
        torch = self.torch
        m = self.edges.shape[1]
        context = self.normalised(self.edges[:, torch.randperm(m)[:round(CONTEXT * m)]])
        xw = self.features()
        mu, ls = self.encode(self.whole, xw[:, :H])
        mu_c, ls_c = self.encode(context, xw[:, :H])
        kl = (ls_c - ls + (torch.exp(2 * ls) + (mu - mu_c) ** 2) / (2 * torch.exp(2 * ls_c)) - 0.5).sum()
        z = mu + torch.exp(ls) * torch.randn(D)
        return pairs_loss(self.decode(xw[:, H:], z)) + kl


def peak_bytes():
    """The most memory that this process has had. (getrusage would count the parent's too.)"""
    with open("/proc/self/status") as file:
        return 1024 * next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))


def time_torch(data, mode, seconds):
    """Seconds of the fastest iteration, with the form of X that suits PyTorch best."""
    import torch
    model = Model(data)
    pairs_loss = model.dense_loss if mode == "dense" else model.edges_loss
    optimizer = torch.optim.Adam(model.p.values(), lr=RATE)
    best = {}
    for form, x in model.x_forms.items():
        model.x, until, count = x, time.perf_counter() + seconds, 0
        try:
            while count < 3 or time.perf_counter() < until:
                start = time.perf_counter()
                optimizer.zero_grad()
                model.loss(pairs_loss).backward()
                optimizer.step()
                count += 1
                if count > 1:
                    best[form] = min(best.get(form, 1e9), time.perf_counter() - start)
        except RuntimeError:  # this version has no gradient for this form
            continue
    form = min(best, key=best.get)
    return {"seconds": best[form], "x": form, "peak_rss_bytes": peak_bytes()}


# ---- agreement ----

def apart(got, want):
    got, want = np.asarray(got), np.asarray(want)
    return float(np.max(np.abs(got - want)) / max(1.0, np.max(np.abs(want))))


def check(program, files, data, folder):
    """Scores and latent of a trained model, and the loss of a deterministic one: the largest relative differences."""
    import torch
    model_file, log, pairs = f"{folder}/model.safetensors", f"{folder}/log", f"{folder}/pairs.tsv"
    train = [program, "train", *files, "-o", model_file, "-q", "--val", "0", "--loss", "exact", *PLAIN]
    rng = np.random.default_rng(2)
    chosen = rng.integers(0, data[0], (1000, 2))
    np.savetxt(pairs, chosen, fmt="%d", delimiter="\t")
    with torch.no_grad():
        subprocess.run([*train, "--iterations", "30"], check=True)
        tensors = read_model(model_file)
        out = subprocess.run([program, "predict", model_file, *files, "--pairs", pairs, "--raw"], check=True,
                             capture_output=True, text=True).stdout
        ours = np.array([float(line.split("\t")[2]) for line in out.splitlines() if not line.startswith("#")])
        model = Model(data, tensors)
        xw = model.features()
        mu, log_sigma = model.encode(model.whole, xw[:, :H])
        u = model.decode(xw[:, H:], mu)
        score = (u[chosen[:, 0]] * u[chosen[:, 1]]).sum(1)
        result = {"scores": apart(ours, score), "latent": max(apart(tensors["z_mean"], mu),
                                                              apart(tensors["z_log_sigma"], log_sigma))}
        # without the latent nothing is random: the loss of iteration 11 is that of the model after 10
        subprocess.run([*train, "--no-latent", "--iterations", "10"], check=True)
        tensors = read_model(model_file)
        subprocess.run([*train, "--no-latent", "--iterations", "11", "--log", log], check=True)
        with open(log) as file:
            loss = json.loads(file.readlines()[10])["loss"]
        tensors["W2"] = np.concatenate([tensors["W2"], np.zeros((D, G), np.float32)])
        model = Model(data, tensors)
        result["loss"] = apart([loss], [float(model.dense_loss(model.decode(model.features()[:, H:], None)))])
    return result


# ---- the comparison ----

def time_npgnn(program, files, loss, threads, seconds):
    out = subprocess.run([program, "bench", *files, "--loss", loss, "--threads", str(threads), "--seconds", str(seconds),
                          "--json", "-", *PLAIN], check=True, capture_output=True, text=True).stdout
    return json.loads(out)["iterations"][0]


def worker(arguments, mode):
    """PyTorch in a process of its own, so that its memory is its own."""
    out = subprocess.run([sys.executable, __file__, *arguments, "--worker", mode], check=True, capture_output=True,
                         text=True).stdout
    return json.loads(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planetoid", help="path of a Planetoid data set, like data/ind.cora")
    parser.add_argument("--npgnn", default=os.path.join(os.path.dirname(__file__), "../build/npgnn"))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2, help="of each program, a round")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--worker", choices=["dense", "edges"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    import torch
    torch.set_num_threads(args.threads)
    data = planetoid(args.planetoid) if args.planetoid else random_graph()
    if args.worker:
        print(json.dumps(time_torch(data, args.worker, args.seconds / 3)))
        return 0

    with tempfile.TemporaryDirectory() as folder:
        files = write_files(folder, data)
        agreement = check(args.npgnn, files, data, folder)
        if not all(value <= 1e-4 for value in agreement.values()):
            print(f"npgnn and PyTorch do not agree: {agreement}", file=sys.stderr)
            return 1
        best = {}
        own = ["--threads", str(args.threads), "--seconds", str(args.seconds)]
        own += ["--planetoid", args.planetoid] if args.planetoid else []
        for _ in range(args.rounds):
            for name, result in (("npgnn exact", time_npgnn(args.npgnn, files, "exact", args.threads, args.seconds)),
                                 ("torch dense", worker(own, "dense")),
                                 ("npgnn sampled", time_npgnn(args.npgnn, files, "sampled", args.threads, args.seconds)),
                                 ("torch edges", worker(own, "edges"))):
                if name not in best or result["seconds"] < best[name]["seconds"]:
                    best[name] = result
    report(args, data, agreement, best, torch.__version__)
    return 0


def report(args, data, agreement, best, version):
    ratios = {f"{a} / {b}": best[a]["seconds"] / best[b]["seconds"]
              for a, b in (("torch dense", "npgnn exact"), ("torch dense", "npgnn sampled"),
                           ("torch edges", "npgnn exact"), ("torch edges", "npgnn sampled"))}
    if args.json:
        print(json.dumps({"agreement": agreement, "threads": args.threads, "torch": version, "ratios": ratios,
                          "results": {name: {"seconds": r["seconds"], "peak_rss_bytes": r["peak_rss_bytes"]}
                                      for name, r in best.items()}}, indent=2))
        return
    print(f"{args.planetoid and os.path.basename(args.planetoid) or 'a random graph of the size of Cora'}: {data[0]} nodes, "
          f"{len(data[2])} edges; {args.threads} threads; PyTorch {version}")
    print("agreement: " + ", ".join(f"{name} within {value:.1e}" for name, value in agreement.items()))
    print(f"{'':16}{'ms/iteration':>14}{'peak MB':>10}")
    for name, r in best.items():
        print(f"{name:16}{1e3 * r['seconds']:14.2f}{r['peak_rss_bytes'] / 1e6:10.0f}")
    for name, ratio in ratios.items():
        print(f"{name}: {ratio:.1f}")


if __name__ == "__main__":
    sys.exit(main())
