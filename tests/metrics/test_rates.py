from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from shafer import metrics

from .strategies import columns, decisions, repeated

WITH_TRUTH = ("coverage_score", "set_error_rate", "singleton_error_rate", "u65_score", "u80_score")
OF_SETS = ("mean_set_size", "mean_imprecision", "singleton_rate", "rejection_rate")


def _by_loop(name: str, y_true: np.ndarray, y_set: np.ndarray) -> float:
    """The definition, row by row, on sets of positions."""
    n_classes = y_set.shape[1]

    def value(truth: int, members: set[int]) -> float:
        size, hit = len(members), truth in members
        return {
            "coverage_score": lambda: hit,
            "set_error_rate": lambda: not hit,
            "singleton_error_rate": lambda: size == 1 and not hit,
            "u65_score": lambda: 1.6 / size - 0.6 / size**2 if hit else 0,
            "u80_score": lambda: 2.2 / size - 1.2 / size**2 if hit else 0,
            "mean_set_size": lambda: size,
            "mean_imprecision": lambda: max(size - 1, 0) / (n_classes - 1),
            "singleton_rate": lambda: size == 1,
            "rejection_rate": lambda: size == n_classes,
        }[name]()

    rows = zip(y_true.tolist(), y_set, strict=True)
    return float(np.mean([value(t, set(np.flatnonzero(row).tolist())) for t, row in rows]))


@pytest.mark.parametrize("name", WITH_TRUTH + OF_SETS)
@given(case=decisions())
def test_definitions_and_weights(name: str, case: tuple[np.ndarray, ...]) -> None:
    y_true, y_set, weight = case
    arrays = (y_true, y_set) if name in WITH_TRUTH else (y_set,)
    labels = {"labels": columns(y_set)} if name in WITH_TRUTH else {}
    metric = getattr(metrics, name)
    assert metric(*arrays, **labels) == pytest.approx(_by_loop(name, y_true, y_set), abs=1e-12)
    assert metric(*arrays, sample_weight=weight, **labels) == pytest.approx(
        _by_loop(name, *repeated(weight, y_true, y_set)), abs=1e-12
    )


def test_an_empty_set_is_an_error_worth_nothing() -> None:
    y_set = np.zeros((1, 3), dtype=bool)
    labels = ["a", "b", "c"]
    assert metrics.coverage_score(["a"], y_set, labels=labels) == 0.0
    assert metrics.set_error_rate(["a"], y_set, labels=labels) == 1.0
    assert metrics.singleton_error_rate(["a"], y_set, labels=labels) == 0.0
    assert metrics.u65_score(["a"], y_set, labels=labels) == 0.0
    assert metrics.u80_score(["a"], y_set, labels=labels) == 0.0
    assert metrics.discounted_utility_score(["a"], y_set, [1, 1, 1], labels=labels) == 0.0
    assert metrics.mean_set_size(y_set) == metrics.mean_imprecision(y_set) == 0.0


def test_results_are_plain_floats() -> None:
    for name in WITH_TRUTH:
        assert type(getattr(metrics, name)([0, 1], [[1, 0], [1, 0]])) is float
    for name in OF_SETS:
        assert type(getattr(metrics, name)([[1, 0], [1, 0]])) is float
