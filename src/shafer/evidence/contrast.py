"""Which classes to compare: the most probable ones, the disputed ones, the answer and its rival."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import frozen, to_numpy
from shafer._checks.labels import one_position
from shafer._typing import Array, FloatArray, Label
from shafer.decision.policy import answers

if TYPE_CHECKING:
    from shafer.evidence.evidence import Evidence


_BLOCK = 2**20  # weights of a pair of classes in memory at a time
TOP = 5  # classes whose weights are shown


def most_probable(logits: Array, top: int) -> Array:
    """Return the positions of the largest logits, the largest first, (n, M)."""
    most = min(top, logits.shape[-1])
    if array_api_compat.is_torch_array(logits):  # a few of many classes, without sorting all
        return logits.topk(most, dim=-1).indices
    xp = array_api_compat.array_namespace(logits)
    return xp.argsort(logits, axis=-1, descending=True, stable=True)[..., :most]


def most_probable_but(logits: FloatArray, but: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the position of the most probable class other than ``but`` in each row, (n,)."""
    others = logits.astype(np.float64)  # a copy
    others[np.arange(len(others)), but] = -np.inf
    found: NDArray[np.intp] = np.argmax(others, axis=1)
    return found


# The two classes that the components disagree about most.

_MOST = 64  # classes of which all pairs are compared
_ROUNDING = 1e-12


def disputed_classes(weights: FloatArray) -> tuple[int, int] | None:
    r"""Return the positions of the two classes in dispute, or None if there is no dispute.

    Components dispute about the classes a and b if some favour a over b, and others b over a: then
    the bars of "a rather than b" point both ways. With the sums :math:`c^+` and :math:`c^-` of the
    positive and the negative contrasts of the two classes, :math:`\min(c^+, c^-)` is the weight
    that cancels. The pair with the largest is returned, the more supported class first. None means
    that all components put the classes in the same order, up to ties. With many classes, the 64
    most probable are compared.

    Parameters
    ----------
    weights : array of shape (G, K)
        Weights of evidence of one instance.

    Examples
    --------
    >>> import numpy as np
    >>> disputed_classes(np.array([[1.0, 0.5, -1.5], [1.0, -1.5, 0.6]]))
    (2, 1)
    """
    logits = weights.sum(axis=0)
    kept = np.sort(np.argsort(-logits, kind="stable")[:_MOST]).tolist()
    least = _ROUNDING * float(np.max(np.abs(weights), initial=0.0))
    most, pair = 0.0, None
    for a, b in combinations(kept, 2):
        contrast = weights[:, a] - weights[:, b]
        favour_a = float(np.maximum(contrast, 0.0).sum())
        favour_b = float(np.maximum(-contrast, 0.0).sum())
        cancelled = min(favour_a, favour_b)
        if cancelled > max(most, least):
            most, pair = cancelled, (b, a) if favour_b > favour_a else (a, b)
    return pair


# The two classes that a report compares: the answer of a row and its runner-up, or others.

Positions: TypeAlias = NDArray[np.intp]

UNIT = "+1 multiplies the odds by 2.7"
"""How to read log-odds."""


class Pair(NamedTuple):
    """Positions of a class, and of the class it is compared with."""

    class_: int
    over: int


def answer_and_rival(evidence: Evidence) -> tuple[Positions, Positions]:
    """Return the positions of the answer and of the most probable other class, (n,) each."""
    logits = to_numpy(evidence.logits)
    found = answers(logits, evidence.cutoff)
    return found, most_probable_but(logits, found)


def odds_of_sides(evidence: Evidence) -> tuple[Array, Array]:
    """Return by how much components for and against the answer change its odds, two (n,)."""
    if evidence.parts:
        raise ValueError(
            "odds_for and odds_against compare the components of a row; this is the evidence of "
            "single components. Ask the evidence that they belong to."
        )
    xp = array_api_compat.array_namespace(evidence.logits)
    device = evidence.logits.device
    both = xp.asarray(np.stack(answer_and_rival(evidence), axis=1), device=device)
    source = evidence.unchanged_source()
    size = max(1, _BLOCK // max(1, evidence.n_components))
    starts = range(0, max(len(evidence), 1), size)
    found = [
        _sides(source.rows(list(rows)).of_row_classes(both[rows.start : rows.stop, :]))
        for rows in (range(start, min(start + size, len(evidence))) for start in starts)
    ]
    return tuple(frozen(xp.concat(side)) for side in zip(*found, strict=True))


def _sides(weights: Array) -> tuple[Array, Array]:
    """Return both sides as factors, given the weights of two classes (n, G, 2)."""
    xp = array_api_compat.array_namespace(weights)
    contrast = weights[..., 0] - weights[..., 1]
    with np.errstate(over="ignore"):
        return (
            xp.exp(xp.sum(xp.clip(contrast, min=0.0), axis=-1)),
            xp.exp(xp.sum(xp.clip(-contrast, min=0.0), axis=-1)),
        )


def pair_of_row(evidence: Evidence, class_: Label | None, over: Label | None) -> Pair:
    """Return the two classes to compare in the first row of an evidence.

    By default the answer, and the most probable of the other classes.
    """
    logits = to_numpy(evidence.logits)[:1]
    if class_ is None:
        found = answers(logits, evidence.cutoff)
        avoided = None if over is None else one_position(over, evidence.classes, "over")
        first = int(found[0] if found[0] != avoided else most_probable_but(logits, found)[0])
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
