"""examples/python/csv_to_suggestions.py with pandas, scikit-learn and PyG: the columns are encoded by hand."""

import pandas
import torch
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, RobustScaler
from torch_geometric.data import Data
from torch_geometric.nn import GAE, GCNConv
from torch_geometric.transforms import RandomLinkSplit
from torch_geometric.utils import to_dense_adj, to_undirected


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


links = pandas.read_csv("friendships.csv").dropna(subset=["member", "friend"])
members = pandas.read_csv("members.csv")
members["born"] = pandas.to_datetime(members["born"], format="%d.%m.%Y", errors="coerce")
members["born"] = members["born"].map(lambda date: date.toordinal() if not pandas.isna(date) else float("nan"))
encoder = ColumnTransformer(
    [
        (
            "numbers",
            make_pipeline(SimpleImputer(strategy="median", add_indicator=True), RobustScaler()),
            ["born", "income"],
        ),
        ("categories", OneHotEncoder(min_frequency=2, handle_unknown="infrequent_if_exist"), ["town", "newsletter"]),
        ("words", TfidfVectorizer(min_df=2, max_df=0.5), "about me"),
    ],
    sparse_threshold=0,
)
members["about me"] = members["about me"].fillna("")
x = torch.tensor(encoder.fit_transform(members), dtype=torch.float32).clamp(-3, 3)
index = {name: i for i, name in enumerate(members["member_id"])}
links = links[links["member"].isin(index) & links["friend"].isin(index)]
ends = torch.tensor([[index[name] for name in links["member"]], [index[name] for name in links["friend"]]])
data = Data(x=x, edge_index=to_undirected(ends))
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
    known = to_dense_adj(data.edge_index, max_num_nodes=len(x))[0]
    for name in ("m1007", "m1316"):
        score = torch.sigmoid(z[index[name]] @ z.T)
        score[known[index[name]] > 0] = score[index[name]] = 0
        best = score.topk(5)
        for probability, partner in zip(best.values, best.indices):
            print(name, members["member_id"][partner.item()], f"{probability:.3f}")  # not calibrated
