from __future__ import annotations

import numpy as np
import pytest

import shafer
from shafer.report.instance_sentence import degrees_of_support, sentence, shown_value, strength


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "missing"),
        (61.0, "61"),
        (-0.0, "0"),
        (123456.0, "123456"),
        (3.14159, "3.142"),
        (11083.27, "11080"),
        (1.23456e-7, "1.235e-7"),
        (1.5e-5, "0.000015"),
        (-1.5e16, "-15000000000000000"),
        (1.23456e22, "1.235e+22"),
        (1234.5, "1235"),
        (-123.25, "-123.3"),
        ("x" * 50, "x" * 39 + "…"),
    ],
)
def test_shown_value(value: float | str | None, text: str) -> None:
    assert shown_value(value) == text


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([[-0.9, 0.9], [0.05, -0.05]], ["a strongly supports yes, b weakly opposes it", "is yes."]),
        (
            [[0.001, -0.001]],
            ["no component clearly supports or opposes no", "ignorance is very high"],
        ),
        ([[3.0, -3.0], [-3.0, 3.0]], ["the evidence conflicts", "stays open between no and yes"]),
        ([[4.0, -4.0], [-2.0, 2.0]], ["the evidence conflicts; the answer is still no."]),
    ],
)
def test_sentence(weights: list[list[float]], words: list[str]) -> None:
    text = sentence(shafer.Evidence.from_weights([weights], classes=["no", "yes"]), list("ab"))
    for part in words:
        assert part in text


def test_strength_is_the_belief_of_the_component() -> None:
    """A weight of .45 is half the log-odds of two classes: the component alone has belief .59."""
    ev = shafer.Evidence.from_weights([[[-0.45, 0.45], [0.45, -0.45]]], classes=["no", "yes"])
    own = ev.components
    np.testing.assert_allclose(
        degrees_of_support(ev, 1), [own.belief[0, 0, 1], own.belief[0, 1, 0]]
    )
    assert own.belief[0, 0, 1] == pytest.approx(1 - np.exp(-0.9))
    assert sentence(ev, list("ab")).startswith("b strongly supports no, a strongly opposes it; ")


def test_support_with_three_classes() -> None:
    weights = np.array([[[1.0, -0.2, -0.8], [-0.6, 0.1, 0.5]]])
    ev = shafer.Evidence.from_weights(weights, classes=list("abc"))
    first, second = degrees_of_support(ev, 0)
    assert first == pytest.approx(float(ev.components.belief_of("a")[0, 0]))
    assert second == pytest.approx(float(ev.components.belief_of(["b", "c"])[0, 1]))
    assert f"x {strength(first)} supports a, y {strength(second)} opposes it" in sentence(
        ev, ["x", "y"]
    )
