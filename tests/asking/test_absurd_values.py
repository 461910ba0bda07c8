"""Questions about rows with absurd values, and options that are easy to get wrong."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

import shafer
from shafer._typing import FloatArray


@pytest.fixture
def asked() -> tuple[shafer.Explainer, FloatArray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    X[:, 1] += X[:, 0]
    y = (X.sum(axis=1) + rng.logistic(size=200) > 0.0).astype(int)
    return shafer.Explainer(LogisticRegression().fit(X, y), X), X


@pytest.mark.parametrize("huge", [1e3, 1e12, 1e20, 1e100, 1e300])
def test_an_absurd_value_leaves_no_trace(
    asked: tuple[shafer.Explainer, FloatArray], huge: float
) -> None:
    explainer, X = asked
    row, gap = X[:1].copy(), X[:1].copy()
    row[0, 1], gap[0, 1] = huge, np.nan
    found, without = explainer.ask.guard(row), explainer.ask.guard(gap)
    assert_allclose(found.probability, without.probability, rtol=1e-12)
    assert found.repaired[0].tolist() == [False, True, False, False, False, False]
    cell = explainer.ask.check_cells(row).iloc[0]
    assert cell["input"] == "x1"
    usual = found.to_frame()["expected"].iloc[0]
    assert_allclose(cell["expected"], usual, rtol=1e-9)
    assert np.isfinite([cell["surprise"], cell["stake"]]).all()
    assert np.isfinite(explainer.ask.fragility(row)).all()


def test_five_fill_values_in_a_row(asked: tuple[shafer.Explainer, FloatArray]) -> None:
    explainer, X = asked
    row, gap = X[:1].copy(), X[:1].copy()
    row[0, :5], gap[0, :5] = 1e20, np.nan
    # Four are repaired; the mixture answers as if the fifth were missing, too.
    found = explainer.ask.guard(row)
    assert found.repaired.sum() == 4
    assert_allclose(found.probability, explainer.ask.guard(gap).probability, atol=0.02)


def test_groups_of_inputs_by_name_only(asked: tuple[shafer.Explainer, FloatArray]) -> None:
    explainer, _ = asked
    with pytest.raises(ValueError, match="measured together: a mapping .* got 'auto'"):
        explainer.ask.next_inputs(np.full((1, 6), np.nan), groups="auto")


def test_classifier_options() -> None:
    X, y = np.random.default_rng(1).normal(size=(60, 3)), np.arange(60) % 2
    with pytest.raises(ValueError, match="guard must be True or False; got 'yes'"):
        shafer.EvidentialClassifier(guard="yes").fit(X, y)  # type: ignore[arg-type]
    gap = np.array([[np.nan, 0.0, 0.0]])
    clf = shafer.EvidentialClassifier(guard=True).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        clf.predict_proba(gap)
    clf = shafer.EvidentialClassifier(guard=True, missing="conditional").fit(X, y)
    assert_allclose(clf.predict_proba(gap).sum(), 1.0)
