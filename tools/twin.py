"""The network of docs/understand/math.md a second time, to check the first: dense matrices, double precision, autograd.

Written from the equations, not from the C code, and as plainly as they read. Equation numbers are those of docs/understand/math.md.
Options are a dictionary whose keys and values are those of the command line.
"""
import math

import torch

torch.set_default_dtype(torch.float64)

DEFAULT = {
    "latent": "1", "sample-latent": "1", "encoder-output": "linear", "aggregate": "vector", "sigma-mean": "mean-log",
    "sigma-start": "1",
    "decoder-output": "linear", "samples": "1", "monte-carlo": "likelihood", "likelihood": "weighted", "kl-weight": "1",
}
PAPER_LITERAL = {**DEFAULT, "encoder-output": "relu", "decoder-output": "sigmoid"}
AUTHORS = {**DEFAULT, "aggregate": "scalar", "sigma-mean": "log-mean", "monte-carlo": "embedding"}


def adjacency(n, edges):
    """The symmetric 0/1 matrix of undirected edges."""
    a = torch.zeros(n, n)
    for u, v in edges:
        a[u, v] = a[v, u] = 1
    return a


def normalize(a):
    """Eq. (1)."""
    a_loops = a + torch.eye(len(a))
    scale = a_loops.sum(1).rsqrt()
    return scale[:, None] * a_loops * scale[None, :]


def layers(p, a, x, options):
    """Eq. (2) and (3): what goes into each relu, and mu and log sigma of every node."""
    a_hat = normalize(a)
    before = a_hat @ x @ p["W1"]
    hidden = torch.relu(before)
    mu, log_sigma = a_hat @ hidden @ p["W_mu"], a_hat @ hidden @ p["W_sigma"]
    if options["encoder-output"] == "relu":
        return [before, mu, log_sigma], torch.relu(mu), torch.relu(log_sigma)
    return [before], mu, log_sigma


def encode(p, a, x, options):
    """Eq. (1) to (4): mu and log sigma of q(z | a, x)."""
    _, mu, log_sigma = layers(p, a, x, options)
    over = [0, 1] if options["aggregate"] == "scalar" else [0]
    width = mu.shape[1]
    mean_mu = mu.mean(over)
    if options["sigma-mean"] == "log-mean":
        mean_log_sigma = log_sigma.exp().mean(over).log()
    else:
        mean_log_sigma = log_sigma.mean(over)
    start = math.log(float(options["sigma-start"]))
    return mean_mu.expand(width), mean_log_sigma.expand(width) + start


def decode(p, x, z, options):
    """Eq. (6): the embeddings u for one z; z None: without a latent."""
    inputs = x if z is None else torch.cat([x, z.expand(len(x), -1)], 1)
    u = torch.sigmoid(inputs @ p["W2"] + p["b1"]) @ p["W3"] + p["b2"]
    return torch.sigmoid(u) if options["decoder-output"] == "sigmoid" else u


def reconstruction(u, a, options):
    """Eq. (7) and (8): minus the log-likelihood, plain or weighted."""
    score = u @ u.T
    if options["likelihood"] == "plain":
        return torch.nn.functional.binary_cross_entropy_with_logits(score, a, reduction="sum")
    total, links = len(a) ** 2, a.sum()
    weight = (total - links) / links
    norm = total / (2 * (total - links))
    return norm * torch.nn.functional.binary_cross_entropy_with_logits(score, a + torch.eye(len(a)), pos_weight=weight)


def divergence(mu, log_sigma, mu_context, log_sigma_context):
    """Eq. (10), from the library's own formula."""
    normal = torch.distributions.Normal
    q, prior = normal(mu, log_sigma.exp()), normal(mu_context, log_sigma_context.exp())
    return torch.distributions.kl_divergence(q, prior).sum()


def objective(p, x, a, a_context, context_nodes, epsilon, options):
    """(reconstruction, kl) of one iteration; context_nodes None: the context has all nodes. epsilon (samples, d)."""
    if options["latent"] == "0":
        return reconstruction(decode(p, x, None, options), a, options), torch.zeros(())
    context = encode(p, a_context, x if context_nodes is None else x[context_nodes], options)
    if options["sample-latent"] == "0":  # (5')
        return reconstruction(decode(p, x, context[0], options), a, options), torch.zeros(())
    mu, log_sigma = encode(p, a, x, options)
    kl = divergence(mu, log_sigma, *context)
    embeddings = [decode(p, x, mu + log_sigma.exp() * e, options) for e in epsilon]  # (5), (6)
    if options["monte-carlo"] == "embedding":  # (9)
        return reconstruction(torch.stack(embeddings).mean(0), a, options), kl
    return torch.stack([reconstruction(u, a, options) for u in embeddings]).mean(), kl


def gradients(p, *inputs):
    """(reconstruction, kl, {name: gradient of reconstruction + kl-weight * kl})."""
    leaves = {name: value.clone().requires_grad_() for name, value in p.items()}
    rec, kl = objective(leaves, *inputs)
    loss = rec + float(inputs[-1]["kl-weight"]) * kl
    found = torch.autograd.grad(loss, list(leaves.values()), allow_unused=True)
    return rec.item(), kl.item(), {name: torch.zeros_like(leaves[name]) if g is None else g for name, g in zip(leaves, found)}


def train(p, x, a, contexts, epsilons, options, learning_rate=0.01):
    """[(reconstruction, kl)] before each step of Adam, (A1) to (A3), and the parameters after the last one."""
    p = {name: value.clone() for name, value in p.items()}
    adam = torch.optim.Adam(p.values(), lr=learning_rate, betas=(0.9, 0.999), eps=1e-8)
    curve = []
    for a_context, epsilon in zip(contexts, epsilons):
        rec, kl, found = gradients(p, x, a, a_context, None, epsilon, options)
        for name, value in p.items():
            value.grad = found[name]
        adam.step()
        curve.append((rec, kl))
    return curve, p
