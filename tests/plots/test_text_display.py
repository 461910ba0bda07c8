"""Marked texts: every weight is somewhere, spans are those of the text, and no text does harm."""

from __future__ import annotations

import re
import time
from functools import cache
from html import unescape
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import shafer
from shafer import Evidence
from shafer.plots import TextDisplay
from text_models import HOSTILE, IS_CAT, KINDS, MODELS, TEXTS

TEXT = "The CAT's Kitten naps; DOGS and cats play — a naïve Café, birds & 'song'?"


@pytest.fixture(scope="module")
def explainers() -> dict[str, shafer.Explainer]:
    return {name: shafer.Explainer(m.fit(TEXTS, IS_CAT), TEXTS) for name, m in MODELS.items()}


@pytest.mark.parametrize("name", MODELS)
def test_all_weights_add_up(name: str, explainers: dict[str, shafer.Explainer]) -> None:
    for text in [TEXT, *HOSTILE]:
        ev = explainers[name]([text])
        display = TextDisplay.from_evidence(ev, class_="cat", over="other")
        whole = float(ev.contrast("cat", "other").sum())
        assert display.text == text
        assert abs(display.logit - whole) < 1e-9 * (1.0 + abs(whole)), text
        inside = display.weights.sum() + sum(w for _, w in display.unlocated)
        parts = display.base_rate + inside + display.absent
        assert abs(parts - whole) < 1e-9 * (1.0 + abs(whole)), text


@cache
def _three_classes(name: str) -> shafer.Explainer:
    return shafer.Explainer(clone(MODELS[name]).fit(TEXTS, KINDS), TEXTS, prior="own")


@settings(max_examples=60, deadline=None)
@given(st.text(st.sampled_from("catdog thé\u0301İΣﬁ🫀\n.,"), max_size=60))
def test_any_text_adds_up(text: str) -> None:
    for name in ("n-grams", "accents", "inside words", "union"):
        ev = _three_classes(name)([text])
        display = TextDisplay.from_evidence(ev, class_="cat", over="bird")
        np.testing.assert_allclose(display.logit, ev.contrast("cat", "bird").sum(), atol=1e-9)
        spans = display.spans
        assert np.all(spans[:, 0] < spans[:, 1])
        assert np.all(spans[1:, 0] >= spans[:-1, 1])  # in order, without overlap
        display.to_html(), display.terminal(40, color=True)


def test_spans_are_the_words_of_the_original_text() -> None:
    model = make_pipeline(TfidfVectorizer(strip_accents="unicode"), LogisticRegression())
    explainer = shafer.Explainer(model.fit(TEXTS, IS_CAT), TEXTS)
    text = "ﬁne NAÏVE Cáfe, CAT-dog CATS unknown İcat"
    display = TextDisplay.from_evidence(explainer([text]))
    assert [text[a:b] for a, b in display.spans] == ["NAÏVE", "Cáfe", "CAT", "dog", "CATS"]
    assert [text[a:b] for a, b in display.silent] == ["ﬁne", "unknown", "İcat"]


def test_a_word_has_the_weight_of_its_component() -> None:
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, IS_CAT)
    ev = shafer.Explainer(model, TEXTS, prior="own")(["cat DOG cat"])
    display = TextDisplay.from_evidence(ev, class_="cat")
    contrast = dict(zip(ev.component_names, ev.contrast("cat", "other")[0], strict=True))
    expected = [contrast["cat"] / 2, contrast["dog"], contrast["cat"] / 2]
    np.testing.assert_allclose(display.weights, expected, rtol=1e-12)
    absent = sum(w for name, w in contrast.items() if name not in ("cat", "dog", "base rate"))
    np.testing.assert_allclose(display.absent, absent, rtol=1e-9)
    np.testing.assert_allclose(display.base_rate, contrast["base rate"], rtol=1e-12)


def test_words_share_their_n_grams() -> None:
    pairs = CountVectorizer(ngram_range=(2, 2), token_pattern=r"\w+")
    model = make_pipeline(pairs, LogisticRegression()).fit(TEXTS, IS_CAT)
    ev = shafer.Explainer(model, TEXTS, prior="own")(["the dog ate"])
    display = TextDisplay.from_evidence(ev, class_="cat")
    contrast = dict(zip(ev.component_names, ev.contrast("cat", "other")[0], strict=True))
    first, second = contrast["the dog"] / 2, contrast["dog ate"] / 2
    np.testing.assert_allclose(display.weights, [first, first + second, second], rtol=1e-12)


def test_weights_of_one_class_by_itself() -> None:
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, KINDS)
    ev = shafer.Explainer(model, TEXTS, prior="own")(["cat and DOG"])
    display = TextDisplay.from_evidence(ev, class_="dog", units="weight")
    weight = dict(zip(ev.component_names, ev.weights[0, :, 2], strict=True))
    np.testing.assert_allclose(display.weights, [weight[w] for w in ("cat", "and", "dog")])
    np.testing.assert_allclose(display.logit, ev.logits[0, 2])
    assert display.over is None
    shown = " ".join(display.terminal().split())
    assert "What supports dog, and what opposes it? weight" in shown
    assert re.search(r"against dog: .*cat −", shown)
    assert "log-odds" not in shown
    with pytest.raises(ValueError, match="over= compares two classes"):
        TextDisplay.from_evidence(ev, class_="dog", over="cat", units="weight")


def test_the_prior_does_not_change_the_marks() -> None:
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, KINDS)
    own, shared = (
        TextDisplay.from_evidence(shafer.Explainer(model, TEXTS, prior=prior)([TEXT]))
        for prior in ("own", "shared")
    )
    np.testing.assert_allclose(own.weights, shared.weights, rtol=1e-9)
    np.testing.assert_allclose(own.base_rate, shared.base_rate, rtol=1e-9)
    np.testing.assert_allclose(own.absent, shared.absent, rtol=1e-9)


def test_stop_words_and_unknown_words_are_silent() -> None:
    model = make_pipeline(TfidfVectorizer(stop_words=["the", "and"]), LogisticRegression())
    explainer = shafer.Explainer(model.fit(TEXTS, IS_CAT), TEXTS)
    display = TextDisplay.from_evidence(explainer(["the zebra and cat"]))
    assert display.text[slice(*display.spans[0])] == "cat"
    assert [display.text[a:b] for a, b in display.silent] == ["the", "zebra", "and"]
    assert display.stop_words.tolist() == [True, False, True]
    page = display.to_html()
    assert page.count("stop word: left out by the model") == 2
    assert page.count('not known to the model">zebra') == 1


def test_words_without_a_place_are_listed() -> None:
    explainer = shafer.Explainer(MODELS["stemmed"].fit(TEXTS, IS_CAT), TEXTS)
    display = TextDisplay.from_evidence(explainer(["Cats and dogs"]), class_="cat")
    assert len(display.spans) == 0
    assert {word for word, _ in display.unlocated} == {"cat", "and", "dog"}
    for shown in (unescape(display.to_html()), " ".join(display.terminal().split())):
        assert "could not be found" in shown
        assert "dog −" in shown
    found = TextDisplay.from_evidence(explainer(["a cat and a dog"]), class_="cat")
    assert len(found.spans) == 5
    assert not found.unlocated


# -- several columns ----------------------------------------------------------------------------


def _two_columns() -> tuple[Any, pd.DataFrame]:
    frame = pd.DataFrame(
        {"title": TEXTS, "body": TEXTS[::-1], "size": [float(len(text)) for text in TEXTS]}
    )
    encoder = ColumnTransformer(
        [
            ("n", StandardScaler(), ["size"]),
            ("t", TfidfVectorizer(), "title"),
            ("b", CountVectorizer(), "body"),
        ]
    )
    return make_pipeline(encoder, LogisticRegression()).fit(frame, IS_CAT), frame


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_texts_of_columns(library: str) -> None:
    model, frame = _two_columns()
    given: Any = frame[["size", "body", "title"]]
    if library == "polars":
        import polars as pl

        given = pl.from_pandas(given)
    ev = shafer.Explainer(model, given, prior="own")(given)
    whole = ev.contrast("cat", "other")[5].sum()
    for column in ("title", "body"):
        display = TextDisplay.from_evidence(ev, 5, class_="cat", column=column)
        assert display.text == frame[column].iloc[5]
        np.testing.assert_allclose(display.logit, whole, atol=1e-12)
        assert display.others is not None
        assert "other inputs" in display.terminal()
    with pytest.raises(ValueError, match="'title', 'body'; got column=None"):
        TextDisplay.from_evidence(ev, 5)


def test_rows_are_taken_with_their_texts() -> None:
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, IS_CAT)
    ev = shafer.Explainer(model, TEXTS)(pd.Series(TEXTS, index=range(100, 124)))
    assert TextDisplay.from_evidence(ev, 7).text == TEXTS[7]
    assert TextDisplay.from_evidence(ev[5:][2:], 0).text == TEXTS[7]
    assert TextDisplay.from_evidence(ev.tempered(0.5), -1).text == TEXTS[-1]
    some = TextDisplay.from_evidence(ev.without(["dog"]), 4)
    assert "dog" not in [some.text[a:b] for a, b in some.spans]


def test_discounted_evidence() -> None:
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, IS_CAT)
    ev = shafer.Explainer(model, TEXTS)(TEXTS[:3])
    plain, less = (TextDisplay.from_evidence(e, 1) for e in (ev, ev.discounted(0.5)))
    np.testing.assert_array_equal(plain.weights, less.weights)


# -- tokens -------------------------------------------------------------------------------------


def test_tokens_are_components() -> None:
    weights = np.array([[[0.5, -0.5], [-0.25, 0.25], [0.0, 0.0]]])
    display = TextDisplay.from_evidence(Evidence.from_weights(weights), 0, ["▁a", "b", "<s>"])
    np.testing.assert_allclose(display.weights, [1.0, -0.5, 0.0])
    assert [display.text[a:b] for a, b in display.spans] == ["▁a", "b", "<s>"]
    assert "&lt;s&gt;" in display.to_html()
    with pytest.raises(ValueError, match="3 components, and text has 2 tokens"):
        TextDisplay.from_evidence(Evidence.from_weights(weights), 0, ["a", "b"])
    with pytest.raises(ValueError, match="Tokens must be strings; got 3"):
        TextDisplay.from_evidence(Evidence.from_weights(weights), 0, ["a", "b", 3])


def test_tokens_of_a_network_with_padding() -> None:
    torch = pytest.importorskip("torch")

    class Network(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.bag = torch.nn.EmbeddingBag(9, 4, padding_idx=0)
            self.head = torch.nn.Linear(4, 3)

        def forward(self, x: Any) -> Any:
            return self.head(self.bag(x))

    torch.manual_seed(0)
    rows = torch.randint(1, 9, (12, 5))
    rows[0, 3:] = 0
    ev = shafer.Explainer(Network().eval(), rows, components="tokens", prior="own")(rows)
    display = TextDisplay.from_evidence(ev, 0, ["a", "<b>", "c"], class_=2, over=0)
    contrast = np.asarray(ev.contrast(2, 0))[0]
    np.testing.assert_allclose(display.weights, contrast[:3], rtol=1e-5)
    np.testing.assert_allclose(display.logit, contrast.sum(), rtol=1e-5)
    np.testing.assert_allclose(display.base_rate, contrast[-1], rtol=1e-5)
    with pytest.raises(ValueError, match="5 components, and text has 6 tokens"):
        TextDisplay.from_evidence(ev, 0, list("abcdef"))


# -- what cannot be shown -----------------------------------------------------------------------


def test_components_that_are_not_words() -> None:
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, IS_CAT)
    explainer = shafer.Explainer(model, TEXTS, groups={"pets": ["cat", "dog"]})
    with pytest.raises(ValueError, match="groups of words"):
        TextDisplay.from_evidence(explainer(TEXTS))
    with pytest.raises(ValueError, match="not known to be words of a text; they are 'x0', 'x1'"):
        TextDisplay.from_evidence(Evidence.from_weights(np.zeros((1, 2, 2))), 0, "a b")
    from sklearn.calibration import CalibratedClassifierCV

    kernel = make_pipeline(TfidfVectorizer(), CalibratedClassifierCV(SVC(), ensemble=False, cv=2))
    ev = shafer.Explainer(kernel.fit(TEXTS, IS_CAT), TEXTS)(TEXTS[:1])
    with pytest.raises(ValueError, match="not known to be words"):
        TextDisplay.from_evidence(ev)


def test_wrong_arrays() -> None:
    with pytest.raises(ValueError, match="inside the text of 3 characters"):
        TextDisplay("cat", [[0, 4]], [1.0])
    with pytest.raises(ValueError, match="one number for each of the 1 spans"):
        TextDisplay("cat", [[0, 3]], [1.0, 2.0])
    with pytest.raises(ValueError, match="largest must be above 0"):
        TextDisplay("cat", [[0, 3]], [1.0]).to_html(largest=0.0)


# -- HTML ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE)
def test_html_holds_no_markup_of_the_text(text: str) -> None:
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())
    labels = ["<i>yes</i>" if kind == "cat" else '"no"' for kind in IS_CAT]
    explainer = shafer.Explainer(model.fit(TEXTS, labels), TEXTS)
    page = TextDisplay.from_evidence(explainer([text]))._repr_html_()
    tags = set(re.findall(r"</?([a-z0-9]+)", page))
    assert tags <= {"div", "p", "b", "span", "bdi", "br"}
    assert not re.search(r"[\u202a-\u202e\u2066-\u2069\u200e\u200f\x00-\x08\x0b-\x1f]", page)
    assert "<i>" not in page


def test_sides_differ_in_more_than_colour() -> None:
    display = TextDisplay("cat dog", [[0, 3], [4, 7]], [1.0, -0.5])
    page = display.to_html()
    assert re.search(r'title="\+1\.00" style="[^"]*3px solid[^"]*">cat', page)
    assert re.search(r'title="−0\.50" style="[^"]*2px dashed[^"]*">dog', page)
    assert "full colour: ±1.00" in page
    assert "full colour: ±4.00" in display.to_html(largest=4.0)


def test_a_long_text_is_fast_and_short() -> None:
    rng = np.random.default_rng(0)
    text = " ".join(rng.choice(["cat", "dog", "zebra", "the", "naïve"], 100_000))
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, IS_CAT)
    ev = shafer.Explainer(model, TEXTS)([text])
    start = time.process_time()
    display = TextDisplay.from_evidence(ev, class_="cat")
    page = display.to_html()
    words = display.terminal(80)
    assert time.process_time() - start < 3.0  # about 0.7 seconds
    assert len(page) < 500_000
    assert "words left out" in page
    assert "words left out" in words
    assert words.count("\n") < 200
    np.testing.assert_allclose(display.logit, ev.contrast("cat", "other").sum(), atol=1e-8)


# -- the terminal -------------------------------------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE)
def test_the_terminal_gets_no_control_characters(text: str) -> None:
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, IS_CAT)
    display = TextDisplay.from_evidence(shafer.Explainer(model, TEXTS)([text]))
    shown = display.terminal(40)
    assert all(letter.isprintable() or letter in "\n\u200d\ufeff" for letter in shown)
    colored = display.terminal(40, color=True)
    styles = set(re.findall(r"\x1b\[[0-9;]*[A-Za-z]", colored))
    assert styles <= {"\x1b[0m", "\x1b[2m", "\x1b[1;38;5;166m", "\x1b[1;4;38;5;32m"}
    bare = re.sub(r"\x1b\[[0-9;]*m", "", colored)
    assert bare == shown


def test_lines_fit_the_terminal() -> None:
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, IS_CAT)
    text = "cat dog the 年年 naïve zebra " * 20
    shown = TextDisplay.from_evidence(shafer.Explainer(model, TEXTS)([text])).terminal(50)
    assert max(map(len, shown.splitlines())) <= 50
    assert " ".join(re.sub(r"\[[^\]]*\]", "", shown).split()).count("cat dog the") >= 15


# -- matplotlib ---------------------------------------------------------------------------------


def test_plot_draws_on_the_given_axes() -> None:
    display = TextDisplay("cat dog zebra", [[0, 3], [4, 7]], [1.0, -0.5], silent=[[8, 13]])
    figure, ax = pyplot.subplots()
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert len(ax.patches) == 2
    assert [line.get_linestyle() for line in ax.lines] == ["-", "--"]
    pyplot.close("all")
    long = TextDisplay("word " * 1000, [[0, 4]], [1.0]).plot(max_lines=3)
    assert "…" in [text.get_text() for text in long.ax_.texts]
    pyplot.close("all")
