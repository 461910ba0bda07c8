"""Wrong values in some cells of a table.

Every cell is chosen with the same chance. The kinds of error:

- *shift 4*, *shift 2*: 4 or 2 standard deviations of the training rows are added or subtracted;
- *times ten*: the value is multiplied by ten, as after a slipped decimal point;
- *swapped*: the value of another row;
- *mixed*: shift 4, times ten or swapped, with equal chances.

A cell whose value stays the same, such as ten times zero, is not wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np

KINDS = ("mixed", "shift 4", "times ten", "shift 2", "swapped")


def with_errors(X: Any, spread: Any, kind: str, share: float, rng: Any) -> tuple[Any, Any]:
    """Return the rows with errors, and which cells are wrong."""
    chosen = rng.random(X.shape) < share
    sign = np.where(rng.random(X.shape) < 0.5, -1.0, 1.0)
    other = np.column_stack([rng.permutation(column) for column in X.T])
    part = rng.integers(3, size=X.shape)
    wrong_values = {
        "shift 4": X + 4.0 * sign * spread,
        "times ten": 10.0 * X,
        "shift 2": X + 2.0 * sign * spread,
        "swapped": other,
    }
    three = [wrong_values[name] for name in ("shift 4", "times ten", "swapped")]
    wrong_values["mixed"] = np.choose(part, three)
    bad = np.where(chosen, wrong_values[kind], X)
    return bad, bad != X
