"""Random trees, what they expect, and hostile rows, for tests of Shapley values."""

import numpy as np

from shafer._kernels.trees import Forest, goes_left

N_FEATURES = 4


def random_forest(rng, n_trees, depth, n_outputs=2, empty=0.0):
    """Grow random trees that ask about few features, so that paths ask about some repeatedly."""
    columns = {name: [] for name in ("feature", "threshold", "left", "right", "missing")}
    columns |= {name: [] for name in ("missing_left", "first", "n_words", "flip", "value", "cover")}
    starts, words = [0], []

    def grow(level, cover):
        here = len(columns["feature"])
        leaf = level == 0 or rng.random() < 0.2
        categorical = not leaf and rng.random() < 0.3
        n_words = int(rng.integers(1, 3)) if categorical else 0
        columns["first"].append(len(words))
        words.extend(int(w) for w in rng.integers(0, 2**32, n_words))
        columns["n_words"].append(n_words)
        columns["feature"].append(-1 if leaf else int(rng.integers(N_FEATURES)))
        columns["threshold"].append(float(rng.normal()))
        columns["missing"].append(int(rng.integers(3)))
        columns["missing_left"].append(bool(rng.integers(2)))
        columns["flip"].append(bool(rng.integers(2)))
        columns["value"].append(float(rng.normal()) if leaf else 0.0)
        columns["cover"].append(cover)
        columns["left"].append(-1)
        columns["right"].append(-1)
        if not leaf:
            share = 0.0 if rng.random() < empty else rng.uniform(0.05, 0.95)
            columns["left"][here] = grow(level - 1, cover * share)
            columns["right"][here] = grow(level - 1, cover * (1 - share))
        return here

    for _ in range(n_trees):
        grow(depth, 100.0)
        starts.append(len(columns["feature"]))
    array = {name: np.array(values) for name, values in columns.items()}
    return Forest(
        np.array(starts),
        np.arange(n_trees) % n_outputs,
        array["feature"],
        array["threshold"],
        array["left"],
        array["right"],
        array["missing"].astype(np.uint8),
        array["missing_left"],
        array["first"],
        array["n_words"],
        array["flip"],
        np.array(words, dtype=np.uint32),
        array["value"],
        array["cover"],
    )


def expectation(forest, row, known, node):
    """Follow known features, and average over the training rows where a feature is unknown."""
    if forest.feature[node] < 0:
        return forest.value[node]
    left, right = forest.left[node], forest.right[node]
    if forest.feature[node] in known:
        goes = goes_left(forest, node, row[forest.feature[node]][None])[0]
        return expectation(forest, row, known, left if goes else right)
    covers = forest.cover[left], forest.cover[right]
    share = covers[0] / sum(covers) if sum(covers) else 0.5
    return share * expectation(forest, row, known, left) + (1 - share) * expectation(
        forest, row, known, right
    )


def some_rows(rng, n):
    rows = rng.normal(size=(n, N_FEATURES)) * rng.choice([0.0, 1.0, 20.0, -3.0], size=(n, 1))
    rows[rng.random(rows.shape) < 0.2] = np.nan
    rows[rng.random(rows.shape) < 0.1] = 0.0
    return rows
