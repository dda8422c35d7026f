"""Cora from PyG's Data: how well does a model find hidden citations, and which are missing? Needs torch_geometric."""

from torch_geometric.datasets import Planetoid

import npgnn

data = Planetoid("cora", "Cora")[0]
result = npgnn.evaluate(data, method="best", seeds=3)
print(f"AUC {result['auc'].mean():.3f}, AP {result['ap'].mean():.3f}")
model = npgnn.LinkPredictor("best").fit(data)
print(model.recommend([0, 1, 2], k=5))
