"""The page: its parts, its sentences, its images and overview."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from PIL import Image
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

import shafer
from shafer._json import as_json
from shafer._values import shown_value
from shafer.evidence import GridLayout, RegionLayout
from shafer.report import Study, heart_study, make_study, render, summary, write_report
from shafer.report.payload import STORED, image_entries, images_payload, payload
from shafer.report.sentences import (
    BARELY,
    OVERLAP,
    degrees_of_support,
    overview,
    sentence,
    strength,
)
from shafer.scale.default_model import held_out_error, train_default_model


@pytest.fixture(scope="module")
def heart() -> Study:
    return heart_study()


def data_in(html: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_page_is_whole(heart: Study, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "report.html"
    write_report(heart, path)
    html = path.read_text()
    assert path.stat().st_size < 6_000_000
    assert not re.search(r'<(?:link|img|iframe|script)[^>]*(?:src|href)="?http', html)
    data = data_in(html)
    assert data["rows"]["i"] == list(range(462))
    assert data["overview"]["error"] == np.mean(heart.wrong)
    policy = re.search(r"script-src ([^;]*);", unescape(html[:2000]))
    assert policy is not None
    for script in re.findall(r"<script>(.*?)</script>", html, re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy[1]


def test_json_is_no_markup() -> None:
    hostile = {"</script><!--": ["&\u2028\u2029", "🫀", 'a"b\\', "\ud800"]}
    text = as_json(hostile)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == hostile
    text.encode()
    with pytest.raises(ValueError, match="JSON compliant"):
        as_json([float("nan")])


def test_rows(heart: Study) -> None:
    assert data_in(render(heart, [7, 3]))["rows"]["i"] == [3, 7]
    with pytest.raises(ValueError, match=r"rows must lie between 0 and 461; got \[462\]"):
        render(heart, [462])


def test_too_many_rows_are_sampled() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    study = make_study(shafer.Explainer(([1.0, -2.0], 0.1), X), X)
    data = payload(study, None, room=130_000)
    shown = data["rows"]["i"]
    assert 500 < len(shown) < 2500  # as many as there is room for
    even = np.array(data["rows"]["even"], dtype=bool)
    assert 0.8 < even.mean() < 1.0
    gaps = np.diff(np.array(shown)[even])
    assert gaps.max() <= 3 * gaps.min() + 2
    assert int(np.argmax(study.evidence.conflict)) in shown
    assert int(np.argmax(study.evidence.ignorance)) in shown
    asked = payload(study, list(range(1500)), room=50_000)
    assert len(as_json(asked)) <= 50_100
    assert asked["rows"]["even"] is None  # the overview is about the rows that were asked for


def test_many_categories_and_classes_fit_the_page() -> None:
    """A menu takes a number for each choice and class; sliders give way before the file grows."""
    rng = np.random.default_rng(6)
    n, n_classes = 200, 40
    choices = [f"v{j}" for j in range(40)]
    X = pd.DataFrame({f"c{j}": rng.choice(choices, n).astype(object) for j in range(30)})
    y = rng.integers(0, n_classes, n)
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    model = make_pipeline(encoder, LogisticRegression(max_iter=5, tol=1.0)).fit(X, y)
    html = render(make_study(shafer.Explainer(model, X, groups="source"), X, y))
    assert len(html.encode()) < 6_000_000
    data = data_in(html)
    assert data["whatIf"] is None
    assert "too many for the page" in data["whyNot"]
    assert len(data["rows"]["i"]) > 20


def test_a_text_may_be_called_nan() -> None:
    from shafer._values import plain

    assert plain("nan") == "nan"
    assert plain(np.nan) is None
    assert plain(pd.NaT) is None
    assert plain(-np.inf) == "−∞"


def rebuilt(study: Study, rows: list[int]) -> np.ndarray:
    model, why_not = study.what_if(rows)
    assert model is not None, why_not
    return model.weights([[cells[i] for i in rows] for cells in study.columns.values()])


def mixed(n: int = 80) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(4)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n) * 1e6,
            "b": rng.integers(0, 5, n),
            "c": rng.choice(["u", "v", "w"], n).astype(object),
            "d": rng.random(n) < 0.5,
        }
    )
    return X, (X["a"] / 1e6 + X["b"] + (X["c"] == "u") + rng.normal(size=n)).gt(2).to_numpy() * 1


@pytest.mark.parametrize("pipeline", ["trained here", "polynomial", "one-hot"])
def test_what_if_is_learnt_or_refused(pipeline: str) -> None:
    X, y = mixed()
    if pipeline == "trained here":
        X["d"] = X["d"].astype(str)
        X.loc[[4, 9], "a"] = np.nan
        model = train_default_model(X, y)
    elif pipeline == "one-hot":
        X = X[["b", "d"]]
        model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(X, y)
    else:
        X = X[["a", "b"]]
        steps = (StandardScaler(), PolynomialFeatures(2), LogisticRegression())
        model = make_pipeline(*steps).fit(X, y)
    study = make_study(shafer.Explainer(model, X, groups="source"), X, y)
    rows = list(range(len(X)))
    if pipeline == "trained here":
        np.testing.assert_allclose(rebuilt(study, rows), study.evidence.weights, rtol=0, atol=1e-9)
    else:  # a number that is one-hot encoded is not proportional, nor is a square
        model, why_not = study.what_if(rows)
        assert model is None
        assert "in proportion to" in why_not


def test_what_if_without_a_form_that_the_page_can_compute() -> None:
    X, y = mixed()
    X = X[["a", "b"]].to_numpy(dtype=float) / [1e6, 1.0]
    network = MLPClassifier((3,), tol=1.0, n_iter_no_change=1, random_state=0).fit(X, y)
    study = make_study(shafer.Explainer(network, X), X, y)
    data = payload(study, None, room=10**6)
    assert data["whatIf"] is None
    assert "proportion" in data["whyNot"]
    stored = data["rows"]["stored"]
    weights = _numbers(stored["w"]["f8"], "<f8").reshape(study.evidence.weights.shape)
    np.testing.assert_allclose(weights, study.evidence.weights, rtol=1e-10, atol=1e-12)


def test_stored_weights_keep_the_sums() -> None:
    rng = np.random.default_rng(5)
    contributions = shafer.models.Contributions(lambda X: np.sin(X[:, :, None] * [1.0, 2.0, 3.0]))
    X = rng.normal(size=(6, 50))
    study = make_study(shafer.Explainer(contributions, X), X)
    stored = payload(study, None, room=10**6)["rows"]["stored"]
    kept = _numbers(stored["g"], "<u4")
    assert len(kept) == sum(stored["count"]) < 6 * 50
    owner = np.repeat(np.arange(6), stored["count"])
    weights = _numbers(stored["w"]["f8"], "<f8").reshape(-1, 3)
    np.testing.assert_array_equal(weights, study.evidence.weights[owner, kept])
    for name, pooled in (
        ("weightsFor", study.evidence.weights_for),
        ("weightsAgainst", study.evidence.weights_against),
    ):
        np.testing.assert_array_equal(_numbers(stored[name]["f8"], "<f8"), pooled.ravel())


def test_held_out_error_needs_two_rows_of_each_class() -> None:
    X, y = mixed()
    X = X[["a", "b"]].assign(a=X["a"] / 1e6)
    error, folds = held_out_error(LogisticRegression(), X, y)
    assert folds == 5
    assert error is not None
    assert 0 <= error <= 0.5
    y = np.where(np.arange(len(y)) == 0, 2, y)
    assert held_out_error(LogisticRegression(), X, y) == (None, 0)


@pytest.mark.parametrize("prior", ["own", "shared"])
def test_components_are_ranked_by_their_contrasts(prior: str) -> None:
    X, y = mixed()
    X = X[["a", "b"]].assign(a=X["a"] / 1e6, extra=np.arange(len(X)) % 3)
    y = y + (X["extra"] == 2)
    model = LogisticRegression(max_iter=500).fit(X, y)
    study = make_study(shafer.Explainer(model, X, prior=prior), X, y)
    ev = study.undiscounted
    labels = ev.classes.tolist()
    best = np.argsort(-ev.logits, axis=1, kind="stable")
    sizes = [np.abs(ev[i].contrast(labels[a], labels[b])[0]) for i, (a, b, _) in enumerate(best)]
    means = np.mean(sizes, axis=0)
    np.testing.assert_allclose(study.mean_contrasts(), means, rtol=1e-10)
    data = payload(study, None, room=10**6)
    assert data["ranking"] == np.argsort(-means[:3], kind="stable").tolist()
    assert (data["baseRate"], data["sharesBaseRate"]) == ((3, False) if prior == "own" else (None, True))  # fmt: skip # noqa: E501
    if prior == "own":
        assert data["meanBaseFactor"] == f"×{np.exp(means[3]):.2f}"


def test_rows_have_errors_if_the_evidence_has(heart: Study) -> None:
    assert payload(heart, [3], room=10**6)["errors"] is None
    with_errors = heart_study(errors="laplace")
    data = payload(with_errors, [3, 9], room=10**6)
    assert data["errors"] == {"level": 0.9, "times": pytest.approx(1.6448536), "allPairs": True}
    for row, errors in zip((3, 9), data["rows"]["errors"], strict=True):
        one = with_errors.undiscounted[row]
        std = one.contrast_std("healthy", "chd")[0]
        np.testing.assert_allclose(np.ravel(errors["std"]), std, rtol=1e-3)
        whole = one.grouped("one").contrast_std("healthy", "chd")[0]
        np.testing.assert_allclose(errors["sum"], whole, rtol=1e-3)


def test_the_page_says_how_to_get_the_other_prior(heart: Study) -> None:
    assert "shafer report --prior shared" in render(heart, [0])
    assert "shafer report --prior own" in render(heart_study("shared"), [0])
    plain = make_study(lambda X: shafer.Evidence.from_weights(np.ones((2, 1, 2)) * [1, -1]), [0, 1])
    assert "--prior" not in render(plain)


# Overview.


def test_decided_and_left_open_are_a_partition() -> None:
    study = heart_study()
    figures = overview(study)
    sizes = study.evidence.decide("interval_dominance").sum(axis=1)
    assert figures.decided == np.mean(sizes == 1)
    assert figures.left_open == pytest.approx(np.mean(sizes > 1))
    assert figures.decided + figures.left_open == 1.0
    assert figures.lacking == np.mean(study.evidence.ignorance >= 0.2)
    assert figures.disagreeing == np.mean(study.undiscounted.disagreement >= 0.5)
    assert figures.error == np.mean(study.wrong)


def test_terminal_and_page_give_the_same_figures_and_say_that_groups_overlap() -> None:
    study = heart_study()
    figures = overview(study)
    text, page = summary(study), render(study, [0])
    for share in (figures.decided, figures.left_open, figures.lacking, figures.disagreeing):
        assert f"{100 * share:.1f} %" in text
        assert f"<dd>{100 * share:.1f}&thinsp;%</dd>" in page
    assert OVERLAP in text
    assert OVERLAP in page


def test_without_true_labels() -> None:
    heart = heart_study()
    study = make_study(heart.explainer, heart.X)
    assert overview(study).error is None
    assert "error on" not in summary(study)


# Image payload.


def _study(X: Any, layout: Any, cells: int = 4, n_classes: int = 3) -> Study:
    weights = np.random.default_rng(0).normal(size=(len(X), cells, n_classes))
    ev = shafer.Evidence.from_weights(weights - weights.mean(axis=2, keepdims=True))
    return make_study(lambda rows: replace(ev, layout=layout), X)


def _numbers(text: str, kind: str = "<i2") -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), kind)


def _picture(entry: dict[str, Any]) -> Image.Image:
    return Image.open(BytesIO(base64.b64decode(entry["src"].split(",")[1])))


def test_weights_and_pictures() -> None:
    X = np.random.default_rng(1).uniform(size=(3, 1, 12, 16))
    study = _study(X, GridLayout(2, 2))
    assert images_payload(study)["images"]["size"] == [2, 2]
    entry = image_entries(study, [2])[2]["image"]
    stored = _numbers(entry["w"]).reshape(3, 4).T / 32767 * entry["most"]
    assert_allclose(stored, study.undiscounted.weights[2], atol=1e-4)
    own = study.undiscounted.components.ignorance[2]
    assert_allclose(_numbers(entry["ignorance"]) / 32767, own, atol=1e-4)
    picture = _picture(entry)
    assert picture.mode == "L"
    assert_allclose(np.asarray(picture) / 255, X[2, 0], atol=0.003)


@pytest.mark.parametrize(
    ("X", "size", "mode"),
    [
        (np.ones((2, 3, 300, 200)) * [[[[0.2]], [[0.5]], [[0.9]]]], (50, 75), "RGB"),
        (np.random.default_rng(0).normal(size=(2, 3, 20, 30)), (30, 20), "RGB"),
        (np.zeros((2, 1, 1, 1)), (1, 1), "L"),
    ],
)
def test_large_small_and_normalised_pictures(X: Any, size: tuple[int, int], mode: str) -> None:
    entry = image_entries(_study(X, GridLayout(2, 2)), [1])[1]["image"]
    picture = _picture(entry)
    assert picture.size == size
    assert picture.mode == mode
    assert ("rescaled" in entry["note"]) == bool(X.min() < 0)


def test_inputs_that_are_not_pictures() -> None:
    entry = image_entries(_study(np.zeros((2, 6, 8, 8)), GridLayout(2, 2)), [0])[0]["image"]
    assert entry["src"] is None
    assert entry["note"] == "The input of this row is not a picture."


def test_many_classes_keep_the_most_probable() -> None:
    study = _study(np.zeros((2, 1, 8, 8)), GridLayout(2, 2), n_classes=40)
    entry = image_entries(study, [0])[0]["image"]
    best = np.argsort(-study.undiscounted.probability[0])[:STORED]
    assert sorted(entry["k"]) == sorted(best.tolist())
    assert len(_numbers(entry["w"])) == STORED * 4


def test_segmentations() -> None:
    labels = np.arange(2 * 8 * 8).reshape(2, 8, 8) % 3
    names = ("a", "b", "c")
    shared = _study(np.zeros((2, 1, 8, 8)), RegionLayout(labels[1], names), cells=3)
    head = images_payload(shared)["images"]
    assert np.array_equal(_numbers(head["labels"], "<u2"), labels[1].ravel())
    own = _study(np.zeros((2, 1, 8, 8)), RegionLayout(labels, names), cells=3)
    assert images_payload(own)["images"]["labels"] is None
    entry = image_entries(own, [1])[1]["image"]
    assert np.array_equal(_numbers(entry["labels"], "<u2"), labels[1].ravel())


def test_tables_have_none() -> None:
    study = _study(np.zeros((2, 4)), None)
    assert images_payload(study) == {"images": None}
    assert image_entries(study, [0, 1]) == {0: {}, 1: {}}


# Instance sentence.


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
