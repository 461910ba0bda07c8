"""``shap.Explanation`` in log-odds space, both ways: a component is a feature."""

from __future__ import annotations

from typing import Any

import numpy as np
import shap
from scipy.special import expit, softmax

from shafer._checks.arrays import float_array, to_numpy
from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.evidence.evidence import Evidence
from shafer.evidence.least_commitment import least_commitment_additive
from shafer.models.read_model import both_classes
from shafer.models.registry import own_probabilities

_TOLERANCE = 1e-4  # relative; shap and the boosting libraries often work in single precision
_OUTPUTS = ("log-odds", "raw")
_ADVICE = (
    "Explain the model's raw output instead, for instance with "
    "shap.TreeExplainer(model, model_output='raw'). A model without log-odds, such as a random "
    "forest, is not supported."
)


def from_shap(
    explanation: Any,
    *,
    output: str | None = None,
    model: Any = None,
    X: Any = None,
    background: Any = None,
    classes: Any = None,
    names: Any = None,
) -> Evidence:
    """Return the evidence in SHAP values of log-odds.

    SHAP values of log-odds (or of the logits of K classes) are contributions. SHAP values of
    probabilities are not, and are refused. Pass ``model`` and the values are checked against its
    probabilities. Without a model, state by ``output`` that they add up to log-odds.

    Parameters
    ----------
    explanation : shap.Explanation
        Values (n, J) of the log-odds of a binary model, or (n, J, K) of the logits of K classes,
        with their base values.
    output : {"log-odds", "raw"}, optional
        What the values add up to: log-odds (or logits), the raw output of a classifier. Required
        without ``model``.
    model : fitted model, optional
        The model that was explained. Its probabilities must agree with the SHAP values.
    X : array or data frame of n rows, optional
        The rows that were explained, as the model takes them; by default ``explanation.data``.
    background : shap.Explanation, optional
        SHAP values of the background rows; those of ``explanation`` itself by default.
    classes : array of shape (K,), optional
        Class labels; by default those of the model, the explanation's ``output_names``, or 0..K−1.
    names : sequence of J strings, optional
        Names of the features; the explanation's ``feature_names`` by default.

    Returns
    -------
    Evidence

    See Also
    --------
    to_shap : The other way.
    Contributions : Contributions from any function.

    Examples
    --------
    >>> import numpy as np, shap
    >>> from shafer.models import from_shap
    >>> values = np.array([[0.5, -0.2], [-0.5, 0.2]])
    >>> explanation = shap.Explanation(values, base_values=0.0)
    >>> from_shap(explanation, output="log-odds").probability.round(3)
    array([[0.426, 0.574],
           [0.574, 0.426]])
    """
    contributions = _contributions(explanation, "explanation")
    _check_output_word(output, model)
    if model is None:
        _check_range(explanation, contributions.sum(axis=1))
    else:
        _check_model(model, explanation.data if X is None else X, contributions.sum(axis=1))
    own = contributions if background is None else _contributions(background, "background")
    if classes is None:
        known = getattr(model, "classes_", None)
        classes = _output_names(explanation, contributions.shape[2]) if known is None else known
    pool = least_commitment_additive(
        own.mean(axis=0),
        classes=classes,
        names=explanation.feature_names if names is None else names,
    )
    return pool(contributions)


def to_shap(evidence: Evidence, X: Any = None) -> Any:
    """Return weights of evidence as SHAP values, for shap's plots.

    With two classes they are log-odds of the second, (n, G); else one logit for each class,
    (n, G, K). A base rate of its own (``prior="own"``) becomes the base value; else the base value
    is 0. ``X``, the rows themselves, become the explanation's ``data``.

    Parameters
    ----------
    evidence : Evidence
        The evidence of n rows.
    X : array or data frame of n rows, optional
        The rows.

    Returns
    -------
    shap.Explanation

    See Also
    --------
    from_shap : The other way.

    Examples
    --------
    >>> import shafer
    >>> from shafer.models import to_shap
    >>> ev = shafer.Evidence.from_weights([[[-0.9, 0.9], [0.2, -0.2]]])
    >>> to_shap(ev).values.round(3)
    array([[ 1.8, -0.4]])
    """
    weights = to_numpy(evidence.weights)
    labels = [str(label) for label in evidence.classes.tolist()]
    if evidence.n_classes == 2:
        weights = weights[..., 1] - weights[..., 0]
    base = list(evidence.unchanged_source().base_rates())
    inputs = [g for g in range(evidence.n_components) if g not in base]
    return shap.Explanation(
        values=weights[:, inputs],
        base_values=weights[:, base].sum(axis=1),
        data=None if X is None else np.asarray(X),
        feature_names=[evidence.component_names[g] for g in inputs],
        output_names=labels if evidence.n_classes > 2 else None,
    )


def _check_output_word(output: str | None, model: Any) -> None:
    if output is None and model is None:
        raise ValueError(
            "from_shap needs to know what the SHAP values add up to. Pass model= to check them "
            "against its probabilities, or output='log-odds' if they explain log-odds."
        )
    if output == "probability":
        raise UnsupportedModelError(
            f"SHAP values of probabilities are not contributions to log-odds. {_ADVICE}"
        )
    if output not in (None, *_OUTPUTS):
        raise ValueError(f"output must be 'log-odds' or 'raw'; got {output!r}.")


def _check_model(model: Any, X: Any, logits: FloatArray) -> None:
    """Refuse SHAP values that do not add up to the model's own probabilities."""
    if X is None:
        raise ValueError(
            "explanation.data is None, so the model cannot be asked for its probabilities. Pass "
            "the rows that were explained as X=."
        )
    own = own_probabilities(model, X)
    if own is None:
        raise ValueError(
            f"{type(model).__name__} has no probabilities to check the SHAP values against. Leave "
            "model out, and pass output='log-odds' if they explain log-odds."
        )
    if own.shape != logits.shape:
        raise ValueError(
            f"The SHAP values are of {logits.shape[0]} rows and {logits.shape[1]} classes, but the "
            f"model has probabilities of shape {own.shape} for X. Pass the rows that were "
            "explained as X=."
        )
    given = softmax(logits, axis=1)
    row, k = np.unravel_index(np.argmax(np.abs(given - own)), own.shape)
    if abs(given[row, k] - own[row, k]) > _TOLERANCE:
        raise UnsupportedModelError(
            "The SHAP values do not add up to the model's log-odds: in row "
            f"{row} they give a probability of {given[row, k]:.4f}, and the model "
            f"{own[row, k]:.4f}. They may explain probabilities, or other rows. {_ADVICE}"
        )


def _check_range(explanation: Any, logits: FloatArray) -> None:
    """Refuse values that look like those of probabilities: all sums between 0 and 1."""
    base = np.asarray(explanation.base_values, dtype=np.float64)
    outputs = logits
    if logits.shape[1] == 2 and np.asarray(explanation.values).ndim == 2:
        outputs = logits[:, 1:] - logits[:, :1]  # the log-odds, as they were given
    between = np.all(outputs > -_TOLERANCE) and np.all(outputs < 1 + _TOLERANCE)
    if between and np.all(base > 0.0) and np.all(base < 1.0):
        raise UnsupportedModelError(
            "The SHAP values and their base value add up to numbers between 0 and 1 in all rows, "
            f"so they seem to explain probabilities. {_ADVICE} If they do explain log-odds, pass "
            "model= as well, so that this can be checked."
        )


def _contributions(explanation: Any, name: str) -> FloatArray:
    """Return contributions (n, J, K); base values are added to the first feature."""
    if not isinstance(explanation, shap.Explanation):
        raise ValueError(
            f"{name} must be a shap.Explanation; got {type(explanation).__name__}. Call the shap "
            "explainer itself, explainer(X), instead of explainer.shap_values(X)."
        )
    _check_rows(explanation, name)
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


def _check_rows(explanation: Any, name: str) -> None:
    """Refuse a single row, whose values lack the first axis."""
    shape, base = np.shape(explanation.values), np.shape(explanation.base_values)
    # Base values are one for each row, or one for each class of a single row.
    one_of_several_classes = len(shape) == 2 and len(base) == 1 and base[0] not in (1, shape[0])
    if len(shape) == 1 or one_of_several_classes:
        raise ValueError(
            f"{name} holds a single row, of shape {shape}; rows are the first axis. Pass "
            "explanation[0:1] instead of explanation[0]."
        )


def _base_rows(base: FloatArray, values: FloatArray) -> FloatArray:
    """Return base values without the empty axis that some explainers leave on them."""
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
    """Tell whether two outputs are the log-odds of either class: each is minus the other."""
    if values.shape[2] != 2:
        return False
    return np.allclose(values[..., 0], -values[..., 1], atol=_TOLERANCE) and np.allclose(
        base[..., 0], -base[..., 1], atol=_TOLERANCE
    )


def _check_space(outputs: FloatArray) -> None:
    """Refuse outputs that are probabilities, or the log-odds of each class against the rest."""
    inside = bool(np.all(outputs >= -_TOLERANCE) and np.all(outputs <= 1 + _TOLERANCE))
    if inside and np.allclose(outputs.sum(axis=1), 1.0, atol=_TOLERANCE):
        raise UnsupportedModelError(
            "The SHAP values explain probabilities: they add up to 1 over the classes. These are "
            f"not contributions to log-odds. {_ADVICE}"
        )
    if outputs.shape[1] > 2 and np.allclose(expit(outputs).sum(axis=1), 1.0, atol=_TOLERANCE):
        raise UnsupportedModelError(
            "The SHAP values explain the log-odds of each class against the rest, and the softmax "
            f"of these is not the model's probability. {_ADVICE}"
        )


def _output_names(explanation: Any, n_classes: int) -> Any:
    names = explanation.output_names
    if names is None or isinstance(names, str) or len(names) != n_classes:
        return None
    return list(names)
