"""Texts as users have them, and texts of rows in a report."""

from __future__ import annotations

import json
import time
import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline

import shafer
from shafer import Explainer
from shafer.report import Study, heart_study, make_study
from shafer.report.page import render
from shafer.texts.rows import terminal_texts, texts_of_row
from text_models import HOSTILE, IS_CAT, KINDS, MODELS, TEXTS

# Texts as users have them: lists, columns and frames, with gaps, and one text alone.


@pytest.fixture(scope="module")
def model() -> Any:
    return make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, IS_CAT)


HELD = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "objects": lambda texts: np.array(texts, dtype=object),
    "column": lambda texts: np.array(texts, dtype=object)[:, None],
    "series": lambda texts: pd.Series(texts, index=[f"r{i}" for i in range(len(texts))]),
    "frame": lambda texts: pd.DataFrame({"text": texts}),
    "polars series": lambda texts: pl.Series("text", texts),
    "polars frame": lambda texts: pl.DataFrame({"text": texts}),
}


@pytest.mark.parametrize("name", HELD)
def test_texts_in_any_form(name: str, model: Any) -> None:
    held = HELD[name]
    explainer = Explainer(model, held(TEXTS))
    ev = explainer(held(TEXTS[:5]))
    expected = Explainer(model, TEXTS)(TEXTS[:5])
    np.testing.assert_allclose(ev.weights, expected.weights, rtol=1e-12)
    np.testing.assert_allclose(ev.probability, model.predict_proba(TEXTS[:5]), rtol=1e-9)
    assert ev.component_names == expected.component_names
    if name in ("series", "frame"):
        assert ev.index is not None


@pytest.mark.parametrize(
    "texts",
    [
        ["cat", None],
        ["cat", float("nan")],
        pd.Series(["cat", None]),
        pl.Series(["cat", None]),
        pd.DataFrame({"text": ["cat", None]}),
        ["cat", 3],
        ["cat", ["a", "dog"]],
    ],
)
def test_a_row_without_a_text(texts: Any, model: Any) -> None:
    explainer = Explainer(model, TEXTS)
    with pytest.raises(ValueError, match="X has no text in row 1: got .*Fill it in"):
        explainer(texts)
    with pytest.raises(ValueError, match="background has no text in row 1"):
        Explainer(model, texts)


def test_other_mistakes(model: Any) -> None:
    explainer = Explainer(model, TEXTS)
    with pytest.raises(ValueError, match="If it is a text, pass a list with one text"):
        explainer("a cat")
    with pytest.raises(ValueError, match="X must hold at least one text; got none"):
        explainer([])
    several = pd.DataFrame({"title": TEXTS, "body": TEXTS})
    with pytest.raises(ValueError, match="got the columns 'title', 'body'. Pass the column of"):
        explainer(several)
    with pytest.raises(ValueError, match=r"got shape \(2, 3\)"):
        explainer(np.full((2, 3), "cat", dtype=object))


def test_a_column_without_a_text() -> None:
    frame = pd.DataFrame({"text": TEXTS, "size": np.arange(float(len(TEXTS)))})
    encoder = ColumnTransformer([("t", TfidfVectorizer(), "text"), ("n", "passthrough", ["size"])])
    model = make_pipeline(encoder, LogisticRegression(max_iter=1000)).fit(frame, IS_CAT)
    explainer = Explainer(model, frame)
    gap = frame[:3].assign(text=["cat", "dog", None])
    with pytest.raises(ValueError, match="Column 'text' has no text in row 2: got nan. Fill it in"):
        explainer(gap)


def test_bytes_and_empty_texts(model: Any) -> None:
    ev = Explainer(model, TEXTS)([b"the cat", "the cat", ""])
    np.testing.assert_array_equal(ev.weights[0], ev.weights[1])
    assert np.isfinite(ev.probability).all()


def test_lists_of_words_for_an_analyzer_of_ones_own() -> None:
    rows = [text.split() for text in TEXTS]
    vectorizer = TfidfVectorizer(analyzer=lambda words: words)
    model = make_pipeline(vectorizer, LogisticRegression()).fit(rows, IS_CAT)
    ev = Explainer(model, rows)(rows[:4])
    np.testing.assert_allclose(ev.probability, model.predict_proba(rows[:4]), rtol=1e-9)
    pairs = [["a", "cat"], ["my", "dog"]]  # also as a table of words
    study = make_study(Explainer(model, rows), pairs)
    assert "<html" in render(study)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("labels", [IS_CAT, KINDS])
def test_probabilities_of_text_models(name: str, labels: list[str]) -> None:
    if name == "hashed pairs" and labels is KINDS:
        return  # its separate sigmoids are refused: see tests of the reader
    model = clone(MODELS[name]).fit(TEXTS, labels)
    explainer = Explainer(model, TEXTS)
    new = [*TEXTS[:6], "", "zebra"]
    np.testing.assert_allclose(explainer(new).probability, model.predict_proba(new), atol=1e-12)


# -- names of hashed words ----------------------------------------------------------------------


def test_hashed_columns_are_named_after_words() -> None:
    vectorizer = HashingVectorizer(n_features=2**12)
    model = make_pipeline(vectorizer, LogisticRegression()).fit(TEXTS, IS_CAT)
    explainer = Explainer(model, TEXTS, prior="own")
    names = explainer.component_names
    column = int(vectorizer.transform(["kitten"]).indices[0])
    assert names[column] == "kitten"
    unseen = [name for name in names if name.startswith("bucket ")]
    words = {word for text in TEXTS for word in vectorizer.build_analyzer()(text)}
    assert len(unseen) == 2**12 - len(words)
    again = Explainer(model, iter([TEXTS[:7], TEXTS[7:]]), prior="own")
    assert again.component_names == names
    assert explainer(TEXTS).reasons(top=1)["component"].isin(words).any()


def test_a_full_bucket_names_the_most_frequent_words() -> None:
    model = make_pipeline(HashingVectorizer(n_features=2), LogisticRegression())
    names = Explainer(model.fit(TEXTS, IS_CAT), TEXTS, prior="own").component_names
    assert all(name.count(" | ") == 3 and name.endswith(" more") for name in names[:2])
    assert any(name.startswith("the | ") or " | the" in name for name in names[:2])


def test_hashed_words_inside_unions_and_columns() -> None:
    union = FeatureUnion([("h", HashingVectorizer(n_features=64)), ("w", TfidfVectorizer())])
    model = make_pipeline(union, LogisticRegression()).fit(TEXTS, IS_CAT)
    names = Explainer(model, TEXTS, prior="own").component_names
    assert "w__kitten" in names
    assert any("kitten" in name for name in names if name.startswith("h__"))
    frame = pd.DataFrame({"text": TEXTS, "size": np.arange(float(len(TEXTS)))})
    encoder = ColumnTransformer([("h", HashingVectorizer(n_features=64), "text")])
    model = make_pipeline(encoder, LogisticRegression()).fit(frame, IS_CAT)
    names = Explainer(model, frame, prior="own").component_names
    assert any("kitten" in name for name in names)


def test_a_large_vocabulary_stays_sparse() -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{i}" for i in rng.integers(0, 100_000, 300)) for _ in range(400)]
    labels = rng.choice(["a", "b", "c"], len(texts))
    vectorizer = TfidfVectorizer().fit([" ".join(f"w{i}" for i in range(100_000)), *texts])
    assert len(vectorizer.vocabulary_) == 100_000
    model = make_pipeline(vectorizer, LogisticRegression(max_iter=20, tol=1e-1))
    model.steps[1][1].fit(vectorizer.transform(texts), labels)
    tracemalloc.start()
    ev = Explainer(model, texts)(texts)
    assert ev.belief.shape == (400, 3)
    display = shafer.plots.TextDisplay.from_evidence(ev, 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(display.spans) == 300
    assert peak < 400 * 100_000 * 3 * 8 / 5  # in full the weights take a gigabyte


def test_reasons_are_words_and_tell_whether_the_text_has_them() -> None:
    frame = pd.DataFrame({"text": TEXTS, "size": np.arange(float(len(TEXTS)))})
    encoder = ColumnTransformer([("t", TfidfVectorizer(), "text"), ("n", "passthrough", ["size"])])
    model = make_pipeline(encoder, LogisticRegression(max_iter=1000)).fit(frame, IS_CAT)
    for given in (frame, pl.from_pandas(frame)):
        ev = Explainer(model, given, prior="own")(given)
        table = ev[3:6].reasons("cat", top=8)
        assert len(table) == 24  # several words of one column
        for row, component, value in zip(
            table["row"], table["component"], table["value"], strict=True
        ):
            if component.startswith("t__"):
                there = component[3:] in TEXTS[3 + row].lower()
                assert value == ("in the text" if there else "not in the text")
        assert {"in the text", "not in the text"} <= set(table["value"])


def test_reasons_of_a_large_vocabulary_are_fast() -> None:
    model = make_pipeline(HashingVectorizer(n_features=2**15), LogisticRegression())
    ev = Explainer(model.fit(TEXTS, IS_CAT), TEXTS, prior="own")(TEXTS[:2])
    start = time.process_time()
    assert len(ev.reasons(top=4)) == 8
    assert time.process_time() - start < 5.0  # it was quadratic


# Row texts.


def _study(**options: object) -> Study:
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, KINDS)
    return make_study(shafer.Explainer(model, TEXTS, **options), [*TEXTS[:4], *HOSTILE])


def test_weights_of_all_classes_add_up_to_the_logits() -> None:
    study = _study(prior="own")
    for row in range(len(study)):
        [text] = texts_of_row(study, row)
        assert text.segments.text == study.X[row]
        total = text.segments.total(0, len(text.segments)) + text.base_rate + text.absent
        np.testing.assert_allclose(total, study.evidence.logits[row], atol=1e-9)
        assert not np.any(text.others)


def test_words_without_a_place_count() -> None:
    model = MODELS["stemmed"].fit(TEXTS, KINDS)
    study = make_study(shafer.Explainer(model, TEXTS), ["Cats and dogs"])
    [text] = texts_of_row(study, 0)
    assert sorted(text.unlocated_words) == ["and", "cat", "dog"]
    total = text.unlocated + text.base_rate + text.absent
    np.testing.assert_allclose(total, study.evidence.logits[0], atol=1e-9)


def test_empty_words_have_no_place() -> None:
    model = make_pipeline(CountVectorizer(token_pattern=r"(?u)\w*"), LogisticRegression())
    study = make_study(shafer.Explainer(model.fit(TEXTS, KINDS), TEXTS), ["a cat"])
    [text] = texts_of_row(study, 0)
    assert sorted(text.unlocated_words) == ["", "a", "cat"]
    assert not text.segments.marks.any()


def test_studies_without_marked_texts() -> None:
    assert texts_of_row(heart_study(), 3) == []
    assert terminal_texts(heart_study(), 3) == []
    grouped = _study(groups={"pets": ["cat", "dog"]})
    assert texts_of_row(grouped, 0) == []


def test_terminal_text_of_a_pair() -> None:
    study = _study()
    [shown] = terminal_texts(study, 1, 60, class_="dog", over="bird")
    assert shown.startswith("Why dog rather than bird?")
    classes = study.evidence.classes.tolist()
    p = dict(zip(classes, study.evidence.probability[1].tolist(), strict=True))
    both = f"probability {p['dog']:.3f} for dog and {p['bird']:.3f} for bird"
    assert both in " ".join(shown.split())


def test_the_page_holds_no_markup_of_the_texts() -> None:
    page = render(_study(prior="own"))
    data = page.split('id="data">')[1].split("</script>")[0]
    assert "<" not in data
    rows = json.loads(data)["rows"]
    assert all(len(texts) == 1 for texts in rows["texts"])
    assert "window.hacked" in data
    assert "<img" not in page


@pytest.mark.parametrize("joined", [False, True])
def test_vocabulary_that_needs_no_fit(joined: bool) -> None:
    words = sorted({word for text in TEXTS for word in text.lower().split() if word.isalpha()})
    counts = CountVectorizer(vocabulary=words)
    model = LogisticRegression().fit(counts.transform(TEXTS), IS_CAT)
    fresh = CountVectorizer(vocabulary=words)
    pipeline = make_pipeline(FeatureUnion([("words", fresh)]) if joined else fresh, model)
    explainer = Explainer(pipeline, TEXTS)
    np.testing.assert_allclose(
        explainer.predict_proba(TEXTS), pipeline.predict_proba(TEXTS), atol=1e-12
    )
    assert len(explainer(TEXTS).reasons(top=2)) > 0
