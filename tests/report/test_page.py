from __future__ import annotations

import base64
import hashlib
import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

import shafer
from shafer._json import as_json
from shafer.report import Study, heart_study, make_study, render, write_report
from shafer.report.payload import payload
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
    assert [row["i"] for row in data["rows"]] == list(range(462))
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
    assert [row["i"] for row in data_in(render(heart, [7, 3]))["rows"]] == [3, 7]
    with pytest.raises(ValueError, match=r"rows must lie between 0 and 461; got \[462\]"):
        render(heart, [462])


def test_too_many_rows_are_sampled() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 3))
    study = make_study(shafer.Explainer(([1.0, -1.0, 2.0], 0.1), X), X)
    data = payload(study, None, room=10**6)
    shown = [row["i"] for row in data["rows"]]
    assert len(shown) == 2000
    assert int(np.argmax(study.evidence.conflict)) in shown
    assert int(np.argmax(study.evidence.ignorance)) in shown
    assert len(as_json(payload(study, None, room=50_000))) <= 50_100


def test_many_categories_and_classes_fit_the_page() -> None:
    """A menu takes a number for each choice and class; sliders give way before the file grows."""
    rng = np.random.default_rng(6)
    n, n_classes = 400, 20
    choices = [f"v{j}" for j in range(40)]
    X = pd.DataFrame({f"c{j}": rng.choice(choices, n).astype(object) for j in range(60)})
    y = rng.integers(0, n_classes, n)
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    model = make_pipeline(encoder, LogisticRegression(max_iter=5, tol=1.0)).fit(X, y)
    html = render(make_study(shafer.Explainer(model, X, groups="source"), X, y))
    assert len(html.encode()) < 6_000_000
    data = data_in(html)
    assert data["whatIf"] is None
    assert "too many for the page" in data["whyNot"]
    assert len(data["rows"]) > 20


def test_a_text_may_be_called_nan() -> None:
    from shafer._values import plain

    assert plain("nan") == "nan"
    assert plain(np.nan) is None
    assert plain(pd.NaT) is None
    assert plain(-np.inf) == "−∞"


def rebuilt(study: Study, rows: list[int]) -> np.ndarray:
    model, why_not = study.what_if(rows)
    assert model is not None, why_not
    return np.stack([model.weights([c[i] for c in study.columns.values()]) for i in rows])


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


def test_what_if_without_a_linear_form() -> None:
    X, y = mixed()
    X = X[["a", "b"]].to_numpy(dtype=float)
    study = make_study(shafer.Explainer(GaussianNB().fit(X, y), X), X, y)
    data = payload(study, None, room=10**6)
    assert data["whatIf"] is None
    assert "proportion" in data["whyNot"]
    row = data["rows"][7]["stored"]
    np.testing.assert_allclose(row["w"], study.evidence.weights[7], rtol=1e-10, atol=1e-12)


def test_stored_weights_keep_the_sums() -> None:
    rng = np.random.default_rng(5)
    contributions = shafer.models.Contributions(lambda X: np.sin(X[:, :, None] * [1.0, 2.0, 3.0]))
    X = rng.normal(size=(6, 50))
    study = make_study(shafer.Explainer(contributions, X), X)
    stored = payload(study, None, room=10**6)["rows"][2]["stored"]
    kept = np.array(stored["w"])
    assert len(kept) < 50
    for sign, rest, pooled in (
        (1, "restFor", study.evidence.weights_for),
        (-1, "restAgainst", study.evidence.weights_against),
    ):
        total = np.maximum(sign * kept, 0).sum(axis=0) + stored[rest]
        np.testing.assert_allclose(total, pooled[2], atol=1e-9)


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
        assert data["meanBaseRate"] == pytest.approx(means[3], rel=1e-5)


def test_rows_have_errors_if_the_evidence_has(heart: Study) -> None:
    assert payload(heart, [3], room=10**6)["errors"] is None
    with_errors = heart_study(errors="laplace")
    data = payload(with_errors, [3, 9], room=10**6)
    assert data["errors"] == {"level": 0.9, "times": pytest.approx(1.6448536), "allPairs": True}
    for row, entry in zip((3, 9), data["rows"], strict=True):
        one = with_errors.undiscounted[row]
        std = one.contrast_std("no", "chd")[0]
        np.testing.assert_allclose(np.ravel(entry["errors"]["std"]), std, rtol=1e-3)
        whole = one.grouped("one").contrast_std("no", "chd")[0]
        np.testing.assert_allclose(entry["errors"]["sum"], whole, rtol=1e-3)


def test_the_page_says_how_to_get_the_other_prior(heart: Study) -> None:
    assert "shafer report --prior shared" in render(heart, [0])
    assert "shafer report --prior own" in render(heart_study("shared"), [0])
    plain = make_study(lambda X: shafer.Evidence.from_weights(np.ones((2, 1, 2)) * [1, -1]), [0, 1])
    assert "--prior" not in render(plain)
