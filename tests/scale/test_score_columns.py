"""One list of score columns: equal values wherever rows are scored, one pass for all columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer
from cli.running import run
from shafer.monitor import Monitor
from shafer.scale.background_means import MeansOptions
from shafer.scale.columns import ScoreOptions
from shafer.scale.folder import write_scores
from shafer.scale.models import NamedModel

INPUTS = ["age", "size", "colour"]
N = 400


def _rows() -> pd.DataFrame:
    random = np.random.default_rng(5)
    rows = pd.DataFrame(
        {
            "age": random.normal(50.0, 10.0, N),
            "size": random.normal(size=N),
            "colour": random.choice(["red", "green", "blue"], N),
            "site": random.choice(["north", "south"], N),
        }
    )
    score = rows["age"] / 20 + rows["size"] + 0.5 * random.normal(size=N)
    return rows.assign(ill=np.array(["no", "perhaps", "yes"])[np.digitize(score, [2.0, 3.0])])


ROWS = _rows()
HELD = ROWS[200:300]


class Counted(TransformerMixin, BaseEstimator):
    """Passes one column on, and counts its rows."""

    rows = 0  # of all copies: a model file holds another one

    def fit(self, X: Any, y: Any = None) -> Counted:
        self.n_features_in_ = 1
        return self

    def transform(self, X: Any) -> Any:
        Counted.rows += len(X)
        return X

    def get_feature_names_out(self, names: Any = None) -> Any:
        return np.asarray(names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _explainer(missing: str = "error", **options: Any) -> shafer.Explainer:
    """An explainer with sets and a promise, both by group."""
    fill = [] if missing != "error" else [SimpleImputer()]
    encode = make_column_transformer(
        (make_pipeline(Counted(), *fill, StandardScaler()), ["age"]),
        (make_pipeline(*fill, StandardScaler()), ["size"]),
        (OneHotEncoder(handle_unknown="ignore"), ["colour"]),
    )
    model = make_pipeline(encode, LogisticRegression()).fit(ROWS[INPUTS][:200], ROWS["ill"][:200])
    explainer = shafer.Explainer(model, ROWS[INPUTS][:200], missing=missing, **options)
    held = HELD[[*INPUTS, "site"]]
    explainer.conformalize(held, HELD["ill"], 0.8, by="site")
    return explainer.control_error(held, HELD["ill"], 0.4, by="site")


def _passes(call: Any, *given: Any) -> int:
    """How often a call passes rows through the model, in rows."""
    Counted.rows = 0
    call(*given)
    return Counted.rows


EXPLAINERS: dict[str, dict[str, Any]] = {
    "plain": {},
    "grouped, tempered": {"groups": "source", "temper": 0.5},
    "discounted, error bars": {"moderate": "laplace+discount", "errors": "laplace"},
    "conditional": {"missing": "conditional", "moderate": "laplace"},
    "vacuous": {"missing": "vacuous", "prior": "own"},
}


@pytest.mark.parametrize("options", EXPLAINERS.values(), ids=EXPLAINERS)
def test_all_columns_share_one_pass(options: dict[str, Any], tmp_path: Path) -> None:
    explainer = _explainer(**options)
    explainer.typicality(ROWS[INPUTS])  # what is known of the background is found out once
    explainer.ask.overturn(ROWS[INPUTS])
    gappy = ROWS.drop(columns="ill")
    gappy.loc[::3, "age"] = np.nan
    gappy.to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "costs.csv").write_text("act,no,perhaps,yes\nwait,0,2,3\ntreat,1,1,0\n")
    wanted = ScoreOptions(
        reasons=2, evidence=True, ask=True, loss=tmp_path / "costs.csv", reject=0.4
    )

    def command() -> None:
        named = NamedModel(explainer, "explainer.shafer")
        given = (tmp_path / "rows.csv", tmp_path / "scores.csv")
        write_scores(*given, named, MeansOptions(), 70, wanted)

    assert _passes(command) == N
    scores = pd.read_csv(tmp_path / "scores.csv")
    assert {"reason_2_log_odds", "alarm", "act", "deferred", "set", "ignorance"} <= set(scores)
    assert scores["overturn"].max() > 0
    frame = pl.from_pandas(ROWS).lazy()
    assert _passes(lambda: shafer.scale.score(frame, explainer).collect()) == N


@pytest.mark.parametrize("options", EXPLAINERS.values(), ids=EXPLAINERS)
def test_every_call_passes_rows_once(options: dict[str, Any]) -> None:
    explainer = _explainer(**options)
    explainer.typicality(ROWS[INPUTS])
    rows, grouped = ROWS[INPUTS], ROWS[[*INPUTS, "site"]]
    assert _passes(explainer.predict_set, grouped) == N
    assert _passes(explainer.decide, rows) == N
    assert _passes(explainer.predict_or_defer, grouped) == N
    assert _passes(explainer.control_error, rows, ROWS["ill"], 0.4) == N
    explainer.conformalize(HELD[INPUTS], HELD["ill"], 0.8)  # pyfunc gets no other columns
    assert _passes(shafer.export.pyfunc(explainer, reasons=2).predict, None, rows) == N
    monitor = Monitor.fit(explainer, ROWS[INPUTS][:200])
    assert _passes(monitor.check, ROWS[INPUTS][200:]) == N - 200


@pytest.mark.parametrize("options", EXPLAINERS.values(), ids=EXPLAINERS)
def test_a_pass_that_is_shared_changes_no_answer(options: dict[str, Any], tmp_path: Path) -> None:
    explainer = _explainer(**options)
    gappy = ROWS[[*INPUTS, "site"]].copy()
    gappy.loc[::3, "age"] = np.nan
    gappy.loc[::4, "size"] = np.nan
    gappy.to_parquet(tmp_path / "rows.parquet")
    named = NamedModel(explainer, "explainer.shafer")
    out = tmp_path / "scores.parquet"
    wanted = ScoreOptions(ask=True)
    write_scores(tmp_path / "rows.parquet", out, named, MeansOptions(), 1000, wanted)
    found, ask, rows = pd.read_parquet(out), explainer.ask, gappy[INPUTS]
    np.testing.assert_array_equal(found["fragility"], ask.fragility(rows))
    np.testing.assert_array_equal(found["overturn"], ask.overturn(rows))
    np.testing.assert_array_equal(found["alarm"], ask.guard(rows).alarm)
    asked = ask.next_inputs(rows, 1)
    known = found["next_input"].dropna()
    assert known.index.tolist() == asked["row"].tolist()
    assert known.tolist() == asked["input"].tolist()
    cells = ask.check_cells(rows, 1, order="stake")
    assert found["check_input"].tolist() == cells["input"].tolist()
    assert found["check_expected"].tolist() == cells["expected"].tolist()
    np.testing.assert_array_equal(found["check_stake"], cells["stake"])
    deferred = explainer.predict_or_defer(gappy)
    assert found["answer"].tolist() == deferred.labels.tolist()
    assert found["deferred"].tolist() == deferred.deferred.tolist()
    assert found["why"].tolist() == deferred.reason.tolist()


def test_files_frames_and_mlflow_have_equal_scores(tmp_path: Path) -> None:
    model = make_pipeline(
        make_column_transformer((StandardScaler(), ["age", "size"]), (OneHotEncoder(), ["colour"])),
        LogisticRegression(),
    ).fit(ROWS[INPUTS][:200], ROWS["ill"][:200])
    explainer = shafer.Explainer(
        model, ROWS[INPUTS][:200], moderate="laplace+discount", errors="laplace"
    )
    explainer.conformalize(HELD[INPUTS], HELD["ill"], 0.8)
    explainer.save(tmp_path / "explainer.shafer")
    ROWS.to_parquet(tmp_path / "rows.parquet")
    given = ("score", tmp_path / "rows.parquet", "--model", tmp_path / "explainer.shafer")
    result = run(*given, "--evidence", "--out", tmp_path / "scores.parquet")
    assert result.exit_code == 0, result.output
    written = pd.read_parquet(tmp_path / "scores.parquet")
    lazy = shafer.scale.score(pl.from_pandas(ROWS).lazy(), explainer, evidence=True).collect()
    lazy = lazy.to_pandas()
    served = shafer.export.pyfunc(explainer, evidence=True).predict(None, ROWS[INPUTS])
    names = shafer.scale.schema(explainer, evidence=True).names
    assert written.columns.tolist() == ["row", *names]
    assert lazy.columns.tolist() == names
    assert served.columns.tolist() == ["prediction", *names]
    assert "epistemic_ignorance" in names
    np.testing.assert_array_equal(
        lazy["probability_no"], explainer.predict_proba(ROWS[INPUTS])[:, 0]
    )
    assert "reason_3_upper" in names
    pd.testing.assert_frame_equal(written[names], lazy, check_exact=True)
    texts = lazy.select_dtypes(exclude="number").columns
    pd.testing.assert_frame_equal(
        served[names], lazy.fillna(dict.fromkeys(texts, "")), check_exact=True, check_dtype=False
    )
    signature = shafer.export.pyfunc(explainer, evidence=True).signature.outputs
    assert [spec.name for spec in signature] == ["prediction", *names]
    for frame in (ROWS, pl.from_pandas(ROWS), pa.Table.from_pandas(ROWS, preserve_index=False)):
        there = shafer.scale.score(frame, explainer, evidence=True)
        assert type(there) is type(frame)
        there = there if hasattr(there, "iloc") else there.to_pandas()
        pd.testing.assert_frame_equal(there, lazy, check_exact=True)
    named = shafer.scale.score(ROWS.set_index("site"), explainer, reasons=0)
    assert named.index.tolist() == ROWS["site"].tolist()
