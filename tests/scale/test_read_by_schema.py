"""The same rows from a file or a frame of any library: the same probabilities, or an error.

Each world is a column of a kind that files and libraries are known to change on their way. One
model of each kind is trained on the columns of all worlds.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
    TargetEncoder,
)

import shafer
from shafer.rows.csv_cells import escaped
from shafer.rows.schema import ColumnSchema, InputSchema
from shafer.scale.inputs import model_inputs
from shafer.scale.tables import chunks_of, raw_chunks, read_table, survey

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
    X = pd.DataFrame({"age": rng.normal(size=N), "code": _column(name, code)})
    y = (X["age"] + np.array([-3.0, 3.0, 0.0])[code] + rng.normal(size=N) > 0).astype(int)
    return X, y.to_numpy()


def worlds() -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows with a column of each world, and classes that depend on all of them."""
    rng = np.random.default_rng(0)
    codes = {name: rng.integers(0, 3, N) for name in WORLDS}
    columns = {name: _column(name, code) for name, code in codes.items()}
    X = pd.DataFrame({"age": rng.normal(size=N), **columns})
    score = sum(np.array([-1.0, 1.0, 0.0])[code] for code in codes.values())
    return X, (X["age"] + score > 0).astype(int).to_numpy()


def _column(name: str, code: np.ndarray) -> pd.Series:
    values = WORLDS[name]
    kind = object if isinstance(values[0], str) else None
    return pd.Series([values[k] for k in code], dtype=kind)


Fitted = Callable[[pd.DataFrame, Any], tuple[Any, pd.DataFrame]]


def _pipeline(encoder: Any) -> Fitted:
    def fitted(X: pd.DataFrame, y: Any) -> tuple[Any, pd.DataFrame]:
        codes = [name for name in X if name != "age"]
        columns = make_column_transformer((StandardScaler(), ["age"]), (encoder, codes))
        return make_pipeline(columns, LogisticRegression()).fit(X, y), X

    return fitted


def _typed(X: pd.DataFrame) -> pd.DataFrame:
    return X.astype(dict.fromkeys(X.columns.drop("age"), "category"))


def _of_categories(X: pd.DataFrame, y: Any) -> tuple[Any, pd.DataFrame]:
    return _pipeline(OneHotEncoder(handle_unknown="ignore"))(_typed(X), y)


def _xgboost(X: pd.DataFrame, y: Any) -> tuple[Any, pd.DataFrame]:
    typed = _typed(X.drop(columns=["bool", "decimal"]))  # refused by XGBoost
    options = {"n_estimators": 60, "max_depth": 2, "enable_categorical": True, "n_jobs": 1}
    return importlib.import_module("xgboost").XGBClassifier(**options).fit(typed, y), typed


def _lightgbm(X: pd.DataFrame, y: Any) -> tuple[Any, pd.DataFrame]:
    options = {"n_estimators": 60, "num_leaves": 3, "verbose": -1, "n_jobs": 1}
    options |= {"min_data_per_group": 2, "cat_smooth": 1.0}
    return importlib.import_module("lightgbm").LGBMClassifier(**options).fit(_typed(X), y), _typed(
        X
    )


def _catboost(X: pd.DataFrame, y: Any) -> tuple[Any, pd.DataFrame]:
    X = X.drop(columns=["decimal"])  # refused by CatBoost
    plain = {"verbose": 0, "allow_writing_files": False, "thread_count": 1, "depth": 2}
    plain |= {"random_strength": 0.0, "rsm": 0.4, "learning_rate": 0.2}
    codes = [name for name in X if name != "age"]
    model = importlib.import_module("catboost").CatBoostClassifier(150, cat_features=codes, **plain)
    return model.fit(X, y), X


def _ebm(X: pd.DataFrame, y: Any) -> tuple[Any, pd.DataFrame]:
    kind = importlib.import_module("interpret.glassbox").ExplainableBoostingClassifier
    types = ["continuous", *["nominal"] * len(WORLDS)]
    small = {"interactions": 0, "max_rounds": 20, "outer_bags": 1, "n_jobs": 1}
    return kind(feature_types=types, **small).fit(X, y), X


def _optbinning(X: pd.DataFrame, y: Any) -> tuple[Any, pd.DataFrame]:
    texts = [name for name in X if X[name].dtype == object]
    kind = importlib.import_module("optbinning").BinningProcess
    bins = kind(list(X), categorical_variables=texts, n_jobs=1)
    return make_pipeline(bins, LogisticRegression()).fit(X, y), X


MODELS: dict[str, Fitted] = {
    "one-hot": _pipeline(OneHotEncoder(handle_unknown="ignore")),
    "one-hot of categories": _of_categories,
    "imputed": _pipeline(
        make_pipeline(
            SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
        )
    ),
    "ordinal": _pipeline(OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)),
    "target": _pipeline(TargetEncoder(random_state=0)),
    "XGBoost": _xgboost,
    "LightGBM": _lightgbm,
    "CatBoost": _catboost,
    "EBM": _ebm,
    "optbinning": _optbinning,
}
PACKAGES = {"EBM": "interpret"}


def _frames(X: pd.DataFrame) -> dict[str, Any]:
    """Return the same rows in frames of other libraries and types, column by column."""
    polars, pyarrow = importlib.import_module("polars"), importlib.import_module("pyarrow")
    lists = {name: X[name].tolist() for name in X}
    texts = [name for name in X if isinstance(X[name].iloc[0], str)]
    small = [name for name in X if X[name].dtype == np.int64 and X[name].max() < 100]
    made: dict[str, Any] = {
        "pandas": X,
        "nullable": X.convert_dtypes(),
        "objects": X.astype(object),
        "own categories": _typed(X.iloc[::-1]).iloc[::-1],
        "polars": polars.DataFrame(lists, strict=False),
        "pyarrow": pyarrow.table(lists),
        "pyarrow types": X.convert_dtypes(dtype_backend="pyarrow"),
        "text type": X.astype(dict.fromkeys(texts, "string")),
        "int8": X.astype(dict.fromkeys(small, "int8")),
    }
    made["polars enum"] = made["polars"].with_columns(
        polars.col(name).cast(polars.Enum(list(dict.fromkeys(lists[name][::-1])))) for name in texts
    )
    made["dictionary"] = pyarrow.table(
        {
            name: pyarrow.array(values).dictionary_encode() if name in texts else values
            for name, values in lists.items()
        }
    )
    return made


@pytest.fixture(scope="module", params=MODELS)
def trained(request: pytest.FixtureRequest) -> tuple[shafer.Explainer, pd.DataFrame, np.ndarray]:
    """Return a read model, forty rows, and what the model itself says about them."""
    package = PACKAGES.get(request.param, request.param.lower())
    if package in ("xgboost", "lightgbm", "catboost", "interpret", "optbinning"):
        pytest.importorskip(package)
    X, y = worlds()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted, rows = MODELS[request.param](X, y)
        explainer = shafer.Explainer(fitted, rows)
        expected = fitted.predict_proba(rows[:40])
    return explainer, X[list(rows)][:40], expected


def _swapped(X: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the rows with another value in one column."""
    values = list(dict.fromkeys(WORLDS[name]))
    turned = {value: values[i - 1] for i, value in enumerate(values)}
    return X.assign(**{name: X[name].map(turned).astype(X[name].dtype)})


@pytest.mark.filterwarnings("ignore::DeprecationWarning:optbinning")
@pytest.mark.filterwarnings("ignore:.*force_all_finite.*:FutureWarning")
def test_files(trained: Any, tmp_path: Path) -> None:
    explainer, X, expected = trained
    names = set(X) & set(WORLDS)
    heard = {
        name
        for name in names
        if np.abs(explainer(_swapped(X, name)).probability - expected).max() > 1e-4
    }
    assert len(heard) >= len(names) - 2, names - heard  # a wrong value would be noticed
    loaded = explainer
    if "BinningProcess" not in repr(explainer.model):  # it keeps texts in arrays of pandas
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
        np.testing.assert_array_equal(chunked, whole, err_msg=str(path))


ALWAYS = {"pandas", "own categories", "polars", "pyarrow"}


@pytest.mark.filterwarnings("ignore::DeprecationWarning:optbinning")
@pytest.mark.filterwarnings("ignore:.*force_all_finite.*:FutureWarning")
def test_frames(trained: Any) -> None:
    """A column that is refused is named; the others give the model's own probabilities."""
    explainer, X, expected = trained
    for kind, rows in _frames(X).items():
        refused: set[str] = set()
        found: Any = None
        while found is None:
            found, message = _asked(explainer, rows)
            if found is None and message.endswith("Pass a pandas data frame."):
                break  # optbinning takes nothing else
            if found is None:
                named = {name for name in X if re.search(f"[`']{name}[`']", message)}
                assert named - refused, (kind, message)
                refused |= named
                rows = rows.assign(**{name: X[name] for name in named})
        assert kind not in ALWAYS or not refused, (kind, refused)
        if found is not None:
            np.testing.assert_allclose(found, expected, atol=1e-6, err_msg=kind)


def _asked(explainer: shafer.Explainer, rows: Any) -> tuple[Any, str]:
    """Return the probabilities, or None and the error that refuses the rows."""
    try:
        return np.asarray(explainer(rows).probability), ""
    except (ValueError, shafer.UnsupportedModelError) as error:
        return None, str(error)


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


@pytest.mark.parametrize("dtype", [object, "string", "str"])
def test_a_gap_in_training_is_not_an_empty_text(dtype: Any) -> None:
    gaps, texts = pd.Series(["a", None, "b"], dtype=dtype), pd.Series(["a", "", None], dtype=dtype)
    assert not ColumnSchema.of(gaps).empty
    assert ColumnSchema.of(texts).empty


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


def test_numbers_behind_an_imputer_are_numbers(tmp_path: Path) -> None:
    X = pd.DataFrame({"dose": np.array([0.1, 0.2, np.nan, 0.4] * 9, dtype=np.float32)})
    X["visits"] = np.arange(36)
    model = make_pipeline(SimpleImputer(), LogisticRegression()).fit(X, np.arange(36) % 4 > 1)
    explainer = shafer.Explainer(model, X)
    X.to_csv(tmp_path / "d.csv", index=False)
    table = read_table(tmp_path / "d.csv")
    found = model_inputs(explainer, table.kinds, table.path).read(table)
    assert found["dose"].to_numpy().tobytes() == X["dose"].to_numpy().tobytes()
    with pytest.raises(ValueError, match="Column 'dose' must hold numbers.*row 3 has 'high'"):
        explainer(X.astype(object).replace({"dose": {X["dose"][3]: "high"}})[:9])


FORMULAS = {
    "bare": (["=1", "+49 1", "a"], True),
    "with an apostrophe": (["'=1", "'-x", "a"], True),
    "with two": (["''=1", "'a", "a"], True),
    "none": (["'k", "-1", "a"], True),
    "both": (["'=1", "=1", "a"], False),
}


@pytest.mark.parametrize("escape", [False, True])
@pytest.mark.parametrize("name", FORMULAS)
def test_apostrophes_before_formulas_are_those_of_training(
    name: str, escape: bool, tmp_path: Path
) -> None:
    """Others write `'=1` for `=1`, as this library does; it may be a category of its own, too."""
    values, clear = FORMULAS[name]
    rng = np.random.default_rng(0)
    code = rng.integers(0, 3, N)
    X = pd.DataFrame({"age": rng.normal(size=N), "code": np.array(values, dtype=object)[code]})
    X.insert(0, "note", "plain")  # a column of texts with other marks
    y = (X["age"] + 3.0 * code + rng.normal(size=N) > 3).astype(int)
    encode = make_column_transformer(
        (StandardScaler(), ["age"]), (OneHotEncoder(), ["note", "code"])
    )
    model = make_pipeline(encode, LogisticRegression()).fit(X, y)
    explainer = shafer.Explainer(model, X)
    explainer.save(tmp_path / "m.shafer")
    path = tmp_path / "d.csv"
    (escaped(X) if escape else X).to_csv(path, index=False)
    for asked in (explainer, shafer.Explainer.load(tmp_path / "m.shafer"), model):
        inputs = model_inputs(asked, survey(path, 9).kinds, path)
        table = read_table(path)
        if not clear:
            with pytest.raises(ValueError, match="'code' must not begin with an apostrophe"):
                model_inputs(asked, table.kinds, path).read(table)
            with pytest.raises(ValueError, match="'code' must not begin with an apostrophe"):
                list(chunks_of(path, inputs.columns, 9))
            continue
        found = model_inputs(asked, table.kinds, path).read(table)
        assert found["code"].tolist() == X["code"].tolist()
        chunked = pd.concat(chunks_of(path, inputs.columns, 9))
        assert chunked["code"].tolist() == X["code"].tolist()
    if not clear and not escape:
        columns = model_inputs(explainer, survey(path, 9).kinds, path).columns
        raw = [chunk.read() for chunk in raw_chunks(path, columns, (), 9, raw_csv=True)]
        assert pd.concat(raw)["code"].tolist() == X["code"].tolist()


ROUNDED = {
    "one-hot": lambda: OneHotEncoder(handle_unknown="ignore"),
    "ordinal": OrdinalEncoder,
    "bins": lambda: KBinsDiscretizer(4, quantile_method="averaged_inverted_cdf"),
    "target": lambda: TargetEncoder(cv=2),
}


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("name", ROUNDED)
def test_texts_of_numbers_have_the_digits_of_training(
    name: str, dtype: Any, tmp_path: Path
) -> None:
    """In single precision, 0.1 is another category, or on the other side of the edge of a bin."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(size=N), "dose": rng.integers(0, 8, N) / 10})
    X = X.astype({"dose": dtype})
    y = (X["age"] + 3.0 * (X["dose"] > 0.3) + rng.normal(size=N) > 1).astype(int)
    encode = make_column_transformer((StandardScaler(), ["age"]), (ROUNDED[name](), ["dose"]))
    model = make_pipeline(encode, LogisticRegression()).fit(X, y)
    explainer = shafer.Explainer(model, X)
    explainer.save(tmp_path / "m.shafer")
    X.to_csv(tmp_path / "d.csv", index=False)
    X.to_parquet(tmp_path / "d.parquet")
    doors = [explainer, shafer.Explainer.load(tmp_path / "m.shafer")]
    for asked in (*doors, model) if name in ("one-hot", "ordinal") else doors:
        for path in (tmp_path / "d.csv", tmp_path / "d.parquet"):
            table = read_table(path)
            inputs = model_inputs(asked, table.kinds, path)
            for rows in (inputs.read(table), pd.concat(chunks_of(path, inputs.columns, 50))):
                found = asked(rows).probability if asked is not model else model.predict_proba(rows)
                np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-12)


def test_schemas_of_batches_and_of_single_columns_tell_widths() -> None:
    half, single, double = (np.zeros(3, dtype=f"f{width}") for width in (2, 4, 8))
    nullable = pd.array(single, dtype="Float32")
    frame = pd.DataFrame({"a": single, "b": double, "c": nullable, "d": half})
    precisions = ["float32", "float64", "float32", "float16"]
    schema = InputSchema.of(frame)
    assert schema is not None
    assert [column.precision for column in schema.columns] == precisions
    for other, kept in ((frame, precisions), (frame.astype(float), ["float64"] * 4)):
        joined = schema.joined(InputSchema.of(other))
        assert joined is not None
        assert [column.precision for column in joined.columns] == kept
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for rows in (single[:, None], polars.DataFrame({"a": single}), pyarrow.table({"a": single})):
        found = InputSchema.of(rows)
        assert found is not None
        assert found.columns[0].precision == "float32"
