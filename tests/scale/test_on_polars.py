from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import shafer
from shafer.scale.scorer import RowScorer

from . import engine_contract as contract


def lazy() -> pl.LazyFrame:
    return pl.from_pandas(contract.rows()).lazy()


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_scores(engine: Any) -> None:
    scored = contract.check_scores(lazy(), lambda frame: frame.collect(engine=engine).to_pandas())
    assert scored.collect_schema()["probability_perhaps"] == pl.Float64
    assert scored.collect_schema()["reason_1"] == pl.String
    assert scored.head(3).collect(engine=engine).height == 3


def test_the_streaming_engine_scores_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    whole = RowScorer.evidence

    def noted(self: RowScorer, table: Any) -> Any:
        sizes.append(len(table))
        return whole(self, table)

    monkeypatch.setattr(RowScorer, "evidence", noted)
    many = pl.concat([lazy()] * 40)
    with pl.Config() as config:
        config.set_streaming_chunk_size(100)
        scored = shafer.scale.score(many, contract.explainer()).collect(engine="streaming")
    assert sum(sizes) == scored.height
    assert max(sizes) < scored.height / 4


def test_nothing_runs_before_it_is_asked_for() -> None:
    def fails(part: pl.DataFrame) -> pl.DataFrame:
        raise RuntimeError("a row was read")

    broken = lazy().map_batches(fails, schema=lazy().collect_schema())
    scored = shafer.scale.score(broken, contract.explainer())
    assert scored.collect_schema().names()[:2] == ["answer", "probability_certain"]
    with pytest.raises(Exception, match="a row was read"):
        scored.collect()


@pytest.mark.parametrize("lazily", [True, False])
def test_bad_rows(*, lazily: bool) -> None:
    frame = pl.DataFrame(contract.bad_rows(), nan_to_null=False)
    if lazily:
        contract.check_bad_rows(frame.lazy(), lambda found: found.collect().to_pandas())
    else:
        contract.check_bad_rows(frame, lambda found: found.to_pandas())


def test_bad_rows_of_pandas_and_arrow() -> None:
    contract.check_bad_rows(contract.bad_rows(), lambda found: found)
    table = pa.Table.from_pandas(contract.bad_rows(), preserve_index=False)
    contract.check_bad_rows(table, lambda found: found.to_pandas())
    typed = contract.rows().assign(key=contract.rows()["key"] > 9)
    explainer = shafer.Explainer(([1.0, -2.0], 0.5), np.zeros((1, 2)), classes=[3, 4])
    broken = typed.astype({"age": float})
    broken.loc[5, "age"] = np.nan
    options = {"columns": ["age", "size"], "reasons": 0, "on_error": "quarantine"}
    scores = shafer.scale.score(broken, explainer, **options)
    assert str(scores["answer"].dtype) == "Int64"  # whole numbers beside gaps
    assert scores["answer"].isna().sum() == 1
    everything = shafer.scale.score(broken.iloc[[5]], explainer, **options)
    assert everything["answer"].isna().all()
    assert (
        len(shafer.scale.score(broken.iloc[[5]], explainer, ["age", "size"], on_error="skip")) == 0
    )
    with pytest.raises(ValueError, match="on_error must be one of stop, skip, quarantine; got"):
        shafer.scale.score(broken, explainer, ["age", "size"], on_error="ignore")  # type: ignore[arg-type]


def test_background() -> None:
    contract.check_background(lazy())


def test_refusals() -> None:
    contract.check_refusals(lazy())
    with pytest.raises(ValueError, match=r"got numpy.ndarray. For the rows of an array, call the"):
        shafer.scale.score(contract.rows().to_numpy(), contract.explainer())
    with pytest.raises(ValueError, match=r"pandas or pyarrow; got builtins.list\.$"):
        shafer.scale.score([1.0], contract.explainer())
    with pytest.raises(ValueError, match="must be a shafer.Explainer .* got Pipeline"):
        shafer.scale.score(lazy(), contract.model())
    with pytest.raises(ValueError, match="reasons must be a whole number of at least 0; got -1"):
        shafer.scale.score(lazy(), contract.explainer(), reasons=-1)
    twice = lazy().rename({"key": "answer"})
    with pytest.raises(ValueError, match="keep has .answer., and so have the scores"):
        shafer.scale.score(twice, contract.explainer(), keep="answer")
    with pytest.raises(ValueError, match="sample_weight cannot be used with a lazy frame"):
        shafer.scale.background(lazy(), contract.model(), sample_weight=np.ones(3))
    with pytest.raises(shafer.UnsupportedModelError, match="compares rows with the background"):
        shafer.scale.background(lazy(), contract.model(), moderate="laplace+discount")
    with pytest.raises(
        shafer.UnsupportedModelError, match="errors='sandwich' reads the background"
    ):
        shafer.scale.background(lazy(), contract.model(), errors="sandwich")
    with pytest.raises(ValueError, match="The background has no rows"):
        shafer.scale.background(lazy().head(0), contract.model())
    with pytest.raises(ValueError, match="one dense array; got an iterator"):
        shafer.scale.background(lazy(), contract.model(), missing="vacuous")


def test_frames_without_rows_and_classifiers() -> None:
    clf = shafer.EvidentialClassifier(LogisticRegression()).fit(
        contract.rows()[["age", "size"]], contract.rows()["colour"]
    )
    nothing = shafer.scale.score(lazy().head(0), clf).collect()
    assert nothing.shape == (0, len(shafer.scale.schema(clf)))
    found = shafer.scale.score(lazy(), clf, reasons=0).collect()
    wanted = clf.predict_proba(contract.rows()[["age", "size"]])[:, 1]
    np.testing.assert_allclose(found["probability_green"], wanted, rtol=0, atol=1e-12)


def test_a_model_of_arrays_needs_the_columns() -> None:
    X = contract.rows()[["size", "age"]].to_numpy()
    model = LogisticRegression().fit(X, contract.rows()["colour"])
    explainer = shafer.Explainer(model, X)
    with pytest.raises(ValueError, match="trained without column names. Pass the columns, in the"):
        shafer.scale.score(lazy(), explainer)
    found = shafer.scale.score(lazy(), explainer, ["size", "age"]).collect()
    wanted = explainer.predict_proba(X)[:, 2]
    np.testing.assert_allclose(found["probability_red"], wanted, atol=1e-12)
    again = shafer.scale.background(lazy(), model, ["size", "age"])
    np.testing.assert_allclose(again.pool.means, explainer.pool.means, rtol=1e-12)


def test_texts() -> None:
    texts = ["a red house", "green trees", "a blue sea", "red roses"] * 5
    y = ["no", "yes", "no", "yes"] * 5
    model = make_pipeline(HashingVectorizer(n_features=64), LogisticRegression()).fit(texts, y)
    explainer = shafer.Explainer(model, texts)
    frame = pl.DataFrame({"words": texts, "y": y}).lazy()
    found = shafer.scale.score(frame, explainer, "words", evidence=True).collect()
    np.testing.assert_allclose(found["belief_yes"], explainer(texts).belief[:, 1], atol=1e-12)
    again = shafer.scale.background(frame, model, "words")
    assert again.component_names == explainer.component_names


def test_discounted_evidence_and_error_bars_have_their_columns() -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["p", "q"])
    model = LogisticRegression().fit(X, X["p"] > 0)
    options = {"moderate": "laplace+discount", "errors": "laplace"}
    explainer = shafer.Explainer(model, X, **options)
    asked = {"reasons": 1, "evidence": True}
    found = shafer.scale.score(pl.from_pandas(X).lazy(), explainer, **asked).collect()
    assert found.columns == shafer.scale.schema(explainer, **asked).names
    frame = explainer(X).to_frame()
    assert set(frame.columns) < set(found.columns)
    np.testing.assert_allclose(found["ignorance"], frame["ignorance"], atol=1e-12)
    assert (found["reason_1_lower"].drop_nulls() <= found["reason_1_log_odds"].drop_nulls()).all()
