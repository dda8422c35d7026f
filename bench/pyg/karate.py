"""examples/python/networkx_without_features.py with PyG: every node is a feature of its own, because there are no
others."""

import networkx
import torch
from torch_geometric.nn import GAE, GCNConv
from torch_geometric.utils import from_networkx, to_dense_adj


class Encoder(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = GCNConv(width, 32), GCNConv(32, 16)

    def forward(self, x, links):
        return self.second(self.first(x, links).relu(), links)


club = networkx.karate_club_graph()
club = networkx.Graph(club.edges)
nodes = list(club.nodes)
data = from_networkx(club)
x = torch.eye(len(nodes))
torch.manual_seed(1)
model = GAE(Encoder(x.shape[1]))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(200):
    model.train()
    optimizer.zero_grad()
    model.recon_loss(model.encode(x, data.edge_index), data.edge_index).backward()
    optimizer.step()
model.eval()
with torch.no_grad():
    z = model.encode(x, data.edge_index)
    score = torch.sigmoid(z @ z.T)
    score[to_dense_adj(data.edge_index)[0] > 0] = 0
    score.fill_diagonal_(0)
    best = score.triu().flatten().topk(5)
for probability, place in zip(best.values, best.indices):
    print(nodes[place // len(nodes)], nodes[place % len(nodes)], f"{probability:.3f}")  # not calibrated
for name in (0, 33):
    best = score[nodes.index(name)].topk(3)
    for probability, partner in zip(best.values, best.indices):
        print(name, nodes[partner], f"{probability:.3f}")
