r"""How easily a decision falls if known inputs are lost, and their expectations take their place.

Losing input B takes :math:`d_{Bk} = (\beta_{Ba} - \beta_{Bk})^T (x_B - E[x_B \mid \text{others}])`
from the lead of the chosen class a over k. ``evidence/fragility.py`` has the normal law.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shafer._typing import FloatArray
from shafer.evidence.fragility import check_chance, lead_over_others, loss_probability
from shafer.models.asking.asked_model import AskedModel
from shafer.models.asking.known_cells import KnownCells
from shafer.models.uncertainty.conditional_gaussian import patterns


def conditional_fragility(asked: AskedModel, X: Any, q: Any) -> FloatArray:
    """Return the chance for each row of X, (n,). Inputs that are missing cannot be lost."""
    chance = check_chance(q)
    found = []
    for rows in asked.chunks(X):
        result = np.zeros(len(rows))
        for where, gaps in patterns(rows.gaps, complete=True):
            far = KnownCells.of(asked.inputs, gaps).measured(rows.features[where])
            for part, shift in far.shifts():
                logits = rows.logits[where[part]]
                lost = lead_over_others(shift, np.argmax(logits, axis=1))
                result[where[part]] = loss_probability(logits, lost, chance)
        found.append(result)
    return np.concatenate(found)
