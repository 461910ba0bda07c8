from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shafer.paper import printed_numbers
from shafer.paper.heart_experiment import HeartResult, run_heart
from shafer.paper.results import heart_results


@pytest.fixture(scope="module")
def heart() -> HeartResult:
    """The experiment in full: it takes a second."""
    return run_heart(30, seed=0)


def test_cutoffs(heart: HeartResult) -> None:
    assert heart.cutoffs["age"] == pytest.approx(49.67, abs=0.01)
    assert heart.cutoffs["ldl"] == pytest.approx(6.868, abs=0.01)


def test_tables_are_near_the_papers(heart: HeartResult) -> None:
    summary = heart_results(heart)
    assert_allclose(summary["mp"], printed_numbers.HEART_MP, atol=1.5)
    assert_allclose(summary["id"], printed_numbers.HEART_ID, atol=1.5)
    for name, row in summary["derived"].items():
        assert row["mean"] == pytest.approx(printed_numbers.HEART_DERIVED[name], abs=1.5), name


def test_tables_add_up(heart: HeartResult) -> None:
    for tables in (heart.mp, heart.id):
        assert_allclose(tables.sum(axis=1), [[100 * 160 / 462, 100 * 302 / 462]] * 30)


def test_the_seed_fixes_the_folds(heart: HeartResult) -> None:
    again, other = run_heart(2, seed=0), run_heart(2, seed=1)
    assert_allclose(again.mp, heart.mp[:2])
    assert not np.allclose(other.mp, heart.mp[:2])
