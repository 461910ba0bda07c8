"""Cross-conformal sets: p-values by counting, one fold as split conformal, promised coverage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from shafer.conformal.cross import cross_conformal
from shafer.conformal.scores import SCORES, conformal_scores
from shafer.conformal.split import split_conformal


def heart(return_X_y: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    data = shafer.datasets.load_heart()
    return data.data, data.target


DATA: dict[str, Callable[..., Any]] = {
    "heart": heart,
    "wine": datasets.load_wine,
    "breast cancer": datasets.load_breast_cancer,
}
N_ROWS, N_FOLDS, N_SPLITS = 54, 6, 40
# 1 − 2α is what is proved; this is what is reached. Split conformal would have 50/55 = .909.
BAND = (0.9, 0.945)


def trained(X: NDArray[Any], y: NDArray[Any]) -> shafer.Explainer:
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    return shafer.Explainer(model, X)


def one_split(
    X: NDArray[Any], y: NDArray[Any], score: str, seed: int, *, peek: bool
) -> tuple[float, float]:
    """Coverage and mean size on the rest, from a few rows; ``peek`` trains on all of them."""
    order = np.random.default_rng(seed).permutation(len(y))
    few, rest = order[:N_ROWS], order[N_ROWS:]
    folds = np.zeros(N_ROWS, dtype=int)
    own = np.zeros((N_ROWS, len(np.unique(y))))
    new = []
    cut = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(X[few], y[few])
    for fold, (inside, outside) in enumerate(cut):
        rows = few if peek else few[inside]
        explainer = trained(X[rows], y[rows])
        folds[outside] = fold
        own[outside] = conformal_scores(explainer(X[few[outside]]).pooled, score)
        new.append(conformal_scores(explainer(X[rest]).pooled, score))
    kept = cross_conformal(own, folds, y[few], score=score).sets(iter(new))
    return float(kept[np.arange(len(rest)), y[rest]].mean()), float(kept.sum(axis=1).mean())


# The simulations are not traced for coverage: they repeat a few lines many times.


@pytest.mark.no_cover
@pytest.mark.parametrize(("name", "score"), list(zip(DATA, [*SCORES, "plausibility"], strict=True)))
def test_coverage_is_near_what_was_asked_for(name: str, score: str) -> None:
    X, y = DATA[name](return_X_y=True)
    honest = np.mean([one_split(X, y, score, seed, peek=False) for seed in range(N_SPLITS)], axis=0)
    assert BAND[0] <= honest[0] <= BAND[1]
    assert honest[1] < len(np.unique(y))


@pytest.mark.no_cover
def test_the_coverage_test_notices_models_that_have_seen_the_rows() -> None:
    X, y = DATA["heart"](return_X_y=True)
    peeking = np.mean([one_split(X, y, "plausibility", s, peek=True)[0] for s in range(N_SPLITS)])
    assert peeking < BAND[0]


@given(
    st.integers(0, 10_000),
    st.integers(18, 70),
    st.sampled_from([0.5, 0.8, 0.9]),
    st.booleans(),
    st.booleans(),
)
def test_one_fold_is_split_conformal(
    seed: int, n: int, coverage: float, class_conditional: bool, allow_empty: bool
) -> None:
    rng = np.random.default_rng(seed)
    scores, new = rng.integers(-9, 9, size=(n, 2)).astype(float), rng.normal(0, 9, size=(20, 2))
    y = np.arange(n) % 2  # nine rows of each at least: enough for 90 %
    options: dict[str, Any] = {
        "coverage": coverage,
        "class_conditional": class_conditional,
        "allow_empty": allow_empty,
    }
    split = split_conformal(scores, y, **options).sets(new)
    for folds in (np.zeros(n, dtype=int), np.arange(n) % 4):  # the same model for all folds
        cross = cross_conformal(scores, folds, y, **options)
        assert_array_equal(cross.sets([new] * (folds.max() + 1)), split)


@pytest.mark.parametrize("class_conditional", [False, True])
def test_p_values_are_counts(class_conditional: bool) -> None:
    rng = np.random.default_rng(0)
    n, n_folds, n_classes, coverage = 60, 5, 3, 0.8
    scores = rng.integers(-5, 5, size=(n, n_classes)).astype(float)
    folds, y = rng.permutation(n) % n_folds, rng.permutation(n) % n_classes
    new = rng.integers(-5, 5, size=(n_folds, 7, n_classes)).astype(float)
    expected = np.empty((7, n_classes))
    for row in range(7):
        for k in range(n_classes):
            rivals = [i for i in range(n) if y[i] == k or not class_conditional]
            beaten = sum(scores[i, y[i]] >= new[folds[i], row, k] for i in rivals)
            expected[row, k] = (1 + beaten) / (1 + len(rivals))
    calibrated = cross_conformal(
        scores, folds, y, coverage=coverage, class_conditional=class_conditional
    )
    assert_allclose(calibrated.p_values(new), expected, rtol=1e-15)
    assert_array_equal(calibrated.sets(new), expected > 0.2 + 1e-12)


def test_exact_at_the_boundary() -> None:
    # p = 1/10 is not above α = 0.1, although 1 − 0.9 in floating point is just below it.
    scores = np.stack([np.arange(9.0), np.arange(9.0)], axis=1)
    calibrated = cross_conformal(scores, np.zeros(9, dtype=int), np.zeros(9), classes=[0, 1])
    assert_array_equal(calibrated.sets([[[8.0, 8.5]]]), [[True, False]])


def test_empty_sets_are_filled_with_the_class_of_the_smallest_worst_score() -> None:
    scores = np.stack([np.arange(20.0), np.arange(20.0)], axis=1)
    new = [np.array([[50.0, 30.0]]), np.array([[20.5, 31.0]])]
    options: dict[str, Any] = {"folds": np.arange(20) % 2, "y": np.zeros(20), "classes": [0, 1]}
    assert not cross_conformal(scores, **options).sets(new).any()
    filled = cross_conformal(scores, **options, allow_empty=False).sets(new)
    assert_array_equal(filled, [[False, True]])


def test_too_few_rows_say_so() -> None:
    with pytest.warns(UserWarning, match="5 calibration rows .* at least 9 rows"):
        calibrated = cross_conformal(np.zeros((5, 2)), [0, 0, 1, 1, 1], [0, 1, 0, 1, 1])
    assert calibrated.sets([np.ones((1, 2))] * 2).all()
    with pytest.warns(UserWarning, match=r"'b' \(3\); every set will hold them"):
        calibrated = cross_conformal(
            np.zeros((13, 2)),
            np.arange(13) % 3,
            ["a"] * 10 + ["b"] * 3,
            class_conditional=True,
            classes=["a", "b"],
        )
    assert_array_equal(calibrated.sets([np.ones((1, 2))] * 3), [[False, True]])


def test_torch_scores() -> None:
    scores = np.random.default_rng(1).normal(size=(30, 2))
    ours = cross_conformal(scores, np.arange(30) % 3, np.arange(30) % 2)
    theirs = cross_conformal(torch.asarray(scores), np.arange(30) % 3, np.arange(30) % 2)
    new = [torch.asarray(scores)] * 3
    assert_array_equal(theirs.p_values(new), ours.p_values([scores] * 3))


@pytest.mark.parametrize("number", [1, 3])
def test_one_array_of_scores_for_each_fold(number: int) -> None:
    calibrated = cross_conformal(np.zeros((20, 2)), np.arange(20) % 2, np.arange(20) % 2)
    found = "1" if number == 1 else "more than 2"
    with pytest.raises(ValueError, match=f"2 arrays, one for each fold; got {found}"):
        calibrated.sets(np.zeros((4, 2)) for _ in range(number))


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        ([0, 1], r"one whole number for each of the 20 rows.*got shape \(2,\)"),
        (np.full(20, 0.5), "of float64"),
        ([0, 2] * 10, r"without a gap; got \[0, 2\]"),
    ],
)
def test_errors_say_what_was_wrong(folds: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cross_conformal(np.zeros((20, 2)), folds, np.zeros(20), classes=[0, 1])
