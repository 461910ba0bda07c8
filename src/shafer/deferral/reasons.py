"""Why a row is deferred: quantities of its evidence, each measured to mean one thing.

``docs/background/benchmarks/deferral.md`` shows how often each reason agrees with what was done to
the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._typing import Array, FloatArray
from shafer.decision.ties import tie_width
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence

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
    evidence: MassEvidence, bet: MassEvidence, typicality: Callable[[], Array | None]
) -> dict[str, FloatArray]:
    """Return the measures of each row, (n,) each and larger where the reason holds more.

    Evidence without weights, or without several components, has fewer of them.

    Parameters
    ----------
    evidence : MassEvidence
        Before tempering and moderation, as ``RowPass.plain``.
    bet : MassEvidence
        After them. A threshold is one on these probabilities, so they tell how easily the answer
        falls.
    typicality : callable
        Returns the typicality of the rows, or None if the background is not at hand.
    """
    found: dict[str, Any] = {}
    usual = typicality()
    if usual is not None:
        found["typicality"] = -to_numpy(usual)
    found["ignorance"] = to_numpy(evidence.ignorance)
    plain = evidence.undiscounted
    if isinstance(plain, Evidence) and plain.n_components > 1:
        found["disagreement"] = to_numpy(plain.weight_of_disagreement)
        if isinstance(bet, Evidence) and bet.cutoff is not None and bet.n_components > 1:
            plain = bet
        found["fragility"] = to_numpy(plain.fragility())
    return {name: np.asarray(found[name], dtype=np.float64) for name in MEASURES if name in found}


# Which quantity of a deferred row stands out among ordinary deferred rows.

EXTREME = 0.9
"""A quantity stands out if it is above this share of the ordinary deferred rows."""

FEWEST_ROWS = 50
"""Where fewer calibration rows are deferred, the least sure ones stand in for them."""

ATYPICAL = 0.05
"""A row is unlike the training data only if its typicality, a p-value, is below this as well."""

_MOST_ROWS = 1000  # more tell no more about a percentile


@final
@dataclass(frozen=True, eq=False)
class ReasonScale:
    """Quantities of calibration rows that would be deferred, each sorted.

    They are the standard because every deferred row is unsure: compared with all rows, each would
    look fragile and ignorant.
    """

    sorted_measures: Mapping[str, FloatArray]

    @staticmethod
    def rows(scores: FloatArray, deferred: NDArray[np.bool_]) -> list[int]:
        """Return the positions of the calibration rows to measure."""
        order = np.lexsort((scores, ~deferred))  # deferred rows first, then the least sure
        n = max(int(deferred.sum()), min(len(scores), FEWEST_ROWS))
        chosen = np.linspace(0, n - 1, min(n, _MOST_ROWS)).round().astype(np.intp)
        return [int(row) for row in order[chosen]]

    @classmethod
    def of(cls, measures: Mapping[str, FloatArray]) -> Self:
        """Return the scale of the measured rows."""
        return cls({name: np.sort(values) for name, values in measures.items()})

    def reasons(self, measures: Mapping[str, FloatArray], n: int) -> NDArray[Any]:
        """Return the reason of each of n rows: the first quantity that stands out, or none.

        The order matters where several stand out. A row with few inputs is also atypical, and the
        large weights of an atypical row also disagree: the earlier reason explains the later one.
        """
        names = [name for name in MEASURES if name in measures and name in self.sorted_measures]
        standing = np.zeros((n, len(names)))
        for k, name in enumerate(names):
            standard = self.sorted_measures[name]
            # Of equal values half count as smaller: a measure that is the same everywhere is usual.
            width = tie_width(measures[name])
            low = np.searchsorted(standard, measures[name] - width, "left")
            high = np.searchsorted(standard, measures[name] + width, "right")
            standing[:, k] = 0.5 * (low + high) / len(standard)
            if name == "typicality":  # measured as minus the p-value
                standing[measures[name] < -ATYPICAL, k] = 0.0
        words = np.array([*(MEASURES[name] for name in names), CLOSE_CALL], dtype=object)
        extreme = np.column_stack([standing >= EXTREME, np.ones(n, dtype=bool)])
        return np.asarray(words[np.argmax(extreme, axis=1)])
