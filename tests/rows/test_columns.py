"""Encoded columns and their names, and the bins of a column."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.impute import KNNImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)

import shafer
from shafer.evidence import LinearPool
from shafer.rows.bins import (
    category_bins,
    interval_bins,
    number_texts,
    threshold_bins,
    unseen_value,
    value_text,
)

# Names of encoded columns, and the columns that they came from.


_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(60, 3))
Y = _RNG.integers(0, 2, 60)
FRAME = pd.DataFrame(X, columns=list("uvw"))


def _explained(model: Any, rows: Any, groups: Any = None) -> shafer.Explainer:
    model.fit(rows, Y)
    explainer = shafer.Explainer(model, rows, groups=groups, prior="shared")
    assert_allclose(explainer(rows).probability, model.predict_proba(rows), atol=1e-10)
    return explainer


def test_encoded_names_that_collide_are_numbered() -> None:
    frame = pd.DataFrame({"a": _RNG.choice(["b_c", "d"], 60), "a_b": _RNG.choice(["c", "e"], 60)})
    model = make_pipeline(OneHotEncoder(), LogisticRegression())
    plain = _explained(model, frame)
    assert plain.component_names == ("a_b_c (1)", "a_d", "a_b_c (2)", "a_b_e")
    assert _explained(model, frame, "source").component_names == ("a", "a_b")
    assert _explained(model, frame, "one").component_names == ("all",)


def test_products_that_collide_with_columns() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "a b"])
    model = make_pipeline(PolynomialFeatures(2), LogisticRegression())
    names = _explained(model, frame).component_names
    assert names.count("a b (1)") == names.count("a b (2)") == 1
    assert "a × b" in _explained(model, frame, "source").component_names


def test_a_column_named_as_the_constant() -> None:
    frame = pd.DataFrame(X, columns=["1", "b", "c"])
    model = make_pipeline(PolynomialFeatures(1), LogisticRegression())
    assert _explained(model, frame, "source").component_names == ("1 (1)", "1 (2)", "b", "c")


@pytest.mark.parametrize("rows", [X, FRAME], ids=["array", "frame"])
@pytest.mark.parametrize(
    "model",
    [
        Pipeline([("t", "passthrough"), ("m", LogisticRegression())]),
        make_pipeline(make_union("drop", StandardScaler()), LogisticRegression()),
    ],
    ids=["passthrough", "drop"],
)
def test_steps_that_do_nothing(model: Any, rows: Any) -> None:
    names = ("u", "v", "w") if rows is FRAME else ("x0", "x1", "x2")
    assert _explained(model, rows, "source").component_names == names


def _normalised(rows: Any) -> Any:
    values = np.asarray(rows)
    return values / np.abs(values).sum(axis=1, keepdims=True)


def _scaled(rows: Any) -> Any:
    return np.asarray(rows) * [1.0, 2.0, 3.0]


def _function(function: Any) -> FunctionTransformer:
    return FunctionTransformer(function, feature_names_out="one-to-one")


@pytest.mark.parametrize(
    "rows", [X, FRAME, pl.from_pandas(FRAME)], ids=["numpy", "pandas", "polars"]
)
def test_features_that_mix_columns_are_not_called_columns(rows: Any) -> None:
    encoder = make_column_transformer(
        (Normalizer(), [0, 1]), (OneHotEncoder(sparse_output=False), [2])
    )
    rounded = np.round(np.asarray(rows))
    joined = _explained(make_pipeline(encoder, LogisticRegression()), rounded, "source")
    assert joined.component_names == ("normalizer__x0", "normalizer__x1", "x2")
    for encoder in (KNNImputer(), _function(_normalised)):
        model = make_pipeline(encoder, LogisticRegression())
        features = _explained(model, rows).component_names
        assert _explained(model, rows, "source").component_names == features
        # A group cannot be named after a column that several features depend on.
        union = make_pipeline(make_union(encoder, StandardScaler()), LogisticRegression())
        with pytest.raises(ValueError, match=r"Unknown component '[ux]0?'"):
            _explained(union, rows, [[rows.columns[0] if hasattr(rows, "columns") else "x0"]])
    kept = _explained(make_pipeline(_function(_scaled), LogisticRegression()), rows, "source")
    assert len(kept.component_names) == 3


def test_single_columns_stay_a_linear_model() -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression())
    explainer = _explained(model, FRAME, "source")
    assert isinstance(explainer.pool, LinearPool)
    renamed = _explained(model, FRAME, {"first": ["u"], "second": ["v"], "third": ["w"]})
    assert isinstance(renamed.pool, LinearPool)
    assert renamed.component_names == ("first", "second", "third")
    assert_allclose(renamed(FRAME).weights, explainer(FRAME).weights)
    turned = _explained(model, FRAME, {"third": ["w"], "first": ["u"], "second": ["v"]})
    third = turned.component_names.index("third")
    assert_allclose(turned(FRAME).weights[:, third], renamed(FRAME).weights[:, 2])


class _Foreign:
    """A transformer from outside scikit-learn, without its signs of being fitted."""

    def fit(self, X: Any, y: Any = None) -> _Foreign:
        self.mean = np.asarray(X).mean(axis=0)
        return self

    def transform(self, X: Any) -> Any:
        return np.asarray(X) - self.mean

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return self.fit(X).transform(X)


def test_transformers_from_outside_scikit_learn() -> None:
    explainer = _explained(make_pipeline(_Foreign(), LogisticRegression()), FRAME)
    assert explainer.component_names == ("x0", "x1", "x2")


# Bins of a column: labels that tell them apart, and a value inside each.


NUMBERS = st.floats(-1e12, 1e12, allow_subnormal=False)


def test_labels_of_intervals() -> None:
    assert [one.label for one in interval_bins([8.5, 12])] == ["< 8.5", "[8.5, 12)", "≥ 12"]
    assert [one.label for one in interval_bins([0])] == ["< 0", "≥ 0"]
    assert [one.label for one in interval_bins([])] == ["any number"]
    close = interval_bins([1.00001, 1.00002])
    assert [one.label for one in close] == ["< 1.00001", "[1.00001, 1.00002)", "≥ 1.00002"]


@given(st.lists(NUMBERS, unique=True, max_size=6), st.lists(NUMBERS, max_size=4))
def test_values_are_inside(cuts: list[float], avoid: list[float]) -> None:
    cuts = sorted(cuts)
    bins = interval_bins(cuts, avoid)
    assert len(bins) == len(cuts) + 1
    values = np.array([one.value for one in bins])
    assert np.digitize(values, cuts).tolist() == list(range(len(bins)))
    assert np.isfinite(values).all()
    # Between neighbouring numbers there is only one value, which may be one to avoid.
    wide = [math.nextafter(low, math.inf) < high for low, high in pairwise(cuts)]
    assert not set(values[[True, *wide, True] if cuts else [True]].tolist()) & set(avoid)


def test_special_codes_are_avoided() -> None:
    middle = interval_bins([0.0, 2.0], avoid=[1.0])[1].value
    assert 0.0 <= middle < 2.0
    assert middle != 1.0
    assert interval_bins([-99.0], avoid=[-198.0])[0].value < -99.0
    assert interval_bins([], avoid=[0.0])[0].value != 0.0


def test_threshold() -> None:
    low, high = threshold_bins(0.5)
    assert (low.label, high.label) == ("≤ 0.5", "> 0.5")
    assert low.value <= 0.5 < high.value


def test_categories() -> None:
    bins = category_bins([["a", "b"], ["c"], [None], [np.nan], []])
    assert [one.label for one in bins] == ["a, b", "c", "missing", "missing"]
    assert [one.value for one in bins[:3]] == ["a", "c", None]
    many = category_bins([list(range(20))])
    assert many[0].label.endswith("11 and 8 more")


@pytest.mark.parametrize(
    ("known", "expected"),
    [(["a", "b"], "other"), (["other", "x"], "other_"), ([1, 2, 5], 6), ([], "other")],
)
def test_unseen_value(known: list[object], expected: object) -> None:
    assert unseen_value(known) == expected
    assert unseen_value([*known, np.nan, None]) == expected


def test_texts() -> None:
    assert number_texts([0.125, 2.0]) == ["0.125", "2"]
    assert number_texts([3972.25, 8.5]) == ["3972.25", "8.5"]
    assert number_texts([1234566.5]) == ["1234566.5"]
    assert number_texts([float(np.float32(-0.2715))]) == ["-0.2715"]
    assert number_texts([1e300, 2e300]) == ["1e+300", "2e+300"]
    assert number_texts([0.123456, 0.123457]) == ["0.123456", "0.123457"]
    assert value_text(None) == value_text(float("nan")) == "missing"
    assert value_text(3) == "3"
