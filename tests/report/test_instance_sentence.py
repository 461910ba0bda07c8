from __future__ import annotations

import numpy as np
import pytest

import shafer
from shafer._values import shown_value
from shafer.report.sentences import BARELY, degrees_of_support, sentence, strength


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
        (
            [[3.0, -3.0], [-3.0, 3.0]],
            ["the components disagree about no or yes", "stays open between no and yes"],
        ),
        (
            [[4.0, -4.0], [-2.0, 2.0]],
            ["the components disagree about no or yes; the answer is still no."],
        ),
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
    support = degrees_of_support(ev.contrast("yes", "no")[0])
    np.testing.assert_allclose(support, [own.belief[0, 0, 1], own.belief[0, 1, 0]])
    assert own.belief[0, 0, 1] == pytest.approx(1 - np.exp(-0.9))
    assert sentence(ev, list("ab")).startswith("b strongly supports no, a strongly opposes it; ")


def test_words_are_factors_of_the_odds() -> None:
    """As the page states: strongly doubles the odds, moderately is from 1.25 on."""
    for factor, word in (
        (2.01, "strongly"),
        (1.99, "moderately"),
        (1.26, "moderately"),
        (1.24, "weakly"),
    ):
        assert strength(float(degrees_of_support(np.log(factor)))) == word
        assert strength(float(degrees_of_support(-np.log(factor)))) == word
    assert degrees_of_support(np.log(1.06)) > BARELY > degrees_of_support(np.log(1.05))


def test_three_classes_are_compared_with_the_runner_up() -> None:
    weights = np.array([[[1.0, -0.2, -0.8], [-0.6, 0.1, 0.5]]])
    ev = shafer.Evidence.from_weights(weights, classes=list("abc"))
    first, second = degrees_of_support(ev.contrast("a", "b")[0])  # c is less probable
    expected = f"compared with b, x {strength(first)} supports a, y {strength(second)} opposes it; "
    assert sentence(ev, ["x", "y"]).startswith(expected)


def test_the_base_rate_has_a_clause_of_its_own() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = ([0.3, -0.2, 0.1], -3.0)
    for prior, apart in (("own", True), ("shared", False)):
        ev = shafer.Explainer(model, X, classes=["no", "yes"], prior=prior)(X)[:1]
        titles = [f"<{name}>" for name in ev.component_names]
        text = sentence(ev, titles)
        assert ("; the base rate strongly supports no; " in text) == apart
        assert "<base rate>" not in text
    even = shafer.Explainer(([0.3, -0.2, 0.1], 0.0), X - X.mean(axis=0), prior="own")(X)[:1]
    assert "base rate" not in sentence(even, list("abcd"))


def test_bars_that_point_one_way_are_not_said_to_disagree() -> None:
    """All components support a over b; they disagree about b and c, and the sentence says so."""
    weights = np.array([[[1.0, 0.6, -1.6], [1.0, -1.6, 0.6], [1.0, 0.6, -1.6], [1.0, -1.6, 0.6]]])
    ev = shafer.Evidence.from_weights(weights, classes=["a", "b", "c"])
    for rival in "bc":
        assert (ev.contrast("a", rival) > 0).all()
    text = sentence(ev, list("wxyz"))
    assert "disagree, most about b or c; " in text
    same = shafer.Evidence.from_weights([[[1.5, 1.4, -2.9]] * 2], classes=["a", "b", "c"])
    assert same.disagreement[0] > 0.2  # each also supports b, but no component favours it
    assert "the components agree; " in sentence(same, ["w", "x"])
    alone = shafer.Evidence.from_weights(weights[:, :1], classes=["a", "b", "c"])
    assert alone.conflict[0] > 0.2
    assert "the components agree; " in sentence(alone, ["w"])
