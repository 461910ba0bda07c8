"""Which instances a page shows when there are too many for all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shafer._validation import to_numpy
from shafer.report.study import Study

MOST_ROWS = 2000
_NOTABLE = 40  # of each kind


def preferred(study: Study, rows: Sequence[int] | None) -> list[int]:
    """Order the instances by how much the page wants to show them.

    First those that are extreme in some way (ignorant, conflicting, confidently wrong), then all
    evenly spread over the table, so that what is cut off at the end is no special part of it.

    Parameters
    ----------
    study : Study
    rows : sequence of int, optional
        The instances asked for; all by default.
    """
    n = len(study)
    if rows is not None:
        outside = [row for row in rows if not 0 <= row < n]
        if outside:
            raise ValueError(f"rows must lie between 0 and {n - 1}; got {outside[:5]}.")
        return list(dict.fromkeys(rows))
    if n <= MOST_ROWS:
        return [*_notable(study), *_spread(n)]
    return list(dict.fromkeys([*_notable(study), *_spread(n)]))[:MOST_ROWS]


def _notable(study: Study) -> list[int]:
    certainty = np.max(to_numpy(study.evidence.probability), axis=1)
    scores = [
        to_numpy(study.evidence.ignorance),
        to_numpy(study.evidence.conflict),
        np.where(study.wrong, certainty, -1.0),
    ]
    return [int(i) for score in scores for i in np.argsort(-score, kind="stable")[:_NOTABLE]]


def _spread(n: int) -> list[int]:
    """Return 0..n−1 in an order whose every beginning is spread evenly over the whole."""
    # Multiples of the golden ratio, modulo one.
    return [int(i) for i in np.argsort((np.arange(n) * 0.6180339887498949) % 1.0, kind="stable")]
