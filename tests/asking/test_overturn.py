"""The chance that some lead turns negative, against Monte Carlo and in the limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr

import shafer
from linear_worlds import draws, linear_world, with_gaps
from shafer.asking.overturn import overturn_probability


def chance(logits: Any, root: Any) -> Any:
    """Return the chance for logits (n, K) that move by normal numbers times a root (M, K)."""
    return overturn_probability(np.asarray(logits), np.eye(len(root)), root)


@pytest.mark.parametrize("n_inputs", [2, 5, 30])
@pytest.mark.parametrize("n_classes", [2, 3, 5, 10, 20, 40])
def test_the_error_is_small_for_every_number_of_classes(n_classes: int, n_inputs: int) -> None:
    """The leads are strongly correlated: there are fewer inputs than classes, or hardly more."""
    rng = np.random.default_rng(n_classes + n_inputs)
    errors = []
    for _ in range(6):
        root = rng.normal(size=(n_inputs, n_classes)) * (5 / n_inputs) ** 0.5
        logits = rng.normal(size=(1, n_classes)) * rng.uniform(0.5, 4)
        found = chance(logits, root)[0]
        moved = logits + rng.normal(size=(100_000, n_inputs)) @ root
        errors.append((moved.argmax(axis=1) != logits.argmax()).mean() - found)
    assert np.abs(errors).mean() < 0.006
    assert np.abs(errors).max() < 0.015


def test_two_classes_are_exact() -> None:
    logits, root = np.array([[0.7, -0.7], [-3.0, 3.0]]), np.array([[0.5, -0.5], [0.2, 0.1]])
    spread = np.sqrt(((root[:, 0] - root[:, 1]) ** 2).sum())
    assert_allclose(chance(logits, root), ndtr([-1.4 / spread, -6.0 / spread]), rtol=1e-12)


def test_one_missing_input_is_exact() -> None:
    """All leads then move together, however many classes there are."""
    logits, root = np.array([[2.0, 1.0, 0.0, -1.0]]), np.array([[0.0, 2.0, -0.5, 4.0]])
    crosses = ndtr(-1.0 / 2.0) + ndtr(-2.0 / 0.5)  # the second or fourth class, or the third
    assert_allclose(chance(logits, root), crosses, rtol=1e-12)


def test_limits() -> None:
    logits = np.array([[2.0, 1.0, 0.0]])
    assert_array_equal(chance(logits, np.zeros((2, 3))), [0.0])
    equal = np.ones((1, 3))  # moves all logits together
    assert_array_equal(chance(logits, equal), [0.0])
    one = np.array([[0.0, 0.0, 5.0]])  # only the third class can overtake
    assert_allclose(chance(logits, one), ndtr(-2.0 / 5.0), rtol=1e-12)
    copied = np.array([[2.0, 1.0, 1.0]])  # two classes overtake together
    same = np.array([[0.0, 1.0, 1.0]])
    assert_allclose(chance(copied, same), ndtr(-1.0), rtol=1e-12)


def test_a_row_has_one_chance_alone_and_in_a_batch() -> None:
    rng = np.random.default_rng(0)
    logits, root = rng.normal(size=(3000, 6)), rng.normal(size=(9, 6))
    alone = [chance(row[None], root)[0] for row in logits[:20]]
    assert_allclose(alone, chance(logits, root)[:20], atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 30), st.floats(-3, 3), st.floats(-6, 6))
def test_a_probability_for_any_scale(seed: int, n_classes: int, big: float, small: float) -> None:
    rng = np.random.default_rng(seed)
    logits = 10.0**big * rng.normal(size=(4, n_classes))
    root = 10.0**small * rng.normal(size=(3, n_classes)) * rng.integers(0, 2, n_classes)
    found = chance(logits, root)
    assert ((found >= 0.0) & (found <= 1.0)).all()


# Some of the gaps only.


@pytest.mark.parametrize("n_classes", [2, 4])
def test_some_gaps_against_filling_them_in(n_classes: int) -> None:
    explainer, X, rng = linear_world(3, n_classes)
    read = shafer.Explainer(explainer.model, X, missing="conditional")
    row = with_gaps(X[11], [0, 2, 3, 5])
    sample = draws(explainer, row, rng, 20_000)
    answer = read.predict(row[None, :])
    for asked in ([0], [2, 5], [0, 2, 3, 5]):
        filled = np.repeat(row[None, :], len(sample), axis=0)
        filled[:, asked] = sample[:, asked]
        share = (read.predict(filled) != answer).mean()
        found = read.ask.overturn(row[None, :], inputs=[f"x{j}" for j in asked])[0]
        assert abs(found - share) < 4.5 * np.sqrt(share * (1 - share) / 20_000) + 0.003


def test_all_gaps_by_name_are_all_gaps() -> None:
    explainer, X, _ = linear_world(1, 3)
    rows = with_gaps(X[:30], [1, 4])
    rows[3] = X[3]
    every = explainer.ask.overturn(rows)
    assert_allclose(explainer.ask.overturn(rows, inputs=["x4", "x1"]), every, atol=1e-9)
    names = [f"x{j}" for j in range(6)]
    assert_allclose(explainer.ask.overturn(rows, inputs=names), every, atol=1e-9)
    one = explainer.ask.overturn(rows, inputs=["x4"])
    assert_array_equal(one, explainer.ask.overturn(rows, inputs="x4"))
    single = explainer.ask.next_inputs(rows, top=None)
    own = single[single["input"] == "x4"]
    assert_allclose(one[own["row"]], own["overturn"])
    assert one[3] == 0.0
    assert_array_equal(explainer.ask.overturn(rows, inputs=["x0"]), np.zeros(30))  # it is known
    for wrong in (["x9"], [], [4]):
        with pytest.raises(ValueError, match="inputs must name inputs of the model"):
            explainer.ask.overturn(rows, inputs=wrong)
