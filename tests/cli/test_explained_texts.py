"""``shafer explain`` on a column of texts: the marked text in the terminal."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pandas as pd
import pytest
import skops.io
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from shafer._terminal import wants_color
from text_models import HOSTILE, IS_CAT, TEXTS

from .running import run


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    pd.DataFrame({"text": TEXTS, "kind": IS_CAT}).to_csv(tmp_path / "train.csv", index=False)
    hostile = [text for text in HOSTILE if text.strip() and "\x00" not in text]
    pd.DataFrame({"text": ["My DOG and a cat", *hostile]}).to_csv(tmp_path / "new.csv", index=False)
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, IS_CAT)
    skops.io.dump(model, tmp_path / "model.skops")
    return tmp_path


def explain(folder: Path, *more: object) -> str:
    given = ("--model", folder / "model.skops", "--train", folder / "train.csv")
    result = run("explain", *given, "--data", folder / "new.csv", *more)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_text_is_marked(reviews: Path) -> None:
    shown = explain(reviews, "--row", 0, "--class", "cat")
    assert "Why cat rather than other? log-odds " in shown
    assert re.search(
        r"  My\[−0\.\d\d\] DOG\[−0\.\d\d\] and(\[.0\.\d\d\])? a cat\[\+0\.\d\d\]", shown
    )
    assert "words that are not in this text" in " ".join(shown.split())
    assert "\x1b" not in shown  # not a terminal


@pytest.mark.parametrize("row", range(1, 7))
def test_hostile_texts_do_not_reach_the_terminal(reviews: Path, row: int) -> None:
    shown = explain(reviews, "--row", row)
    assert "\x1b" not in shown
    assert not re.search(r"[\u202a-\u202e\x00-\x08]", shown)


def test_colours_are_for_terminals_and_can_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not wants_color()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_color()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_color()
    monkeypatch.delitem(os.environ, "NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_color()
