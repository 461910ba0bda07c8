"""The columns ``deferred`` and ``why`` of ``shafer score``: after ``control_error``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression

import shafer

from .running import refused, run

RANDOM = np.random.default_rng(0)
X = pd.DataFrame(RANDOM.normal(size=(900, 3)), columns=["a", "b", "c"])
SITE = np.where(RANDOM.random(900) < 0.4, "north", "south")
Y = np.where(RANDOM.random(900) < 1 / (1 + np.exp(-3 * X["a"])), "yes", "no")


@pytest.fixture
def classifier() -> shafer.EvidentialClassifier:
    return shafer.EvidentialClassifier(LogisticRegression()).fit(X[:300], Y[:300])


def test_the_answer_and_who_should_give_it(classifier, tmp_path: Path) -> None:
    sited = X.assign(site=SITE)
    sited[600:].to_csv(tmp_path / "new.csv", index=False)
    for by in (None, "site"):
        rows = X if by is None else sited
        classifier.control_error(rows[300:600], Y[300:600], 0.1, by=by)
        found = classifier.predict_or_defer(rows[600:])
        skops.io.dump(classifier, tmp_path / "model.skops")
        for name in ("scored.csv", "scored.parquet"):
            out = tmp_path / name
            options = ("--model", tmp_path / "model.skops", "--chunk", 70, "--out", out)
            result = run("score", tmp_path / "new.csv", *options)
            assert result.exit_code == 0, result.output
            assert "Promise: at most 10 % of the decided rows are wrong" in result.output
            read = pd.read_csv if name.endswith("csv") else pd.read_parquet
            scored = read(out)
            assert scored["answer"].tolist() == found.labels.tolist()
            assert scored["deferred"].tolist() == found.deferred.tolist()
            assert scored["why"].fillna("").tolist() == found.reason.tolist()


def test_without_a_promise(classifier, tmp_path: Path) -> None:
    X[600:].to_csv(tmp_path / "new.csv", index=False)
    model, out = tmp_path / "model.skops", tmp_path / "scored.csv"
    arguments = ("score", tmp_path / "new.csv", "--model", model, "--out", out)

    def written() -> tuple[list[str], str]:
        skops.io.dump(classifier, model)
        result = run(*arguments)
        assert result.exit_code == 0, result.output
        return pd.read_csv(out).columns.tolist(), result.output

    assert written()[0] == ["row", "answer", "probability_no", "probability_yes"]
    classifier.control_error(X[300:600], Y[300:600], 0.1, by=SITE[300:600])
    names, said = written()
    assert names == ["row", "answer", "probability_no", "probability_yes"]
    assert "deferred and why are not written" in said
    assert "the groups were given beside the rows" in said
    classifier.control_error(X[300:600].assign(site="s"), Y[300:600], 0.1, by="site")
    names, said = written()
    assert "deferred" not in names
    assert "are in column 'site', and the table does not have them" in said


# ``shafer budget``: the promise is made on the command line.


def test_a_budget_is_made_and_used(classifier, tmp_path: Path) -> None:
    skops.io.dump(classifier, tmp_path / "model.skops")
    sited = X.assign(site=SITE)
    sited[300:600].assign(ill=Y[300:600]).to_csv(tmp_path / "held.csv", index=False)
    sited[600:].to_csv(tmp_path / "new.csv", index=False)
    out, scored = tmp_path / "with.shafer", tmp_path / "scored.csv"
    held = ("budget", tmp_path / "held.csv", "--model", tmp_path / "model.skops", "--target", "ill")
    for by in (None, "site"):
        more = ("--by", by) if by else ()
        made = run(*held, "--share", 0.1, "--confidence", 0.8, "--out", out, *more)
        assert made.exit_code == 0, made.output
        assert "Promise: 10 % of the rows are handed on" in made.output
        asked = run("score", tmp_path / "new.csv", "--model", out, "--out", scored)
        assert asked.exit_code == 0, asked.output
        classifier.control_budget(sited[300:600], Y[300:600], 0.1, 0.8, by=by)
        assert classifier.deferral_.text in made.output
        found = classifier.predict_or_defer(sited[600:])
        assert pd.read_csv(scored)["deferred"].tolist() == found.deferred.tolist()
    refused("has no such column; it has", *held, "--share", 0.1, "--out", out, "--by", "place")
    refused("share must be the share of rows", *held, "--share", 4, "--out", out)
    refused("--out must end in .shafer", *held, "--share", 0.1, "--out", scored)
    refused("needs --target", *held[:4], "--share", 0.1, "--out", out)
