"""ratings.py FOLDER: writes a realistic table of ratings, with tables of users and items, to try two-sided graphs on.

Items have one of eight genres and skewed popularity; users like two genres and rate 5 to 40 items, mostly of these. The tables
say what users like and of which genre an item is, beside columns that have nothing to do with it.
"""
import csv
import pathlib
import random
import sys

USERS, ITEMS = 400, 200
GENRES = "action comedy drama horror scifi romance western noir".split()


def main():
    folder = pathlib.Path(sys.argv[1])
    rng = random.Random(11)
    likes = [rng.sample(range(len(GENRES)), 2) for _ in range(USERS)]
    genre = [rng.randrange(len(GENRES)) for _ in range(ITEMS)]
    popularity = [rng.paretovariate(1.3) for _ in range(ITEMS)]
    ratings = []
    for user in range(USERS):
        weights = [popularity[i] * (8 if genre[i] in likes[user] else 1) for i in range(ITEMS)]
        seen, wanted, start = set(), rng.randint(5, 40), rng.randint(880_000_000, 890_000_000)
        while len(seen) < wanted:
            item = rng.choices(range(ITEMS), weights)[0]
            if item not in seen:
                seen.add(item)
                stars = round(rng.gauss(4 if genre[item] in likes[user] else 2.5, 1))
                ratings.append((user, item, min(5, max(1, stars)), start + rng.randint(0, 3_000_000)))
    rng.shuffle(ratings)
    tables = {
        "ratings": (["user_id", "item_id", "rating", "timestamp"], ratings),
        "users": (["user_id", "age", "gender", "occupation", "likes"],
                  [(u, rng.randint(15, 80), rng.choice("MF"), rng.choice(["clerk", "nurse", "student", "farmer"]),
                    f"{GENRES[likes[u][0]]} and also {GENRES[likes[u][1]]} films") for u in range(USERS)]),
        "items": (["item_id", "title", "year", "genre"],
                  [(i, f"Film no. {i}", rng.randint(1930, 2000), GENRES[genre[i]]) for i in range(ITEMS)]),
    }
    for name, (header, rows) in tables.items():
        with open(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows(rows)


main()
