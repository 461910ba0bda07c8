"""The heart experiment: logistic regression on age and LDL cholesterol (§5.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from shafer._typing import FloatArray
from shafer.datasets.heart import load_heart
from shafer.estimators.evidential_classifier import EvidentialClassifier
from shafer.evidence.least_commitment import LinearPool
from shafer.explain.explainer import Explainer
from shafer.paper.set_tables import random_choice_error, set_table, share_of_size, wrong_singletons

CLASSES = ("θ₁", "θ₂")  # infarction, none
FEATURES = ("age", "ldl")


@final
@dataclass(frozen=True, eq=False)
class HeartData:
    """Age and LDL cholesterol of 462 men, and whether they had an infarction (θ₁) or not (θ₂)."""

    X: FloatArray  # (462, 2): age, ldl
    y: NDArray[np.str_]  # (462,)


@final
@dataclass(frozen=True, eq=False)
class HeartResult:
    """Tables of every replication, in per cent, and the cut-offs of the model on all data.

    Attributes
    ----------
    data : HeartData
    explainer : Explainer
        Of the model trained on all data.
    cutoffs : dict of feature name to float
        Where the feature's evidence vanishes.
    mp, id : arrays of shape (R, 2, 2) and (R, 3, 2)
        Rows +, −, {+, −}; columns true +, true −.
    derived : dict of name to array of shape (R,)
        Error rates, rejection rate, error of a random choice.
    """

    data: HeartData
    explainer: Explainer
    cutoffs: dict[str, float]
    mp: FloatArray
    id: FloatArray
    derived: dict[str, FloatArray]


def paper_heart_data() -> HeartData:
    """Take the two features of the paper; θ₁ is infarction."""
    heart = load_heart()
    columns = [heart.feature_names.index(name) for name in FEATURES]
    return HeartData(heart.data[:, columns], np.where(heart.target == 1, *CLASSES))


def _classifier() -> EvidentialClassifier:
    """Return an unregularised maximum-likelihood fit."""
    model = LogisticRegression(C=np.inf, solver="newton-cholesky")
    return EvidentialClassifier(model, groups=None, prior="shared")


def _replication(data: HeartData, seed: int) -> tuple[FloatArray, FloatArray]:
    """Decide every instance by the model of the other nine folds; return both tables.

    Folds are drawn without stratification. The training folds set the feature means, too.
    """
    truth = np.searchsorted(CLASSES, data.y)
    mp, interval = np.zeros((2, len(truth), 2), dtype=bool)
    for train, test in KFold(10, shuffle=True, random_state=seed).split(data.X):
        evidence = _classifier().fit(data.X[train], data.y[train]).evidence(data.X[test])
        mp[test] = evidence.decide("plausibility")
        interval[test] = evidence.decide("interval_dominance")
    return set_table(mp, truth), set_table(interval, truth)


def run_heart(replications: int, seed: int, progress: Callable[[range], Any] = iter) -> HeartResult:
    """Fit once on all data for the cut-offs, then repeat 10-fold cross-validation.

    Parameters
    ----------
    replications : int
        Number of times the ten folds are drawn anew.
    seed : int
        Seed of the folds.
    progress : function, optional
        Wraps the replications for a progress bar.
    """
    data = paper_heart_data()
    model = _classifier().fit(data.X, data.y)
    explainer = Explainer(model.estimator_, data.X, None, names=FEATURES, prior="shared")
    pool = explainer.pool
    assert isinstance(pool, LinearPool)  # a logistic regression is linear
    cutoffs = -pool.alpha[:, 0] / pool.beta[:, 0]
    seeds = np.random.SeedSequence(seed).generate_state(replications)
    tables = [_replication(data, int(seeds[r])) for r in progress(range(replications))]
    mp, interval = (np.stack(kind) for kind in zip(*tables, strict=True))
    return HeartResult(
        data,
        explainer,
        dict(zip(FEATURES, cutoffs.tolist(), strict=True)),
        mp[:, 1:3],  # row 0 is the empty set, row 3 both classes: never decided by this rule
        interval[:, 1:],
        {
            "mp_error": np.array([wrong_singletons(table) for table in mp]),
            "id_error": np.array([wrong_singletons(table) for table in interval]),
            "rejection": np.array([share_of_size(table, 2) for table in interval]),
            "random_choice_error": np.array([random_choice_error(t) for t in interval]),
        },
    )
