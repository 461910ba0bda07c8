"""pyGAM's ``LogisticGAM``: a component is a term."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.models.formula import Formula, Pieces
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
    return AdditiveModel(
        head,
        by_column=False,
        live=(LiveParameters.attributes(model, "coef_"),),
        formula=partial(_formula, model, terms),
    )


def probabilities(model: Any, X: Any) -> FloatArray:
    """Return the probabilities that the library itself computes, (n, 2)."""
    return both_probabilities(model.predict_proba(values_of(X)))


def _contributions(model: Any, terms: list[int], X: Any) -> FloatArray:
    values = values_of(X)
    return np.stack([model.partial_dependence(term=t, X=values) for t in terms], axis=1)


# Splines of one feature as data: polynomials between the knots, straight lines outside.


def _formula(model: Any, terms: list[int], rows: Any) -> Formula:
    width = values_of(rows).shape[1]
    parts = [_pieces(model, t, width) for t in terms]
    columns = [int(model.terms[t].feature) for t in terms]
    edges, centres, coefficients = map(list, zip(*parts, strict=True))
    return Formula(_numbers, Pieces(columns, edges, centres, coefficients))


def _numbers(X: Any) -> FloatArray:
    return np.asarray(values_of(X), dtype=np.float64)


def _pieces(model: Any, t: int, width: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the edges, centres and coefficients of a term; see ``Pieces``."""
    term = model.terms[t]
    kind, by = type(term).__name__, getattr(term, "by", None)
    is_spline = kind == "SplineTerm" and term.basis == "ps"
    if not (is_spline or kind == "LinearTerm") or by is not None:
        raise UnsupportedModelError(
            f"LogisticGAM has the term {term!r}, which is not a spline or a line of one feature."
        )
    low, high = (float(term.edge_knots_[0]), float(term.edge_knots_[-1])) if is_spline else (0, 1)
    n, degree = (term.n_splines - term.spline_order, term.spline_order) if is_spline else (1, 1)
    knots = np.linspace(low, high, n + 1)
    half = (high - low) / n / 2.0
    inside = [(middle, degree) for middle in (knots[:-1] + knots[1:]) / 2.0]
    centres = [(low - half, 1), *inside, (high + half, 1)]
    found = np.zeros((len(centres), degree + 1, 1))
    for i, (centre, own) in enumerate(centres):
        u = np.cos(np.pi * (np.arange(own + 1) + 0.5) / (own + 1))
        points = np.zeros((own + 1, width))
        points[:, term.feature] = centre + half * u
        values = model.partial_dependence(term=t, X=points)
        scaled = np.linalg.solve(np.vander(u, increasing=True), values)
        found[i, : own + 1, 0] = scaled / half ** np.arange(own + 1)
    return knots, np.array([centre for centre, _ in centres]), found
