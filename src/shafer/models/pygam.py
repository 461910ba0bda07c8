"""pyGAM's ``LogisticGAM``: a component is a term."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.models.heads import Contributions
from shafer.models.live_parameters import LiveParameters
from shafer.models.read_model import AdditiveModel, both_probabilities
from shafer.rows.access import values_of


def adapt(model: Any) -> AdditiveModel:
    """Read a fitted logistic additive model of classes 0 and 1."""
    # pyGAM cannot tell whether it is fitted, but only a fitted model has coefficients.
    if getattr(model, "coef_", None) is None:
        raise UnsupportedModelError("LogisticGAM is not trained. Call fit(X, y) first.")
    terms = [t for t, term in enumerate(model.terms) if not term.isintercept]
    constants = [t for t, term in enumerate(model.terms) if term.isintercept]
    intercept = sum(float(np.sum(model.coef_[model.terms.get_coef_indices(t)])) for t in constants)
    names = [repr(model.terms[t]) for t in terms]  # such as s(0), te(2, 3)
    head = Contributions(partial(_contributions, model, terms), intercept, [0, 1], names)
    return AdditiveModel(head, by_column=False, live=(LiveParameters.attributes(model, "coef_"),))


def probabilities(model: Any, X: Any) -> FloatArray:
    """Return the probabilities that the library itself computes, (n, 2)."""
    return both_probabilities(model.predict_proba(values_of(X)))


def _contributions(model: Any, terms: list[int], X: Any) -> FloatArray:
    values = values_of(X)
    return np.stack([model.partial_dependence(term=t, X=values) for t in terms], axis=1)
