"""What the page computes is what Python computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shafer
from shafer.report import Study

CLOSE = {"rtol": 0.0, "atol": 1e-9}


def same(shown: dict[str, Any], evidence: shafer.MassEvidence, atol: float = 1e-9) -> None:
    bets = evidence.betting_probability[0]
    np.testing.assert_allclose(shown["probability"], bets, rtol=0, atol=atol)
    for name in ("belief", "plausibility", "pignistic"):
        np.testing.assert_allclose(shown[name], getattr(evidence, name)[0], rtol=0, atol=atol)
    for name in ("ignorance", "conflict"):
        np.testing.assert_allclose(shown[name], getattr(evidence, name)[0], rtol=0, atol=atol)
    assert shown["decided"] == np.flatnonzero(evidence.decide()[0]).tolist()
    labels = evidence.classes.tolist()
    true = {frozenset(focal.classes): focal.mass for focal in evidence.focal_sets(8)[0]}
    for members, mass in shown["sets"]:
        found = true[frozenset(labels[k] for k in members)]
        np.testing.assert_allclose(mass, found, rtol=0, atol=atol)


@pytest.mark.parametrize(
    "name", ["heart", "iris", "mixed", "boosted", "hostile", "discounted", "texts"]
)
def test_an_instance_at_rest(name: str, open_report: Any, request: pytest.FixtureRequest) -> None:
    study: Study = request.getfixturevalue(name)
    opened = open_report(study)
    for row in (0, 3, 5, len(study) - 1):
        opened.show(row)
        shown = opened.numbers()
        assert shown["row"] == row
        same(shown, study.evidence[row])
        assert shown["sentence"] == study.sentence(row)
    assert opened.complaints == []


def changed(study: Study, row: int, values: dict[str, Any]) -> shafer.Evidence:
    if isinstance(study.X, np.ndarray):
        x = study.X[[row]].copy()
        for name, value in values.items():
            x[0, list(study.columns).index(name)] = value
    else:
        x = study.X.iloc[[row]].assign(**values)
    return study.explainer(x)


def test_moving_sliders(heart: Study, open_report: Any) -> None:
    opened = open_report(heart)
    opened.show(17)
    before = opened.numbers()
    slider = opened.page.locator(".slider[data-input='age'] input[type=range]")
    slider.fill("30")
    shown = opened.numbers()
    assert shown["ignorance"] != before["ignorance"]
    same(shown, changed(heart, 17, {"age": 30.0}))
    opened.page.locator(".slider[data-input='tobacco'] input[type=number]").fill("3.25")
    shown = opened.numbers()
    one = changed(heart, 17, {"age": 30.0, "tobacco": 3.25})
    same(shown, one)
    weight = opened.page.get_attribute("#waterfall tr[data-component='8']", "data-weight")
    k = int(np.argmax(before["probability"]))
    np.testing.assert_allclose(float(weight), one.weights[0, 8, k], **CLOSE)
    opened.page.click("#reset")
    same(opened.numbers(), heart.evidence[17])


def test_sliders_on_three_classes_behind_a_scaler(iris: Study, open_report: Any) -> None:
    opened = open_report(iris)
    opened.show(100)
    for name, value in (("petal length (cm)", 3.1), ("petal width (cm)", 0.9)):
        opened.page.locator(f".slider[data-input='{name}'] input[type=range]").fill(str(value))
    same(opened.numbers(), changed(iris, 100, {"petal length (cm)": 3.1, "petal width (cm)": 0.9}))


def test_menus_and_missing_values(mixed: Study, open_report: Any) -> None:
    opened = open_report(mixed)
    opened.show(5)
    menu = opened.page.locator(".slider[data-input='colour'] select")
    assert menu.input_value() == "(missing)"
    menu.select_option("red")
    same(opened.numbers(), changed(mixed, 5, {"colour": "red"}))
    count = opened.page.locator(".slider[data-input='count'] input[type=number]")
    count.fill("")
    same(opened.numbers(), changed(mixed, 5, {"colour": "red", "count": np.nan}))
    count.fill("4")
    same(opened.numbers(), changed(mixed, 5, {"colour": "red", "count": 4.0}))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("boosted", "proportion"),
        ("texts", "the input of this model is text"),
        ("discounted", "reliability"),
    ],
)
def test_no_sliders_without_a_linear_form(
    name: str, reason: str, open_report: Any, request: pytest.FixtureRequest
) -> None:
    opened = open_report(request.getfixturevalue(name))
    assert opened.page.locator(".slider").count() == 0
    note = opened.page.inner_text("#what-if-note")
    assert note.startswith("No sliders: ")
    assert reason in note


def test_texts_can_be_searched(texts: Study, open_report: Any) -> None:
    page = open_report(texts).page
    (column,) = texts.columns.values()
    shown = page.inner_text("#input")
    assert shown == f"text (input): {column[int(page.get_attribute('#instance', 'data-row'))]}"
    page.select_option("#sort", "row")
    page.fill("#search", "good good")
    rows = page.eval_on_selector_all(
        "#table tbody tr", "rows => rows.map((row) => Number(row.dataset.row))"
    )
    assert rows
    assert rows == [i for i, text in enumerate(column) if "good good" in str(text)][:12]


def hostile_weights(rng: np.random.Generator, n_classes: int) -> list[np.ndarray]:
    shapes = [rng.normal(0, scale, (6, n_classes)) for scale in (1e-12, 1e-3, 1.0, 30.0, 1e4)]
    some = rng.normal(size=(4, n_classes))
    one_sided = np.zeros((1, n_classes))
    one_sided[0, 0] = 2.0
    return [*shapes, np.zeros((2, n_classes)), np.vstack([some, -some]), one_sided, -one_sided]


@pytest.mark.parametrize("n_classes", [2, 3, 7, 1000])
def test_closed_forms(n_classes: int, heart: Study, open_report: Any) -> None:
    opened = open_report(heart, rows=[0])
    rng = np.random.default_rng(n_classes)
    from shafer.kernels.pignistic import gauss_legendre, quadrature_size

    nodes, weights = gauss_legendre(quadrature_size(n_classes))
    rule = {"nodes": nodes.tolist(), "weights": weights.tolist()}
    for given in hostile_weights(rng, n_classes):
        ev = shafer.Evidence.from_weights(given[None])
        shown = opened.page.evaluate(
            """([weights, rule]) => {
              const pooled = window.shafer.Evidence.pool(weights, weights[0].length);
              const read = window.shafer.Evidence.read(
                pooled.weightsFor, pooled.weightsAgainst, rule, 8);
              return { ...read, sets: read.sets.map((set) => [set.members, set.mass]) };
            }""",
            [given.tolist(), rule],
        )
        same(shown, ev, atol=1e-10)
        weight = float(ev.weight_of_conflict[0])
        np.testing.assert_allclose(shown["weightOfConflict"], weight, rtol=1e-10, atol=1e-10)
        assert len(shown["sets"]) == len(ev.focal_sets(8)[0])


def test_values_are_written_alike(heart: Study, open_report: Any) -> None:
    """The sentence on the page and in the terminal name the same numbers."""
    from shafer.report.instance_sentence import short_name, shown_value

    rng = np.random.default_rng(9)
    values = [1234.5, 123.25, -0.00012345, 1e-6, 9.99996e-7, 1e-7, 1e15, 2.5e16, 1e21, 1.5e300]
    values += (rng.normal(size=200) * 10.0 ** rng.integers(-12, 25, 200)).tolist()
    page = open_report(heart, rows=[0]).page
    written = page.evaluate("all => all.map(window.shafer.Words.shownValue)", values)
    assert written == [shown_value(value) for value in values]
    names = ["", " \t", "a" * 41, "🫀" * 41, "plain"]
    written = page.evaluate("all => all.map(window.shafer.Words.shortened)", names)
    assert written == [short_name(name) for name in names]


def test_degrees_of_support_are_the_components_beliefs(heart: Study, open_report: Any) -> None:
    from shafer.report.instance_sentence import degrees_of_support

    page = open_report(heart, rows=[0]).page
    rng = np.random.default_rng(11)
    for n_classes in (2, 3, 8):
        weights = rng.normal(size=(20, n_classes))
        weights -= weights.mean(axis=1, keepdims=True)
        ev = shafer.Evidence.from_weights(weights[None])
        for k in range(n_classes):
            shown = page.evaluate(
                "([all, k]) => all.map((w) => window.shafer.Evidence.support(w, k))",
                [weights.tolist(), k],
            )
            np.testing.assert_allclose(shown, degrees_of_support(ev, k), **CLOSE)
