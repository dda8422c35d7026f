"""A networkx graph without features: which friendships of a karate club are missing? Needs networkx."""

import networkx

import npgnn

club = networkx.karate_club_graph()
club = networkx.Graph(club.edges)  # without the attributes of its nodes
model = npgnn.LinkPredictor("universal").fit(club)
print(model.top_links(5))
print(model.recommend([0, 33], k=3))
