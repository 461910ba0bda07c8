from __future__ import annotations

import json

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import shafer
from shafer.report import Study, heart_study, make_study
from shafer.report.page import render
from shafer.texts.rows import terminal_texts, texts_of_row
from text_models import HOSTILE, KINDS, MODELS, TEXTS


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


def test_studies_without_marked_texts() -> None:
    assert texts_of_row(heart_study(), 3) == []
    assert terminal_texts(heart_study(), 3) == []
    grouped = _study(groups={"pets": ["cat", "dog"]})
    assert texts_of_row(grouped, 0) == []


def test_terminal_text_of_a_pair() -> None:
    [shown] = terminal_texts(_study(), 1, 60, class_="dog", over="bird")
    assert shown.startswith("Why dog rather than bird?")


def test_the_page_holds_no_markup_of_the_texts() -> None:
    page = render(_study(prior="own"))
    data = page.split('id="data">')[1].split("</script>")[0]
    assert "<" not in data
    rows = json.loads(data)["rows"]
    assert all(len(row["texts"]) == 1 for row in rows)
    assert "window.hacked" in data
    assert "<img" not in page
