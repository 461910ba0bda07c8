"""Where the means come from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from pyarrow import parquet
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler

import shafer

from .running import refused, run


def test_an_evidential_classifier_brings_its_own_means(folder: Path) -> None:
    frame = pd.read_csv(folder / "heart.csv")
    X = frame[["age", "ldl"]]
    model = shafer.EvidentialClassifier(LogisticRegression()).fit(X, frame["chd"])
    skops.io.dump(model, folder / "own.skops")
    frame[:20].to_csv(folder / "few.csv", index=False)
    out = folder / "scored.csv"
    search = GridSearchCV(shafer.EvidentialClassifier(LogisticRegression()), {}, cv=2)
    skops.io.dump(search.fit(X, frame["chd"]), folder / "search.skops")
    for name in ("own.skops", "search.skops"):
        options = ("--model", folder / name, "--evidence", "--out", out)
        result = run("score", folder / "few.csv", *options)
        assert result.exit_code == 0, result.output
        belief = pd.read_csv(out)["belief_1"]
        np.testing.assert_allclose(belief, model.evidence(X[:20]).belief[:, 1])


def scored(data: Path, model: Path, *options: Any) -> pd.DataFrame:
    out = data.with_suffix(".scored.parquet")
    result = run("score", data, "--model", model, "--evidence", "--out", out, *options)
    assert result.exit_code == 0, result.output
    return pd.read_parquet(out)


def models(frame: pd.DataFrame) -> dict[str, Any]:
    """Models that know the means of their training data."""
    names = ["age", "ldl"]
    scaler = make_pipeline(SimpleImputer(), StandardScaler())
    two = ColumnTransformer([("a", StandardScaler(), ["ldl"]), ("b", scaler, ["age"])])
    head = LogisticRegression
    made = {
        "scaler": make_pipeline(StandardScaler(), head()),
        "imputer": make_pipeline(SimpleImputer(), StandardScaler(), head()),
        "columns": make_pipeline(two, head()),
        "discriminant": make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()),
        "search": GridSearchCV(make_pipeline(StandardScaler(), head()), {}, cv=2),
        "tempered": make_pipeline(StandardScaler(), shafer.EvidentialClassifier(head(), temper=2)),
    }
    return {name: model.fit(frame[names], frame["chd"]) for name, model in made.items()}


@pytest.mark.parametrize(
    "name", ["scaler", "imputer", "columns", "discriminant", "search", "tempered"]
)
def test_a_row_does_not_depend_on_its_file(folder: Path, name: str) -> None:
    """Under version 0.1.0 the same row had other numbers in another file."""
    frame = pd.read_csv(folder / "heart.csv")
    skops.io.dump(models(frame)[name], folder / "m.skops")
    frame[:40].to_csv(folder / "few.csv", index=False)
    few = scored(folder / "few.csv", folder / "m.skops")
    whole = scored(folder / "heart.csv", folder / "m.skops")
    trained = scored(folder / "few.csv", folder / "m.skops", "--train", folder / "heart.csv")
    for column in ("ignorance", "conflict", "belief_1"):
        np.testing.assert_allclose(few[column], whole[column][:40], atol=1e-12)
        np.testing.assert_allclose(few[column], trained[column], atol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        GaussianNB(),
        make_pipeline(StandardScaler(with_mean=False), LogisticRegression()),
        make_pipeline(StandardScaler(), GaussianNB()),
        make_pipeline(MinMaxScaler(), LogisticRegression()),
        make_pipeline(StandardScaler(), PolynomialFeatures(), LogisticRegression()),
    ],
    ids=["plain", "bayes", "not centred", "bayes behind scaler", "minmax", "polynomial"],
)
def test_means_are_asked_for(folder: Path, model: Any) -> None:
    frame = pd.read_csv(folder / "heart.csv")
    skops.io.dump(model.fit(frame[["age", "ldl"]], frame["chd"]), folder / "m.skops")
    data = ("--model", folder / "m.skops")
    message = "The means of the training data are not known"
    refused(message, "score", folder / "heart.csv", *data, "--out", folder / "s.csv")
    refused(message, "explain", "--data", folder / "heart.csv", *data)
    table = ("--data", folder / "heart.csv", "--out", folder / "r.html")
    result = run("report", *table, *data)
    assert result.exit_code == 0, result.output
    assert "relative to the means of the rows in heart.csv" in (folder / "r.html").read_text()
    assert len(scored(folder / "heart.csv", folder / "m.skops", "--means-from-data")) == 462


def test_the_output_names_the_means(folder: Path) -> None:
    out, data = folder / "s.parquet", folder / "heart.csv"
    for options, where in (
        ((), "of its training data, stored in its StandardScaler"),
        (("--train", data), "of heart.csv"),
    ):
        run_options = ("--model", folder / "model.skops", *options)
        result = run("score", data, *run_options, "--out", out)
        sentence = (
            f"Weights of evidence are relative to the means {where}. The base rate is a component "
            "of its own; --prior shared shares it among the components, as in the paper."
        )
        assert sentence in result.output
        stored = json.loads(parquet.read_schema(out).metadata[b"shafer"])
        assert stored == {"version": shafer.__version__, "means": sentence}
        assert sentence in run("explain", "--data", data, *run_options).output


def test_the_base_rate_is_apart_unless_asked_otherwise(folder: Path) -> None:
    data = folder / "heart.csv"
    model = skops.io.load(folder / "model.skops")
    X = pd.read_csv(data)[model.feature_names_in_]
    for options, prior in (
        ((), "own"),
        (("--prior", "own"), "own"),
        (("--prior", "shared"), "shared"),
    ):
        ev = shafer.Explainer(model, X, groups="source", prior=prior)(X)
        table = scored(data, folder / "model.skops", *options)
        np.testing.assert_allclose(table["ignorance"], ev.ignorance, atol=1e-12)
        assert ("base rate" in ev.component_names) == (prior == "own")
        text = run("explain", "--data", data, "--model", folder / "model.skops", *options).output
        assert ("\n  base rate " in text) == (prior == "own")
        text = run("explain", "--data", data, "--target", "chd", *options).output
        assert ("\n  base rate " in text) == (prior == "own")
        assert ("\n  base rate " in run("explain", *options).output) == (prior == "own")


@pytest.mark.parametrize("kind", ["explainer", "classifier"])
@pytest.mark.parametrize("prior", ["own", "shared"])
def test_a_stored_explainer_keeps_its_prior(folder: Path, kind: str, prior: str) -> None:
    frame = pd.read_csv(folder / "heart.csv")
    X, y = frame[["age", "ldl"]], frame["chd"]
    if kind == "classifier":
        model: Any = shafer.EvidentialClassifier(LogisticRegression(), prior=prior).fit(X, y)
        ev = model.evidence(X)
    else:
        model = shafer.Explainer(LogisticRegression().fit(X, y), X, prior=prior)
        ev = model(X)
    frame[["age", "ldl", "chd"]].to_csv(folder / "two.csv", index=False)
    skops.io.dump(model, folder / "m.skops")
    table = scored(folder / "two.csv", folder / "m.skops", "--target", "chd")
    np.testing.assert_allclose(table["belief_1"], ev.belief[:, 1], atol=1e-12)
    arguments = ("--data", folder / "two.csv", "--model", folder / "m.skops", "--target", "chd")
    result = run("report", *arguments, "--out", folder / "r.html")
    assert result.exit_code == 0, result.output
    assert "share the base rate" in result.output or prior == "own"
    other = {"own": "shared", "shared": "own"}[prior]
    assert run("explain", *arguments, "--prior", prior).exit_code == 0
    refused(f"was made with prior='{prior}'", "explain", *arguments, "--prior", other)


@pytest.mark.parametrize("named", [True, False])
def test_classifiers_with_evidence_of_their_own(folder: Path, named: bool) -> None:
    frame = pd.read_csv(folder / "heart.csv")
    X, y = frame[["age", "ldl"]], frame["chd"]
    X[:20].to_csv(folder / "few.csv", index=False)
    given = X if named else X.to_numpy()
    sources = [("old", LogisticRegression(), [0]), ("blood", GaussianNB(), [1])]
    voting = shafer.EvidentialVotingClassifier(sources, tempering=None)
    for model in (voting, shafer.NeighbourEvidence(k=5), GridSearchCV(voting, {}, cv=2)):
        skops.io.dump(model.fit(given, y), folder / "m.skops")
        own = getattr(model, "best_estimator_", model)
        scores = scored(folder / "few.csv", folder / "m.skops")
        ev = own.evidence(given[:20])
        np.testing.assert_allclose(scores["ignorance"], ev.ignorance)
        np.testing.assert_allclose(scores["probability_1"], own.predict_proba(given[:20])[:, 1])
        result = run("explain", "--data", folder / "few.csv", "--model", folder / "m.skops")
        assert result.exit_code == 0, result.output
        assert "relative to the training data, stored in the model file" in result.output
        assert ev.component_names[0] in result.output


def test_evidence_without_weights_is_scored_but_not_explained(folder: Path) -> None:
    frame = pd.read_csv(folder / "heart.csv")
    X = frame[["age", "ldl"]]
    X[:20].to_csv(folder / "few.csv", index=False)
    sources = [("old", LogisticRegression(), ["age"]), ("blood", GaussianNB(), ["ldl"])]
    model = shafer.EvidentialVotingClassifier(sources, combination="yager", tempering=None)
    skops.io.dump(model.fit(X, frame["chd"]), folder / "m.skops")
    scores = scored(folder / "few.csv", folder / "m.skops")
    np.testing.assert_allclose(scores["ignorance"], model.evidence(X[:20]).ignorance)
    arguments = ("--data", folder / "few.csv", "--model", folder / "m.skops")
    refused("Weights of evidence are needed here", "explain", *arguments)
