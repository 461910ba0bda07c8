"""The brute-force oracle: weights of evidence combined over all 2^K sets by ``belief/``."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from shafer import belief


def combined_pieces(w: NDArray[Any]) -> belief.MassFunction:
    """Combine the pieces of evidence of one row, weights (G, K), without normalising."""
    frame = belief.Frame(range(w.shape[1]))
    parts = [belief.MassFunction.vacuous(frame)]
    for row in w:
        for k, weight in enumerate(row):
            focus = [k] if weight >= 0 else [label for label in frame if label != k]
            parts.append(belief.MassFunction.simple(focus, frame, weight=abs(weight)))
    return belief.conjunctive(*parts)


def pooled_by_dempster(w: NDArray[Any]) -> belief.MassFunction:
    """Combine the pieces of evidence of one row, weights (G, K), by Dempster's rule."""
    return combined_pieces(w).normalised()
