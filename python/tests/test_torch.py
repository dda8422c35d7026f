"""The all-pairs loss for PyTorch: against the plain formula, by gradcheck, and without bias."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from npgnn import ArgumentError, MismatchError  # noqa: E402
from npgnn.torch import AllPairsLoss, all_pairs_loss  # noqa: E402

EDGES = torch.tensor([[0, 1, 2, 3, 4, 5, 0], [1, 2, 3, 4, 5, 6, 3]])


def plain(u, likelihood="weighted"):
    """All n^2 ordered pairs, written out (docs/understand/pairs.md). The diagonal counts as linked in the weighted
    likelihood."""
    n = len(u)
    linked = torch.zeros(n, n, dtype=u.dtype)
    linked[EDGES[0], EDGES[1]] = linked[EDGES[1], EDGES[0]] = 1
    score = u @ u.T
    if likelihood == "plain":
        return torch.nn.functional.binary_cross_entropy_with_logits(score, linked, reduction="sum")
    ones = linked.sum()
    linked = linked + torch.eye(n, dtype=u.dtype)
    weight = torch.where(linked > 0, (n * n - ones) / ones, torch.ones(()))
    return (
        n
        * n
        / (2 * (n * n - ones))
        * torch.nn.functional.binary_cross_entropy_with_logits(score, linked, weight, reduction="mean")
    )


@pytest.mark.parametrize("likelihood", ["weighted", "plain"])
def test_plain_formula(likelihood):
    torch.manual_seed(1)
    u = torch.randn(8, 4, requires_grad=True)
    twin = u.detach().double().requires_grad_()
    loss, expected = AllPairsLoss(EDGES, 8, likelihood=likelihood)(u), plain(twin, likelihood)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    (3 * loss).backward()
    (3 * expected).backward()
    assert torch.allclose(u.grad.double(), twin.grad, rtol=1e-4, atol=1e-5)


def test_gradcheck():
    """In single precision inside, so that the steps are long and the tolerance is wide."""
    torch.manual_seed(2)
    u = torch.randn(8, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda v: all_pairs_loss(v, EDGES), (u,), eps=1e-2, atol=2e-3, rtol=1e-2)


def test_sampled_is_unbiased():
    torch.manual_seed(3)
    u = torch.randn(200, 4) * 0.7
    edges = torch.stack([torch.arange(199), torch.arange(1, 200)])
    exact = all_pairs_loss(u, edges).item()
    sampled = AllPairsLoss(edges, 200, pairs_per_node=10)
    draws = torch.tensor([sampled(u).item() for _ in range(300)])
    assert draws.std() > 0
    assert abs(draws.mean().item() - exact) < 4 * draws.std().item() / 300**0.5


def test_training():
    torch.manual_seed(4)
    u = torch.nn.Parameter(torch.randn(8, 4) * 0.1)
    optimizer = torch.optim.Adam([u], 0.05)
    losses = []
    for _ in range(100):
        optimizer.zero_grad()
        loss = all_pairs_loss(u, EDGES)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.8 * losses[0]


def test_cache_sees_changes():
    u = torch.randn(8, 4)
    edges = EDGES.clone()
    first = all_pairs_loss(u, edges).item()
    edges[1, 0] = 7
    assert all_pairs_loss(u, edges).item() != first


def test_refusals():
    with pytest.raises(ArgumentError, match="u must be of shape"):
        AllPairsLoss(EDGES, 8)(torch.zeros(7, 2))
    with pytest.raises(ArgumentError, match="floating-point"):
        all_pairs_loss(torch.zeros(8, 2, dtype=torch.int64), EDGES)
    with pytest.raises(ArgumentError, match="pairs_per_node"):
        all_pairs_loss(torch.zeros(8, 2), EDGES, pairs_per_node=0)
    with pytest.raises(MismatchError, match="edges has node 6"):
        all_pairs_loss(torch.zeros(5, 2), EDGES)
    with pytest.raises(ArgumentError, match="likelihood"):
        AllPairsLoss(EDGES, 8, likelihood="best")
