r"""Conformal p-values: the rank of a score among those of reference rows, ties broken at random.

.. math:: p = \frac{\#\{i : s_i < s\} + U (1 + \#\{i : s_i = s\})}{n + 1}

is uniform on (0, 1) for a row that is exchangeable with the reference rows.
"""

from __future__ import annotations

import numpy as np

from shafer._typing import FloatArray


def conformal_p_values(
    scores: FloatArray, reference: FloatArray, random: np.random.Generator
) -> FloatArray:
    """Return the p-values of scores (m,) among reference scores (n,); small scores give small p."""
    ordered = np.sort(reference)
    below = np.searchsorted(ordered, scores, side="left")
    equal = np.searchsorted(ordered, scores, side="right") - below
    chance = 1.0 - random.random(len(scores))  # in (0, 1]
    p: FloatArray = (below + chance * (1.0 + equal)) / (len(reference) + 1.0)
    return p
