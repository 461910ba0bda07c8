"""Studies: what is reported, also of many components."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import shafer
from linear_worlds import linear_world
from shafer.report import Study, make_study, summary, write_report
from shafer.report.payload import payload
from shafer.report.study import GroupedStudy, grouped_study
from shafer.report.terminal import explained

IRIS = load_iris()


def fitted(y: Any) -> tuple[shafer.Explainer, float]:
    """Return the explainer of a model trained on these labels, and its error."""
    model = LogisticRegression(max_iter=500).fit(IRIS.data, y)
    return shafer.Explainer(model, IRIS.data), float(np.mean(model.predict(IRIS.data) != y))


@pytest.mark.parametrize(
    "y",
    [
        IRIS.target,
        IRIS.target + 1,  # each label but one is also a position
        2 - IRIS.target,
        np.where(IRIS.target == 0, -1, 1),
        IRIS.target == 0,
        IRIS.target_names[IRIS.target],
        IRIS.target_names[IRIS.target].astype(object),
    ],
    ids=["positions", "shifted", "reversed", "minus one", "bools", "strings", "objects"],
)
@pytest.mark.parametrize("container", [np.asarray, list, pd.Series])
def test_y_are_labels(y: np.ndarray, container: Any) -> None:
    explainer, error = fitted(y)
    study = make_study(explainer, IRIS.data, container(y))
    assert np.mean(study.wrong) == error
    assert f"error on these rows {error:.1%}" in summary(study)


def test_floats_are_the_labels_they_equal() -> None:
    explainer, error = fitted(IRIS.target)
    assert np.mean(make_study(explainer, IRIS.data, IRIS.target.astype(float)).wrong) == error
    floats, _ = fitted(IRIS.target.astype(float))
    assert np.mean(make_study(floats, IRIS.data, IRIS.target).wrong) == error


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.full(150, 7), "Unknown class label.*7"),
        (np.array(["a"] * 150), "Unknown class label.*'a'"),
        (np.where(IRIS.target == 0, np.nan, IRIS.target), "Missing class label.*nan"),
        (np.zeros(3, dtype=int), r"one label for each of 150 rows; got shape \(3,\)"),
        (IRIS.target[:, None], r"one label for each of 150 rows; got shape \(150, 1\)"),
    ],
)
def test_other_labels_are_refused(y: Any, message: str) -> None:
    explainer, _ = fitted(IRIS.target + 1)
    with pytest.raises(ValueError, match=message):
        make_study(explainer, IRIS.data, y)


@pytest.mark.parametrize("kind", [str, Path])
def test_paths(kind: Any, tmp_path: Path) -> None:
    explainer, _ = fitted(IRIS.target)
    path = tmp_path / "deep" / "page.html"
    write_report(make_study(explainer, IRIS.data), kind(path), rows=[0])
    assert path.read_text().startswith("<!doctype html>")


TEXTS = ["good film", "bad film", "a good text", "bad bad " + "film " * 100] * 10
SIDES = np.array(["yes", "no", "yes", "no"] * 10)
NUMBERS = np.random.default_rng(0).normal(size=(40, 3)) * (np.arange(40) % 2 * 2 - 1)[:, None]
WIDE = sp.random_array((40, 300), density=0.1, random_state=0, format="csc")


def of_texts() -> Any:
    return make_pipeline(TfidfVectorizer(), LogisticRegression())


@pytest.mark.parametrize(
    ("model", "X", "columns", "sliders"),
    [
        (of_texts(), TEXTS, ["text (input)"], "is text"),  # "text" is a word of the texts
        (of_texts(), np.array(TEXTS), ["text (input)"], "is text"),
        (of_texts(), pd.Series(TEXTS), ["text (input)"], "is text"),
        (LogisticRegression(), sp.csr_array(NUMBERS), ["x0", "x1", "x2"], ""),
        (LogisticRegression(), sp.coo_matrix(NUMBERS), ["x0", "x1", "x2"], ""),
        (LogisticRegression(), WIDE, ["non-zero inputs"], "300 sparse inputs are too many"),
        (LogisticRegression(), NUMBERS.tolist(), ["x0", "x1", "x2"], ""),
        (
            make_pipeline(DictVectorizer(), LogisticRegression()),
            [{"a": float(a), "b": "u" if a > 0 else "v"} for a in NUMBERS[:, 0]],
            ["a", "b"],
            "not a pandas table",
        ),
    ],
    ids=["texts", "text array", "text series", "csr", "coo", "wide", "lists", "dicts"],
)
def test_rows_of_any_kind(model: Any, X: Any, columns: list[str], sliders: str) -> None:
    study = make_study(shafer.Explainer(model.fit(X, SIDES), X), X, SIDES)
    assert list(study.columns) == columns
    data = payload(study, None, room=10**6)
    assert len(data["rows"]) == 40
    assert sliders in data["whyNot"]
    assert (data["whatIf"] is None) == bool(sliders)
    shown = explained(study, 1)
    assert study.sentence(1)[1:] in shown
    assert max(len(str(cell)) for cells in study.columns.values() for cell in cells) <= 200


def test_wide_sparse_rows_are_summarised() -> None:
    X = sp.lil_array((2, 300))
    X[0, 7], X[0, 250] = 0.5, -2.25
    X[1, :20] = 1.0
    explainer = shafer.Explainer((np.ones(300), 0.0), X.tocsr())
    names = [f"word {j}" for j in range(300)]
    study = make_study(explainer, X.tocsr(), names=names)
    few, many = study.columns["non-zero inputs"]
    assert few == "word 250 -2.25, word 7 0.5"
    assert isinstance(many, str)
    assert many.startswith("word 0 1, word 1 1")
    assert many.endswith("and 12 more")


def test_names_must_fit() -> None:
    explainer = shafer.Explainer((np.ones(2), 0.0), np.eye(2))
    with pytest.raises(ValueError, match="names must hold 2 names; got 1"):
        make_study(explainer, np.eye(2), names=["a"])


# Many components are shown in groups; the probabilities stay.


def joined(study: Study) -> GroupedStudy:
    found = grouped_study(study)
    assert found is not None
    return found


@pytest.mark.parametrize("prior", ["own", "shared"])
@pytest.mark.parametrize("n_inputs", [12, 13])
def test_groups_begin_beyond_twelve(n_inputs: int, prior: str) -> None:
    explainer, X, _ = linear_world(0, 3, n_inputs=n_inputs, prior=prior)
    found = grouped_study(make_study(explainer, X[:50]))
    assert (found is None) == (n_inputs == 12)


@pytest.mark.parametrize("prior", ["own", "shared"])
def test_groups_are_those_of_the_evidence(prior: str) -> None:
    explainer, X, _ = linear_world(1, 3, n_inputs=20, prior=prior)
    study = make_study(explainer, X[:80])
    found = joined(study)
    ev, true = found.study.undiscounted, study.undiscounted.grouped("auto")
    assert ev.component_names == true.component_names
    assert_allclose(ev.weights, true.weights)
    assert_allclose(ev.probability, study.undiscounted.probability)
    assert found.n_groups == 5
    assert sorted(g for group in found.members for g in group) == list(
        range(study.undiscounted.n_components)
    )
    for group, members in enumerate(found.members):
        whole = study.undiscounted.weights[:, members].sum(axis=1)
        assert_allclose(ev.weights[:, group], whole, atol=1e-12)


def test_discounted_evidence_keeps_its_reliability() -> None:
    explainer, X, rng = linear_world(2, 2, n_inputs=15)
    study = make_study(explainer, X[:30])
    reliability = rng.uniform(0.5, 1.0, 30)
    discounted = Study(
        "", (), explainer, X[:30], study.columns, study.undiscounted.discounted(reliability)
    )
    found = joined(discounted).study.evidence
    assert isinstance(found, shafer.DiscountedEvidence)
    assert_allclose(found.reliability, reliability)
    assert_allclose(found.betting_probability, study.undiscounted.probability)


def test_the_sentence_names_single_components() -> None:
    explainer, X, _ = linear_world(3, 2, n_inputs=15)
    study = make_study(explainer, X[:30])
    found = joined(study)
    named = found.sentence(4).split("; ignorance")[0]
    assert named == study.sentence(4).split("; ignorance")[0]
    ev = found.study.evidence[4]
    high = float(ev.ignorance[0]) >= 0.5
    assert ("ignorance is very high" in found.sentence(4)) == high


def test_the_summary_is_about_the_groups() -> None:
    explainer, X, _ = linear_world(4, 2, n_inputs=15, prior="own")
    study = make_study(explainer, X[:30])
    text = summary(study)
    assert "30 instances, 15 components (shown in 5 groups) and the base rate, 2 classes" in text
    lacking = np.mean(joined(study).study.evidence.ignorance >= 0.2)
    assert f"evidence lacking {lacking:.1%}" in text
