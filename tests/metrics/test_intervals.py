from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

import shafer
from shafer.metrics import interval_calibration

from .strategies import columns, decisions, repeated


def _intervals(shape: tuple[int, int], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.sort(np.random.default_rng(seed).random((2, *shape)), axis=0)
    return low, high


@given(decisions())
def test_weights_are_repetitions(case: tuple[np.ndarray, ...]) -> None:
    y_true, y_set, weight = case
    belief, plausibility = _intervals(y_set.shape)
    for events in ("decided", "every"):
        options: dict[str, Any] = dict(
            events=events, strategy="uniform", n_bins=4, labels=columns(y_set)
        )
        weighted = interval_calibration(
            y_true, belief, plausibility, sample_weight=weight, **options
        )
        again = interval_calibration(*repeated(weight, y_true, belief, plausibility), **options)
        for name in ("belief", "plausibility", "frequency", "share", "mean_width", "inside"):
            assert_allclose(getattr(weighted, name), getattr(again, name), atol=1e-12)


def test_bins_are_means_of_their_events() -> None:
    random = np.random.default_rng(1)
    belief, plausibility = _intervals((200, 3))
    y_true = random.integers(3, size=200)
    result = interval_calibration(y_true, belief, plausibility, strategy="uniform", n_bins=5)
    best = plausibility.argmax(axis=1)
    rows = np.arange(200)
    low, high = belief[rows, best], plausibility[rows, best]
    bins = np.minimum(np.floor((low + high) / 2 * 5), 4).astype(int)
    present = np.unique(bins)
    assert_allclose(result.belief, [low[bins == b].mean() for b in present])
    assert_allclose(result.plausibility, [high[bins == b].mean() for b in present])
    assert_allclose(result.frequency, [(best == y_true)[bins == b].mean() for b in present])
    assert_allclose(result.share, [(bins == b).mean() for b in present])
    assert result.mean_width == pytest.approx((high - low).mean())
    held = (result.belief <= result.frequency) & (result.frequency <= result.plausibility)
    assert result.inside.tolist() == held.tolist()
    assert result.share_inside == held.mean()


def test_quantile_bins_hold_as_many_events_each() -> None:
    belief, plausibility = _intervals((1000, 4))
    y_true = np.zeros(1000, dtype=int)
    for events in ("decided", "every"):
        result = interval_calibration(
            y_true, belief, plausibility, events=events, labels=columns(belief)
        )
        assert_allclose(result.share, np.full(10, 0.1), atol=1e-3)
        assert np.all(np.diff(result.belief + result.plausibility) > 0)
    assert result.frequency @ result.share == pytest.approx(0.25)  # one true class of four


def test_intervals_that_say_everything_and_those_that_are_exact() -> None:
    y_true = np.array([0] * 3 + [1] * 7)
    vacuous = interval_calibration(y_true, np.zeros((10, 2)), np.ones((10, 2)))
    assert (vacuous.share_inside, vacuous.mean_width) == (1.0, 1.0)
    assert vacuous.frequency.tolist() == [0.3]  # a tie: the first class; equal middles, one bin
    p = np.tile([0.3, 0.7], (10, 1))
    exact = interval_calibration(y_true, p, p)
    assert (exact.share_inside, exact.mean_width) == (1.0, 0.0)
    wrong = interval_calibration(1 - y_true, p, p)
    assert wrong.share_inside == 0.0


def test_a_tie_in_plausibility_is_broken_by_belief() -> None:
    result = interval_calibration([1], [[0.1, 0.6]], [[1.0, 1.0]], labels=[0, 1])
    assert result.frequency.tolist() == [1.0]
    assert result.belief.tolist() == [0.6]


@pytest.mark.parametrize("n_classes", [2, 3, 10, 1000])
@pytest.mark.parametrize("scale", [0.0, 1.0, 1e4])
def test_intervals_of_evidence(n_classes: int, scale: float) -> None:
    random = np.random.default_rng(n_classes)
    ev = shafer.Evidence.from_weights(scale * random.normal(size=(30, 3, n_classes)))
    y_true = random.integers(n_classes, size=30)
    for events in ("decided", "every"):
        result = interval_calibration(
            y_true, ev.belief, ev.plausibility, events=events, labels=ev.classes
        )
        assert np.all(np.isfinite(result.frequency))
        assert 0.0 <= result.share_inside <= 1.0
        assert 0.0 <= result.mean_width <= 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(events="all"), "events must be one of 'decided', 'every'; got 'all'"),
        (dict(strategy="equal"), "strategy must be one of 'quantile', 'uniform'; got 'equal'"),
        (dict(n_bins=0), "n_bins must be a positive whole number; got 0"),
        (dict(n_bins=2.5), "got 2.5"),
        (dict(belief=[[0.9, 0.1]]), r"0 <= belief <= plausibility <= 1; got 0.9 and 0.5 .*\(0, 0"),
        (dict(plausibility=[[0.5, 1.5]]), r"got 0.1 and 1.5 at index \(0, 1\)"),
        (
            dict(belief=[[0.1]]),
            r"at least one row and two classes; got shape \(1, 1\)",
        ),
        (dict(y_true=[0, 1]), "got y_true: 2, belief: 1"),
    ],
)
def test_wrong_use(change: dict[str, Any], message: str) -> None:
    arguments = (
        dict(y_true=[0], labels=[0, 1], belief=[[0.1, 0.1]], plausibility=[[0.5, 0.9]]) | change
    )
    with pytest.raises(ValueError, match=message):
        interval_calibration(**arguments)
