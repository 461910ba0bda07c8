"""``learn``: how the raw inputs make the weights of evidence, in a form that the page can compute.

The weights of a linear model are sums of one term for each raw input. Those of other models come
from the model's formula: the raw inputs make the numbers that its terms read, the terms make
contributions, and these are the weights once they are centred over the classes and shifted. What
was found is checked on every row that is shown. If it gives other weights than the model, the page
has no sliders.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from scipy import sparse

from shafer._checks.arrays import to_numpy
from shafer._kernels.pooling import centred_over_classes
from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.estimators.evidential_classifier import EvidentialClassifier
from shafer.evidence.mass_evidence import MassEvidence
from shafer.explain.explainer import Explainer
from shafer.models.formula import Terms, Trees
from shafer.models.optbinning import BinnedColumns
from shafer.models.read_model import AdditiveModel, LinearModel, ReadModel, both_classes
from shafer.report.what_if.cells import (
    NoSlidersError,
    as_table,
    native,
    rows_of,
    with_values,
)
from shafer.report.what_if.inputs import Input, Probes, Sums, learn_sums, same
from shafer.report.what_if.thresholds import with_raw_thresholds
from shafer.report.what_if.written import written_terms

if TYPE_CHECKING:
    from shafer._values import Value
    from shafer.report.table import Columns

Explains: TypeAlias = Callable[[Any], MassEvidence]
"""An ``Explainer``, or the method ``evidence`` of a classifier."""

MOST_INPUTS = 200
_LARGEST = 25_000  # numbers in the page, at some twenty bytes each
_AT_ONCE = 256  # rows checked together


@final
@dataclass(frozen=True, eq=False)
class Outcome:
    """From the contributions of a formula to weights.

    Attributes
    ----------
    terms : Terms
    scale : float
        The factor on the contributions.
    groups : list of lists of int, or None
        The components of the model in each component of the evidence.
    constant : array of shape (G, K)
        What is added, for the base rate too if that is a component of its own.
    """

    terms: Terms
    scale: float
    groups: list[list[int]] | None
    constant: FloatArray

    def __call__(self, numbers: FloatArray) -> FloatArray:
        """Return the weights (n, G, K) that numbers (n, C) give."""
        parts = self.terms.contributions(numbers)
        parts = to_numpy(both_classes(parts[..., 0] if parts.shape[2] == 1 else parts))
        parts = centred_over_classes(parts) * self.scale
        if self.groups is not None:
            parts = np.stack([parts[:, own].sum(axis=1) for own in self.groups], axis=1)
        weights = np.repeat(self.constant[None], len(parts), axis=0)
        weights[:, : parts.shape[1]] += parts
        return weights

    @cached_property
    def written(self) -> dict[str, Any]:
        """The terms as JSON."""
        return written_terms(self.terms)

    def reached(self, columns: Sequence[int]) -> list[int]:
        """Return the components that read some of the columns."""
        reads = [set(own) for own in self.terms.reads]
        groups = [[g] for g in range(len(reads))] if self.groups is None else self.groups
        wanted = set(columns)
        return [h for h, own in enumerate(groups) if any(wanted & reads[g] for g in own)]


@final
@dataclass(frozen=True, eq=False)
class WhatIf:
    """How the raw inputs make the weights.

    Attributes
    ----------
    sums : Sums
        The weights (G, K), or with a formula the numbers (C, 1) that its terms read.
    outcome : Outcome, optional
    """

    sums: Sums
    outcome: Outcome | None = None

    @property
    def inputs(self) -> list[Input]:
        """The raw inputs."""
        return self.sums.inputs

    @property
    def is_costly(self) -> bool:
        """Whether the page takes milliseconds for a row, so that it should not ask for all."""
        return self.outcome is not None and isinstance(self.outcome.terms, Trees)

    def weights(self, cells: Sequence[Sequence[Value]]) -> FloatArray:
        """Rebuild the weights of rows, (n, G, K), given the cells of each input."""
        sums = self.sums(cells)
        return sums if self.outcome is None else self.outcome(sums[..., 0])


def learn(explainer: Explains, X: Any, columns: Columns, rows: list[int]) -> WhatIf:
    """Find out how the raw inputs make the weights, and check the result on ``rows``.

    Parameters
    ----------
    explainer : callable
        Returns the evidence of rows.
    X : array, sparse matrix, list of rows or pandas frame of shape (n, J)
        Instances, as the model takes them.
    columns : dict of name to values
        The same instances as plain values.
    rows : list of int
        The instances on which the rebuilt weights must be the model's own, to 1e-9.

    Raises
    ------
    NoSlidersError
        If they are not, if X is not a table, or if the model is too large for the page.
    """
    table = as_table(X)
    if len(columns) > MOST_INPUTS:
        raise NoSlidersError(f"{len(columns)} inputs are too many for the page")
    owner = _owner(explainer)
    model = None if owner is None else owner.weighed_model.model
    complete = _complete_row(table, columns, rows)
    first = _weights(explainer, complete[0])
    shown = {name: [cells[i] for i in rows] for name, cells in columns.items()}
    probes = Probes.of(table, shown, complete, _edges(model, list(columns)))
    if owner is not None and isinstance(model, AdditiveModel) and model.formula is not None:
        found, probes = _by_formula(owner, explainer, table, rows, probes)
    else:
        found, probes = _by_weights(explainer, first, probes, owner)
    _verify(found, explainer, table, columns, rows)
    asked = probes.asked(probes.values)
    if not same(found.weights(probes.cells(probes.values)), _weights(explainer, asked)):
        raise NoSlidersError(
            "the weights cannot be rebuilt for other values than those of the rows"
        )
    return found


def _owner(explainer: Explains) -> Explainer | None:
    """Return the explainer behind a callable."""
    found = getattr(explainer, "__self__", explainer)
    if isinstance(found, EvidentialClassifier):
        found = found.explainer_
    return found if isinstance(found, Explainer) else None


def _complete_row(table: Any, columns: Columns, rows: list[int]) -> tuple[Any, list[Value]]:
    """Return the row with the fewest missing values, which are filled in from other rows."""
    gaps = [sum(cells[i] is None for cells in columns.values()) for i in rows]
    chosen = rows[int(np.argmin(gaps))]
    values = [cells[chosen] for cells in columns.values()]
    changes: dict[int, list[tuple[int, Any]]] = {}
    for j, cells in enumerate(columns.values()):
        if values[j] is None:
            values[j] = next((v for v in cells if v is not None), None)
            if values[j] is not None:
                changes[j] = [(0, native(table, j, values[j]))]
    one = rows_of(table, [chosen])
    return (with_values(one, changes) if changes else one), values


def _edges(model: ReadModel | None, columns: list[str]) -> Mapping[str, FloatArray]:
    """Return the edges at which binned columns jump, by name."""
    if model is not None and model.encoders:
        first = model.encoders[0]
        return first.edges() if isinstance(first, BinnedColumns) else {}
    if isinstance(model, LinearModel) and model.edges is not None:
        return dict(zip(columns, model.edges, strict=False))
    return {}


def _weights(explainer: Explains, table: Any) -> FloatArray:
    return to_numpy(explainer(table).weighed.weights).astype(np.float64)


def _check_size(size: int) -> None:
    if size > _LARGEST:
        raise NoSlidersError(f"{size:,} weights are too many for the page")


# Models whose weights are sums over the inputs.


def _by_weights(
    explainer: Explains, first: FloatArray, probes: Probes, owner: Explainer | None
) -> tuple[WhatIf, Probes]:
    n_components, n_classes = first.shape[1:]
    size = n_components * n_classes
    _check_size(size)
    # Before asking the model: the least size, if every input reaches one component.
    n_effects = sum(
        len(own) if is_menu else 1 for own, is_menu in zip(probes.values, probes.menus, strict=True)
    )
    _check_size(size + n_classes * n_effects)
    fills = owner is not None and owner.weighed_model.missing is not None
    together = fills and owner.weighed_model.missing.gaussian is not None  # type: ignore[union-attr]
    if not together:  # the others stand in for a missing value
        probes = _with_gaps(explainer, probes)
    try:
        sums = learn_sums(lambda rows: _weights(explainer, rows), probes, exact=False)
    except ValueError as error:  # such as a number between two that are names of categories
        if isinstance(error, NoSlidersError):
            raise
        raise NoSlidersError(
            f"the model refuses values between those of the rows: {error}"
        ) from None
    _check_size(sums.size)
    return WhatIf(sums), probes


def _with_gaps(explainer: Explains, probes: Probes) -> Probes:
    """Ask which inputs may be missing."""
    if sparse.issparse(probes.table):
        return probes
    n = len(probes.names)
    everywhere: list[list[Value]] = [[None]] * n
    if _takes(explainer, probes.asked(everywhere)):
        return probes.with_gaps([True] * n)
    one_by_one = [
        _takes(explainer, probes.asked([[None] if i == j else [] for i in range(n)]))
        for j in range(n)
    ]
    return probes.with_gaps(one_by_one)


def _takes(explainer: Explains, rows: Any) -> bool:
    """Tell whether the model takes rows."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as of a gap where training had none
            weights = _weights(explainer, rows)
    except (ValueError, TypeError, UnsupportedModelError):
        return False
    return bool(np.isfinite(weights).all())


# Models with a formula.


def _by_formula(
    owner: Explainer, explainer: Explains, table: Any, rows: list[int], probes: Probes
) -> tuple[WhatIf, Probes]:
    weighed, model = owner.weighed_model, owner.weighed_model.model
    assert isinstance(model, AdditiveModel)
    assert model.formula is not None
    if owner.calibration.moderates:
        raise NoSlidersError("the factor on the weights depends on all inputs together")
    probes = _with_gaps(explainer, probes)

    def encoded(X: Any) -> Any:
        return model.encoded(weighed.as_trained(X))

    try:
        formula = model.formula(encoded(rows_of(table, rows)))
    except UnsupportedModelError as error:
        raise NoSlidersError(_as_reason(str(error))) from None
    terms = formula.terms

    def ask(X: Any) -> FloatArray:
        return formula.numbers(encoded(X))[:, :, None]

    try:
        sums = learn_sums(ask, probes, exact=True)
        if isinstance(terms, Trees):
            terms, sums = with_raw_thresholds(terms, sums, probes, ask)
    except ValueError as error:
        if isinstance(error, NoSlidersError):
            raise
        raise NoSlidersError(
            f"the model refuses values between those of the rows: {error}"
        ) from None
    _check_size(sums.size)
    factor = float(np.mean(owner.calibration.factor(weighed(probes.table)[0])))
    groups = None if weighed.groups is None else list(weighed.groups.values())
    # Contributions are shifted so that they are the weights in one row.
    true = _weights(explainer, probes.table)[0]
    plain = Outcome(terms, factor * model.slope, groups, np.zeros_like(true))
    shift = true - plain(sums([[value] for value in probes.reference])[..., 0])[0]
    outcome = replace(plain, constant=shift)
    assert outcome.written  # it is not too large for the page
    return WhatIf(sums, outcome), probes


def _as_reason(text: str) -> str:
    """Return a message as part of a sentence."""
    return text.rstrip(".")


def _verify(
    model: WhatIf, explainer: Explains, table: Any, columns: Columns, rows: list[int]
) -> None:
    for start in range(0, len(rows), _AT_ONCE):
        block = rows[start : start + _AT_ONCE]
        cells = [[own[i] for i in block] for own in columns.values()]
        true = _weights(explainer, rows_of(table, block))
        gap = np.max(np.abs(model.weights(cells) - true), axis=(1, 2))
        if not np.all(gap <= 1e-9 * (1.0 + np.max(np.abs(true), axis=(1, 2)))):
            raise NoSlidersError(
                "the weights are not a sum of one term for each input"
                if model.outcome is None
                else "the page would compute other weights than the model for some rows"
            )
