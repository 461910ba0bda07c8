"""What an expert says, in words and in mappings."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from shafer import Evidence, belief, combine, fusion


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("for A with weight 1.2", [1.2, 0, 0]),
        ("for class A with weight 1.2", [1.2, 0, 0]),
        ("against B with support 0.5", [0, -np.log(2), 0]),
        ("against {B, C} with support 0.7", [-np.log(0.3), 0, 0]),
        ("for {A, C} with weight 2", [0, -2, 0]),
        ("for classes {C, A, C} with weight 2", [0, -2, 0]),
        ("  for   {A}  with  weight  1e-3 ", [1e-3, 0, 0]),
        ("for A with weight 0", [0, 0, 0]),
        ({"for": "A", "weight": 1.2}, [1.2, 0, 0]),
        ({"against": ["B", "C"], "support": 0.7}, [-np.log(0.3), 0, 0]),
        ({"against": "C", "weight": 3, "name": "Dr. X"}, [0, 0, -3]),
        ("for A with probability 0.7", [np.log(0.7 / 0.3) + np.log(2), 0, 0]),
        ("for A with probability 70%", [np.log(0.7 / 0.3) + np.log(2), 0, 0]),
        ({"for": "A", "probability": "70 % sure"}, [np.log(0.7 / 0.3) + np.log(2), 0, 0]),
        ("against A with probability 0.3", [np.log(0.7 / 0.3) + np.log(2), 0, 0]),
        ("for {B, C} with probability 0.3", [np.log(0.7 / 0.3) + np.log(2), 0, 0]),
        ("against {A, B} with probability 0.1", [0, 0, np.log(0.1 / 0.9) + np.log(2)]),
        ({"for": "A", "support": "70 %"}, [-np.log(0.3), 0, 0]),
    ],
)
def test_one_statement(statement: Any, expected: list[float]) -> None:
    evidence = Evidence.from_statements(statement, classes=["A", "B", "C"])
    assert_allclose(evidence.weights[0, 0], expected, rtol=1e-14)
    assert evidence.weights.shape == (1, 1, 3)


def test_statements_are_simple_mass_functions_pooled() -> None:
    classes = ["A", "B", "C", "D"]
    said = [
        "for A with weight 1.2",
        "against D with support 0.7",
        {"against": ["A", "B", "C"], "support": 0.2},
    ]
    frame = belief.Frame(classes)
    parts = [
        belief.MassFunction.simple("A", frame, weight=1.2),
        belief.MassFunction.simple(["A", "B", "C"], frame, support=0.7),
        belief.MassFunction.simple("D", frame, support=0.2),
    ]
    evidence = Evidence.from_statements(said, classes=classes)
    assert_allclose(evidence.masses()[0], belief.dempster(*parts).masses, atol=1e-15)
    assert evidence.component_names == ("for A", "against D", "against {A, B, C}")


def test_two_classes_keep_what_was_said() -> None:
    evidence = Evidence.from_statements(
        ["for yes with weight 1", "against yes with weight 2"], classes=["no", "yes"]
    )
    assert_array_equal(evidence.weights[0], [[0.0, 1.0], [0.0, -2.0]])


def test_names() -> None:
    said = ["for 1 with weight 1", "for 1 with weight 2", {"for": 2, "weight": 1, "name": "Ann"}]
    evidence = Evidence.from_statements(said, classes=[1, 2, 3])
    assert evidence.component_names == ("for 1 (1)", "for 1 (2)", "Ann")


def test_labels_with_words_and_braces() -> None:
    classes = ["heart attack", "panic with weight loss", "{odd}"]
    evidence = Evidence.from_statements(
        [
            "for heart attack with weight 1",
            "against panic with weight loss with support 0.5",
            "for {odd} with weight 2",
            "against {heart attack, {odd}} with weight 3",
        ],
        classes=classes,
    )
    expected = [[1, 0, 0], [0, -np.log(2), 0], [0, 0, 2], [0, 3, 0]]
    assert_allclose(evidence.weights[0], expected)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("perhaps A", "The statement 'perhaps A' cannot be read. A statement is a text such as"),
        ("for Z with weight 1", "Unknown class 'Z'.*the classes are 'A', 'B', 'C', 'D'"),
        ("for A with weight much", "weight must be a number; got 'much'"),
        ("for A with weight -1", "finite and ≥ 0; got '-1'.*Use 'against'"),
        ("for A with weight inf", "finite and ≥ 0"),
        ("for A with support 1", "support must be below 1; got 1.*infinite weight.*such as 0.999"),
        ("for A with support 1.5", r"support must be in \[0, 1\); got '1.5'"),
        ("for {A, B, C, D} with weight 1", "names 4 of 4"),
        ({"for": [], "weight": 1}, "names 0 of 4"),
        ("against {B, C} with support 0.7", "supports the set {A, D} as a whole.*FiniteEvidence"),
        ("for {B, C} with weight 1", "supports the set {B, C} as a whole"),
        ({"for": "A"}, "either 'weight' or 'support' or 'probability', and may have a 'name'"),
        ("for A with probability 1", "above 0 and below 1; got '1'.*infinite weight.*such as 0.99"),
        ("for A with probability 0", "above 0 and below 1; got '0'.*infinite weight"),
        ("for A with probability 70", "got '70' in.*Write 70 % as 0.7 or as the text '70 %'"),
        ("for A with probability -0.1", "above 0 and below 1; got '-0.1'"),
        ({"for": "A", "weight": "70 %"}, "weight must be a number; got '70 %'"),
        ({"for": "A", "against": "B", "weight": 1}, "either 'for' or 'against'"),
        ({"for": "A", "weight": 1, "colour": 2}, "may have a 'name'; got .*colour"),
        ({"for": "A", "weight": True}, "weight must be a number; got True"),
        ({"for": "Z", "weight": 1}, "Unknown class label"),
        (5, "must be a list of statements; got 5"),
        ([5], "The statement 5 cannot be read"),
        ([], "at least one statement; got none"),
    ],
)
def test_what_is_refused(statement: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Evidence.from_statements(statement, classes=["A", "B", "C", "D"])


def test_classes_that_are_refused() -> None:
    with pytest.raises(ValueError, match="labels are the same as text"):
        Evidence.from_statements("for 1 with weight 1", classes=[1, "1"])
    mapped = Evidence.from_statements({"for": "1", "weight": 1.0}, classes=[1, "1"])
    assert mapped.weights[0, 0].tolist() == [0.0, 1.0]
    for classes in (None, "AB"):
        with pytest.raises(ValueError, match="classes must be a sequence of labels"):
            Evidence.from_statements("for A with weight 1", classes=classes)


def test_a_label_is_taken_as_it_is_before_the_word_class_is_dropped() -> None:
    classes = ["class A", "A", "B"]
    said = Evidence.from_statements(
        ["for class A with weight 1", "for A with weight 2", "for class B with weight 3"],
        classes=classes,
    )
    assert said.weights[0].tolist() == [[1, 0, 0], [0, 2, 0], [0, 0, 3]]
    alone = Evidence.from_statements("for class A with weight 1", classes=["class A", "class B"])
    assert alone.weights[0].tolist() == [[1, 0]]
    both = Evidence.from_statements("against classes {A, B} with weight 1", classes=classes)
    assert both.weights[0].tolist() == [[1, 0, 0]]


def test_names_stay_distinct_from_names_given() -> None:
    said = [
        "for A with weight 1",
        "for A with weight 2",
        {"for": "A", "weight": 1, "name": "for A (1)"},
    ]
    names = Evidence.from_statements(said, classes=["A", "B"]).component_names
    assert len(set(names)) == 3
    assert names[2] == "for A (1)"


def test_hostile_words_are_refused_at_once() -> None:
    start = time.perf_counter()
    for words in (" with" * 10_000, " " * 10_000 + "x", " with weight" * 10_000, ""):
        with pytest.raises(ValueError, match="cannot be read"):
            Evidence.from_statements(f"for {words} 1 and", classes=["A", "B"])
    assert time.perf_counter() - start < 2.0


@pytest.mark.parametrize("n_classes", [2, 3, 50])
@pytest.mark.parametrize("q", [1e-12, 0.02, 0.3, 0.5, 0.9, 1 - 1e-12])
def test_a_probability_alone_is_the_probability_of_the_class(n_classes: int, q: float) -> None:
    classes = list(range(n_classes))
    said = Evidence.from_statements({"for": 1, "probability": q}, classes=classes)
    expected = np.full(n_classes, (1 - q) / (n_classes - 1))
    expected[1] = q
    assert_allclose(said.probability[0], expected, rtol=1e-9)
    against = Evidence.from_statements({"against": 1, "probability": 1 - q}, classes=classes)
    assert_allclose(against.probability[0], expected, rtol=1e-3 if q < 1e-9 else 1e-9)
    nothing = Evidence.from_statements({"for": 1, "probability": 1 / n_classes}, classes=classes)
    assert_allclose(nothing.ignorance, 1.0)


def test_a_prior_makes_the_posterior_the_stated_probability() -> None:
    classes, prior = ["A", "B", "C"], {"C": 0.1, "A": 0.6, "B": 0.3}
    before = fusion.prior_evidence(prior, classes=classes)
    for statement, expected in (
        ({"for": "B", "probability": 0.5}, 0.5),
        ({"against": "B", "probability": 0.5}, 0.5),
        ({"for": "B", "probability": 0.3}, 0.3),
    ):
        said = Evidence.from_statements(statement, classes=classes, prior=prior)
        after = combine({"before": before, "expert": said})
        assert_allclose(after.probability[0, 1], expected)
        assert_allclose(after.probability[0, 0] / after.probability[0, 2], 6.0)
    assert_allclose(said.ignorance, 1.0)  # as likely as it was
    pair = fusion.FiniteEvidence.from_statements(
        {"for": ["A", "B"], "probability": 0.5}, classes=[*classes, "D"]
    )
    assert_allclose(pair.ignorance, 1.0)
    pair = fusion.FiniteEvidence.from_statements(
        {"for": ["A", "B"], "probability": 0.8}, classes=[*classes, "D"]
    )
    assert_allclose(pair.probability[0], [0.4, 0.4, 0.1, 0.1])
    with pytest.raises(ValueError, match="no statement has a 'probability'. Leave out prior="):
        Evidence.from_statements("for A with weight 1", classes=classes, prior=prior)
    with pytest.raises(ValueError, match="prior must have a probability for every class"):
        Evidence.from_statements("for A with probability 0.4", classes=classes, prior={"A": 1})


@pytest.mark.parametrize("text", ["70%", "70 %", "70 % "])
def test_a_percentage_in_words(text: str) -> None:
    stated = Evidence.from_statements([f"for A with probability {text}"], classes=list("ABC"))
    np.testing.assert_allclose(stated.probability, [[0.7, 0.15, 0.15]])
