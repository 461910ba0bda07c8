"""``shafer save --calibrate``: promises from the command line, which ``score`` then keeps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer

from .running import refused, run

N = 900


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calibrated")
    random = np.random.default_rng(0)
    rows = pd.DataFrame(random.normal(size=(N, 3)), columns=["a", "b", "c"])
    rows.insert(0, "patient", [f"{i:04d}" for i in range(N)])
    rows["site"] = random.choice(["01", "02"], N)
    rows["y"] = np.where(rows["a"] + 0.7 * random.normal(size=N) > 0, "yes", "no")
    for k, name in enumerate(("train", "held", "new")):
        rows[300 * k : 300 * k + 300].to_csv(folder / f"{name}.csv", index=False)
    X = rows[["a", "b", "c"]][:300]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, rows["y"][:300])
    skops.io.dump(model, folder / "model.skops")
    return folder


def _promised(files: Path, *more: Any) -> tuple[Any, ...]:
    promises = ("--coverage", 0.9, "--error", 0.1, "--by", "site", "--threshold", 0.2)
    held = ("--target", "y", "--id", "patient", "--calibrate", files / "held.csv")
    return ("save", *held, *promises, "--out", files / "m.shafer", *more)


def test_the_class_of_a_threshold_is_named(files: Path) -> None:
    """And a wrong name of the ids is refused before anything is trained."""
    train = ("save", "--train", files / "train.csv", "--target", "y", "--out", files / "t.shafer")
    plain = run(*train, "--id", "patient", "--threshold", ".2")
    assert "The model answers 'yes' from 0.2 on. A plain --threshold is" in plain.output
    assert "of the first: --threshold no=.2." in plain.output
    named = run(*train, "--id", "patient", "--threshold", "no=.2")
    assert "The model answers 'no' from 0.2 on. Its error" in named.output
    data = ("--model", files / "t.shafer", "--id", "patient")
    scored = run("score", files / "new.csv", *data, "--out", files / "t.csv")
    assert "component of its own. The model answers 'no' from 0.2 on." in scored.output
    data = ("--data", files / "new.csv", *data, "--rows", "0600,0601", "--out", files / "t.html")
    told = run("report", *data).output
    assert "  p(no)  " in told
    assert "decided       the answer, by the threshold" in told
    refused("--id patent cannot be used: ", *train, "--id", "patent")


@pytest.mark.parametrize("own", [False, True])
def test_score_needs_no_further_option(files: Path, own: bool) -> None:
    """With a model that is given, and with one that is trained here."""
    given = ("--model", files / "model.skops") if own else ("--drop", "site")
    result = run(*_promised(files, "--train", files / "train.csv", *given))
    assert result.exit_code == 0, result.output
    told = (
        "sets hold the true class with a probability of at least 90 %, in each group of 'site'; "
        "at most 10 % of the decided rows are wrong, with 90 % confidence, in each group of 'site'."
    )
    assert told in result.output
    out = files / "scored.csv"
    result = run("score", files / "new.csv", "--model", files / "m.shafer", "--out", out)
    assert result.exit_code == 0, result.output
    scored = pd.read_csv(out, dtype={"patient": str}, keep_default_na=False)
    names = ["answer", "probability_no", "probability_yes", "set", "deferred", "why"]
    start = scored.columns.get_loc("answer")
    assert scored.columns[start : start + 6].tolist() == names
    assert {"reason_1", "reason_3_log_odds"} <= set(scored)
    explainer = shafer.Explainer.load(files / "m.shafer")
    new = pd.read_csv(files / "new.csv")
    X = new[["a", "b", "c", "site"]]
    found = explainer.predict_or_defer(X)
    assert scored["answer"].tolist() == found.labels.tolist()
    assert scored["answer"].tolist() == explainer.predict(X[["a", "b", "c"]]).tolist()
    assert scored["answer"].eq("yes").equals(scored["probability_yes"] >= 0.2)
    assert scored["deferred"].tolist() == found.deferred.tolist()
    assert scored["why"].tolist() == found.reason.tolist()
    for row in (int(np.argmax(found.deferred)), int(np.argmin(found.deferred))):
        here = ("--data", files / "new.csv", "--model", files / "m.shafer", "--row", row)
        text = run("explain", *here).output
        _, _, lines = text.partition("Promised, as shafer score writes it\n")
        kept, deferred, why = scored.loc[row, ["set", "deferred", "why"]]
        shown = [f"  set       {kept}", f"  deferred  {deferred}", f"  why       {why}"]
        assert lines.splitlines()[: 2 + bool(why)] == shown[: 2 + bool(why)]
    sets = explainer.predict_set(X)
    assert scored["set"].str.contains("yes").tolist() == sets[:, 1].tolist()
    assert np.mean([y in kept for y, kept in zip(new["y"], scored["set"], strict=True)]) > 0.84
    assert ((new["y"] != scored["answer"]) & ~scored["deferred"].astype(bool)).mean() < 0.15


def test_rows_that_were_trained_on(files: Path) -> None:
    trained = ("--train", files / "train.csv")
    save = ("save", *trained, "--target", "y", "--drop", "site", "--out", files / "no.shafer")
    refused("both are", *save, "--calibrate", files / "train.csv", "--coverage", 0.9)
    rows = pd.concat([pd.read_csv(files / f"{name}.csv", dtype=str) for name in ("train", "held")])
    rows[100:].to_csv(files / "overlap.csv", index=False)
    overlap = (*save, "--calibrate", files / "overlap.csv", "--coverage", 0.9)
    refused("200 of the 500 rows of", *overlap, "--id", "patient")
    refused("such as '0100', '0101', '0102'", *overlap, "--id", "patient")
    result = run(*overlap, "--drop", "patient")
    assert result.exit_code == 0
    assert "Warning: 200 of the 500 rows" in result.output
    (files / "copy.csv").write_text((files / "train.csv").read_text())
    copied = (*save, "--calibrate", files / "copy.csv", "--coverage", 0.9, "--drop", "patient")
    refused("300 of the 300 rows", *copied)
    rows = pd.read_csv(files / "train.csv", dtype=str)
    rows.assign(patient=[f"new{i}" for i in range(300)]).to_csv(files / "copy.csv", index=False)
    refused("train.csv as well, with other ids", *copied[:-2], "--id", "patient")
    (files / "no.shafer").unlink()


def test_training_rows_are_known_from_the_model_file(files: Path) -> None:
    """The few rows that a file keeps tell its training data, also without ``--train``."""
    stored, out = ("--model", files / "own.shafer"), ("--out", files / "again.shafer")
    X = pd.read_csv(files / "train.csv")
    model = skops.io.load(files / "model.skops")
    shafer.Explainer(model, X[["a", "b", "c"]]).save(files / "own.shafer")
    named = (*stored, "--target", "y", "--id", "patient", *out)
    for name, found in (("train", False), ("held", True)):
        rows = files / f"{name}.csv"
        for command in (
            ("save", *named, "--calibrate", rows, "--coverage", 0.9),
            ("budget", rows, *named, "--share", 0.1),
        ):
            if found:
                assert run(*command).exit_code == 0
            else:
                refused("has all 16 training rows that the model file keeps", *command)


def test_what_is_refused(files: Path) -> None:
    save = ("save", "--model", files / "model.skops", "--train", files / "train.csv")
    save = (*save, "--out", files / "no.shafer")
    held = ("--calibrate", files / "held.csv")
    refused("--coverage needs --calibrate", *save, "--coverage", 0.9)
    refused("--calibrate needs --coverage", *save, *held, "--target", "y")
    refused("--calibrate needs --target", *save, *held, "--coverage", 0.9)
    full = (*save, *held, "--target", "y", "--coverage", 0.9)
    refused("--by ward cannot be used", *full, "--by", "ward")
    for threshold in ("0", "1", "-2", "nan", "no=1.5"):
        refused(
            "threshold must be a probability above 0 and below 1", *full, "--threshold", threshold
        )
    refused("--threshold must be a probability such as 0.2", *full, "--threshold", "often")
    refused("--threshold names 'ill', which the model", *full, "--threshold", "ill=0.2")
    refused("--threshold names '', which the model", *full, "--threshold", "=0.2")
    rows = pd.read_csv(files / "held.csv")
    rows.assign(y=rows["y"].replace("no", "never")).to_csv(files / "other.csv", index=False)
    full = (*save, "--calibrate", files / "other.csv", "--target", "y", "--error", 0.1)
    refused("The target 'y' holds 'never', which the model does not know", *full)
    refused("--train and --target to train", "save", "--out", files / "no.shafer")
    assert not (files / "no.shafer").exists()


def test_no_reasons_and_reasons_of_a_class(files: Path) -> None:
    """A calibrated file writes three reasons, none with ``--reasons 0``, and those of a class."""
    assert run(*_promised(files, "--train", files / "train.csv", "--drop", "site")).exit_code == 0
    score = ("score", files / "new.csv", "--model", files / "m.shafer", "--out", files / "r.csv")
    assert run(*score, "--reasons", 0).exit_code == 0
    assert not [name for name in pd.read_csv(files / "r.csv") if "reason" in name]
    assert run(*score, "--class", "yes").exit_code == 0
    scored = pd.read_csv(files / "r.csv")
    assert set(scored["reasons_class"]) == {"yes"}
    assert "reason_3" in scored


def test_a_saved_model_keeps_its_threshold(files: Path) -> None:
    X = pd.read_csv(files / "train.csv")
    model = skops.io.load(files / "model.skops")
    shafer.Explainer(model, X[["a", "b", "c"]], threshold=0.3).save(files / "own.shafer")
    stored = ("--model", files / "own.shafer", "--threshold", 0.2)
    score = ("score", files / "new.csv", "--out", files / "no.csv")
    refused("--threshold cannot be used: the explainer in the model file", *score, *stored)
    refused("keeps its own choice", "save", "--out", files / "no.shafer", *stored)
    held = ("--calibrate", files / "held.csv", "--target", "y", "--error", 0.1, "--id", "patient")
    out = files / "again.shafer"
    assert run("save", *stored[:2], *held, "--out", out).exit_code == 0
    assert shafer.Explainer.load(out).deferral is not None


def test_three_classes_have_no_threshold(files: Path) -> None:
    rows = pd.read_csv(files / "train.csv")
    rows["y"] = np.where(rows["b"] > 1, "maybe", rows["y"])
    rows.to_csv(files / "three.csv", index=False)
    options = ("--train", files / "three.csv", "--target", "y", "--drop", "site")
    options = (*options, "--id", "patient", "--threshold", 0.2, "--out", files / "no.shafer")
    refused("--threshold needs two classes; the model has 3", "save", *options)
    refused("what each error costs instead, with --loss.", "save", *options)


def test_losses_state_the_answer(files: Path) -> None:
    """A table or JSON, about the classes; acts that are no classes stay columns of ``score``."""
    costs = {"yes": {"yes": 0, "no": 1}, "no": {"yes": 4, "no": 0}}
    table = pd.DataFrame([{"act": act, **row} for act, row in costs.items()])
    table.to_csv(files / "costs.csv", index=False)
    (files / "costs.json").write_text(json.dumps(costs))
    model = ("--model", files / "model.skops", "--train", files / "train.csv")
    for given in (files / "costs.csv", files / "costs.json", json.dumps(costs)):
        out = files / "l.csv"
        result = run("score", files / "new.csv", *model, "--loss", given, "--out", out)
        assert result.exit_code == 0, result.output
        scored = pd.read_csv(out)
        assert scored["answer"].eq("yes").equals(scored["probability_yes"] > 0.2)
        assert scored["act"].tolist() == scored["answer"].tolist()
    saved = run("save", *model, "--loss", files / "costs.csv", "--out", files / "l.shafer")
    assert saved.exit_code == 0, saved.output
    explainer = shafer.Explainer.load(files / "l.shafer")
    X = pd.read_csv(files / "new.csv")[["a", "b", "c"]]
    assert explainer.predict(X).tolist() == scored["answer"].tolist()
    score = ("score", files / "new.csv", "--model", files / "l.shafer", "--out", files / "no.csv")
    refused("--loss cannot be used", *score, "--loss", files / "costs.csv")
    acts = '{"treat": {"yes": 0, "no": 1}, "wait": {"yes": 4, "no": 0}}'
    refused("--loss names 'treat'", "save", *model, "--out", files / "no.shafer", "--loss", acts)
    refused("must be JSON such as", "save", *model, "--out", files / "no.shafer", "--loss", "{1}")
    both = ("--loss", files / "costs.csv", "--threshold", 0.2)
    refused("not both", "save", *model, "--out", files / "no.shafer", *both)
