"""Names of encoded columns, and the columns that they came from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
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

_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(60, 3))
Y = _RNG.integers(0, 2, 60)
FRAME = pd.DataFrame(X, columns=list("uvw"))


def _explained(model: Any, rows: Any, groups: Any = None) -> shafer.Explainer:
    model.fit(rows, Y)
    explainer = shafer.Explainer(model, rows, groups=groups)
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
def test_transformers_that_mix_columns_are_refused(rows: Any) -> None:
    for encoder in (Normalizer(), KNNImputer(), _function(_normalised)):
        model = make_pipeline(encoder, LogisticRegression()).fit(rows, Y)
        with pytest.raises(shafer.UnsupportedModelError, match="depends on several columns"):
            shafer.Explainer(model, rows, groups="source")
    kept = _explained(make_pipeline(_function(_scaled), LogisticRegression()), rows, "source")
    assert len(kept.component_names) == 3


def test_single_columns_stay_a_linear_model() -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression())
    explainer = _explained(model, FRAME, "source")
    assert isinstance(explainer.pool, LinearPool)
    renamed = _explained(model, FRAME, {"first": ["u"], "second": ["v"], "third": ["w"]})
    assert isinstance(renamed.pool, LinearPool)
    assert renamed.component_names == ("first", "second", "third")
    assert_allclose(renamed(FRAME).weights, shafer.Explainer(model, FRAME)(FRAME).weights)
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
