"""``weight_interactions``: what pairs of components say only together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shafer._checks.arrays import to_numpy
from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.explain.row_pass import ModelPass
from shafer.explain.weighing import WeighedModel
from shafer.models.read_model import AdditiveModel

_MOST_BYTES = 2**31  # of all arrays at once


def weight_interactions(weighed: WeighedModel, seen: ModelPass) -> FloatArray:
    """Return the interactions of rows after one pass, (n, G, G, K); their rows add up to weights.

    Raises
    ------
    UnsupportedModelError
        If the model is not boosted trees with Shapley values.
    ValueError
        If the arrays would not fit.
    """
    model = weighed.model
    if not isinstance(model, AdditiveModel) or model.pairs is None:
        raise UnsupportedModelError(
            f"interactions are for boosted trees with Shapley values; got "
            f"{type(model.core).__name__}, read without them. In linear models no two columns "
            "interact. For scikit-learn's gradient boosting use tree_values='background'."
        )
    weights = to_numpy(seen.bet.weights).astype(np.float64)
    n, n_shown, n_classes = weights.shape
    n_terms = int(weighed.means.shape[0])
    needed = 8 * n * n_classes * (3 * n_terms**2 + 2 * n_shown**2)
    if needed > _MOST_BYTES:
        raise ValueError(
            f"The interactions of {n} rows need {needed / 2**30:.1f} GiB; at most "
            f"{_MOST_BYTES / 2**30:.0f} GiB are used. Pass fewer rows at a time: "
            f"{max(1, n * _MOST_BYTES // needed)}."
        )
    found = model.pair_terms(seen.rows.encoded)
    found -= found.mean(axis=3, keepdims=True)
    if weighed.groups is not None:
        found = _joined(found, list(weighed.groups.values()))
    factor = np.asarray(to_numpy(seen.factor), dtype=np.float64).reshape(-1, 1, 1, 1)
    shown = np.zeros((n, n_shown, n_shown, n_classes))
    shown[:, : found.shape[1], : found.shape[2]] = found * factor
    same = np.arange(n_shown)
    shown[:, same, same] = 0.0
    shown[:, same, same] = weights - shown.sum(axis=2)
    return shown


def _joined(pairs: FloatArray, groups: Sequence[Sequence[int]]) -> FloatArray:
    """Add up the pairs between two groups of components."""
    rows = np.stack([pairs[:, group].sum(axis=1) for group in groups], axis=1)
    return np.stack([rows[:, :, group].sum(axis=2) for group in groups], axis=2)
