"""``ShapleyTrees``: exact contributions of features to a boosted model, faster than its library's.

The values are the path-dependent Shapley values that XGBoost and LightGBM compute as well. Ours
need numba; without it the library's own are used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from shafer._typing import FloatArray
from shafer.kernels.dispatch import compiled_tree_shap
from shafer.kernels.tree_shap import Forest, ForestPaths, forest_paths

# Relative to the largest score. Libraries add up scores in single precision; another leaf in any
# tree changes a score by more.
_TOLERANCE = 1e-5


@final
@dataclass(frozen=True, eq=False)
class ShapleyTrees:
    """The trees of a model, read on first use.

    Attributes
    ----------
    n_features : int
    read : callable
        Returns the trees, or None if they cannot be read.
    score : callable
        The library's own scores of rows, (n, outputs).
    """

    n_features: int
    read: Callable[[], Forest | None]
    score: Callable[[FloatArray], FloatArray]

    def contributions(self, rows: FloatArray, scores: FloatArray) -> FloatArray | None:
        """Return contributions with the bias as last column, (n, outputs, features + 1).

        They add up to the library's own scores. The result is None if they do not: then the
        library reads the rows in another way than we do.

        Parameters
        ----------
        rows : array of shape (n, features)
            In the precision that the trees compare in.
        scores : array of shape (n, outputs)
        """
        if self._read is None or rows.shape[1:] != (self.n_features,):
            return None
        values = self._values(rows)
        if values.shape[:2] != scores.shape:
            return None
        bias = np.broadcast_to(self._bias[:, None], (*scores.shape, 1))
        gap = np.abs(values.sum(axis=2) + bias[..., 0] - scores)
        if not np.all(gap <= _TOLERANCE * np.max(np.abs(scores), initial=1.0)):
            return None
        return np.concatenate([values, bias], axis=2)

    @cached_property
    def _read(self) -> tuple[Forest, ForestPaths] | None:
        forest = None if compiled_tree_shap() is None else self.read()
        return None if forest is None else (forest, forest_paths(forest))

    def _values(self, rows: FloatArray) -> FloatArray:
        kernel = compiled_tree_shap()
        assert kernel is not None  # ``contributions`` has asked before
        assert self._read is not None
        return kernel(*self._read, rows)

    @cached_property
    def _bias(self) -> FloatArray:
        """The scores of a row of zeros, less its contributions: the same for every row."""
        zeros = np.zeros((1, self.n_features))
        bias: FloatArray = (self.score(zeros) - self._values(zeros).sum(axis=2))[0]
        return bias
