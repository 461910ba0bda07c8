"""Copies of a classifier on rows drawn again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shafer.models import bootstrap_refits

X, Y = load_iris(return_X_y=True)
MODEL = LogisticRegression(max_iter=1000)


def test_copies_of_the_model_on_other_rows() -> None:
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=0.3)).fit(X, Y)
    before = pipeline[-1].coef_.copy()
    refits = bootstrap_refits(pipeline, X, Y, 5)
    assert len(refits) == 5
    np.testing.assert_array_equal(pipeline[-1].coef_, before)
    means = np.array([refit[0].mean_ for refit in refits])
    assert (means.std(axis=0) > 0).all()  # the scaler is trained again too
    assert all(refit[-1].C == 0.3 for refit in refits)
    again = bootstrap_refits(pipeline, X, Y, 5)
    np.testing.assert_array_equal(refits[3][-1].coef_, again[3][-1].coef_)
    other = bootstrap_refits(pipeline, X, Y, 5, random_state=1)
    assert not np.array_equal(refits[3][-1].coef_, other[3][-1].coef_)


def test_the_spread_is_that_of_the_mean() -> None:
    """The mean of n rows has the standard error σ/√n."""
    refits = bootstrap_refits(StandardScalerThenModel(), X, Y, 300)
    found = np.std([refit.mean_ for refit in refits], axis=0)
    np.testing.assert_allclose(found, X.std(axis=0) / np.sqrt(150), rtol=0.15)


class StandardScalerThenModel(LogisticRegression):
    """Remembers the mean of the rows."""

    def fit(self, X: Any, y: Any) -> Any:
        self.mean_ = X.mean(axis=0)
        return self


def test_rare_classes_are_in_every_sample() -> None:
    y = np.where(np.arange(150) < 2, "rare", "usual")
    refits = bootstrap_refits(MODEL, X, y, 20)
    assert all(refit.classes_.tolist() == ["rare", "usual"] for refit in refits)
    many = np.arange(150)  # each class once: no sample has them all
    with pytest.raises(ValueError, match=r"held every class .* smallest of the 150 classes has 1"):
        bootstrap_refits(MODEL, X, many, 2)


def test_frames_and_weights() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(150) + 7)
    series = pd.Series(Y, index=frame.index)
    refits = bootstrap_refits(MODEL, frame, series, 2)
    assert refits[0].feature_names_in_.tolist() == list("abcd")
    np.testing.assert_allclose(
        refits[1].coef_, bootstrap_refits(MODEL, X, Y, 2)[1].coef_, rtol=1e-9
    )
    weight = np.where(Y == 1, 10.0, 1.0)
    weighted = bootstrap_refits(MODEL, X, Y, 2, sample_weight=weight)
    assert weighted[0].predict_proba(X)[:, 1].mean() > refits[0].predict_proba(frame)[:, 1].mean()


@pytest.mark.parametrize("n", [0, 1, -3, 2.5, True, "5", None])
def test_numbers_of_refits(n: Any) -> None:
    with pytest.raises(ValueError, match="n must be a whole number of refits ≥ 2; got"):
        bootstrap_refits(MODEL, X, Y, n)
