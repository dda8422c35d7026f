#!/usr/bin/env python3
"""Writes tests/golden/metrics.tsv: scores with many ties, and what scikit-learn makes of them.

One line a case: auc, ap, the scores of the positives and those of the negatives (comma-separated, exact in float).
"""
import pathlib
import sys

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score


def cases(rng):
    for positives, negatives, levels in [(1, 1, 1), (1, 5, 2), (7, 3, 3), (20, 20, 5), (50, 10, 8), (10, 60, 100), (100, 100, 1)]:
        draw = lambda count: rng.integers(-levels, levels, count) / 4
        yield draw(positives), draw(negatives)
        yield draw(positives) + 0.25, draw(negatives)
    yield rng.normal(0.5, 1, 40).astype(np.float32), rng.normal(0, 1, 60).astype(np.float32)


def main():
    path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "tests/golden/metrics.tsv")
    with path.open("w") as out:
        for positive, negative in cases(np.random.default_rng(1)):
            label = np.r_[np.ones(len(positive)), np.zeros(len(negative))]
            score = np.r_[positive, negative]
            numbers = roc_auc_score(label, score), average_precision_score(label, score)
            lists = (",".join(f"{x:.9g}" for x in scores) for scores in (positive, negative))
            out.write("\t".join([*(f"{x:.17g}" for x in numbers), *lists]) + "\n")


if __name__ == "__main__":
    main()
