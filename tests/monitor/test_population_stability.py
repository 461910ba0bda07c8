"""The population stability index is optbinning's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from optbinning.binning.metrics import jeffrey
from optbinning.scorecard import ScorecardMonitoring

import shafer
from credit_data import applicants, trained
from shafer.monitor.shift_tests import ValueClusters, bin_counts, stability_index


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
