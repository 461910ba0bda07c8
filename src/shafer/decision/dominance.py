"""Orders among alternatives: the best, the first of the best, and those that none beats twice."""

from __future__ import annotations

from array_api_compat import array_namespace

from shafer._typing import Array


def choose_largest(score: Array) -> Array:
    """Choose the one class of largest score, the first of them on a tie; boolean (..., K).

    Parameters
    ----------
    score : array of shape (..., K)
        A score for each class, such as its probability.

    Returns
    -------
    boolean array of shape (..., K)
        One True in each row.

    See Also
    --------
    choose : Applies a rule by its name.

    Examples
    --------
    >>> import numpy as np
    >>> from shafer.decision.dominance import choose_largest
    >>> choose_largest(np.array([[0.2, 0.5, 0.3], [0.4, 0.4, 0.2]]))
    array([[False,  True, False],
           [ True, False, False]])
    """
    xp = array_namespace(score)
    position = xp.arange(score.shape[-1], device=score.device)
    return position == xp.argmax(score, axis=-1, keepdims=True)


def choose_smallest(risk: Array, tolerance: Array | float) -> Array:
    """Choose the first act whose risk is within the tolerance of the smallest; boolean."""
    xp = array_namespace(risk)
    smallest = xp.min(risk, axis=-1, keepdims=True)
    return choose_largest(xp.astype(risk <= smallest + tolerance, xp.int64))


def levels(risk: Array, tolerance: Array | float) -> Array:
    """Rank risks from the smallest, alike where a step is within the tolerance; (..., acts).

    Comparing whole numbers keeps the order transitive, which a tolerance by pairs would not.
    """
    xp = array_namespace(risk)
    order = xp.argsort(risk, axis=-1)
    ordered = xp.take_along_axis(risk, order, axis=-1)
    step = xp.astype(ordered[..., 1:] > ordered[..., :-1] + tolerance, xp.int64)
    number = xp.concat([xp.zeros_like(order[..., :1]), xp.cumulative_sum(step, axis=-1)], axis=-1)
    return xp.take_along_axis(number, xp.argsort(order, axis=-1), axis=-1)


def _running_max(x: Array) -> Array:
    """Return the largest entry up to each one, in log2 K steps of the whole array."""
    xp = array_namespace(x)
    step = 1
    while step < x.shape[-1]:
        x = xp.concat([x[..., :step], xp.maximum(x[..., step:], x[..., :-step])], axis=-1)
        step *= 2
    return x


def undominated(first: Array, second: Array) -> Array:
    """Keep what no other alternative beats: at least as large in both, larger in one; boolean.

    In descending order of the first score, ties by the second, an alternative is beaten by a
    larger second score before it, or by an equal one that comes with a larger first score.
    """
    xp = array_namespace(first)
    by_second = xp.argsort(second, axis=-1, descending=True)
    by_first = xp.argsort(xp.take_along_axis(first, by_second, axis=-1), axis=-1, descending=True)
    order = xp.take_along_axis(by_second, by_first, axis=-1)
    a = xp.take_along_axis(first, order, axis=-1)
    b = xp.take_along_axis(second, order, axis=-1)
    highest = _running_max(b)
    index = xp.broadcast_to(xp.arange(a.shape[-1], device=a.device), a.shape)
    starts = xp.concat(
        [
            xp.zeros_like(index[..., :1]),
            xp.where(a[..., 1:] < a[..., :-1], index[..., 1:], xp.zeros_like(index[..., 1:])),
        ],
        axis=-1,
    )
    start = _running_max(starts)  # where the run of equal first scores began
    before = xp.take_along_axis(highest, xp.clip(start - 1, min=0), axis=-1)
    kept = (highest <= b) & ((start == 0) | (before < b))
    return xp.take_along_axis(kept, xp.argsort(order, axis=-1), axis=-1)
