"""Every kind of errors, against the covariance of all weights of a row written out in full."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import shafer
from shafer.evidence.errors import (
    ComponentSums,
    LinearErrors,
    SampledErrors,
    TableErrors,
    WeightErrors,
    class_contrasts,
)
from shafer.evidence.sources import DenseWeights

N, J, K = 5, 4, 3


@dataclass
class Case:
    """Errors, and the covariance of the weights of each row, (n, G, K, G, K)."""

    errors: WeightErrors
    covariance: Any


def _sums(groups: Any, share: float, own: bool) -> ComponentSums:
    return ComponentSums.of_groups(groups, J, share, own=own)


def linear(seed: int, groups: Any, own: bool, library: Any = np.asarray) -> Case:
    rng = np.random.default_rng(seed)
    size = (K - 1) * (J + 1)
    root = rng.normal(size=(size, size))
    covariance = (root @ root.T).reshape(K - 1, J + 1, K - 1, J + 1)
    X, centre = rng.normal(size=(N, J)), rng.normal(size=J)
    sums = _sums(groups, 0.0 if own else 1 / len(groups), own)
    factor = np.linspace(0.2, 1.5, N)
    errors = LinearErrors(library(X), centre, covariance, sums, factor)
    C, A = class_contrasts(K), sums.matrix.toarray()
    values = np.column_stack([X - centre, np.ones(N)])
    by_term = np.einsum("ka,ajbl,mb->jklm", C, covariance, C)
    full = np.einsum("gj,ij,jklm,il,hl->igkhm", A, values, by_term, values, A)
    return Case(errors, full * (factor**2)[:, None, None, None, None])


def table(seed: int, groups: Any, own: bool) -> Case:
    rng = np.random.default_rng(seed)
    lines, n_draws = 9, 6
    tables = rng.normal(size=(n_draws, lines, K))
    tables -= tables.mean(axis=2, keepdims=True)
    index = rng.integers(0, lines, size=(N, J + 1))
    shares = rng.dirichlet(np.ones(n_draws))
    factor = np.linspace(0.2, 1.5, N)
    sums = _sums(groups, 0.0, own)
    errors = TableErrors(index, tables, shares, sums, factor)
    draws = np.einsum("gj,rijk->rigk", sums.matrix.toarray(), tables[:, index])
    return Case(errors, _covariance(draws * factor[:, None, None], shares))


def sampled(seed: int, groups: Any, own: bool) -> Case:
    rng = np.random.default_rng(seed)
    draws = rng.normal(size=(7, N, len(groups) + own, K))
    errors = SampledErrors(tuple(map(DenseWeights, draws)))
    return Case(errors, _covariance(draws, np.full(7, 1 / 7)) * 7 / 6)


def _covariance(draws: Any, shares: Any) -> Any:
    """Of draws (R, n, G, K)."""
    away = draws - np.einsum("r,rigk->igk", shares, draws)
    return np.einsum("r,rigk,rihm->igkhm", shares, away, away)


SINGLE = [[j] for j in range(J)]
GROUPED = [[0, 2], [1, 3]]
KINDS: dict[str, Callable[..., Case]] = {
    "linear": linear,
    "sparse": lambda *given, **more: linear(*given, **more, library=sparse.csr_array),
    "tensor": lambda *given, **more: linear(*given, **more, library=torch.tensor),
    "table": table,
    "sampled": sampled,
}


def check(errors: WeightErrors, covariance: Any, seed: int = 0) -> None:
    """Compare standard deviations of weights, contrasts and other combinations."""
    n, n_components = covariance.shape[:2]
    assert errors.shape == (n, n_components, K)
    asked = np.vstack([np.eye(K), [1, -1, 0], np.random.default_rng(seed).normal(size=K)])
    squared = np.einsum("mk,igkgl,ml->igm", asked, covariance, asked)
    np.testing.assert_allclose(errors.std_of(asked), np.sqrt(squared), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("groups", [SINGLE, GROUPED])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_against_the_full_covariance(kind: str, groups: Any, own: bool) -> None:
    case = KINDS[kind](0, groups, own)
    errors, full = case.errors, case.covariance
    check(errors, full)
    rows = [4, 0, 0, 2]
    check(errors.rows(rows), full[rows])
    check(errors.keep([1]), full[:, [1]][:, :, :, [1]])
    check(errors.keep([1, 0]), full[:, [1, 0]][:, :, :, [1, 0]])
    everything = list(range(full.shape[1]))
    joined = errors.grouped([everything])
    check(joined, full.sum(axis=(1, 3))[:, None, :, None, :])
    first, rest = [0], everything[1:]
    parts = [full[:, a][:, :, :, b].sum(axis=(1, 3)) for a in (rest, first) for b in (rest, first)]
    twice = np.stack(parts, axis=1).reshape(N, 2, 2, K, K).transpose(0, 1, 3, 2, 4)
    check(errors.grouped([rest, first]), twice)
    check(errors.grouped([rest, first]).grouped([[0, 1]]), full.sum(axis=(1, 3))[:, None, :, None])
    check(errors.scaled(0.3), full * 0.09)
    factors = np.array([0.0, 1.0, 0.5, 2.0, 1.0])
    check(errors.scaled(factors), full * (factors**2)[:, None, None, None, None])
    check(
        errors.scaled(factors).rows(rows).keep([1]),
        (full * (factors**2)[:, None, None, None, None])[rows][:, [1]][:, :, :, [1]],
    )


@given(seed=st.integers(0, 10**6), kind=st.sampled_from(sorted(KINDS)), own=st.booleans())
@settings(max_examples=60, deadline=None)
def test_random_errors(seed: int, kind: str, own: bool) -> None:
    case = KINDS[kind](seed, GROUPED if seed % 2 else SINGLE, own)
    check(case.errors, case.covariance, seed)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_no_rows(kind: str) -> None:
    errors = KINDS[kind](0, SINGLE, own=False).errors.rows([])
    assert errors.shape == (0, J, K)
    assert errors.std_of(np.eye(K)).shape == (0, J, K)


@pytest.mark.parametrize("kind", ["table", "sampled"])
def test_few_draws_have_students_quantiles(kind: str) -> None:
    draws = {"table": 6, "sampled": 7}[kind]
    assert KINDS[kind](0, SINGLE, own=False).errors.degrees_of_freedom == draws - 1
    assert linear(0, SINGLE, own=False).errors.degrees_of_freedom == np.inf


@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_features_of_any_size(size: float) -> None:
    """Squares of the features would overflow or vanish."""
    errors = linear(0, SINGLE, own=True).errors
    assert isinstance(errors, LinearErrors)
    features = errors.features - errors.centre
    far = LinearErrors(
        features * size, errors.centre * 0, errors.covariance, errors.sums, errors.factor
    )
    near = errors.std_of(np.eye(K))[:, :-1]
    np.testing.assert_allclose(far.std_of(np.eye(K))[:, :-1], near * size, rtol=1e-10)


def test_rounding_does_not_make_a_variance_negative() -> None:
    """A singular covariance: in one direction nothing is uncertain."""
    along = np.array([1.0, -1.0, 0.0, 0.0, 0.0])
    covariance = np.zeros((K - 1, J + 1, K - 1, J + 1))
    covariance[0, :, 0, :] = np.outer(along, along) * (1 / 3)
    sums = ComponentSums.of_groups([[0, 1], [2], [3]], J)
    X = np.full((3, J), [[0.1], [0.7], [1e8]])
    errors = LinearErrors(X, np.zeros(J), covariance, sums, np.ones(3))
    std = errors.std_of(np.eye(K))
    assert np.isfinite(std).all()
    assert std[:2, 0].max() < 1e-8


@pytest.mark.parametrize("n", [3, 5000])
def test_blocks_of_rows_agree(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from shafer.evidence import errors as weight_errors

    rows = np.arange(n) % N
    cases = [KINDS[kind](1, GROUPED, own=False).errors.rows(rows) for kind in sorted(KINDS)]
    whole = [errors.std_of(np.eye(K)) for errors in cases]
    monkeypatch.setattr(weight_errors, "_BLOCK", 100)
    for errors, expected in zip(cases, whole, strict=True):
        np.testing.assert_allclose(errors.std_of(np.eye(K)), expected, rtol=1e-12)


def test_evidence_carries_them_through_everything() -> None:
    """Grouped, without, tempered, rows: as the weights, so the errors."""
    case = linear(3, SINGLE, own=False)
    pool = shafer.least_commitment(np.ones((K, J)), np.zeros(K), names=list("abcd"))
    ev = pool(np.random.default_rng(0).normal(size=(N, J)))
    ev = shafer.Evidence.from_source(ev.source, ev.classes, ev.component_names, errors=case.errors)
    np.testing.assert_allclose(ev[[3, 1]].weights_std, ev.weights_std[[3, 1]])
    np.testing.assert_allclose(ev.without(["b"]).weights_std, ev.weights_std[:, [0, 2, 3]])
    np.testing.assert_allclose(ev.tempered(0.5).weights_std, ev.weights_std / 2)
    by_row = np.linspace(0, 1, N)
    np.testing.assert_allclose(
        ev.tempered(by_row).weights_std, ev.weights_std * by_row[:, None, None]
    )
    np.testing.assert_allclose(
        ev.grouped({"ab": ["a", "b"]}).weights_std[:, 1:], ev.weights_std[:, 2:]
    )
    assert ev.with_index(range(N)).errors is case.errors
    assert ev.discounted(0.5).evidence.errors is case.errors
    assert ev.components.errors is None
