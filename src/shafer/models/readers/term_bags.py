"""``TermBags``: the terms of a model that was trained several times on parts of the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

from numpy.typing import NDArray

from shafer._typing import FloatArray


@final
@dataclass(frozen=True, eq=False)
class TermBags:
    """Scores of the terms in each of R outer bags, as a table that rows are looked up in.

    Attributes
    ----------
    lines : callable
        From (encoded) rows to the line of the table for each term, integers (n, G).
    scores : array of shape (R, lines, K)
        What each line adds to the logits in each bag.
    intercepts : array of shape (R, K)
        The intercept of the logits in each bag.
    shares : array of shape (R,)
        Weights of the bags; their sum is 1.
    """

    lines: Callable[[Any], NDArray[Any]]
    scores: FloatArray
    intercepts: FloatArray
    shares: FloatArray

    def rescaled(self, slope: float) -> TermBags:
        """Multiply the logits."""
        return replace(self, scores=self.scores * slope, intercepts=self.intercepts * slope)
