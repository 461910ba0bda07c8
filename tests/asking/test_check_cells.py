"""Cells that are worth checking: residuals, surprise and stake, against direct computation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, rel_entr
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

import shafer
from linear_worlds import conditional, linear_world, moments, with_gaps

TAU = 5.0


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
@pytest.mark.parametrize("gaps", [[], [1, 4]])
def test_against_direct_computation(n_classes: int, gaps: list[int]) -> None:
    explainer, X, _ = linear_world(n_classes, n_classes)
    read = shafer.Explainer(explainer.model, X, missing="conditional")
    row = with_gaps(X[0], gaps)
    found = explainer.ask.check_cells(row[None, :], top=None).set_index("input")
    assert sorted(found.index) == [f"x{j}" for j in range(6) if j not in gaps]
    now = read(row[None, :])
    kappa = np.linalg.norm(now.logits) / np.linalg.norm(unmoderated(explainer, row))
    for name, line in found.iterrows():
        j = int(str(name)[1:])
        without = with_gaps(row, [j])
        out, expected, left = conditional(explainer, without)
        place = list(out).index(j)
        assert_allclose(line["value"], row[j])
        assert_allclose(line["expected"], expected[place], rtol=1e-6)
        spread = np.sqrt(left[place, place])
        surprise = abs(row[j] - expected[place]) / spread
        assert_allclose(line["surprise"], surprise, rtol=1e-6)
        wide = norm.pdf(row[j], expected[place], spread * np.sqrt(1 + TAU**2))
        odds = wide / norm.pdf(row[j], expected[place], spread)
        wrong = expit(np.log(0.02) + np.log(odds))
        repaired = row.copy()
        repaired[j] = expected[place]
        then = kappa * unmoderated(explainer, repaired)
        p = np.exp(then - then.max())
        divergence = rel_entr(p / p.sum(), now.probability[0]).sum()
        assert_allclose(line["stake"], wrong * divergence, rtol=1e-5, atol=1e-12)
    assert (np.diff(found["stake"]) <= 1e-15).all()


def unmoderated(explainer: shafer.Explainer, row: Any) -> Any:
    """Return the logits of a row with expectations in place of what is missing."""
    filled = row.copy()
    if np.isnan(row).any():
        out, expected, _ = conditional(explainer, row)
        filled[out] = expected
    return explainer(filled[None, :]).logits[0]


def test_a_wrong_value_surprises_most() -> None:
    explainer, X, _ = linear_world(0, 3)
    bad = X[:20].copy()
    mean, covariance = moments(explainer)
    bad[:, 2] = mean[2] + 12 * np.sqrt(covariance[2, 2])
    every = explainer.ask.check_cells(bad, top=None)
    found = every.sort_values("surprise").groupby("row").tail(1).sort_values("row")
    assert (found["input"] == "x2").all()
    assert found["row"].tolist() == list(range(20))
    assert (found["surprise"] > 5).all()
    first = explainer.ask.check_cells(bad, top=1)
    assert (first["rank"] == 1).all()
    assert_allclose(first["stake"], every.groupby("row")["stake"].max())


def test_values_are_those_of_the_user() -> None:
    heart = shafer.datasets.load_heart()
    frame = pd.DataFrame(heart.data, columns=heart.feature_names)
    plain = shafer.Explainer(LogisticRegression(max_iter=5000).fit(frame, heart.target), frame)
    scaled = make_pipeline(StandardScaler(), LogisticRegression(C=1e6)).fit(frame, heart.target)
    first = plain.ask.check_cells(frame[:5], top=None).sort_values(["row", "input"])
    second = shafer.Explainer(scaled, frame).ask.check_cells(frame[:5], top=None)
    second = second.sort_values(["row", "input"])
    assert_allclose(second["value"], first["value"])
    assert_allclose(second["expected"], first["expected"], rtol=1e-6)
    assert_allclose(second["surprise"], first["surprise"], rtol=1e-6)
    bent = make_pipeline(QuantileTransformer(n_quantiles=100), LogisticRegression())
    bent.fit(frame, heart.target)
    found = shafer.Explainer(bent, frame).ask.check_cells(frame[:5], top=None)
    assert (found.loc[found["input"] == "sbp", "expected"].between(100, 220)).all()


def test_everything_missing_leaves_nothing_to_check() -> None:
    explainer, X, _ = linear_world(0, 2)
    found = explainer.ask.check_cells(np.full((2, 6), np.nan))
    assert found.empty
    assert list(found.columns) == [
        "row", "rank", "input", "value", "expected", "surprise", "stake",
    ]  # fmt: skip
    assert len(explainer.ask.check_cells(X[:2], top=None)) == 12
