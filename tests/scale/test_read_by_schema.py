"""The same rows from a file or a frame of any library: the same probabilities, or an error.

Each world is a column of a kind that files and libraries are known to change on their way.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import shafer
from shafer.scale.inputs import model_inputs
from shafer.scale.tables import chunks_of, read_table, survey

N = 240
LARGE = 2**53

WORLDS: dict[str, list[Any]] = {
    "NA": ["NA", "DE", "FR"],
    "None": ["None", "null", "nan"],
    "empty": ["", "a", "b"],
    "blank": [" ", "a", " a"],
    "leading zero": ["01", "1", "1.0"],
    "True as text": ["True", "False", "true"],
    "16 digits as text": [str(LARGE), str(LARGE + 1), str(LARGE + 2)],
    "dates as text": ["2020-01-01", "2020-1-1", "1/1/2020"],
    "unicode forms": ["\u00e9", "e\u0301", "e"],
    "numbers as text": ["1e3", "1000", "1_000"],
    "quotes": ["a,b", 'a"b', "a\nb"],
    "whole": [0, 1, 2],
    "16 digits": [LARGE, LARGE + 1, LARGE + 2],
    "negative": [-1, 0, 1],
    "bool": [True, False, True],
    "decimal": [0.1, 0.1 + 2**-56, 1e22],
}


def world(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows, and classes that depend on the column of this world."""
    rng = np.random.default_rng(0)
    code = rng.integers(0, 3, N)
    values = WORLDS[name]
    kind = object if isinstance(values[0], str) else None
    column = pd.Series([values[k] for k in code], dtype=kind)
    X = pd.DataFrame({"age": rng.normal(size=N), "code": column})
    y = (X["age"] + np.array([-3.0, 3.0, 0.0])[code] + rng.normal(size=N) > 0).astype(int)
    return X, y.to_numpy()


def _pipeline(encoder: Any) -> Callable[[pd.DataFrame, Any], tuple[Any, pd.DataFrame]]:
    def fitted(X: pd.DataFrame, y: Any) -> tuple[Any, pd.DataFrame]:
        columns = make_column_transformer((StandardScaler(), ["age"]), (encoder, ["code"]))
        return make_pipeline(columns, LogisticRegression()).fit(X, y), X

    return fitted


def _of_categories(X: pd.DataFrame, y: Any) -> tuple[Any, pd.DataFrame]:
    return _pipeline(OneHotEncoder(handle_unknown="ignore"))(X.astype({"code": "category"}), y)


def _xgboost(X: pd.DataFrame, y: Any) -> tuple[Any, pd.DataFrame]:
    xgboost = pytest.importorskip("xgboost")
    typed = X.astype({"code": "category"})
    model = xgboost.XGBClassifier(n_estimators=5, max_depth=3, enable_categorical=True)
    return model.fit(typed, y), typed


def _lightgbm(X: pd.DataFrame, y: Any) -> tuple[Any, pd.DataFrame]:
    lightgbm = pytest.importorskip("lightgbm")
    typed = X.astype({"code": "category"})
    model = lightgbm.LGBMClassifier(n_estimators=5, num_leaves=4, verbose=-1)
    return model.fit(typed, y), typed


def _catboost(X: pd.DataFrame, y: Any) -> tuple[Any, pd.DataFrame]:
    catboost = pytest.importorskip("catboost")
    plain = {"verbose": 0, "allow_writing_files": False, "cat_features": ["code"]}
    return catboost.CatBoostClassifier(5, **plain).fit(X, y), X


MODELS = {
    "one-hot": _pipeline(OneHotEncoder(handle_unknown="ignore")),
    "one-hot of categories": _of_categories,
    "ordinal": _pipeline(OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)),
    "XGBoost": _xgboost,
    "LightGBM": _lightgbm,
    "CatBoost": _catboost,
}


def _frames(X: pd.DataFrame) -> dict[str, Any]:
    """Return the same rows in frames of other libraries and types."""
    polars, pyarrow = importlib.import_module("polars"), importlib.import_module("pyarrow")
    made: dict[str, Any] = {
        "pandas": X,
        "nullable": X.convert_dtypes(),
        "objects": X.astype(object),
        "own categories": X.iloc[::-1].astype({"code": "category"}).iloc[::-1],
        "polars": polars.DataFrame(X.to_dict("list"), strict=False),
        "pyarrow": pyarrow.table(X.to_dict("list")),
        "pyarrow types": X.convert_dtypes(dtype_backend="pyarrow"),
    }
    if isinstance(X["code"].iloc[0], str):
        enum = polars.Enum(list(dict.fromkeys(X["code"].iloc[::-1])))
        made["polars enum"] = made["polars"].with_columns(polars.col("code").cast(enum))
        made["dictionary"] = pyarrow.table(
            {"age": X["age"], "code": pyarrow.array(X["code"].tolist()).dictionary_encode()}
        )
        made["text type"] = X.astype({"code": "string"})
    if X["code"].dtype == np.int64 and X["code"].max() < 100:
        made["int8"] = X.astype({"code": "int8"})
    return made


def _probabilities(explainer: shafer.Explainer, rows: Any, refused: list[str]) -> Any:
    """Return the probabilities; None where the rows are refused by an error that names a column."""
    try:
        return np.asarray(explainer(rows).probability)
    except (ValueError, shafer.UnsupportedModelError) as error:
        refused.append(str(error))
        return None


@pytest.fixture
def _no_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let CatBoost read its files at once; what the trials do is tested in saving/."""
    monkeypatch.setattr("shafer.saving.boosters.try_catboost", lambda _: None)


@pytest.fixture(scope="module")
def explainers() -> Callable[[str, str], tuple[shafer.Explainer, pd.DataFrame, np.ndarray]]:
    made: dict[tuple[str, str], Any] = {}

    def of(model: str, name: str) -> tuple[shafer.Explainer, pd.DataFrame, np.ndarray]:
        if (model, name) not in made:
            X, y = world(name)
            fitted, rows = MODELS[model](X, y)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                explainer = shafer.Explainer(fitted, rows)
            made[model, name] = explainer, X[:24], fitted.predict_proba(rows[:24])
        return made[model, name]

    return of


# These libraries refuse to be trained on such categories.
REFUSED = {("CatBoost", "decimal"), ("XGBoost", "decimal"), ("XGBoost", "bool")}
CASES = [(model, name) for model in MODELS for name in WORLDS if (model, name) not in REFUSED]


@pytest.mark.usefixtures("_no_trials")
@pytest.mark.parametrize(("model", "name"), CASES)
def test_files(explainers: Any, tmp_path: Path, model: str, name: str) -> None:
    explainer, X, expected = explainers(model, name)
    explainer.save(tmp_path / "m.shafer")
    loaded = shafer.Explainer.load(tmp_path / "m.shafer")
    X.to_csv(tmp_path / "d.csv", index=False)
    X.to_parquet(tmp_path / "d.parquet")
    for path in (tmp_path / "d.csv", tmp_path / "d.parquet"):
        table = read_table(path)
        inputs = model_inputs(loaded, table.kinds, path)
        whole = loaded(inputs.read(table)).probability
        inputs = model_inputs(loaded, survey(path, 7).kinds, path)
        parts = [loaded(inputs.rows(part)) for part in chunks_of(path, inputs.columns, 7)]
        chunked = np.concatenate([part.probability for part in parts])
        np.testing.assert_allclose(whole, expected, atol=1e-6, err_msg=str(path))
        np.testing.assert_allclose(chunked, expected, atol=1e-6, err_msg=str(path))


@pytest.mark.parametrize(("model", "name"), CASES)
def test_frames(explainers: Any, model: str, name: str) -> None:
    explainer, X, expected = explainers(model, name)
    accepted = []
    for kind, rows in _frames(X).items():
        refused: list[str] = []
        found = _probabilities(explainer, rows, refused)
        if found is None:
            assert "code" in refused[0], (kind, refused)
            continue
        accepted.append(kind)
        np.testing.assert_allclose(found, expected, atol=1e-6, err_msg=kind)
    assert {"pandas", "own categories", "polars", "pyarrow"} <= set(accepted)


GAPS = {"no gap in training": "b", "None in training": None, "NaN in training": np.nan}


def _held(values: list[Any]) -> pd.Series:
    """Return a column in which None stays None."""
    held = np.empty(len(values), dtype=object)
    held[:] = values
    return pd.Series(held, dtype=object)


@pytest.mark.parametrize("name", GAPS)
def test_only_an_empty_cell_is_missing(tmp_path: Path, name: str) -> None:
    rng = np.random.default_rng(1)
    code = rng.integers(0, 3, N)
    column = _held([["NA", "a", GAPS[name]][k] for k in code])
    X = pd.DataFrame({"age": rng.normal(size=N), "code": column})
    y = (X["age"] + code + rng.normal(size=N) > 1).astype(int)
    model, _ = MODELS["one-hot"](X, y)
    explainer = shafer.Explainer(model, X)
    gap = None if GAPS[name] == "b" else GAPS[name]
    new = X[:20].assign(code=_held(["NA", "a", gap, "NA"] * 5))
    expected = model.predict_proba(new)
    new.to_csv(tmp_path / "d.csv", index=False)
    new.to_parquet(tmp_path / "d.parquet")
    for path in (tmp_path / "d.csv", tmp_path / "d.parquet"):
        table = read_table(path)
        rows = model_inputs(explainer, table.kinds, path).read(table)
        np.testing.assert_allclose(explainer(rows).probability, expected, atol=1e-9)


def test_an_empty_cell_that_may_be_two_things_is_refused(tmp_path: Path) -> None:
    X, y = world("empty")
    X.loc[:5, "code"] = None
    explainer = shafer.Explainer(MODELS["one-hot"](X, y)[0], X)
    X.to_csv(tmp_path / "d.csv", index=False)
    table = read_table(tmp_path / "d.csv")
    with pytest.raises(ValueError, match="'code' must not be empty in a CSV file.*Row 0 has"):
        model_inputs(explainer, table.kinds, table.path).read(table)
    X.to_parquet(tmp_path / "d.parquet")
    table = read_table(tmp_path / "d.parquet")
    rows = model_inputs(explainer, table.kinds, table.path).read(table)
    np.testing.assert_allclose(explainer(rows).probability, explainer(X).probability, atol=1e-12)


@pytest.mark.parametrize(
    ("world_name", "cell", "message"),
    [
        ("whole", "many", "Column 'code' must hold numbers, as in training; row 3 has 'many'"),
        ("bool", "perhaps", "Column 'code' must hold truth values, as in training; row 3 has"),
    ],
)
def test_what_does_not_fit_is_named(
    tmp_path: Path, world_name: str, cell: str, message: str
) -> None:
    X, y = world(world_name)
    explainer = shafer.Explainer(MODELS["one-hot"](X, y)[0], X)
    new = X[:9].astype({"code": object})
    new.loc[3, "code"] = cell
    new.to_csv(tmp_path / "d.csv", index=False)
    table = read_table(tmp_path / "d.csv")
    inputs = model_inputs(explainer, table.kinds, table.path)
    with pytest.raises(ValueError, match=message):
        inputs.read(table)
    with pytest.raises(ValueError, match=message):
        list(chunks_of(table.path, inputs.columns, 2))
    with pytest.raises(ValueError, match=message):
        explainer(new)


@pytest.mark.parametrize("name", ["NA", "whole", "leading zero"])
def test_a_pipeline_without_a_background_knows_its_categories(tmp_path: Path, name: str) -> None:
    X, y = world(name)
    model, _ = MODELS["one-hot"](X, y)
    X.to_csv(tmp_path / "d.csv", index=False)
    table = read_table(tmp_path / "d.csv")
    rows = model_inputs(model, table.kinds, table.path).read(table)
    np.testing.assert_allclose(model.predict_proba(rows), model.predict_proba(X), atol=1e-12)
