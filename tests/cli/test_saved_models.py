"""Saved files as ``--model``, and ``shafer save``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import shafer

from .running import refused, run

NUMBERS = ["age", "ldl", "sbp"]


@pytest.fixture
def heart(folder: Path) -> Any:
    return pd.read_csv(folder / "heart.csv")


def _pipeline() -> Any:
    encoder = make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), ["famhist"]))
    return make_pipeline(encoder, LogisticRegression())


def _ok(*arguments: Any) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.output


def test_score_needs_no_training_data(folder: Path, heart: Any) -> None:
    X, y = heart.drop(columns="chd"), heart["chd"]
    explainer = shafer.Explainer(_pipeline().fit(X, y), X, "source", prior="shared").temper(X, y)
    explainer.save(folder / "m.shafer")
    X[X.columns[::-1]].assign(id=range(len(X))).to_csv(folder / "new.csv", index=False)
    out = _ok(
        *("score", folder / "new.csv", "--model", folder / "m.shafer"),
        *("--out", folder / "s.csv", "--reasons", 2, "--evidence"),
    )
    assert "relative to the means stored in the model file" in out
    scored, ev = pd.read_csv(folder / "s.csv"), explainer(X)
    assert_allclose(scored[["belief_0", "belief_1"]], ev.belief, rtol=1e-12)
    assert scored["reason_1"].isin(ev.component_names).all()


def test_every_command_takes_a_saved_file(folder: Path, heart: Any) -> None:
    X, y = heart[NUMBERS], heart["chd"]
    classifier = shafer.EvidentialClassifier(make_pipeline(StandardScaler(), LogisticRegression()))
    classifier.fit(X, y).control_error(X, y, 0.4).save(folder / "m.shafer")
    gaps = X.copy()
    gaps.loc[:3, "ldl"] = np.nan
    gaps.to_csv(folder / "gaps.csv", index=False)
    data, model = folder / "heart.csv", ("--model", folder / "m.shafer")
    _ok("score", data, *model, "--out", folder / "s.parquet")
    assert "stored in the model file" in _ok("explain", "--data", data, *model)
    _ok("report", "--data", data, *model, "--target", "chd", "--out", folder / "r.html")
    assert "(EvidentialClassifier) was read from m.shafer" in (folder / "r.html").read_text()
    assert "ldl" in _ok("next", folder / "gaps.csv", *model)
    assert "No alarm" in _ok("monitor", data, data, *model)


def test_a_voting_classifier_and_texts(folder: Path, heart: Any) -> None:
    sources = [("age", LogisticRegression(), ["age"]), ("ldl", LogisticRegression(), ["ldl"])]
    voting = shafer.EvidentialVotingClassifier(sources, tempering=None)
    voting.fit(heart[NUMBERS], heart["chd"]).save(folder / "v.shafer")
    _ok("score", folder / "heart.csv", "--model", folder / "v.shafer", "--out", folder / "v.csv")
    texts = ["good film", "bad film", "very good", "so bad"] * 3
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, [1, 0, 1, 0] * 3)
    shafer.Explainer(model, texts).save(folder / "t.shafer")
    pd.DataFrame({"id": range(12), "review": texts}).to_csv(folder / "t.csv", index=False)
    _ok("score", folder / "t.csv", "--model", folder / "t.shafer", "--out", folder / "t2.csv")
    assert len(pd.read_csv(folder / "t2.csv")) == 12


def test_save_writes_the_means(folder: Path) -> None:
    saved = ("save", "--model", folder / "model.skops", "--out", folder / "m.shafer")
    refused("shafer save needs --train, the training data of the Pipeline in model.skops", *saved)
    out = _ok(*saved, "--train", folder / "heart.csv", "--errors", "laplace")
    assert "relative to the means of heart.csv" in out
    data = folder / "heart.csv"
    _ok("score", data, "--model", folder / "m.shafer", "--out", folder / "a.csv")
    trained = ("--model", folder / "model.skops", "--train", data)
    _ok("score", data, *trained, "--out", folder / "b.csv")
    pd.testing.assert_frame_equal(pd.read_csv(folder / "a.csv"), pd.read_csv(folder / "b.csv"))
    again = ("--model", folder / "m.shafer", "--out", folder / "again.shafer")
    assert "has the means of its training data already" in _ok("save", *again)
    assert shafer.Explainer.load(folder / "again.shafer").columns is not None
    for option, value in (("--prior", "shared"), ("--errors", "laplace")):
        refused(f"{option} cannot be used: the Explainer in m", "save", *again, option, value)


def test_save_trains_a_model_and_tells_its_error(folder: Path) -> None:
    train = ("--train", folder / "heart.csv", "--target", "chd")
    out = _ok("save", *train, "--out", folder / "m.shafer")
    assert re.search(r"Its error by cross-validation is [1-9]\d\.\d %\.", out), out


def test_save_refuses(folder: Path, heart: Any) -> None:
    refused("shafer save needs --model", "save", "--out", folder / "m.shafer")
    model = ("--model", folder / "model.skops")
    refused("--out must end in .shafer", "save", *model, "--out", folder / "m.skops")
    neighbours = shafer.NeighbourEvidence().fit(heart[NUMBERS], heart["chd"])
    import skops.io

    skops.io.dump(neighbours, folder / "n.skops")
    train = ("--train", folder / "heart.csv", "--target", "chd", "--out", folder / "n.shafer")
    refused("cannot store a NeighbourEvidence", "save", "--model", folder / "n.skops", *train)
    assert not (folder / "n.shafer").exists()


def test_refused_files_take_one_line(folder: Path, heart: Any) -> None:
    path, data = folder / "m.shafer", ("--data", folder / "heart.csv")
    path.write_bytes(b"PK nonsense")
    refused("not a complete zip archive", "explain", "--model", path, *data)
    tree = DecisionTreeClassifier(max_depth=2)
    sources = [("tree", tree), ("line", LogisticRegression())]
    voting = shafer.EvidentialVotingClassifier(sources, tempering=None)
    voting.fit(heart[NUMBERS], heart["chd"]).save(path)
    trust = "--trust sklearn.tree._tree.Tree"
    refused(f"If you trust them, add: {trust}", "explain", "--model", path, *data)
    _ok("explain", "--model", path, *data, *trust.split())
    rows = torch.tensor(heart[NUMBERS].to_numpy(), dtype=torch.float32)
    shafer.Explainer(torch.nn.Sequential(torch.nn.Linear(3, 2)), rows).save(path)
    refused("Load it in Python with load(path, module=…)", "explain", "--model", path, *data)
