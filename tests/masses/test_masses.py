"""Every type of masses against brute force: readings, risks, compatible probabilities, sets."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from evidence_types import CLOSE, every_type, made
from rule_oracle import best_by_value, expectations, members, risks
from shafer._kernels import Pooled
from shafer._masses import DiscountedMasses, PooledMasses
from shafer.decision import set_utility


@every_type
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_readings(kind: str, n_classes: int) -> None:
    case = made(kind, n_classes)
    for name in ("belief", "plausibility", "pignistic", "probability"):
        found = getattr(case.evidence, name)
        if name in ("belief", "plausibility"):
            places = 1 << np.arange(n_classes)
            expected = [np.asarray(getattr(m, name))[places] for m in case.rows]
        else:
            expected = [getattr(m, name) for m in case.rows]
        assert_allclose(found, expected, **CLOSE)


@every_type
def test_risks(kind: str) -> None:
    case = made(kind, n_classes=4)
    loss = np.random.default_rng(0).normal(size=(3, 4))
    expected = np.array([risks(m.masses, loss) for m in case.rows])
    assert_allclose(case.evidence.lower_risk(loss), expected[:, 0], **CLOSE)
    assert_allclose(case.evidence.upper_risk(loss), expected[:, 1], **CLOSE)


@every_type
def test_extreme_points_are_compatible_and_reach_the_lower_risk(kind: str) -> None:
    case = made(kind, n_classes=4)
    inside, rows = members(4)[1:], np.array([3, 1])
    for value in np.random.default_rng(1).normal(size=(5, 4)):
        points = case.evidence._masses.extreme_points(value, rows)
        assert_allclose(points.sum(axis=1), 1.0)
        assert_allclose(points @ value, case.evidence.lower_risk(value[None])[rows, 0], atol=1e-12)
        for row, point in zip(rows, points, strict=True):
            assert (inside @ point >= np.asarray(case.rows[row].belief)[1:] - 1e-12).all()


@every_type
@pytest.mark.parametrize("expectation", ["lower", "upper", "hurwicz", "pignistic", "probability"])
def test_best_sets(kind: str, expectation: str) -> None:
    case = made(kind, n_classes=4, n=30)
    sets = members(4)[1:]
    options = {"expectation": expectation} | ({"alpha": 0.3} if expectation == "hurwicz" else {})
    for tolerance in ("u65", 0.9):
        worth = set_utility(4, tolerance)[sets.sum(axis=1) - 1][:, None] * sets
        chosen = case.evidence.decide("utility_set", tolerance=tolerance, **options)
        for i, m in enumerate(case.bets):
            best_by_value(expectations(m, worth, expectation), sets, chosen[i])


def test_components_are_discounted_by_themselves() -> None:
    """Readings have any number of axes before that of the classes."""
    w_for, w_against = np.random.default_rng(2).exponential(size=(2, 5, 2, 3))
    reliability = np.linspace(0.0, 1.0, 10).reshape(5, 2)
    whole = PooledMasses(Pooled(w_for - w_against, w_for, w_against))
    found = DiscountedMasses(whole, reliability)
    for g in range(2):
        pooled = Pooled(*(x[:, g] for x in whole.pooled))
        one = DiscountedMasses(PooledMasses(pooled), reliability[:, g])
        for name in ("belief", "plausibility", "pignistic", "probability", "log_plausibility"):
            assert_allclose(getattr(found, name)[:, g], getattr(one, name))
        assert_allclose(found.e_admissible_classes()[:, g], one.e_admissible_classes())
    assert_allclose(found.pignistic.sum(axis=-1), 1.0)
