"""``written_model``: a what-if model as JSON, in few characters; ``terms.js`` reads it."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shafer._kernels.trees import Forest, quadrature
from shafer._typing import FloatArray
from shafer.models.formula import PATH, SHAPLEY, Pieces, Tables, Terms, Trees
from shafer.report.what_if.cells import NoSlidersError

if TYPE_CHECKING:
    from shafer.report.what_if.inputs import Input
    from shafer.report.what_if.learning import Outcome, WhatIf

MOST_BYTES = 3_500_000
"""A model that takes more room leaves too little of the page for the rows."""


def written_model(model: WhatIf) -> dict[str, Any]:
    """Return a what-if model as JSON."""
    outcome = model.outcome
    shown: dict[str, Any] = {
        "base": _listed(model.sums.base),
        "inputs": [_input(entry, outcome) for entry in model.inputs],
        "outcome": None,
    }
    if outcome is not None:
        shown["outcome"] = {
            "terms": outcome.written,
            "scale": outcome.scale,
            "groups": outcome.groups,
            "constant": outcome.constant.tolist(),
        }
    return shown


def _input(entry: Input, outcome: Outcome | None) -> dict[str, Any]:
    choices = [choice for choice in entry.effects if choice is not None]
    missing = entry.effects.get(None)
    reached = entry.reached if outcome is None else outcome.reached(entry.reached)
    return {
        "name": entry.name,
        "components": reached,
        **({} if outcome is None else {"columns": entry.reached}),
        "anchor": entry.anchor,
        "low": entry.low,
        "high": entry.high,
        "digits": entry.digits,
        "slope": None if entry.slope is None else _listed(entry.slope),
        **({} if entry.levels is None else {"levels": _listed(entry.levels)}),
        **({} if entry.levels is None else {"edges": entry.edges.tolist()}),
        **({"copied": entry.copied} if entry.copied else {}),
        "choices": choices,
        "effects": [_listed(entry.effects[choice]) for choice in choices],
        "missing": None if missing is None else _listed(missing),
    }


def _listed(values: FloatArray) -> Any:
    """Return an array as lists, with None for NaN, which JSON does not have."""
    plain = values.astype(object)
    plain[np.isnan(values)] = None
    return plain.tolist()


def written_terms(terms: Terms) -> dict[str, Any]:
    """Return terms as JSON.

    Raises
    ------
    NoSlidersError
        If they take too much room.
    """
    written = _terms(terms)
    size = _size(written)
    if size > MOST_BYTES:
        raise NoSlidersError(
            f"the model takes {size / 1e6:.1f} megabytes, which are too many for the page"
        )
    return written


def _size(value: Any) -> int:
    """Count the characters of all packed arrays."""
    if isinstance(value, str):
        return len(value)
    inside = value.values() if isinstance(value, dict) else value
    return sum(map(_size, inside)) if isinstance(value, dict | list) else 0


def _terms(terms: Terms) -> dict[str, Any]:
    if isinstance(terms, Pieces):
        return {
            "kind": "pieces",
            "columns": list(terms.columns),
            "edges": [packed(edges) for edges in terms.edges],
            "centres": [packed(centres) for centres in terms.centres],
            "coefficients": [packed(values) for values in terms.coefficients],
            "outputs": terms.coefficients[0].shape[2],
        }
    if isinstance(terms, Tables):
        return {
            "kind": "tables",
            "columns": [list(own) for own in terms.columns],
            "edges": [packed(edges) for edges in terms.edges],
            "shapes": [list(scores.shape) for scores in terms.scores],
            "scores": [packed(scores) for scores in terms.scores],
        }
    assert isinstance(terms, Trees)
    return _trees(terms)


# Trees: one number for each split or leaf. Children need none, as they come level by level.


def _trees(trees: Trees) -> dict[str, Any]:
    forest = trees.forest
    inner = forest.feature >= 0
    _check_order(forest)
    flags = (forest.missing + 4 * forest.missing_left)[inner]
    sets = forest.n_words[inner]
    written = {
        "kind": "trees",
        "how": trees.how,
        "columns": trees.n_features,
        "shared": [list(members) for members in trees.shared],
        "single": trees.single,
        "missing": trees.missing,
        "outputs": forest.n_outputs,
        "output": packed(forest.output),
        "feature": packed(forest.feature + 1),
        "threshold": packed(forest.threshold[inner]),
        "value": packed(forest.value[~inner]),
        "flags": packed(flags),
        "sets": packed(sets) if sets.any() else None,
        "words": packed(_words(forest, inner)) if sets.any() else None,
        "setGoesRight": bool(forest.set_goes_right.any()),
    }
    if trees.how in (SHAPLEY, PATH):
        written["cover"] = packed(forest.cover)
    if trees.how == SHAPLEY:
        most = max(1, -(-trees.n_features // 2), -(-_depth(forest) // 2))
        rules = [quadrature(q) for q in range(1, most + 1)]
        written["rules"] = [[points.tolist(), weights.tolist()] for points, weights in rules]
    return written


def _depth(forest: Forest) -> int:
    """Return the number of splits on the longest path."""
    depth = np.zeros(len(forest.feature), dtype=np.int64)
    for node in np.flatnonzero(forest.feature >= 0):
        depth[[forest.left[node], forest.right[node]]] = depth[node] + 1
    return int(depth.max(initial=0))


def _words(forest: Forest, inner: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Return the words of the sets in the order of the splits."""
    nodes = np.flatnonzero(inner & (forest.n_words > 0))
    first, count = forest.first_word, forest.n_words
    parts = [forest.words[first[node] : first[node] + count[node]] for node in nodes]
    return np.concatenate(parts)


def _check_order(forest: Forest) -> None:
    """Check that the nodes of a level come together: the left children, then the right ones."""
    left, right = np.full((2, len(forest.feature)), -1)
    for start, end in zip(forest.starts[:-1], forest.starts[1:], strict=True):
        low, high = int(start), int(start) + 1
        while low < high:
            splits = low + np.flatnonzero(forest.feature[low:high] >= 0)
            n = len(splits)
            left[splits] = high + np.arange(n)
            right[splits] = high + n + np.arange(n)
            low, high = high, high + 2 * n
        assert low == end
    assert np.array_equal(left, forest.left)
    assert np.array_equal(right, forest.right)


# Arrays as base64, little-endian, in the smallest type that holds every number exactly.

_WHOLE = ("u1", "u2", "u4")


def packed(values: NDArray[Any]) -> dict[str, str]:
    """Return an array under the name of its type, such as ``"f4"``."""
    flat = np.ravel(values)
    if flat.dtype.kind in "biu":
        kinds = [kind for kind in _WHOLE if flat.max(initial=0) <= np.iinfo(kind).max]
        return {kinds[0]: _base64(flat, kinds[0])}
    with np.errstate(over="ignore"):
        single = flat.astype(np.float32)
    kind = "f4" if np.array_equal(single.astype(np.float64), flat, equal_nan=True) else "f8"
    return {kind: _base64(flat, kind)}


def _base64(values: NDArray[Any], kind: str) -> str:
    return base64.b64encode(values.astype(f"<{kind}").tobytes()).decode()
