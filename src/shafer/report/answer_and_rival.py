"""The two classes that a report compares: the answer of a row and its runner-up, or others."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shafer._typing import Label
from shafer._validation import one_position, to_numpy
from shafer.evidence import Evidence
from shafer.evidence.most_probable import most_probable_but

Positions: TypeAlias = NDArray[np.intp]

UNIT = "+1 multiplies the odds by 2.7"
"""How to read log-odds."""


class Pair(NamedTuple):
    """Positions of a class, and of the class it is compared with."""

    class_: int
    over: int


def answer_and_rival(evidence: Evidence) -> tuple[Positions, Positions]:
    """Return the positions of the most probable class and of the next one, (n,) each."""
    logits = to_numpy(evidence.logits)
    answers: Positions = np.argmax(logits, axis=1)
    return answers, most_probable_but(logits, answers)


def pair_of_row(evidence: Evidence, class_: Label | None, over: Label | None) -> Pair:
    """Return the two classes to compare in the first row of an evidence.

    By default the most probable class, and the most probable of the others.
    """
    logits = to_numpy(evidence.logits)[:1]
    if class_ is None:
        avoided = logits.astype(np.float64)
        if over is not None:
            avoided[0, one_position(over, evidence.classes, "over")] = -np.inf
        first = int(np.argmax(avoided))
    else:
        first = one_position(class_, evidence.classes, "class_")
    if over is None:
        return Pair(first, int(most_probable_but(logits, np.array([first]))[0]))
    second = one_position(over, evidence.classes, "over")
    if second == first:
        raise ValueError(
            f"A class must be compared with another class; got {over!r} twice. Leave out the "
            "second to compare with the most probable other class."
        )
    return Pair(first, second)
