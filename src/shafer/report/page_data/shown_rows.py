"""Which rows the page shows when there are too many for all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shafer._text import listed
from shafer._validation import to_numpy
from shafer.report.study import Study

MOST_ROWS = 2000
_NOTABLE = 40  # of each kind


def preferred(study: Study, rows: Sequence[int] | None) -> list[int]:
    """Return the rows to show, the most important first.

    First come the rows with the most ignorance, the most disagreement and the most confident
    errors. Then come all rows, evenly spread over the table, so a cut at the end removes an even
    sample.

    Parameters
    ----------
    study : Study
    rows : sequence of int, optional
        The rows asked for; all by default.
    """
    n = len(study)
    if rows is not None:
        outside = [row for row in rows if not 0 <= row < n]
        if outside:
            raise ValueError(f"rows must lie between 0 and {n - 1}; got [{listed(outside, 5)}].")
        return list(dict.fromkeys(rows))
    if n <= MOST_ROWS:
        return [*_notable(study), *_spread(n)]
    return list(dict.fromkeys([*_notable(study), *_spread(n)]))[:MOST_ROWS]


def _notable(study: Study) -> list[int]:
    certainty = np.max(to_numpy(study.evidence.betting_probability), axis=1)
    scores = [
        to_numpy(study.evidence.ignorance),
        to_numpy(study.undiscounted.disagreement),
        np.where(study.wrong, certainty, -1.0),
    ]
    return [int(i) for score in scores for i in np.argsort(-score, kind="stable")[:_NOTABLE]]


def _spread(n: int) -> list[int]:
    """Return 0..n−1 in an order of which every beginning is spread evenly over the whole."""
    # Multiples of the golden ratio, modulo one.
    return [int(i) for i in np.argsort((np.arange(n) * 0.6180339887498949) % 1.0, kind="stable")]
