r"""How near a row is to the background (training) rows.

.. math:: \rho = \exp\Big(-\max\big(0, \tfrac{d - q_{90}}{q_{90} - q_{50}}\big)\Big),

where d is the mean distance to the 5 nearest background rows, with standardised inputs. The
quantiles are those of in-distribution rows: held-out rows if there are enough of them, otherwise
the background rows, each measured by its distance to the others.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, final

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from shafer._typing import FloatArray
from shafer._validation import to_numpy
from shafer.models.inputs.row_access import values_of

_NEIGHBOURS = 5
_MOST_ROWS = 10_000  # background rows that are kept to search for neighbours
_ENOUGH_ROWS = 20  # held-out rows from which quantiles can be taken
# In standard deviations: well above the effect of rounding a column to single precision.
_SAME = 1e-6


@final
@dataclass(frozen=True, eq=False)
class Familiarity:
    """The share ρ in (0, 1] of the evidence that the nearness to the background supports.

    Make one with :meth:`fit`.

    Attributes
    ----------
    rows : array of shape (n, J)
        Background rows, standardised.
    centre, scale : arrays of shape (J,)
        The means and standard deviations of the inputs.
    q50, q90 : float
        Quantiles of the distance of in-distribution rows.
    """

    rows: FloatArray
    centre: FloatArray
    scale: FloatArray
    q50: float
    q90: float

    @classmethod
    def fit(cls, background: FloatArray) -> Familiarity:
        """Keep background rows (n, J), and take the quantiles from them."""
        if len(background) < 3:
            raise ValueError(
                f"moderate='laplace+discount' needs at least 3 background rows to compare with; "
                f"got {len(background)}. Give more rows, or use moderate='laplace'."
            )
        if len(background) > _MOST_ROWS:
            chosen = np.random.default_rng(0).choice(len(background), _MOST_ROWS, replace=False)
            background = background[np.sort(chosen)]
        scaler = StandardScaler().fit(background)
        rows = scaler.transform(background)
        unmeasured = cls(rows, np.asarray(scaler.mean_), np.asarray(scaler.scale_), 0.0, 0.0)
        return unmeasured._with_quantiles(unmeasured._index.kneighbors()[0])

    def calibrated(self, held_out: FloatArray) -> Familiarity:
        """Take the quantiles from held-out rows (m, J), if there are enough of them."""
        if len(held_out) < _ENOUGH_ROWS:
            return self
        return self._with_quantiles(self._index.kneighbors(self._standardised(held_out))[0])

    def _with_quantiles(self, distances: FloatArray) -> Familiarity:
        q50, q90 = np.quantile(distances.mean(axis=1), [0.5, 0.9])
        return replace(self, q50=float(q50), q90=float(q90))

    @cached_property
    def _index(self) -> NearestNeighbors:
        count = min(_NEIGHBOURS, len(self.rows) - 1)
        return NearestNeighbors(n_neighbors=count).fit(self.rows)

    def _standardised(self, rows: FloatArray) -> FloatArray:
        return np.asarray((rows - self.centre) / self.scale)

    def distance(self, rows: FloatArray) -> FloatArray:
        """Return the mean distance of each row to its nearest background rows."""
        found: FloatArray = self._index.kneighbors(self._standardised(rows))[0]
        return np.asarray(found.mean(axis=1))

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Return ρ of each row of inputs (n, J)."""
        beyond = np.maximum(0.0, self.distance(rows) - self.q90)
        # If background rows repeat each other, both quantiles may be equal. Then every distance
        # beyond them is large, except for the effect of rounding.
        spread = max(self.q90 - self.q50, _SAME * np.sqrt(rows.shape[1]))
        return np.asarray(np.exp(-beyond / spread))

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # not the index


def inputs_of(encoded: Any) -> FloatArray:
    """Return a model's (encoded) inputs as one row of numbers each."""
    if sparse.issparse(encoded):
        return np.asarray(encoded.toarray(), dtype=np.float64)
    values = to_numpy(values_of(encoded)).astype(np.float64)
    return values.reshape(len(values), -1)
