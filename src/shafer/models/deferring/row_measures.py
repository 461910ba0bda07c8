"""Why a row is deferred: quantities of its evidence, each measured to mean one thing.

``docs/background/benchmarks/deferral.md`` shows how often each reason agrees with what was done to
the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from shafer._typing import Array, FloatArray
from shafer._validation import to_numpy
from shafer.evidence import DiscountedEvidence, Evidence, MassEvidence

MEASURES = {
    "ignorance": "nothing known",
    "typicality": "unlike the training data",
    "disagreement": "components disagree",
    "fragility": "fragile",
}
"""Each measure, and the reason that its large values mean; the first that stands out is named."""

CLOSE_CALL = "close call"
UNKNOWN_GROUP = "unknown group"
SMALL_GROUP = "group too small"
NO_PROMISE = "promise not reachable"

REASONS = (*MEASURES.values(), CLOSE_CALL, UNKNOWN_GROUP, SMALL_GROUP, NO_PROMISE)


def row_measures(
    evidence: MassEvidence, typicality: Callable[[], Array | None]
) -> dict[str, FloatArray]:
    """Return the measures of each row, (n,) each and larger where the reason holds more.

    Evidence without weights, or without several components, has fewer of them.

    Parameters
    ----------
    evidence : MassEvidence
        Moderated and discounted, if the model does so.
    typicality : callable
        Returns the typicality of the rows, or None if the background is not at hand.
    """
    found: dict[str, Any] = {}
    usual = typicality()
    if usual is not None:
        found["typicality"] = -to_numpy(usual)
    found["ignorance"] = to_numpy(evidence.ignorance)
    plain = evidence.evidence if isinstance(evidence, DiscountedEvidence) else evidence
    if isinstance(plain, Evidence) and plain.n_components > 1:
        found["disagreement"] = to_numpy(plain.weight_of_disagreement)
        found["fragility"] = to_numpy(plain.fragility())
    return {name: np.asarray(found[name], dtype=np.float64) for name in MEASURES if name in found}
