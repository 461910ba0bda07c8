"""Points of components: the score of a row, and the probabilities it stands for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy.special import log_softmax, softmax

import shafer
from shafer import Evidence
from shafer.evidence.base_rate import BASE_RATE
from shafer.evidence.points import PointScale

TWO = ["bad", "good"]
SIZES = st.floats(1e-3, 1e3)
WEIGHTS = st.integers(2, 5).flatmap(
    lambda k: arrays(np.float64, (3, 4, k), elements=st.floats(-30, 30))
)


def _two(weights: Any, **options: Any) -> Evidence:
    return Evidence.from_weights(weights, classes=TWO, **options)


def test_the_scale() -> None:
    # ln 50 is 3.912, so this row has the odds 50; the second one has 100, which is pdo more.
    ev = _two([[[0.0, math.log(50.0)]], [[0.0, math.log(100.0)]]])
    assert_allclose(ev.points(class_="good"), [[600.0], [620.0]])
    assert_allclose(ev.points(500, 1, 50, "good")[:, 0], [500 + 50 * math.log2(50), 832.192809])
    # The odds of the other class are 1 / 50.
    assert_allclose(ev.points(600, 1 / 50, 20, "bad"), [[600.0], [580.0]])


@given(WEIGHTS, SIZES, SIZES, SIZES)
def test_sums_are_scores(weights: Any, points: float, odds: float, pdo: float) -> None:
    ev = Evidence.from_weights(weights)
    n_classes = weights.shape[2]
    log_p = log_softmax(weights.sum(axis=1), axis=1)
    if n_classes == 2:
        scores = ev.points(points, odds, pdo, 1).sum(axis=1)
        expected = points + pdo / math.log(2) * (log_p[:, 1] - log_p[:, 0] - math.log(odds))
        assert_allclose(scores, expected, rtol=1e-9, atol=1e-9 * (points + pdo))
        return
    table = ev.points(points, odds, pdo)
    assert table.shape == weights.shape
    scores = table.sum(axis=1)
    assert_allclose(softmax(scores * math.log(2) / pdo, axis=1), ev.probability, atol=1e-9)
    for k in range(n_classes):
        assert_allclose(ev.points(points, odds, pdo, k), table[:, :, k])


def test_the_default_scale_is_600_points_at_odds_of_50_and_20_points_to_double() -> None:
    assert PointScale() == PointScale(points=600.0, odds=50.0, pdo=20.0)


def test_pdo_more_points_are_twice_as_probable() -> None:
    weights = np.random.default_rng(0).normal(size=(5, 3, 4))
    ev = Evidence.from_weights(weights, classes=["a", "b", "c", "d"])
    scores = ev.points(pdo=10.0).sum(axis=1)
    ratio = ev.probability[:, 2] / ev.probability[:, 1]
    assert_allclose(scores[:, 2] - scores[:, 1], 10.0 * np.log2(ratio))


class TestTheConstant:
    WEIGHTS = np.random.default_rng(1).normal(size=(4, 3, 2))

    def test_is_shared_equally(self) -> None:
        ev = _two(self.WEIGHTS)
        factor, offset = 20 / math.log(2), 600 - 20 / math.log(2) * math.log(50)
        expected = factor * ev.contrast("good", "bad") + offset / 3
        assert_allclose(ev.points(class_="good"), expected)

    def test_belongs_to_the_base_rate(self) -> None:
        shared = _two(self.WEIGHTS, names=["a", "b", "c"])
        own = _two(self.WEIGHTS, names=["a", BASE_RATE, "c"])
        factor = 20 / math.log(2)
        points = own.points(class_="good")
        assert_allclose(points[:, [0, 2]], factor * own.contrast("good", "bad")[:, [0, 2]])
        assert_allclose(points.sum(axis=1), shared.points(class_="good").sum(axis=1))

    def test_for_three_classes(self) -> None:
        weights = np.random.default_rng(1).normal(size=(4, 2, 3))
        own = Evidence.from_weights(weights, names=["a", BASE_RATE])
        shared = Evidence.from_weights(weights, names=["a", "b"])
        assert_allclose(own.points()[:, 0], 20 / math.log(2) * weights[:, 0])
        assert_allclose(own.points().sum(axis=1), shared.points().sum(axis=1))


def test_arrays_of_torch() -> None:
    weights = np.random.default_rng(2).normal(size=(4, 3, 2))
    found = _two(torch.asarray(weights)).points(class_="good")
    assert isinstance(found, torch.Tensor)
    assert_allclose(found, _two(weights).points(class_="good"))
    table = Evidence.from_weights(torch.ones((2, 3, 4), dtype=torch.float32)).points()
    assert table.dtype == torch.float32
    assert table.shape == (2, 3, 4)


def test_evidence_of_single_components() -> None:
    ev = _two(np.random.default_rng(3).normal(size=(4, 3, 2)))
    found = ev.components.points(class_="good")
    assert found.shape == (4, 3, 1)
    share = 600 - 20 / math.log(2) * math.log(50)
    assert_allclose(found[..., 0], ev.points(class_="good") + share * 2 / 3)


class TestErrors:
    EV = _two(np.zeros((1, 2, 2)))

    def test_two_classes_need_a_favourable_one(self) -> None:
        with pytest.raises(ValueError, match=r"class_ is needed for two classes.*'bad', 'good'"):
            self.EV.points()

    @pytest.mark.parametrize("labels", [[0, 1], [1, 0], [-1, 1], [False, True], [2.0, 1.0]])
    def test_of_two_numbers_the_smaller_is_favourable(self, labels: list[float]) -> None:
        ev = shafer.Evidence.from_weights([[[0.9, -0.9]]], classes=labels)
        assert_allclose(ev.points(), ev.points(class_=min(labels)))

    def test_labels_not_positions(self) -> None:
        with pytest.raises(ValueError, match="Unknown class label"):
            self.EV.points(class_=1)
        with pytest.raises(ValueError, match="class_ must be one class label"):
            self.EV.points(class_=["bad", "good"])

    @pytest.mark.parametrize(
        ("name", "value", "text"),
        [
            ("points", float("inf"), "points must be a finite number; got inf"),
            ("points", "600", "points must be a finite number; got '600'"),
            ("odds", 0, "odds must be a finite number above 0; got 0"),
            ("odds", -2.0, "odds must be a finite number above 0; got -2.0"),
            ("pdo", 0.0, "pdo must be a finite number above 0; got 0.0"),
            ("pdo", float("nan"), "pdo must be a finite number above 0; got nan"),
            ("pdo", True, "pdo must be a finite number above 0; got True"),
        ],
    )
    def test_the_scale(self, name: str, value: Any, text: str) -> None:
        with pytest.raises(ValueError, match=text):
            self.EV.points(**{name: value}, class_="good")

    def test_other_types_have_no_points(self) -> None:
        with pytest.raises(AttributeError, match="no weights, so it has no 'points'"):
            self.EV.discounted(0.5).points  # noqa: B018 - the access is the test
