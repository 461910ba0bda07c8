"""What the page computes is what Python computes."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.evidence.contrast import disputed_classes
from shafer.evidence.words import below_belief_words
from shafer.report import Study, make_study

CLOSE = {"rtol": 0.0, "atol": 1e-9}


def same(shown: dict[str, Any], evidence: shafer.MassEvidence, atol: float = 1e-9) -> None:
    bets = evidence.betting_probability[0]
    np.testing.assert_allclose(shown["probability"], bets, rtol=0, atol=atol)
    for name in ("belief", "plausibility", "pignistic"):
        np.testing.assert_allclose(shown[name], getattr(evidence, name)[0], rtol=0, atol=atol)
    for name in ("ignorance", "conflict"):
        np.testing.assert_allclose(shown[name], getattr(evidence, name)[0], rtol=0, atol=atol)
    disagreement = evidence.weighed.disagreement[0]
    np.testing.assert_allclose(shown["disagreement"], disagreement, rtol=0, atol=atol)
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
    np.testing.assert_allclose(float(weight), one.contrast("chd", "healthy")[0, 8], **CLOSE)
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
        ("texts", "the input of this model is text"),
        ("discounted", "reliability"),
    ],
)
def test_why_there_are_no_sliders(
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
    assert shown == f"text (input): {column[int(page.get_attribute('#case', 'data-row'))]}"
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
    from shafer._kernels.forms import gauss_legendre, quadrature_size

    nodes, weights = gauss_legendre(quadrature_size(n_classes))
    rule = {"nodes": nodes.tolist(), "weights": weights.tolist()}
    for given in hostile_weights(rng, n_classes):
        ev = shafer.Evidence.from_weights(given[None])
        shown = opened.page.evaluate(
            """([weights, rule]) => {
              const pooled = window.shafer.Evidence.pool(weights, weights[0].length);
              const read = window.shafer.Evidence.read(
                pooled.weightsFor, pooled.weightsAgainst, rule, 8);
              const weight = window.shafer.Evidence.weightOfDisagreement(
                weights, read.weightOfConflict);
              return {
                ...read, sets: read.sets.map((set) => [set.members, set.mass]),
                weightOfDisagreement: weight, disagreement: -Math.expm1(-weight),
                disputed: window.shafer.Evidence.disputed(weights),
              };
            }""",
            [given.tolist(), rule],
        )
        same(shown, ev, atol=1e-10)
        weight = float(ev.weight_of_conflict[0])
        np.testing.assert_allclose(shown["weightOfConflict"], weight, rtol=1e-10, atol=1e-10)
        weight = float(ev.weight_of_disagreement[0])
        np.testing.assert_allclose(shown["weightOfDisagreement"], weight, rtol=1e-9, atol=1e-10)
        assert len(shown["sets"]) == len(ev.focal_sets(8)[0])
        pair = disputed_classes(given)
        assert shown["disputed"] == (None if pair is None else list(pair))


def test_values_are_written_alike(heart: Study, open_report: Any) -> None:
    """The sentence on the page and in the terminal name the same numbers."""
    from shafer._values import short_name, shown_value

    rng = np.random.default_rng(9)
    values = [1234.5, 123.25, -0.00012345, 1e-6, 9.99996e-7, 1e-7, 1e15, 2.5e16, 1e21, 1.5e300]
    values += (rng.normal(size=200) * 10.0 ** rng.integers(-12, 25, 200)).tolist()
    page = open_report(heart, rows=[0]).page
    written = page.evaluate("all => all.map(window.shafer.Words.shownValue)", values)
    assert written == [shown_value(value) for value in values]
    names = ["", " \t", "a" * 41, "🫀" * 41, "plain"]
    written = page.evaluate("all => all.map(window.shafer.Words.shortened)", names)
    assert written == [short_name(name) for name in names]


@pytest.mark.parametrize("name", ["heart", "iris", "mixed", "boosted", "hostile"])
def test_bars_are_the_contrasts_of_a_pair(
    name: str, open_report: Any, request: pytest.FixtureRequest
) -> None:
    """At first the answer over the runner-up; then every pair, and a class over all others."""
    study: Study = request.getfixturevalue(name)
    opened = open_report(study)
    labels = study.evidence.classes.tolist()
    for row in (1, len(study) - 2):
        opened.show(row)
        ev = study.undiscounted[row]
        best, second = np.argsort(-ev.logits[0], kind="stable")[:2]
        assert opened.page.input_value("#class") == str(best)
        assert opened.page.input_value("#over") == str(second)
        for a, b in [(best, second), *permutations(range(len(labels)), 2)][:8]:
            opened.compare(a, b)
            contrast = ev.contrast(labels[a], labels[b])[0]
            *bars, total = opened.bars()
            for bar in bars:
                if bar["component"] != "rest":
                    expected = contrast[int(bar["component"])]
                    np.testing.assert_allclose(bar["weight"], expected, **CLOSE)
            odds = np.log(ev.probability[0, a] / ev.probability[0, b])
            np.testing.assert_allclose(total["weight"], odds, rtol=0, atol=1e-8)
            np.testing.assert_allclose(sum(bar["weight"] for bar in bars), odds, atol=1e-8)
        if len(labels) > 2:
            opened.compare(0, "rest")
            others = np.delete(np.log(ev.probability[0]), 0).mean()
            odds = np.log(ev.probability[0, 0]) - others
            np.testing.assert_allclose(opened.bars()[-1]["weight"], odds, rtol=0, atol=1e-8)
    assert opened.complaints == []


@pytest.mark.parametrize("name", ["heart", "iris", "mixed", "boosted", "discounted", "texts"])
def test_the_base_rate_is_apart(
    name: str, open_report: Any, request: pytest.FixtureRequest
) -> None:
    study: Study = request.getfixturevalue(name)
    opened = open_report(study)
    apart = study.base_rate is not None
    assert apart == (name not in ("discounted", "texts"))
    opened.show(2)
    bars = opened.bars()
    if not apart:
        assert "share of the base rate" in opened.page.inner_text("#waterfall-note")
        assert "as in Denœux (2019)" in opened.page.inner_text("#reading")
        return
    assert bars[0]["component"] == str(study.base_rate)
    rest = [abs(bar["weight"]) for bar in bars[1:-1] if bar["component"] != "rest"]
    assert rest == sorted(rest, reverse=True)
    ranked = opened.page.eval_on_selector_all(
        "#ranking tr[data-component]", "rows => rows.map((row) => Number(row.dataset.component))"
    )
    assert study.base_rate not in ranked
    assert len(ranked) == min(15, study.undiscounted.n_components - 1)
    assert "--prior shared" in opened.page.inner_text("#reading")


def test_sliders_leave_the_base_rate(heart: Study, open_report: Any) -> None:
    opened = open_report(heart)
    opened.show(17)
    before = opened.bars()[0]
    opened.page.locator(".slider[data-input='age'] input[type=range]").fill("20")
    after = opened.bars()[0]
    assert (before["component"], before["weight"]) == (after["component"], after["weight"])
    assert "No input changes the starting point" in opened.page.inner_text("#what-if-note")


def test_a_probability_below_its_belief_is_explained(open_report: Any) -> None:
    """Possible for more than two classes; the words stand below the interval."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 5))
    model = (rng.normal(size=(6, 5)), np.zeros(6))
    study = make_study(shafer.Explainer(model, X, prior="own"), X)
    opened = open_report(study)
    words = 0
    for row in range(12):
        opened.show(row)
        shown = {
            int(entry["why"]): entry["text"]
            for entry in opened.page.eval_on_selector_all(
                "#intervals tr.why",
                "rows => rows.map((row) => ({ why: row.dataset.why, text: row.textContent }))",
            )
        }
        one = study.evidence[row]
        for k in range(6):
            expected = below_belief_words(float(one.probability[0, k]), float(one.belief[0, k]))
            assert shown.get(k, "") == expected
        words += len(shown)
    assert words > 5


def test_error_bars_are_those_of_the_evidence(iris: Study, open_report: Any) -> None:
    opened = open_report(iris)
    labels = iris.evidence.classes.tolist()
    for row in (3, 77):
        opened.show(row)
        ev = iris.undiscounted[row]
        for a, b in permutations(range(3), 2):
            opened.compare(a, b)
            lower, upper = ev.contrast_interval(labels[a], labels[b], 0.9)
            whole = ev.grouped("one").contrast_interval(labels[a], labels[b], 0.9)
            *bars, total = opened.bars()
            for bar in bars:
                g = int(bar["component"])
                half = (upper - lower)[0, g] / 2
                np.testing.assert_allclose(bar["half"], half, rtol=1e-3)  # stored with four digits
                selector = f"#waterfall tr[data-component='{g}'] .fill.pale"
                pale = opened.page.locator(selector).count() == 1
                assert pale == bool(lower[0, g] <= 0 <= upper[0, g])
            np.testing.assert_allclose(total["half"], (whole[1] - whole[0])[0, 0] / 2, rtol=1e-3)
        opened.compare(1, "rest")
        combination = np.array([[-0.5, 1.0, -0.5]])
        assert ev.errors is not None
        std = ev.errors.std_of(combination)[0, :, 0]
        for bar in opened.bars()[:-1]:
            half = std[int(bar["component"])] * 1.6448536
            np.testing.assert_allclose(bar["half"], half, rtol=2e-3)
    assert "cannot be told from zero" in opened.page.inner_text("#waterfall-note")
    slider = ".slider[data-input='petal length (cm)'] input[type=range]"
    opened.page.locator(slider).fill("3.1")
    assert all(bar["half"] is None for bar in opened.bars())
    assert "not for changed inputs" in opened.page.inner_text("#waterfall-note")


def test_error_bars_of_many_classes(open_report: Any) -> None:
    """They are stored for the answer over the runner-up, also for a model without sliders."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 4))
    y = rng.integers(0, 6, 300)
    X[np.arange(300), y % 4] += 1.5 + y / 6
    model = LogisticRegression().fit(X, y)
    study = make_study(shafer.Explainer(model, X, prior="own", errors="laplace"), X, y)
    opened = open_report(study, rows=[0, 5, 9])
    for row in (5, 9):
        opened.show(row)
        ev = study.undiscounted[row]
        a, b = np.argsort(-ev.logits[0])[:2]
        lower, upper = ev.contrast_interval(int(a), int(b), 0.9)
        for bar in opened.bars()[:-1]:
            half = (upper - lower)[0, int(bar["component"])] / 2
            np.testing.assert_allclose(bar["half"], half, rtol=1e-3)
    opened.compare(a, int(np.argsort(-ev.logits[0])[3]))
    assert all(bar["half"] is None for bar in opened.bars())
    assert "for the answer over the runner-up" in opened.page.inner_text("#waterfall-note")
