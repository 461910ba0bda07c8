"""Two-sample tests against scipy, their false alarms, and the population stability index."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from optbinning.binning.metrics import jeffrey
from optbinning.scorecard import ScorecardMonitoring
from scipy import stats

import shafer
from credit_data import applicants, trained
from shafer.monitor.shift_tests import (
    ValueClusters,
    _rank_sum_p,
    adjusted_p_values,
    bin_counts,
    bins_p_value,
    distribution_shift,
    fisher_p_values,
    share_shift,
    stability_index,
)

# Two-sample tests against scipy, and their false alarms.


VALUES = st.lists(st.integers(-5, 5), min_size=2, max_size=40)


@given(VALUES, VALUES)
@settings(max_examples=60, deadline=None)
def test_ks_is_scipys(first: list[int], second: list[int]) -> None:
    shift = distribution_shift(np.array(first, float), np.array(second, float), 10)
    theirs = stats.ks_2samp(first, second, method="asymp")
    assert_allclose(shift.ks, theirs.statistic, atol=1e-12)
    assert_allclose(shift.ks_p, theirs.pvalue, atol=1e-12)
    assert 0.0 <= shift.p <= 1.0


@given(VALUES, VALUES)
@settings(max_examples=60, deadline=None)
def test_rank_sum_is_scipys(first: list[int], second: list[int]) -> None:
    pooled = ValueClusters.of(np.array([*first, *second], float), 0.0)
    if len(pooled.counts) == 1:
        return
    ours = _rank_sum_p(pooled.places, pooled.counts, len(first))
    theirs = stats.mannwhitneyu(first, second, method="asymptotic").pvalue
    assert_allclose(min(ours, 1.0), theirs, atol=1e-12)


def test_fishers_tails_are_exact() -> None:
    [p] = fisher_p_values(np.array([7]), 20, np.array([5]), 100)
    upper = stats.fisher_exact([[7, 13], [5, 95]], alternative="greater").pvalue
    assert_allclose(p, 2.0 * upper)


def test_two_bins_are_one_test() -> None:
    actual, expected = np.array([30, 10]), np.array([100, 100])
    assert bins_p_value(expected, actual) == fisher_p_values(actual, 40, expected, 200)[0]


def test_a_share_can_grow_and_shrink() -> None:
    many, few = np.arange(100) < 50, np.arange(100) < 20
    assert share_shift(many, few) < 1e-4
    assert share_shift(few, many) < 1e-4
    assert share_shift(few, few) == 1.0


def test_rounding_is_no_shift() -> None:
    random = np.random.default_rng(0)
    values = random.choice([0.1, 0.7, 1.3], size=400)
    noise = values + 1e-14 * random.choice([-1.0, 1.0], size=400)
    assert distribution_shift(values, noise + 1e-14, 10).p < 1e-6  # without the tolerance
    assert distribution_shift(values, noise + 1e-14, 10, 1e-9).p == 1.0


def test_a_new_value_is_seen_at_once() -> None:
    batch = np.zeros(200)
    batch[:15] = 1.0
    assert distribution_shift(np.zeros(1000), batch, 10).p < 1e-6


def _samples(kind: str, random: np.random.Generator, n: int) -> np.ndarray:
    if kind == "normal":
        return random.normal(size=n)
    if kind == "heavy":
        return random.standard_cauchy(size=n)
    if kind == "rare":
        return (random.random(n) < 0.004).astype(float)
    if kind == "spike":
        return random.normal(size=n) * (random.random(n) < 0.3)
    return random.poisson(1.5, size=n).astype(float)


@pytest.mark.parametrize("kind", ["normal", "heavy", "rare", "spike", "counts"])
def test_p_values_are_valid(kind: str) -> None:
    random = np.random.default_rng(1)
    pairs = [(_samples(kind, random, 300), _samples(kind, random, 60)) for _ in range(300)]
    p = np.array([distribution_shift(a, b, 10).p for a, b in pairs])
    for level in (0.02, 0.05, 0.2):
        # Three standard errors above the level would be chance.
        assert np.mean(p <= level) <= level + 3.0 * np.sqrt(level * (1.0 - level) / len(p))


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12))
def test_holm_by_its_definition(p: list[float]) -> None:
    ours = adjusted_p_values(np.array(p))
    order = sorted(range(len(p)), key=lambda i: p[i])
    largest = 0.0
    for step, i in enumerate(order):
        largest = max(largest, (len(p) - step) * p[i])
        assert_allclose(ours[i], min(1.0, largest))


# The population stability index is optbinning's.


@pytest.mark.parametrize("shift", [0.0, 0.3, 1.0])
def test_formula_and_bins(shift: float) -> None:
    random = np.random.default_rng(0)
    reference, batch = random.normal(size=2000), random.normal(size=700) + shift
    splits = ValueClusters.of(reference, 0.0).splits(10, 10)
    assert len(splits) == 9
    expected, actual = bin_counts(reference, splits), bin_counts(batch, splits)
    assert expected.min() == expected.max() == 200
    for values, counts in ((reference, expected), (batch, actual)):
        places = np.digitize(values, splits, right=True)
        assert np.bincount(places, minlength=10).tolist() == counts.tolist()
    theirs = jeffrey(actual / 700, expected / 2000, return_sum=True)
    assert_allclose(stability_index(actual, expected), theirs, atol=1e-12)


def test_an_empty_bin_is_infinite_as_in_optbinning() -> None:
    actual, expected = np.array([0, 10]), np.array([5, 5])
    assert stability_index(actual, expected) == np.inf
    assert jeffrey(actual / 10, expected / 10, return_sum=True) == np.inf


def test_bins_hold_rows_of_the_reference() -> None:
    random = np.random.default_rng(3)
    for _ in range(50):
        values = random.choice(np.arange(40.0), size=200, p=random.dirichlet(np.full(40, 0.2)))
        splits = ValueClusters.of(values, 0.0).splits(10, 10)
        assert bin_counts(values, splits).min() > 0


def test_a_scorecard_has_the_index_of_optbinning() -> None:
    X, y = applicants("german credit")
    card = trained("german credit")
    reference, batch = slice(0, None, 2), slice(1, None, 2)
    theirs = ScorecardMonitoring(card)
    theirs.fit(X[batch], y[batch], X[reference], y[reference])
    index = theirs.psi_variable_table(style="summary").set_index("Variable")["PSI"]
    explainer = shafer.Explainer(card, X, prior="own")
    monitor = shafer.Monitor.fit(explainer, X[reference], bins=50)
    table = monitor.check(X[batch]).to_frame("pandas").set_index("name")
    found = table.loc[list(index.index), "psi"]
    assert_allclose(found, index, atol=1e-9)
    assert found.max() > 0.01
