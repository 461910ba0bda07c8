"""What an expert states, once or for each row."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import shafer
from shafer import Evidence, belief, combine, fusion

# What an expert says, in words and in mappings.


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


# Opinions about each row: columns of frames, missing and contradictory cells.


CLASSES = ["A", "B", "C"]
DOCTOR = {"doctor": {"for": "says", "probability": "sure"}}
TABLE: dict[str, list[Any]] = {
    "says": ["A", "C", None, "B"],
    "sure": [0.7, 0.2, None, 0.5],
    "excludes": ["B", None, "A", "A"],
    "support": [0.4, None, 0.3, 0.0],
}
FRAMES = {
    "pandas": pd.DataFrame(TABLE),
    "polars": pl.DataFrame(TABLE),
    "pyarrow": pa.table(TABLE),
    "nullable": pd.DataFrame(TABLE).convert_dtypes(),
    "categories": pd.DataFrame(TABLE).astype({"says": "category"}),
}
BOTH = {**DOCTOR, "nurse": {"against": "excludes", "support": "support"}}


def read(frame: Any, columns: Any = None, classes: Any = CLASSES, **options: Any) -> Evidence:
    columns = DOCTOR if columns is None else columns
    return Evidence.from_statements(frame, classes=classes, columns=columns, **options)


@pytest.mark.parametrize("kind", FRAMES)
def test_each_row_is_read_as_its_own_statements(kind: str) -> None:
    ev = read(FRAMES[kind], BOTH)
    assert ev.component_names == ("doctor", "nurse")
    assert ev.weights.shape == (4, 2, 3)
    for row in range(4):
        said: list[Any] = []
        if TABLE["says"][row] is not None:
            said.append({"for": TABLE["says"][row], "probability": TABLE["sure"][row]})
        if TABLE["excludes"][row] is not None:
            said.append({"against": TABLE["excludes"][row], "support": TABLE["support"][row]})
        alone = Evidence.from_statements(said, classes=CLASSES)
        assert_allclose(ev[row].masses(), alone.masses(), atol=1e-15)
    assert_array_equal(ev.weights[2, 0], 0.0)
    assert_array_equal(ev.weights[1, 1], 0.0)


@given(
    q=st.lists(st.floats(1e-6, 1 - 1e-6), min_size=1, max_size=5),
    n_classes=st.integers(2, 50),
    data=st.data(),
)
def test_the_probability_of_the_class_is_the_stated_one(
    q: list[float], n_classes: int, data: st.DataObject
) -> None:
    labels = [data.draw(st.integers(0, n_classes - 1)) for _ in q]
    frame = pd.DataFrame({"says": labels, "sure": q})
    ev = read(frame, classes=list(range(n_classes)))
    assert_allclose(ev.probability[np.arange(len(q)), labels], q, rtol=1e-9)


@pytest.mark.parametrize("empty", [None, float("nan"), pd.NA, pd.NaT, "", "  "])
def test_empty_cells_are_no_opinion(empty: Any) -> None:
    frame = pd.DataFrame({"says": ["A", empty], "sure": [0.9, empty]}, dtype=object)
    ev = read(frame)
    assert ev.ignorance[1] == 1.0
    assert ev.ignorance[0] < 0.2
    fixed = read(frame, {"doctor": {"for": "says", "probability": 0.9}})
    assert_array_equal(fixed.weights, ev.weights)
    risk = read(frame, {"doctor": {"for": "A", "probability": "sure"}})
    assert_array_equal(risk.weights, ev.weights)


def test_an_empty_text_may_be_a_class() -> None:
    frame = pd.DataFrame({"says": ["", "A"], "sure": [0.9, 0.9]})
    ev = read(frame, classes=["", "A"])
    assert_allclose(ev.probability, [[0.9, 0.1], [0.1, 0.9]])


@pytest.mark.parametrize("sure", ["70 %", "70%", " 70 % sure ", "70 % certain", "0.7", 0.7])
def test_certainties_as_texts(sure: Any) -> None:
    frame = pl.DataFrame({"says": ["A"], "sure": [sure]})
    assert_allclose(read(frame).probability[0], [0.7, 0.15, 0.15])


def test_half_sure_of_two_classes_is_no_evidence() -> None:
    frame = pd.DataFrame({"says": ["no", "yes", "yes"], "sure": ["50 %", 0.5, 0.4]})
    ev = read(frame, classes=["no", "yes"])
    assert_allclose(ev.ignorance[:2], 1.0)
    assert_allclose(ev.probability[2], [0.6, 0.4])
    support = read(frame, {"doctor": {"for": "says", "support": "sure"}}, classes=["no", "yes"])
    assert_allclose(support.ignorance, [0.5, 0.5, 0.6])


def test_a_prior_is_what_the_expert_thought_before() -> None:
    prior = pd.Series({"yes": 0.1, "no": 0.9})
    frame = pd.DataFrame({"says": ["yes", "yes", None], "sure": [0.1, 0.5, None]})
    ev = read(frame, classes=["no", "yes"], prior=prior)
    assert_allclose(ev.ignorance[[0, 2]], 1.0)  # nothing new, and no opinion
    assert_allclose(ev.weights[1, 0, 1], np.log(9))
    with pytest.raises(ValueError, match="no statement has a 'probability'"):
        read(frame, {"doctor": {"for": "says", "weight": "sure"}}, ["no", "yes"], prior=prior)


@pytest.mark.parametrize("classes", [[0, 1], [10, 20], [False, True], ["a", "b"], [1.5, 2.5]])
def test_labels_of_any_type(classes: list[Any]) -> None:
    frame = pd.DataFrame({"says": pd.Series([classes[1], None], dtype=object), "sure": [0.8, None]})
    ev = read(frame, classes=classes)
    assert_allclose(ev.probability, [[0.2, 0.8], [0.5, 0.5]])
    natural = pd.DataFrame({"says": [classes[1], classes[0]], "sure": [0.8, 0.8]})
    assert_allclose(read(natural, classes=classes).probability, [[0.2, 0.8], [0.8, 0.2]])
    assert_allclose(read(pl.from_pandas(natural), classes=classes).probability[0], [0.2, 0.8])


def test_the_index_is_kept_and_the_order_of_columns_does_not_matter() -> None:
    frame = pd.DataFrame(TABLE, index=["p1", "p2", "p3", "p4"])
    ev = read(frame, BOTH)
    assert ev.index.tolist() == ["p1", "p2", "p3", "p4"]
    turned = read(frame[["support", "says", "excludes", "sure"]], BOTH)
    assert_array_equal(turned.weights, ev.weights)


def test_fused_with_a_model_for_each_row() -> None:
    model = Evidence.from_weights(
        np.random.default_rng(0).normal(size=(4, 2, 3)), classes=["C", "A", "B"]
    )
    both = shafer.combine({"model": model, "experts": read(FRAMES["polars"], BOTH)})
    assert both.component_names[2:] == ("experts: doctor", "experts: nurse")
    # Where the expert has no opinion, the model's probability stays.
    doctor = shafer.combine({"model": model, "experts": read(FRAMES["pandas"])})
    assert_allclose(doctor.probability[2], model.probability[2])
    odds = doctor.probability[0] / model.probability[0]
    assert_allclose(odds[1] / odds[0], 0.7 / 0.3 * 2)  # A against C


NAMED = pd.DataFrame(TABLE, index=["p1", "p2", "p3", "p4"])


def changed(column: str, row: int, value: Any) -> pd.DataFrame:
    frame = pd.DataFrame(TABLE, dtype=object)
    frame.loc[row, column] = value
    return frame


@pytest.mark.parametrize(
    ("frame", "columns", "message"),
    [
        (changed("sure", 1, 1.0), DOCTOR, r"got 1.0 in row 1, column 'sure', an infinite weight"),
        (changed("sure", 1, 70), DOCTOR, r"got 70 in row 1, column 'sure'\. Write 70 % as 0.7"),
        (changed("sure", 3, -0.1), DOCTOR, "above 0 and below 1; got -0.1 in row 3, column 'sure'"),
        (changed("sure", 0, "quite"), DOCTOR, "must be a number; got 'quite' in row 0, column 'su"),
        (changed("sure", 0, True), DOCTOR, "must be a number; got True in row 0"),
        (changed("sure", 0, np.inf), DOCTOR, "got inf in row 0, column 'sure'"),
        (changed("says", 3, "Z"), DOCTOR, r"Row 3, column 'says': Unknown class label\(s\) \['Z'"),
        (changed("says", 3, 0), DOCTOR, r"Row 3, column 'says': Unknown class label\(s\) \[0\]"),
        (changed("sure", 3, None), DOCTOR, "Row 3, column 'says' has 'B', but column 'sure' is em"),
        (changed("says", 3, None), DOCTOR, "Row 3, column 'sure' has 0.5, but column 'says' is em"),
        (NAMED.replace("C", "D"), DOCTOR, r"Row 1 \(index 'p2'\), column 'says': Unknown class"),
        (NAMED, {}, "columns must name at least one expert, such as"),
        (NAMED, ["says", "sure"], "columns must name at least one expert"),
        (NAMED, {"doctor": ("says", "sure")}, r"columns\['doctor'\] must be a mapping"),
        (NAMED, {"doctor": {"for": "says"}}, "either 'weight' or 'support' or 'probability'; got"),
        (NAMED, {"doctor": {"for": "says", "probability": "sure", "name": "x"}}, "must have eithe"),
        (
            NAMED,
            {"d": {"for": "said", "probability": 0.7}},
            "neither a column nor a class. The col",
        ),
        (NAMED, {"d": {"for": "says", "probability": "certain"}}, "must be a column or a number; "),
        (NAMED, {"d": {"for": "says", "probability": True}}, "must be a column or a number; got T"),
        (
            NAMED,
            {"d": {"for": "A", "probability": 1.5}},
            r"got 1.5 in row 0 \(index 'p1'\)\. Write",
        ),
        (NAMED.rename(columns={"says": "A"}), {"d": {"for": "A", "probability": 0.7}}, "also a cl"),
        (NAMED.iloc[:0], DOCTOR, "at least one row; got an empty data frame"),
        (["for A with weight 1"], DOCTOR, "columns= needs a data frame .*; got statements of type"),
        (NAMED.to_numpy(), DOCTOR, "columns= needs a data frame"),
    ],
)
def test_errors_name_the_cell(frame: Any, columns: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Evidence.from_statements(frame, classes=CLASSES, columns=columns)


def test_a_frame_without_columns() -> None:
    for kind in (Evidence, shafer.fusion.FiniteEvidence):
        with pytest.raises(
            ValueError, match=r"data frame of 4 rows, so say which columns .*columns="
        ):
            kind.from_statements(NAMED, classes=CLASSES)


def test_many_rows_are_read_quickly() -> None:
    n = 50_000
    frame = pl.DataFrame({"says": ["A", "B"] * (n // 2), "sure": np.linspace(0.1, 0.9, n)})
    ev = read(frame)
    assert len(ev) == n
    assert_allclose(ev.probability[0, 0], 0.1)
