"""Random prediction sets and scores, with true classes and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


@st.composite
def decisions(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True classes 0..K−1 (n,), sets (n, K), empty and full ones too, and integer weights (n,)."""
    n = draw(st.integers(1, 12))
    n_classes = draw(st.integers(2, 6))
    y_true = draw(hnp.arrays(np.int64, n, elements=st.integers(0, n_classes - 1)))
    y_set = draw(hnp.arrays(np.bool_, (n, n_classes)))
    weight = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 3)).filter(np.any))
    return y_true, y_set, weight


@st.composite
def scores(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True classes, scores with many ties, weights."""
    y_true, y_set, weight = draw(decisions())
    values = st.sampled_from([-1e4, -1.0, 0.0, 0.1, 0.5, 1.0, 1e4])
    return y_true, draw(hnp.arrays(np.float64, y_set.shape, elements=values)), weight


def columns(table: np.ndarray) -> np.ndarray:
    """The labels 0..K−1 of the columns, which a metric needs if some class does not occur."""
    return np.arange(table.shape[1])


def repeated(weight: np.ndarray, *arrays: Any) -> tuple[np.ndarray, ...]:
    """Repeat each row as often as its weight."""
    return tuple(np.repeat(np.asarray(array), weight, axis=0) for array in arrays)
