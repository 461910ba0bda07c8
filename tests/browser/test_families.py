"""Eight pages of different models: each is read, filtered, compared, linked to and printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer
from shafer.report import Study, heart_study, make_study


def credit(n: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers and a category, some of both missing; the index has ids."""
    rng = np.random.default_rng(11)
    X = pd.DataFrame(
        {
            "amount": rng.lognormal(8.0, 0.6, n).round(),
            "months": rng.integers(6, 60, n).astype(float),
            "purpose": rng.choice(["car", "house", "other"], n).astype(object),
        },
        index=[f"loan{i}" for i in range(n)],
    )
    score = np.log(X["amount"]) - 8.0 + X["months"] / 30.0 - (X["purpose"] == "house")
    y = np.where(score + rng.normal(0, 0.7, n) > 1.0, "default", "paid")
    X.loc[X.index[rng.random(n) < 0.1], "months"] = np.nan
    return X, y


def _heart() -> Study:
    return heart_study(errors="laplace")


def _thresholded() -> Study:
    X, y = credit()
    X.loc["loan5", "purpose"] = None
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    texts = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    columns = make_column_transformer((numbers, ["amount", "months"]), (texts, ["purpose"]))
    model = make_pipeline(columns, LogisticRegression()).fit(X, y)
    explainer = shafer.Explainer(model, X, groups="source", threshold={"default": 0.3})
    return make_study(explainer, X, y, title="Loans")


def _three() -> Study:
    rng = np.random.default_rng(12)
    X = pd.DataFrame(rng.normal(size=(240, 4)), columns=["a", "b", "c", "d"])
    y = np.array(["low", "middle", "high"])[
        np.digitize(X["a"] + X["b"] + rng.normal(0, 0.6, 240), [-0.7, 0.7])
    ]
    return make_study(shafer.Explainer(LogisticRegression().fit(X, y), X), X, y, title="Three")


def _xgboost() -> Study:
    xgboost = pytest.importorskip("xgboost")
    X, y = credit()
    X["purpose"] = X["purpose"].astype("category")
    model = xgboost.XGBClassifier(
        n_estimators=15, max_depth=3, enable_categorical=True, tree_method="hist", n_jobs=1
    ).fit(X, (y == "default").astype(int))
    explainer = shafer.Explainer(model, X, classes=["paid", "default"])
    return make_study(explainer, X, y, title="Loans, boosted")


def _lightgbm() -> Study:
    lightgbm = pytest.importorskip("lightgbm")
    X, y = credit()
    X = X[["amount", "months"]]
    model = lightgbm.LGBMClassifier(n_estimators=15, num_leaves=7, verbose=-1, n_jobs=1).fit(X, y)
    return make_study(shafer.Explainer(model, X), X, y, title="Loans, boosted")


def _ebm() -> Study:
    glassbox = pytest.importorskip("interpret.glassbox")
    X, y = credit()
    X = X[["amount", "months"]].fillna(30.0)
    model = glassbox.ExplainableBoostingClassifier(
        interactions=0, outer_bags=2, max_rounds=50, n_jobs=1
    ).fit(X, y)
    return make_study(shafer.Explainer(model, X), X, y, title="Loans, additive")


def _texts() -> Study:
    from sklearn.feature_extraction.text import TfidfVectorizer

    rng = np.random.default_rng(3)
    words = ["good", "bad", "film", "plot", "text"]
    X = [" ".join(rng.choice(words, 5)) for _ in range(80)]
    y = np.where([text.count("good") >= text.count("bad") for text in X], "liked", "not liked")
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(X, y)
    return make_study(shafer.Explainer(model, X), X, y, title="Texts")


def _large() -> Study:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 50))
    y = (X[:, :10] + rng.normal(size=(2000, 10))).argmax(axis=1)
    model = (np.eye(10, 50), np.zeros(10))
    names = [f"input {j}" for j in range(50)]
    return make_study(shafer.Explainer(model, X, names=names), X, y, names=names, title="Large")


PAGES = {
    "heart": _heart,
    "thresholded": _thresholded,
    "three": _three,
    "xgboost": _xgboost,
    "lightgbm": _lightgbm,
    "ebm": _ebm,
    "texts": _texts,
    "large": _large,
}


# Words that a reader outside the field does not know: only under "Advanced".
FIELD = ("nats", "pignistic", "dominated", "{", "}", "ignorance", "disagreement", "belief")


@pytest.fixture(scope="module", params=list(PAGES))
def study(request: pytest.FixtureRequest) -> Study:
    return PAGES[request.param]()


def settings(page: Any, **values: float) -> dict[str, Any]:
    """Set the sliders of the overview, and return its numbers."""
    for name, value in values.items():
        page.fill(f"#{name}", str(value))
    found: dict[str, Any] = page.evaluate("window.shafer.Overview.numbers()")
    return found


def reasons(page: Any) -> float:
    """The sum of all reasons of the case, on both sides, in log-odds."""
    weights = page.eval_on_selector_all(
        "#why tr[data-weight]", "rows => rows.map((row) => Number(row.dataset.weight))"
    )
    return float(sum(weights))


def check_case(page: Any, study: Study) -> None:
    """The answer, its chance, and the reasons, which lead from the starting point to the odds."""
    row = int(page.get_attribute("#case", "data-row"))
    ev = study.undiscounted[row]
    answer, rival = (int(page.get_attribute(f"#{k}", "data-before")) for k in ("class", "over"))
    assert answer == study.answers[row]
    assert page.inner_text("#case-title") == study.row_name(row).replace("row", "Row")
    assert page.inner_text("#decision b") == str(ev.classes[answer])
    chance = f"{np.floor(100 * ev.probability[0, answer] + 0.5):.0f} %"
    shown = page.inner_text(".chance.chosen b")
    assert shown in (chance, ">99 %") or abs(float(shown[:-2]) - float(chance[:-2])) <= 0.6
    odds = np.log(ev.probability[0, answer] / ev.probability[0, rival])
    base = 0.0 if study.base_rate is None else ev.weights[0, study.base_rate]
    start = 0.0 if study.base_rate is None else base[answer] - base[rival]
    # What is weaker than a factor of 1.00 is not listed.
    assert abs(start + reasons(page) - odds) < 0.011


def check_compared(page: Any, study: Study, pinned: int) -> None:
    """The reasons that differ by a factor of 1.25 are marked."""
    row = int(page.get_attribute("#case", "data-row"))
    assert page.locator("#compared tr[data-gap]").count() > 0
    if study.evidence.n_classes != 2:
        return
    contrast = study.undiscounted.contrast(*study.evidence.classes)
    gaps = np.delete(np.abs(contrast[row] - contrast[pinned]), study.base_rate)
    expected = np.count_nonzero(gaps >= np.log(1.25))
    assert page.locator("#compared tr.differs").count() == expected


def check_overview(page: Any, study: Study) -> None:
    """The numbers of the overview are those of scikit-learn."""
    truth = study.truth
    found = settings(page)
    np.testing.assert_array_equal(found["confusion"], confusion_matrix(truth, study.answers))
    assert found["wrong"] == int(study.wrong.sum())
    always = len(truth) - np.bincount(truth).max()
    assert f"({always:,} if it always answered" in page.inner_text("[data-figure=error]")
    for group in found["calibration"]:
        held = binomtest(round(group["n"] * group["share"]), group["n"]).proportion_ci(
            0.95, "wilson"
        )
        np.testing.assert_allclose([group["low"], group["high"]], held, atol=1e-4)
    if study.evidence.n_classes != 2:
        return
    rule = study.undiscounted.cutoff
    asked = 1 if rule is None else rule.position
    p = study.evidence.probability[:, asked]
    assert abs(found["area"] - roc_auc_score(truth == asked, p)) < 1e-9
    total = sum(group["n"] * group["p"] for group in found["calibration"])
    assert abs(total - p.sum()) < 1e-6 * len(p)
    moved = settings(page, threshold=70)
    answers = np.where(p >= 0.7, asked, 1 - asked)
    np.testing.assert_array_equal(moved["confusion"], confusion_matrix(truth, answers))
    fewer = settings(page, share=50)
    assert fewer["decided"] == round(0.5 * len(p))
    assert fewer["wrong"] == np.sum(np.array(fewer["confusion"]) * (1 - np.eye(2)))
    page.click("#as-stated")
    np.testing.assert_array_equal(
        settings(page)["confusion"], confusion_matrix(truth, study.answers)
    )


def check_paper(page: Any) -> None:
    """On paper a case has one page, and no picture runs over what stands below it."""
    page.evaluate("document.documentElement.dataset.paper = 'case'")
    assert page.pdf(format="A4").count(b"/Type /Page\n") == 1
    page.emulate_media(media="print")
    page.evaluate("delete document.documentElement.dataset.paper")
    over = page.evaluate(
        """async () => {
          window.dispatchEvent(new Event("beforeprint"));
          for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
          return [...document.querySelectorAll(".chart:not([hidden]) > svg")]
            .map((svg) => svg.clientHeight - svg.parentElement.clientHeight);
        }"""
    )
    assert max(over) <= 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")


def test_a_page_is_read_and_used(study: Study, open_report: Any, tmp_path: Path) -> None:
    opened = open_report(study, unfolded=False)
    page = opened.page
    assert (tmp_path / "report.html").stat().st_size < 4_000_000
    check_case(page, study)
    page.click("#following")
    check_case(page, study)
    check_overview(page, study)
    link = page.evaluate("location.hash")
    # What if, where the model can be evaluated on the page.
    page.click("#open-what-if")
    slider = page.locator("#sliders input[type=number]").first
    if page.locator("#sliders .slider").count():
        before = page.text_content("#chances")
        slider.fill(str(float(slider.input_value() or 30) * 1.5 + 1))
        assert page.text_content("#chances") != before
        assert page.inner_text("#case-title").endswith(", changed")
        page.click("#reset")
        assert page.text_content("#chances") == before
    # Pin, compare, similar.
    page.click("#pin")
    first = int(page.get_attribute("#case", "data-row"))
    for _ in range(4):
        page.click("#following")
    check_compared(page, study, first)
    assert study.row_name(first) in page.inner_text("#compare-title")
    page.click("#alike")
    far = page.eval_on_selector_all(
        "#similar-table tr[data-distance]", "rows => rows.map((r) => Number(r.dataset.distance))"
    )
    assert far == sorted(far)
    assert len(far) == 8
    page.click("#similar-table a >> nth=0")
    check_case(page, study)
    # A filter makes a cohort, for the table and the overview.
    page.select_option("#filter-column", "right or wrong")
    page.select_option("#filter-value", "wrong")
    page.click("#add-filter")
    found = settings(page)
    assert found["n"] == found["wrong"] == study.wrong.sum()
    assert "right or wrong: wrong" in page.inner_text("#cohort")
    with page.expect_download() as download:
        page.click("#csv")
    saved = pd.read_csv(download.value.path())
    assert len(saved) == study.wrong.sum()
    page.click("#filters .chip")
    assert page.inner_text("#cohort") == ""
    # A link opens its case; paper has one page.
    page.goto(page.url.split("#")[0] + link)
    page.reload()
    page.wait_for_selector("html[data-ready=true]")
    assert page.evaluate("location.hash") == link
    assert page.inner_text("#case-title").lower() in link.lower().replace("#case=", "row ") + link
    check_paper(page)
    page.evaluate("document.getElementById('advanced').remove()")
    text = page.evaluate("document.body.innerText").lower()
    assert [word for word in FIELD if word in text] == []
    assert opened.complaints == []
    assert all(url.startswith(("file://", "blob:")) for url in opened.requests)


def test_one_case_alone(open_report: Any) -> None:
    """Its sliders come from the background, and the missing value has one too."""
    whole = _thresholded()
    study = make_study(whole.explainer, whole.X.loc[["loan5"]], ["paid"])
    opened = open_report(study, alone=True, unfolded=False)
    page = opened.page
    assert page.inner_text("#case-title") == "loan5"
    assert page.locator("#overview, #cases, #pin, #plane, nav").count() == 0
    assert "decides for default from 30 % on" in page.inner_text("#decision")
    check_case(page, study)
    page.click("#open-what-if")
    page.select_option(".slider[data-input='purpose'] select", "house")
    changed = study.explainer(study.X.assign(purpose="house"))
    np.testing.assert_allclose(
        page.evaluate("window.shafer.state.result.probability"), changed.probability[0], atol=1e-9
    )
    assert opened.complaints == []


def test_a_new_case_is_typed_in(open_report: Any) -> None:
    study = _thresholded()
    page = open_report(study, unfolded=False).page
    page.click("#new-case")
    assert page.inner_text("#case-title") == "New case"
    values = {"amount": 9000, "months": 48}
    for name, value in values.items():
        page.fill(f".slider[data-input='{name}'] input[type=number]", str(value))
    page.select_option(".slider[data-input='purpose'] select", "car")
    new = study.explainer(pd.DataFrame([{**values, "purpose": "car"}]))
    np.testing.assert_allclose(
        page.evaluate("window.shafer.state.result.probability"), new.probability[0], atol=1e-9
    )
    assert page.inner_text("#truth") == ""
    # What next follows the values that were typed in.
    page.locator("#next-list", has_text="It is 9000; usual").wait_for()
    answer = page.inner_text("#decision b")
    assert f"The model would answer {answer}" not in page.inner_text("#next-list")
    page.click("#following")
    assert page.inner_text("#case-title") != "New case"
    assert "It is 9000" not in page.inner_text("#next-list")


def test_what_next_follows_a_changed_input(open_report: Any) -> None:
    page = open_report(_thresholded(), unfolded=False).page
    page.click("#open-what-if")
    page.fill(".slider[data-input='amount'] input[type=number]", "2000")
    page.locator("#next-list", has_text="(it is 2000)").wait_for()
    answer = page.inner_text("#decision b")
    assert f"The model would answer {answer}" not in page.inner_text("#next-list")
    assert "suggest" not in page.inner_text("#next-list")  # that is about the row as it was
    page.click("#reset")
    assert "(it is 2000)" not in page.inner_text("#next-list")


def test_a_promise_is_marked_as_one(open_report: Any) -> None:
    X, y = credit(600)
    X = X[["amount"]]
    model = LogisticRegression().fit(np.log(X), y)
    explainer = shafer.Explainer(model, np.log(X)).control_error(
        np.log(X[300:]), y[300:], error=0.35
    )
    study = make_study(explainer, np.log(X[:300]), y[:300])
    page = open_report(study, unfolded=False).page
    text = page.inner_text("#promise")
    assert text.startswith("Promised, calibrated on 300 other rows: at most 35 %")
    deferred = explainer.predict_or_defer(np.log(X[:300])).deferred
    assert f"it decides {100 * np.mean(~deferred):.1f} %" in text
    assert f"and {100 * study.wrong[~deferred].mean():.1f} % of those are wrong" in text
    assert "They promise nothing." in text
