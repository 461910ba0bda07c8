"""The class prior that each source was trained with, which is counted once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shafer import EvidentialClassifier, EvidentialVotingClassifier


def uneven() -> tuple[Any, Any]:
    X, y = make_classification(1200, 6, n_informative=4, weights=[0.9], random_state=0)
    return X, y


@pytest.mark.parametrize(
    ("estimator", "prior"),
    [
        (LogisticRegression(class_weight="balanced"), [0.5, 0.5]),
        (make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced")), [0.5, 0.5]),
        (LogisticRegression(class_weight={0: 1.0, 1: 3.0}), None),
        (EvidentialClassifier(LogisticRegression(class_weight="balanced")), [0.5, 0.5]),
        (GaussianNB(priors=[0.3, 0.7]), [0.3, 0.7]),
        (BernoulliNB(fit_prior=False), [0.5, 0.5]),
        (LinearDiscriminantAnalysis(priors=[0.4, 0.6]), [0.4, 0.6]),
        (
            RandomForestClassifier(20, class_weight="balanced_subsample", random_state=0),
            [0.5, 0.5],
        ),
    ],
)
def test_a_model_told_of_another_prior_gives_that_one_back(estimator: Any, prior: Any) -> None:
    X, y = uneven()
    clf = EvidentialVotingClassifier([("a", estimator), ("b", GaussianNB())], tempering=None)
    source = clf.fit(X, y).sources_["a"]
    if prior is None:
        prior = np.bincount(y) * [1.0, 3.0] / (np.bincount(y) @ [1.0, 3.0])
    assert_allclose(source.prior, prior, atol=1e-12)
    assert_allclose(clf.sources_["b"].prior, np.bincount(y) / len(y))


def test_balanced_models_do_not_count_the_rare_class_again() -> None:
    X, y = uneven()
    views = ([0, 1, 2], [3, 4, 5])
    balanced = LogisticRegression(class_weight="balanced")
    clf = EvidentialVotingClassifier(
        [(f"view {v}", balanced, columns) for v, columns in enumerate(views)], tempering=None
    ).fit(X, y)
    assert clf.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.05)
