"""``shap.Explanation`` in log-odds space, both ways: a component is a feature."""

from __future__ import annotations

from typing import Any

import numpy as np
import shap
from scipy.special import expit

from shafer._errors import UnsupportedModelError
from shafer._typing import FloatArray
from shafer._validation import float_array, to_numpy
from shafer.evidence import Evidence, least_commitment_additive
from shafer.models.readers.adapted_model import both_classes

_TOLERANCE = 1e-4  # relative; shap and the boosting libraries often work in single precision


def from_shap(
    explanation: Any, *, background: Any = None, classes: Any = None, names: Any = None
) -> Evidence:
    """Read SHAP values of a logit as contributions, and return their evidence.

    Parameters
    ----------
    explanation : shap.Explanation
        Values (n, J) of the log-odds of a binary model, or (n, J, K) of the logits of K classes,
        with their base values. Values of probabilities do not add up to logits and are refused.
    background : shap.Explanation, optional
        SHAP values of the background rows; those of ``explanation`` itself by default.
    classes : array of shape (K,), optional
        Class labels; the explanation's ``output_names``, or 0..K−1, by default.
    names : sequence of J strings, optional
        Names of the features; the explanation's ``feature_names`` by default.

    Examples
    --------
    >>> import numpy as np, shap
    >>> from shafer.models import from_shap
    >>> values = np.array([[0.5, -0.2], [-0.5, 0.2]])
    >>> from_shap(shap.Explanation(values, base_values=0.0)).probability.round(3)
    array([[0.426, 0.574],
           [0.574, 0.426]])
    """
    contributions = _contributions(explanation, "explanation")
    own = contributions if background is None else _contributions(background, "background")
    if classes is None:
        classes = _output_names(explanation, contributions.shape[2])
    pool = least_commitment_additive(
        own.mean(axis=0),
        classes=classes,
        names=explanation.feature_names if names is None else names,
    )
    return pool(contributions)


def to_shap(evidence: Evidence, X: Any = None) -> Any:
    """Write weights of evidence as SHAP values with base value 0, for shap's plots.

    With two classes they are log-odds of the second, (n, G); else one logit for each class,
    (n, G, K). ``X``, the rows themselves, become the explanation's ``data``.
    """
    weights = to_numpy(evidence.weights)
    labels = [str(label) for label in evidence.classes.tolist()]
    if evidence.n_classes == 2:
        weights = weights[..., 1] - weights[..., 0]
    return shap.Explanation(
        values=weights,
        base_values=np.zeros(weights.shape[:1] + weights.shape[2:]),
        data=None if X is None else np.asarray(X),
        feature_names=list(evidence.component_names),
        output_names=labels if evidence.n_classes > 2 else None,
    )


def _contributions(explanation: Any, name: str) -> FloatArray:
    """Return contributions (n, J, K); base values stay with the first feature."""
    values = np.array(float_array(explanation.values, f"{name}.values", ndim=(2, 3)), np.float64)
    base = np.asarray(float_array(explanation.base_values, f"{name}.base_values"), np.float64)
    base = np.broadcast_to(_base_rows(base, values), (len(values), *values.shape[2:]))
    if values.ndim == 3:
        _check_space(base + values.sum(axis=1))
        if _is_one_log_odds(values, base):
            values, base = values[..., 1], base[..., 1]
    _check_constant(base, name)
    values[:, 0] += base
    contributions: FloatArray = both_classes(values)
    return contributions


def _base_rows(base: FloatArray, values: FloatArray) -> FloatArray:
    """Drop the empty axes that some explainers leave on base values."""
    if values.ndim == 2 and base.ndim == 2 and base.shape[1] == 1:
        return base[:, 0]
    return base


def _check_constant(base: FloatArray, name: str) -> None:
    spread = np.ptp(base, axis=0).max()
    if spread > _TOLERANCE * max(1.0, np.abs(base).max()):
        raise ValueError(
            f"{name}.base_values must be the same for all rows; they differ by {spread:.3g}. "
            "Explain all rows with one explainer."
        )


def _is_one_log_odds(values: FloatArray, base: FloatArray) -> bool:
    """Say whether two outputs are the log-odds of either class: each the other's negative."""
    if values.shape[2] != 2:
        return False
    return np.allclose(values[..., 0], -values[..., 1], atol=_TOLERANCE) and np.allclose(
        base[..., 0], -base[..., 1], atol=_TOLERANCE
    )


def _check_space(outputs: FloatArray) -> None:
    """Refuse what is visibly no logit: probabilities, or the log-odds of each class by itself."""
    advice = (
        "Explain the model's raw output instead, for instance with "
        "shap.TreeExplainer(model, model_output='raw')."
    )
    inside = bool(np.all(outputs >= -_TOLERANCE) and np.all(outputs <= 1 + _TOLERANCE))
    if inside and np.allclose(outputs.sum(axis=1), 1.0, atol=_TOLERANCE):
        raise UnsupportedModelError(
            "The SHAP values explain probabilities (they add up to 1 over the classes), and "
            f"probabilities are no sum of evidence. {advice}"
        )
    if outputs.shape[1] > 2 and np.allclose(expit(outputs).sum(axis=1), 1.0, atol=_TOLERANCE):
        raise UnsupportedModelError(
            "The SHAP values explain the log-odds of each class against the rest, whose softmax "
            f"is not the model's probability. {advice}"
        )


def _output_names(explanation: Any, n_classes: int) -> Any:
    names = explanation.output_names
    if names is None or isinstance(names, str) or len(names) != n_classes:
        return None
    return list(names)
