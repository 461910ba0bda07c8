"""``shafer inspect``: what a file holds, without loading its models."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import shafer
from cli.running import refused, run
from shafer.cli.inspect import facts
from shafer.saving.contents import contents_of

STORED = Path(__file__).parents[1] / "golden" / "stored"
X = np.random.default_rng(0).normal(size=(300, 2))
Y = np.where(X[:, 0] + np.random.default_rng(1).normal(size=300) > 0, "yes", "no")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.shafer"


def told(path: Path) -> dict[str, Any]:
    result = run("inspect", path, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.output)
    return found


def test_of_every_stored_file(path: Path) -> None:
    """Of all kinds and formats, also those whose libraries are missing."""
    files = sorted(STORED.glob("*.shafer.gz"))
    assert len(files) > 30
    for stored in files:
        path.write_bytes(gzip.decompress(stored.read_bytes()))
        found = facts(contents_of(path))
        assert found["holds"].startswith("shafer."), stored.name
        assert found["classes"], stored.name
        assert (found["digest"] is None) == (found["format"] == 1), stored.name
        assert json.loads(json.dumps(found, default=str)), stored.name


@pytest.mark.parametrize("kind", ["explainer", "classifier", "cross", "voting"])
def test_promises_are_those_of_the_loaded_object(kind: str, path: Path) -> None:
    if kind == "explainer":
        model: Any = shafer.Explainer(LogisticRegression().fit(X, Y), X, threshold={"yes": 0.2})
        model = model.conformalize(X, Y, by=X[:, 1] > 0).control_error(X, Y, error=0.4)
    elif kind == "voting":
        one = LogisticRegression()
        model = shafer.EvidentialVotingClassifier([("a", one, [0]), ("b", one, [1])], cv=2).fit(
            X, Y
        )
        model = model.conformalize(X, Y, coverage=0.8)
    else:
        model = shafer.EvidentialClassifier().fit(X, Y)
        held = {"cv": 3} if kind == "cross" else {}
        model = model.conformalize(X, Y, coverage=0.8, **held)
    model.save(path)
    found = told(path)
    assert "; ".join(found["promises"]) == model.promises.text
    assert found["promises"]
    assert found["classes"] == ["no", "yes"]
    assert found["answer"] == ("answers 'yes' from 0.2 on" if kind == "explainer" else None)


def test_text_for_people(path: Path) -> None:
    model = LogisticRegression().fit(X, Y)
    shafer.Explainer(model, X).save(path)
    lines = dict(line.split(maxsplit=1) for line in run("inspect", path).output.splitlines())
    assert lines["holds"].startswith("shafer.Explainer, ")
    assert lines["model"] == "sklearn.linear_model._logistic.LogisticRegression"
    assert lines["rows"] == "16 rows of the training data"
    assert lines["promises"] == "none"
    assert lines["digest"].startswith("sha256:")
    assert "no class needs to be trusted" in run("inspect", path).output
    shafer.Explainer(model, X).save(path, rows=False)
    assert told(path)["rows_of_training_data"] == 0


def test_what_loading_needs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    boosted = GradientBoostingClassifier(n_estimators=2).fit(X, Y)
    shafer.Explainer(boosted, X).save(path)
    assert told(path)["to_load"]["trusted"] == ["sklearn.tree._tree.Tree"]
    assert "--trust sklearn.tree._tree.Tree" in run("inspect", path).output.replace("\n", " ")
    shafer.Explainer.load(path, trusted=told(path)["to_load"]["trusted"])
    path.write_bytes(gzip.decompress((STORED / "torch_dense.shafer.gz").read_bytes()))
    assert told(path)["to_load"]["module"]
    assert "safetensors" in told(path)["to_load"]["packages"]
    path.write_bytes(gzip.decompress((STORED / "lightgbm.shafer.gz").read_bytes()))
    monkeypatch.setattr("shafer.saving.contents._installed", lambda name: None)
    assert "(not installed here)" in run("inspect", path).output
    assert told(path)["to_load"]["packages"]["lightgbm"]["here"] is None


def test_files_that_are_not_whole(path: Path) -> None:
    shafer.Explainer(LogisticRegression().fit(X, Y), X).save(path)
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"prior"', b'"prios"'))
    refused("description.json is missing or damaged", "inspect", path)
    path.write_bytes(content[:-9])
    refused("cannot be read: it is not a complete zip archive", "inspect", path)
    path.unlink()
    refused("No such file", "inspect", path)
