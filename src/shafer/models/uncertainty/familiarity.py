r"""How near a row is to the rows a model was trained on.

.. math:: \rho = \exp\Big(-\max\big(0, \tfrac{d - q_{90}}{q_{90} - q_{50}}\big)\Big),

where d is the mean distance to the 5 nearest background rows (inputs standardised) and the
quantiles are those of rows that belong: held-out rows where there are some, else the background
rows themselves, each by its distance to the others.
"""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from shafer._typing import FloatArray
from shafer._validation import to_numpy
from shafer.models.inputs.row_access import values_of

_NEIGHBOURS = 5
_MOST_ROWS = 10_000  # of the background, kept to look for neighbours
_ENOUGH_ROWS = 20  # for quantiles of their own
# Of a standardised column: well above what rounding to single precision moves it by.
_SAME = 1e-6


@final
class Familiarity:
    """The share ρ in (0, 1] of what a model says that its nearness to the background supports."""

    def __init__(self, background: FloatArray) -> None:
        if len(background) < 3:
            raise ValueError(
                f"moderate='laplace+discount' needs at least 3 background rows to compare with; "
                f"got {len(background)}."
            )
        if len(background) > _MOST_ROWS:
            chosen = np.random.default_rng(0).choice(len(background), _MOST_ROWS, replace=False)
            background = background[np.sort(chosen)]
        self._scaler = StandardScaler().fit(background)
        count = min(_NEIGHBOURS, len(background) - 1)
        self._neighbours = NearestNeighbors(n_neighbors=count)
        self._neighbours.fit(self._scaler.transform(background))
        self._set_quantiles(self._neighbours.kneighbors()[0])

    def calibrate(self, rows: FloatArray) -> Self:
        """Take the quantiles from rows that were held out, if they are enough to have any."""
        if len(rows) >= _ENOUGH_ROWS:
            self._set_quantiles(self._neighbours.kneighbors(self._scaler.transform(rows))[0])
        return self

    def _set_quantiles(self, distances: FloatArray) -> None:
        self._q50, self._q90 = np.quantile(distances.mean(axis=1), [0.5, 0.9])

    def distance(self, rows: FloatArray) -> FloatArray:
        """Return the mean distance of each row to its nearest background rows."""
        found: FloatArray = self._neighbours.kneighbors(self._scaler.transform(rows))[0]
        return np.asarray(found.mean(axis=1))

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Return ρ of each row of inputs (n, J)."""
        beyond = np.maximum(0.0, self.distance(rows) - self._q90)
        # Rows that repeat each other may have equal quantiles: then any distance beyond is far,
        # unless rounding explains it.
        spread = max(self._q90 - self._q50, _SAME * np.sqrt(rows.shape[1]))
        return np.asarray(np.exp(-beyond / spread))


def inputs_of(encoded: Any) -> FloatArray:
    """Give a model's (encoded) inputs one row of numbers each."""
    if sparse.issparse(encoded):
        return np.asarray(encoded.toarray(), dtype=np.float64)
    values = to_numpy(values_of(encoded)).astype(np.float64)
    return values.reshape(len(values), -1)
