"""Inputs behind one-hot encoders, imputers and other transformers of single columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy.special import softmax
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler

import shafer


def table(n: int = 400) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "age": 40.0 + 10 * group + 5 * rng.normal(size=n),
            "ward": np.array(["east", "north", "west"], dtype=object)[group],
            "dose": rng.normal(size=n),
            "smokes": np.array(["no", "yes"], dtype=object)[rng.integers(0, 2, n)],
        }
    )
    score = (frame["ward"] == "west") * 2.0 + frame["dose"] + (frame["smokes"] == "yes")
    return frame, np.where(score + rng.normal(size=n) > 1.5, "ill", "well")


def encoded(drop: Any = None) -> Any:
    return make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "dose"]),
        (OneHotEncoder(drop=drop, handle_unknown="ignore"), ["ward", "smokes"]),
    )


def explained(drop: Any = None, **options: Any) -> tuple[Any, Any]:
    X, y = table()
    return shafer.Explainer(make_pipeline(encoded(drop), LogisticRegression()).fit(X, y), X,
                            **options), X  # fmt: skip


@pytest.mark.parametrize("drop", [None, "first", "if_binary"])
def test_a_category_is_one_input(drop: Any) -> None:
    explainer, X = explained(drop)
    gappy = X[:6].copy()
    gappy.loc[0, "ward"] = None
    gappy.loc[1, ["ward", "smokes", "dose", "age"]] = None
    found = explainer.ask.next_inputs(gappy, top=None)
    assert found["row"].tolist() == [0, 1, 1, 1, 1]
    assert set(found["input"]) == set(X.columns)
    assert (found["information"] > 0).all()
    # The joint information of the indicators, on the Gaussian that was fitted to them.
    inputs = explainer.ask.model().inputs
    block = list(inputs.blocks.features[inputs.blocks.names.index("ward")])
    gaussian = inputs.gaussian
    covariance = gaussian.correlation * np.outer(gaussian.spread, gaussian.spread)
    slopes = inputs.beta
    moved = covariance[block] @ slopes
    q = moved.T @ np.linalg.solve(covariance[np.ix_(block, block)], moved)
    variance = 2 * np.trace(slopes.T @ covariance @ slopes)
    kappa = 1 / np.sqrt(1 + np.pi / 8 * variance)
    p = softmax(kappa * inputs.level(explainer.weighed.model))
    expected = 0.5 * kappa**2 * (p @ np.diag(q) - p @ q @ p)
    line = found[(found["row"] == 1) & (found["input"] == "ward")]
    assert_allclose(line["information"].iloc[0], expected, rtol=1e-6)


def test_frames_of_all_libraries() -> None:
    explainer, X = explained()
    gaps = np.random.default_rng(1).random(X.shape) < 0.3
    gappy = X.mask(gaps)
    found = explainer.ask.overturn(gappy)
    assert 0 < found.max() < 1
    for other in (
        gappy[X.columns[::-1]],
        pl.from_pandas(gappy),
        pa.Table.from_pandas(gappy, preserve_index=False),
        gappy.assign(unused=1.0),
        gappy.astype({"ward": "category"}),
    ):
        assert_allclose(explainer.ask.overturn(other), found, atol=1e-12)
    ev = explained(missing="conditional")[0](pl.from_pandas(gappy))
    assert np.isfinite(ev.weights).all()


def test_encodings_agree() -> None:
    """Dropping a category gives other coefficients, but almost the same answers."""
    X, _ = table()
    gappy = X.mask(np.random.default_rng(1).random(X.shape) < 0.3)
    full, dropped = explained()[0].ask.overturn(gappy), explained("first")[0].ask.overturn(gappy)
    assert np.corrcoef(full, dropped)[0, 1] > 0.98


def test_missing_conditional_fills_categories() -> None:
    """The expectation of the indicators is near the share of the categories."""
    explainer, X = explained(missing="conditional")
    gappy = X.copy()
    gappy["ward"] = None
    filled = explainer.weighed.missing.complete(explainer.weighed.model, gappy)
    blocks = explainer.weighed.missing.blocks
    indicators = filled.rows.terms[:, list(blocks.features[blocks.names.index("ward")])]
    assert_allclose(indicators.sum(axis=1), 1.0, atol=0.1)
    old = X["age"] > 58
    west = indicators[:, 2]
    assert west[old].mean() > 0.6 > 0.25 > west[~old].mean()


def test_cells_in_words() -> None:
    explainer, X = explained()
    found = explainer.ask.check_cells(X[:20], top=None)
    wards = found[found["input"] == "ward"]
    assert set(wards["value"]) | set(wards["expected"]) <= {"east", "north", "west"}
    ages = found[found["input"] == "age"]
    assert_allclose(ages["value"].astype(float), X["age"][:20], rtol=1e-5)
    assert ages["expected"].astype(float).between(30, 75).all()
    odd = X[:1].copy()
    odd["age"], odd["ward"] = 80.0, "east"
    worst = explainer.ask.check_cells(odd, top=None).sort_values("surprise").iloc[-1]
    assert worst["input"] in ("age", "ward")
    guarded = explainer.ask.guard(odd.assign(age=500.0)).to_frame()
    assert guarded["input"].tolist() == ["age"]
    assert guarded["value"].tolist() == ["500"]


def test_splines_are_one_input() -> None:
    X, y = table()
    encoder = make_column_transformer((SplineTransformer(), ["age"]), (StandardScaler(), ["dose"]))
    model = make_pipeline(encoder, LogisticRegression()).fit(X[["age", "dose"]], y)
    explainer = shafer.Explainer(model, X[["age", "dose"]])
    gappy = X.loc[:3, ["age", "dose"]].copy()
    gappy.loc[1, "age"] = np.nan
    assert explainer.ask.next_inputs(gappy)["input"].tolist() == ["age"]
    cells = explainer.ask.check_cells(X[["age", "dose"]], top=None).set_index("input")
    assert cells.loc["age", "expected"].between(20, 90).all()


def test_refusals() -> None:
    X, y = table()
    numbers = X[["age", "dose"]]
    mixed = make_pipeline(PCA(2), LogisticRegression()).fit(numbers, y)
    with pytest.raises(shafer.UnsupportedModelError, match="transformers of single columns"):
        shafer.Explainer(mixed, numbers).ask.overturn(numbers)
    marked = make_pipeline(SimpleImputer(add_indicator=True), LogisticRegression())
    holes = numbers.mask(np.random.default_rng(0).random(numbers.shape) < 0.2)
    marked.fit(holes, y)
    with pytest.raises(shafer.UnsupportedModelError, match="adds features for missing values"):
        shafer.Explainer(marked, holes).ask.overturn(holes)
    words = make_pipeline(CountVectorizer(), LogisticRegression()).fit(X["ward"], y)
    with pytest.raises(shafer.UnsupportedModelError, match="single columns"):
        shafer.Explainer(words, X["ward"].tolist()).ask.overturn(["east"])
