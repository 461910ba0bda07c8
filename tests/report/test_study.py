"""Studies: what is reported, also of many components."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import shafer
from linear_worlds import linear_world
from shafer.report import Study, make_study, summary, write_report
from shafer.report.payload import payload
from shafer.report.sentences import sentence
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
    assert f"error on these rows {100 * error:.1f} %" in summary(study)


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
    page = path.read_text()
    assert page.startswith("<!doctype html>")
    assert explainer.report(IRIS.data, path=kind(path), rows=[0]) == path
    assert path.read_text() == page  # the shortcut writes the same
    in_folder = explainer.report(IRIS.data, IRIS.target, kind(tmp_path), title="Irises")
    assert in_folder == tmp_path / "report.html"
    assert "Irises" in in_folder.read_text()


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
    assert len(data["rows"]["i"]) == 40
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


# No groups behind the user's back: numbers are of the components of the explainer.


@pytest.mark.parametrize("prior", ["own", "shared"])
def test_many_components_have_the_numbers_of_the_explainer(prior: str) -> None:
    explainer, X, _ = linear_world(1, 3, n_inputs=20, prior=prior)
    study = make_study(explainer, X[:80])
    head = payload(study, None, 10**7)
    assert head["rows"]["ignorance"] == pytest.approx(
        explainer(X[:80]).ignorance.tolist(), rel=1e-3, abs=1e-6
    )
    assert len(head["components"]) == 20 + (prior == "own")
    text = summary(study)
    assert "80 instances, 20 components" in text
    assert "groups" not in text.replace("these groups overlap", "")
    assert f"evidence lacking {100 * np.mean(study.evidence.ignorance >= 0.2):.1f} %" in text
    row = explained(study, 3)
    assert f"Ignorance {explainer(X[3:4]).ignorance[0]:.3f}" in row
    assert "the other 10 inputs" in row


def test_groups_of_the_user_are_named() -> None:
    explainer, X, _ = linear_world(1, 2, n_inputs=6)
    single = make_study(explainer, X[:20])
    assert single.of_groups == ""
    frame = pd.DataFrame(X, columns=list("abcdef"))
    kinds = {"first": ["a", "b"], "second": ["c", "d"]}
    study = make_study(shafer.Explainer(explainer.model, frame, kinds), frame[:20])
    assert study.of_groups.startswith("Some components are groups of several inputs: 'first', 'se")
    assert study.of_groups in summary(study)
    assert "of the groups." in explained(study, 0)
    assert payload(study, None, 10**6)["ofGroups"] == study.of_groups
    coded = frame.assign(f=np.where(frame["f"] > 0, "u", "v"))
    encoder = make_column_transformer((OneHotEncoder(), ["f"]), remainder="passthrough")
    model = make_pipeline(encoder, LogisticRegression()).fit(coded, np.arange(len(X)) % 2)
    assert make_study(shafer.Explainer(model, coded), coded[:20]).of_groups == ""  # columns


# An answer that is hardly more probable than another class.


def with_odds(log_odds: float, **options: Any) -> Study:
    """Strong evidence on both sides, so that one class is decided."""
    rows = np.array([[2.0, 2.0], [0.0, 0.0]])
    explainer = shafer.Explainer(([40.0, -40.0], log_odds), rows, classes=["no", "yes"], **options)
    return make_study(explainer, rows)


@pytest.mark.parametrize(
    ("p", "threshold", "words"),
    [
        (0.51, None, "close call: yes 51 %, no 49 %"),
        (0.49, None, "close call: no 51 %, yes 49 %"),
        (0.5249, None, "close call: yes 52 %, no 48 %"),
        (0.526, None, ""),
        (0.22, 0.2, "close call: yes 22 %, threshold 20 %"),
        (0.26, 0.2, ""),
        (0.51, 0.2, ""),
    ],
)
def test_close_calls(p: float, threshold: float | None, words: str) -> None:
    study = with_odds(np.log(p / (1 - p)), threshold=threshold)
    assert study.close_call(0) == words
    said = study.sentence(0)
    if words:
        assert said.endswith(f"; {words}.")
        assert words in summary(study)
        assert "close call" in explained(study, 0).splitlines()[-6:][0] or words in said
    elif threshold is None:
        assert said.endswith("the answer is still yes.")
    else:
        assert said.endswith("the answer is yes, by the threshold 0.2 of yes.")
        assert "  answer" in explained(study, 0)


def test_losses_have_no_close_calls() -> None:
    loss = [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [5.0, 5.0, 0.0]]
    explainer = shafer.Explainer((np.zeros((3, 2)), np.zeros(3)), np.eye(2), loss=loss)
    study = make_study(explainer, np.eye(2))
    assert study.close_call(0) == ""
    assert study.sentence(0).endswith("which has the least expected loss.")


@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4))
@settings(max_examples=50, deadline=None)
def test_components_do_not_agree_beside_a_bar_against_the_answer(seed: int, n_classes: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(1, 5, n_classes)) * 10.0 ** rng.uniform(-3, 0.5)
    ev = shafer.Evidence.from_weights(weights)
    said = sentence(ev, ev.component_names)
    for strength, least in (("strongly", 0), ("moderately", 1), ("weakly", 1)):
        if f"{strength} opposes" in said:
            allowed = ["the components disagree", "the components partly disagree"]
            allowed += ["the components mostly agree"] * least
            assert any(words in said for words in allowed)


@pytest.mark.parametrize(
    "columns",
    [
        [0, 1, 2, 3],
        [3, 0, 2, 1],
        ["a", "a", "b", "a (1)"],
        pd.MultiIndex.from_product([["u", "v"], [1, 2]]),
        pd.date_range("2020", periods=4),
        [("a", 1), ("a", 2), ("b", 1), ("c", 1)],
    ],
    ids=["numbers", "permuted numbers", "equal names", "levels", "dates", "tuples"],
)
def test_columns_of_any_name(columns: Any) -> None:
    """Column names of pandas need not be strings, nor different."""
    explainer, _ = fitted(IRIS.target)
    frame = pd.DataFrame(IRIS.data[::9])
    frame.columns = pd.Index(columns, tupleize_cols=False) if isinstance(columns, list) else columns
    study = make_study(explainer, frame)
    assert len(study.columns) == 4
    for j, values in enumerate(study.columns.values()):
        np.testing.assert_array_equal(values, IRIS.data[::9, j])
    assert summary(study)
