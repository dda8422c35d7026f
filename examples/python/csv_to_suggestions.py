"""From two messy CSV files to suggestions: whom should members of a club meet? Run in examples/; needs pandas."""

import pandas

import npgnn

friendships = pandas.read_csv("friendships.csv")
members = pandas.read_csv("members.csv", index_col="member_id")
graph = npgnn.Graph(friendships, members.drop(columns="Unnamed: 0"), skip_bad_rows=True)
print(graph.columns()[["name", "kind", "becomes"]])  # how the columns were understood
print(npgnn.evaluate(graph, method="best", seeds=3)[["auc", "ap"]].mean())  # does it work?
print(npgnn.LinkPredictor("best").fit(graph).recommend(["m1007", "m1316"], k=5))
