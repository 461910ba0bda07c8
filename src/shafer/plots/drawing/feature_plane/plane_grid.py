"""Quantities and decisions over a plane of two features: what ``RegionDisplay`` draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer._validation import frame_of, positions_of, to_numpy
from shafer.evidence import Evidence, MassEvidence
from shafer.plots.drawing.evidence_arrays import before_discounting, numbers
from shafer.plots.drawing.set_names import set_name
from shafer.plots.drawing.style import without_middle

_OF_A_SET = ("belief", "plausibility", "mass")
_OF_AN_INSTANCE = ("ignorance", "conflict", "conflict_for_against", "weight_of_conflict")
_SCORE_RULES = ("plausibility", "belief", "pignistic", "expected_loss")
_INTERVAL_RULES = ("interval_dominance", "maximality")
_RESPONSES = (*_OF_A_SET, "probability", *_OF_AN_INSTANCE, "decision")


def check_response(response: str) -> None:
    """Refuse what is neither a quantity nor a decision."""
    if response not in _RESPONSES:
        raise ValueError(
            f"response must be one of {', '.join(map(repr, _RESPONSES))}; got {response!r}."
        )


def grid_over(
    data: FloatArray, features: tuple[int, int], resolution: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return both axes and all points of the grid, (q·p, J), the first feature running fastest."""
    first, second = features
    low, high = data.min(axis=0), data.max(axis=0)
    x = np.linspace(low[first], high[first], resolution)
    y = np.linspace(low[second], high[second], resolution)
    points = np.tile(np.median(data, axis=0), (resolution**2, 1))
    points[:, first] = np.tile(x, resolution)
    points[:, second] = np.repeat(y, resolution)
    return x, y, points


def like_frame(points: FloatArray, X: Any) -> Any:
    """Return the points as a data frame with the columns of X, if X is one with names."""
    frame = frame_of(X)
    if frame is None or not all(isinstance(name, str) for name in X.columns):
        return points
    return nw.from_numpy(points, frame.columns, backend=frame.implementation).to_native()


def feature_names_of(
    evidence: MassEvidence, n_columns: int, features: tuple[int, int]
) -> tuple[str, str]:
    """Name two features after the components, where each feature is a component."""
    plain = before_discounting(evidence)
    if isinstance(plain, Evidence) and plain.n_components == n_columns:
        return plain.component_names[features[0]], plain.component_names[features[1]]
    return f"x{features[0]}", f"x{features[1]}"


def quantity(evidence: MassEvidence, response: str, subset: Any) -> FloatArray:
    """Return a quantity of each row: of the instance, or of a set of classes, the last if None."""
    if response in _OF_AN_INSTANCE:
        return to_numpy(getattr(evidence, response))
    members = evidence.classes[-1:].tolist() if subset is None else subset
    if response in _OF_A_SET:
        return to_numpy(getattr(evidence, f"{response}_of")(members))
    inside = positions_of(members, evidence.classes)
    total: FloatArray = to_numpy(evidence.probability)[:, inside].sum(axis=1)
    return total


def quantity_name(response: str, subset: Any, classes: NDArray[Any]) -> str:
    """Return the name of a quantity, with the set of classes that it is about, if any."""
    if response in _OF_AN_INSTANCE:
        return response
    members = classes[-1:].tolist() if subset is None else subset
    inside = [classes.tolist()[k] for k in positions_of(members, classes)]
    whole = without_middle(inside[0]) if len(inside) == 1 else set_name(inside, classes)
    return f"{response} of {whole}"


def margins(scores: NDArray[Any]) -> FloatArray:
    """Return each class's score less the best of the others; on a tie the first class wins.

    A set, as booleans, is one inside and minus one outside.
    """
    if scores.dtype == np.bool_:
        return np.where(scores, 1.0, -1.0)
    ordered = np.sort(scores, axis=1)
    best, second = ordered[:, -1:], ordered[:, -2:-1]
    wins = np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None]
    behind = np.minimum(scores - best, -np.finfo(np.float64).tiny)
    ahead: FloatArray = np.where(wins, best - second, behind)
    return ahead


def _scores(evidence: MassEvidence, rule: str) -> FloatArray:
    """Return the score of each class that the rule makes largest."""
    plain = before_discounting(evidence)
    if rule in ("plausibility", "expected_loss") and isinstance(plain, Evidence):
        return numbers(plain.logits)  # in the order of the plausibilities, without saturating
    return numbers(evidence.probability if rule == "expected_loss" else getattr(evidence, rule))


def margins_of(evidence: MassEvidence, rule: str, options: Mapping[str, Any]) -> FloatArray:
    """Return how far each class is inside the chosen set, a continuous function of the weights.

    For rules that have no such function here, one inside and minus one outside.
    """
    chosen = to_numpy(evidence.decide(rule, **options)).astype(bool)  # refuses an unknown rule
    if not options and rule in _SCORE_RULES:
        values = margins(_scores(evidence, rule))
        # Where scores agree to the last digits, the rule decides which of them are ties.
        tiny = np.finfo(np.float64).tiny
        return np.where(chosen, np.maximum(values, 0.0), np.minimum(values, -tiny))
    if options or rule not in _INTERVAL_RULES:
        return np.where(chosen, 1.0, -1.0)
    belief, plausibility = numbers(evidence.belief), numbers(evidence.plausibility)
    inside: FloatArray = plausibility - belief.max(axis=1, keepdims=True)
    return inside
