"""The all-pairs loss of npgnn for PyTorch: exact in memory O(n k), or estimated without bias at linear cost.

With embeddings u of n nodes and the links of a graph, it is the binary cross-entropy of sigmoid(u_i . u_j) over all
n^2 ordered pairs. A graph auto-encoder that uses it in place of a loss over sampled negatives has no noise from
sampling, and never stores n^2 numbers.
"""

from __future__ import annotations

import itertools
from typing import Any, Optional

import numpy as np
import torch

from . import _c
from ._check import check_count, check_seed
from ._errors import ArgumentError
from .graph import Graph

LIKELIHOODS = ("weighted", "plain")


class AllPairsLoss:
    """The all-pairs loss of one graph, for many calls.

    Parameters
    ----------
    edge_index : tensor of shape (2, links)
        The links, in one direction or both.
    num_nodes : int
        Number of nodes.
    pairs_per_node : int, optional
        None: the exact loss, O(n^2 k) operations. Otherwise an unbiased estimate from about so many pairs per node;
        each call draws new ones.
    likelihood : str
        "weighted": links and non-links have the same total weight. "plain": every pair has the same weight.
    seed : int
        Of the estimates.
    n_jobs : int, optional
        Number of threads.

    Examples
    --------
    >>> import torch
    >>> from npgnn.torch import AllPairsLoss
    >>> loss = AllPairsLoss(torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
    >>> u = torch.randn(3, 4, requires_grad=True)
    >>> loss(u).backward()
    >>> u.grad.shape
    torch.Size([3, 4])
    """

    def __init__(
        self,
        edge_index: torch.Tensor,
        num_nodes: int,
        pairs_per_node: Optional[int] = None,
        *,
        likelihood: str = "weighted",
        seed: int = 1,
        n_jobs: Optional[int] = None,
    ) -> None:
        if likelihood not in LIKELIHOODS:
            raise ArgumentError(f"likelihood must be one of {', '.join(LIKELIHOODS)}, got {likelihood!r}")
        self.pairs_per_node = 0 if pairs_per_node is None else check_count(pairs_per_node, "pairs_per_node", 1)
        self.likelihood, self.seed = likelihood, check_seed(seed, "seed")
        self._graph = Graph(edge_index, check_count(num_nodes, "num_nodes", 1))
        self._job = _c.Job(n_jobs)
        self._losses: dict[int, _c.Handle] = {}
        self._draws = itertools.count()

    def __call__(self, u: torch.Tensor) -> torch.Tensor:
        """The loss of embeddings u of shape (num_nodes, columns), on the CPU: a scalar."""
        if u.dim() != 2 or u.shape[0] != self._graph.n_nodes:
            raise ArgumentError(f"u must be of shape ({self._graph.n_nodes}, columns), got {tuple(u.shape)}")
        if u.device.type != "cpu" or not u.is_floating_point():
            raise ArgumentError(f"u must be a tensor of floating-point numbers on the CPU, got {u.dtype} on {u.device}")
        result: torch.Tensor = _Function.apply(u, self)
        return result

    def _run(self, u: torch.Tensor, gradient: bool) -> tuple[float, Optional[torch.Tensor]]:
        columns = int(u.shape[1])
        if columns not in self._losses:
            handle = _c.Handle(_c.lib.npgnn_pairs_loss_free, self._graph, self._job)
            _c.check(
                _c.lib.npgnn_pairs_loss_new,
                handle.out(),
                self._graph._handle.pointer,
                columns,
                self.pairs_per_node,
                LIKELIHOODS.index(self.likelihood),
                self.seed,
                _c.byref(self._job.env),
            )
            self._losses[columns] = handle
        given = np.ascontiguousarray(u.detach().numpy(), np.float32)
        out = np.empty_like(given) if gradient else None
        draw = next(self._draws) % (1 << 32)
        value = _c.lib.npgnn_pairs_loss_run(
            None if out is None else out.ctypes.data, self._losses[columns].pointer, given.ctypes.data, draw
        )
        return float(value), None if out is None else torch.from_numpy(out).to(u.dtype)


class _Function(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, u: torch.Tensor, loss: AllPairsLoss) -> torch.Tensor:
        value, context.gradient = loss._run(u, bool(context.needs_input_grad[0]))
        return u.new_tensor(value)

    @staticmethod
    def backward(context: Any, *outputs: torch.Tensor) -> Any:
        return context.gradient * outputs[0], None


_last: Optional[tuple[tuple[Any, ...], torch.Tensor, AllPairsLoss]] = None


def all_pairs_loss(u: torch.Tensor, edge_index: torch.Tensor, pairs_per_node: Optional[int] = None) -> torch.Tensor:
    """The all-pairs loss of embeddings, as an autograd function.

    Parameters
    ----------
    u : tensor of shape (nodes, columns), on the CPU
        The embeddings.
    edge_index : tensor of shape (2, links)
        The links. The same tensor in the next call is recognised, and not read again.
    pairs_per_node : int, optional
        None: the exact loss. Otherwise an unbiased estimate from about so many pairs per node.

    Returns
    -------
    scalar tensor

    Examples
    --------
    >>> import torch
    >>> from npgnn.torch import all_pairs_loss
    >>> u = torch.zeros(3, 2, requires_grad=True)
    >>> loss = all_pairs_loss(u, torch.tensor([[0, 1], [1, 2]]))
    >>> loss.backward()
    """
    global _last
    key = (edge_index.data_ptr(), edge_index._version, tuple(edge_index.shape), u.shape[0], pairs_per_node)
    kept = _last
    if kept is None or kept[0] != key:
        # the tensor is kept, so that its memory is not given to another one
        kept = _last = (key, edge_index, AllPairsLoss(edge_index, int(u.shape[0]), pairs_per_node))
    return kept[2](u)
