"""examples/python/cora_from_pyg.py with PyG alone: a graph auto-encoder (Kipf and Welling 2016)."""

import torch
from torch_geometric.datasets import Planetoid
from torch_geometric.nn import GAE, GCNConv
from torch_geometric.transforms import RandomLinkSplit
from torch_geometric.utils import to_dense_adj


class Encoder(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = GCNConv(width, 32), GCNConv(32, 16)

    def forward(self, x, links):
        return self.second(self.first(x, links).relu(), links)


def train(x, links, epochs=200):
    model = GAE(Encoder(x.shape[1]))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(epochs):
        model.train()
        optimizer.zero_grad()
        model.recon_loss(model.encode(x, links), links).backward()
        optimizer.step()
    model.eval()
    return model


data = Planetoid("cora", "Cora")[0]
results = []
for seed in range(1, 4):
    torch.manual_seed(seed)
    known, _, test = RandomLinkSplit(0.05, 0.1, is_undirected=True, add_negative_train_samples=False)(data)
    model = train(known.x, known.edge_index)
    with torch.no_grad():
        z = model.encode(test.x, test.edge_index)
        positive = test.edge_label_index[:, test.edge_label == 1]
        negative = test.edge_label_index[:, test.edge_label == 0]
        results.append(model.test(z, positive, negative))
print("AUC %.3f, AP %.3f" % tuple(torch.tensor(results).mean(0)))
torch.manual_seed(1)
model = train(data.x, data.edge_index)
with torch.no_grad():
    z = model.encode(data.x, data.edge_index)
    score = torch.sigmoid(z[:3] @ z.T)
    score[to_dense_adj(data.edge_index, max_num_nodes=data.num_nodes)[0][:3] > 0] = 0
    score[torch.arange(3), torch.arange(3)] = 0
    best = score.topk(5)
for node in range(3):
    for probability, partner in zip(best.values[node], best.indices[node]):
        print(node, partner.item(), f"{probability:.3f}")  # not calibrated
