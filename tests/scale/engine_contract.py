"""What every engine must do, checked on the same rows: a contract for frames, and one for jobs."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer
from cli.running import run
from shafer.evidence.reasons import reason_columns
from shafer.scale.engines import JobEngine

INPUTS = ["age", "size", "colour"]
N = 400


@cache
def rows() -> pd.DataFrame:
    """Rows whose columns are not in the order of training, and a key."""
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], N),
            "key": np.arange(N),
            "size": rng.normal(size=N),
            "age": rng.integers(20, 80, N),
        }
    )


@cache
def model() -> Any:
    """A pipeline with three classes, whose labels are not in the order of the alphabet."""
    frame = rows()[INPUTS]
    scores = frame["age"] / 20 + frame["size"] + (frame["colour"] == "red")
    y = np.array(["no", "perhaps", "certain"])[np.digitize(scores, [2.2, 3.4])]
    encoder = make_column_transformer(
        (StandardScaler(), ["age", "size"]), (OneHotEncoder(), ["colour"])
    )
    return make_pipeline(encoder, LogisticRegression()).fit(frame, y)


@cache
def explainer() -> shafer.Explainer:
    return shafer.Explainer(model(), rows()[INPUTS], groups="source", prior="own")


def expected() -> pd.DataFrame:
    ev = explainer()(rows()[INPUTS])
    assert isinstance(ev, shafer.Evidence)
    return ev.to_frame().assign(**reason_columns(ev, 2))


def check_scores(frame: Any, collected: Callable[[Any], pd.DataFrame]) -> Any:
    """Scores are the explainer's own, with a schema that is known before any row is read."""
    lazy = shafer.scale.score(frame, explainer(), keep="key", reasons=2, evidence=True)
    assert type(lazy) is type(frame)
    found = collected(lazy).sort_values("key").reset_index(drop=True)
    schema = shafer.scale.schema(explainer(), reasons=2, evidence=True)
    assert found.columns.tolist() == ["key", *schema.names] == ["key", *expected().columns]
    for name, wanted in expected().items():
        if wanted.dtype.kind == "f":
            np.testing.assert_allclose(found[name], wanted, rtol=0, atol=1e-12, err_msg=name)
        else:
            missing = wanted.isna()
            assert (found[name].isna() == missing).all()
            assert found[name][~missing].tolist() == wanted[~missing].tolist()
    return lazy


def bad_rows() -> pd.DataFrame:
    """The rows, of which four cannot be scored."""
    frame = rows().astype({"age": float})
    frame.loc[3, "size"] = np.nan
    frame.loc[[10, 11], "colour"] = "pink"
    frame.loc[200, "age"] = np.inf
    return frame


def check_bad_rows(
    frame: Any, collected: Callable[[Any], pd.DataFrame], *, repeats: bool = False
) -> None:
    """Bad rows end the job with their key, or are left out, or have a reason instead of scores."""
    bad = [3, 10, 11, 200]
    reasons = [
        "Column 'size' is missing (NaN), and the model cannot take NaN.",
        *["Column 'colour' has the category 'pink', which the model does not know."] * 2,
        "Column 'age' is infinite, and StandardScaler cannot take infinity.",
    ]

    def found(on_error: str) -> pd.DataFrame:
        lazy = shafer.scale.score(frame, explainer(), keep="key", reasons=1, on_error=on_error)
        return collected(lazy).sort_values("key").reset_index(drop=True)

    expected = rows().drop(index=bad)
    whole = shafer.scale.score(expected, explainer(), keep="key", reasons=1)
    pd.testing.assert_frame_equal(
        found("skip").astype(object), whole.reset_index(drop=True).astype(object)
    )
    kept = found("quarantine")
    schema = shafer.scale.schema(explainer(), reasons=1, on_error="quarantine")
    assert kept.columns.tolist() == ["key", *schema.names]
    assert kept["error"][bad].tolist() == reasons
    assert kept["error"].isna().sum() == N - len(bad)
    assert kept.loc[bad, ["answer", "probability_no"]].isna().all(axis=None)
    good = kept.drop(index=bad).drop(columns="error")
    pd.testing.assert_frame_equal(
        good.reset_index(drop=True).astype(object), whole.reset_index(drop=True).astype(object)
    )
    if not repeats:  # an engine that repeats a task with an error takes long
        with pytest.raises(Exception, match=r"ow (with key=)?\d+: Column .* on_error='skip' or"):
            found("stop")


def check_background(frame: Any) -> None:
    """Means and curvature of the parts, merged, are those of all rows together."""
    options = {"moderate": "laplace", "errors": "laplace", "prior": "own"}
    X = rows()[INPUTS]
    here = shafer.Explainer(model(), X, **options)(X)
    there = shafer.scale.background(frame, model(), **options)(X)
    assert isinstance(here, shafer.Evidence)
    assert isinstance(there, shafer.Evidence)
    assert there.component_names == here.component_names
    np.testing.assert_allclose(there.weights, here.weights, rtol=1e-9, atol=1e-12)
    assert there.weights_std is not None
    np.testing.assert_allclose(there.weights_std, here.weights_std, rtol=1e-9, atol=1e-12)


def check_refusals(frame: Any) -> None:
    with pytest.raises(ValueError, match="keep has .nothing., which the frame lacks; it has"):
        shafer.scale.score(frame, explainer(), keep=["nothing"])
    with pytest.raises(ValueError, match="columns must have all columns of the training data"):
        shafer.scale.score(frame, explainer(), ["age", "size"])
    with pytest.raises(ValueError, match="columns must name at least one column; the frame has"):
        shafer.scale.score(frame, explainer(), [])
    with pytest.raises(ValueError, match="keep has 'key' twice. Name each column once"):
        shafer.scale.score(frame, explainer(), keep=["key", "key"])
    with pytest.raises(ValueError, match="keep must be a name of a column or a list of names"):
        shafer.scale.score(frame, explainer(), keep=None)  # type: ignore[arg-type]


def check_jobs(engine: JobEngine, folder: Path) -> None:
    """A worker that is killed changes nothing; an error of the work ends the job in one line."""
    home = os.getpid()

    def squared(x: int) -> int:
        import time

        try:
            first = os.open(folder / "killed", os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            time.sleep(0.05)
        else:
            os.close(first)
            if os.getpid() != home:
                os.kill(os.getpid(), signal.SIGKILL)
        return x * x

    assert sorted(engine.run(squared, list(range(6)))) == [0, 1, 4, 9, 16, 25]
    assert (folder / "killed").exists()

    def refused(x: int) -> int:
        raise ValueError(f"{x} is a strange number")

    with pytest.raises(ValueError, match=r"^5 is a strange number$"):
        list(engine.run(refused, [5]))
    assert list(engine.run(refused, [])) == []


def check_command(folder: Path, *engine: Any) -> None:
    """The command writes the same numbers with the engine as without."""
    import skops.io

    (folder / "data").mkdir()
    for i in range(3):
        part = rows().iloc[i * 100 : (i + 1) * 100]
        part.to_parquet(folder / "data" / f"{i}.parquet", row_group_size=30)
    skops.io.dump(explainer(), folder / "e.skops")
    call = ("score", folder / "data", "--model", folder / "e.skops", "--reasons", 1, "--out")
    plain = run(*call, folder / "plain")
    assert plain.exit_code == 0, plain.output
    there = run(*call, folder / "there", "--engine", *engine)
    assert there.exit_code == 0, (there.output, there.exception)
    frames = [pd.read_parquet(folder / where) for where in ("plain", "there")]
    assert frames[0]["row"].tolist() == list(range(300))
    pd.testing.assert_frame_equal(*frames, rtol=0, atol=1e-12)
