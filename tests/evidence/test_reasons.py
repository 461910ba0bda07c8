"""Reasons: ranked components with values and codes, and their points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy.special import log_softmax, softmax
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer
from shafer import Evidence
from shafer.evidence.base_rate import BASE_RATE
from shafer.evidence.points import PointScale
from shafer.evidence.reasons import row_reasons
from shafer.evidence.words import Usual
from shafer.rows.usual import ColumnSample

# Reasons: ranked components with values and codes.


LABELS = ["setosa", "versicolor", "virginica"]
DATA = load_iris(as_frame=True)
FRAME = DATA.data
TARGET = np.array(LABELS)[DATA.target]
MODEL = make_pipeline(StandardScaler(), LogisticRegression()).fit(FRAME, TARGET)
EXPLAINER = shafer.Explainer(MODEL, FRAME, prior="own")


def test_the_largest_weights_in_order():
    ev = EXPLAINER(FRAME)
    table = ev.reasons(class_="virginica", top=3, units="weight")
    names = ["row", "rank", "component", "value", "usual", "weight", "share", "class", "words"]
    assert list(table.columns) == [*names, "index"]
    assert len(table) == 3 * len(FRAME)
    weights = ev.weights[:, :-1, 2]
    order = np.argsort(-weights, axis=1)[:, :3]
    np.testing.assert_array_equal(table["row"], np.arange(150).repeat(3))
    np.testing.assert_array_equal(table["rank"], np.tile([1, 2, 3], 150))
    np.testing.assert_allclose(table["weight"], np.take_along_axis(weights, order, 1).ravel())
    assert table["component"].tolist() == [FRAME.columns[g] for g in order.ravel()]
    values = [FRAME.iat[row, g] for row in range(150) for g in order[row]]
    np.testing.assert_array_equal(table["value"], values)
    assert set(table["class"]) == {"virginica"}


def test_shares_are_of_the_positive_weights():
    table = EXPLAINER(FRAME).reasons(class_="setosa", top=4)
    positive = table[table["log_odds"] > 0].groupby("row")["share"].sum()
    np.testing.assert_allclose(positive, 1.0)
    assert (table.loc[table["log_odds"] <= 0, "share"] == 0.0).all()


def test_a_share_has_the_same_bits_alone_and_in_a_batch():
    rng = np.random.default_rng(0)
    many = shafer.Explainer((rng.normal(size=(1, 21)), 0.3), rng.normal(size=(50, 21)))
    rows = rng.normal(size=(40, 21))
    together = many(rows).reasons(class_=1, top=3, keep="positive")["share"].to_list()
    alone = [many(row[None]).reasons(class_=1, top=3, keep="positive") for row in rows]
    assert together == [share for table in alone for share in table["share"]]


def test_without_a_class_it_is_the_predicted_one():
    table = EXPLAINER(FRAME).reasons(top=1)
    np.testing.assert_array_equal(table["class"], MODEL.predict(FRAME))
    for label in LABELS:
        rows = np.flatnonzero(MODEL.predict(FRAME) == label)
        one = EXPLAINER(FRAME.iloc[rows]).reasons(class_=label, top=1)
        np.testing.assert_allclose(table["log_odds"].to_numpy()[rows], one["log_odds"])
        assert table["over"].to_numpy()[rows].tolist() == one["over"].tolist()


def test_over_another_class_is_the_contrast():
    ev = EXPLAINER(FRAME)
    table = ev.reasons(class_="virginica", over="versicolor", top=1)
    np.testing.assert_allclose(
        table["log_odds"], ev.contrast("virginica", "versicolor")[:, :-1].max(axis=1)
    )
    assert set(table["over"]) == {"versicolor"}
    assert "weight" not in table
    of_one = ev.reasons(class_="virginica", units="weight")
    assert not {"log_odds", "over"} & set(of_one)


def test_positive_only():
    table = EXPLAINER(FRAME).reasons(class_="setosa", top=4, keep="positive", units="weight")
    assert (table["weight"] > 0).all()
    assert 0 < len(table) < 4 * len(FRAME)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_rounding_is_no_reason(scale, dtype):
    """A weight counts beside the others of its row: a small one alone is a reason."""
    eps = torch.finfo(dtype).eps
    weights = scale * np.array([[1.0, eps, 1e-4], [0.0, eps, 0.0]])
    ev = Evidence.from_weights(torch.tensor(np.stack([weights, -weights], axis=-1), dtype=dtype))
    found = ev.reasons(class_=0, keep="positive", backend="pandas")
    assert found["component"].tolist() == [ev.component_names[g] for g in (0, 2, 1)]
    assert len(ev.reasons(class_=0, keep="all", backend="pandas")) == 6


def test_units() -> None:
    """The same reasons in the same order, each unit exactly from the others."""
    ev = EXPLAINER(FRAME)[40:60]
    tables = {
        units: ev.reasons(top=3, units=units) for units in ("log_odds", "odds", "probability")
    }
    plain = tables["log_odds"]
    for table in tables.values():
        assert table["component"].tolist() == plain["component"].tolist()
        assert table["over"].tolist() == plain["over"].tolist()
    assert_allclose(np.log(tables["odds"]["odds_factor"]), plain["log_odds"], rtol=1e-13)
    known = {label: k for k, label in enumerate(LABELS)}
    for reason in tables["probability"].itertuples():
        k = known[reason[tables["probability"].columns.get_loc("class") + 1]]
        left = ev[reason.row].without(reason.component)
        assert_allclose(reason.probability_without, left.probability[0, k], rtol=1e-13)
        assert_allclose(reason.probability, ev.probability[reason.row, k], rtol=1e-13)
        assert reason.words.endswith(f"would be {100 * left.probability[0, k]:.0f} %")


def test_the_probability_without_is_the_models_own() -> None:
    """With the base rate apart, a component left out is a feature at its mean."""
    ev = EXPLAINER(FRAME)[[100]]
    for reason in ev.reasons(top=4, units="probability").itertuples():
        row = FRAME.iloc[[100]].copy()
        row[reason.component] = FRAME[reason.component].mean()
        assert_allclose(reason.probability_without, MODEL.predict_proba(row)[0, 2], rtol=1e-9)


def test_what_is_usual_is_of_the_background() -> None:
    table = EXPLAINER(FRAME)[[100]].reasons(top=4).set_index("component")
    ends = FRAME["petal length (cm)"].quantile([0.1, 0.5, 0.9])
    low, middle, high = (f"{value:.1f}" for value in ends)
    assert table.loc["petal length (cm)", "usual"] == f"{middle} ({low}–{high})"
    words = table.loc["petal length (cm)", "words"]
    assert words.startswith(f"petal length (cm) 6.0, above the usual {low}–{high}, multiplies the")


def test_words_of_missing_values_categories_and_lost_columns(tmp_path: Any) -> None:
    frame = pd.DataFrame({"age": [30.0, 40, 50, 60] * 5, "job": ["a", "a", "b", "a"] * 5})
    encoder = make_column_transformer((StandardScaler(), ["age"]), (OneHotEncoder(), ["job"]))
    model = make_pipeline(encoder, LogisticRegression()).fit(frame, [0, 0, 1, 1] * 5)
    explainer = shafer.Explainer(model, frame, prior="own", groups="source", missing="conditional")
    rows = pd.DataFrame({"age": [np.nan, 95.0], "job": ["b", "a"]})
    words = explainer(rows).reasons(class_=1, units="odds").set_index(["row", "component"])["words"]
    assert words[0, "age"].startswith("age not measured ")
    assert words[0, "job"].startswith("job = b, most often a, multiplies the odds of 1 by ")
    assert words[1, "age"].startswith("age 95, far above the usual 30–60, multiplies")
    assert words[1, "job"].startswith("job = a, the most frequent value, divides")
    explainer.save(tmp_path / "a.shafer")
    again = shafer.Explainer.load(tmp_path / "a.shafer")(rows)
    assert again.reasons(class_=1, units="odds")["words"].tolist() == words.tolist()
    again.save(tmp_path / "ev.npz")
    kept = Evidence.load(tmp_path / "ev.npz").reasons(class_=1, units="odds")
    assert kept["words"].tolist() == words.tolist()
    unknown = Evidence.from_weights([[[1.0, -1.0]]], names=["x"]).reasons()
    assert unknown["words"].tolist() == ["x multiplies the odds of 0 by 7.4"]
    assert "usual" not in unknown


def test_usual_values_of_batches_weights_and_odd_columns() -> None:
    values = np.arange(1000.0)
    frame = pd.DataFrame(
        {"v": values, "flag": values < 300, "const": 1.5, "id": values.astype(str)}
    )
    whole = ColumnSample()
    whole.take_in(frame)
    parts = ColumnSample()
    for start in range(0, 1000, 100):
        part = ColumnSample()
        part.take_in(frame.iloc[start : start + 100])
        parts.merge(part)
    for sample in (whole, parts):
        usual = sample.usual()
        assert usual is not None
        assert usual.of(0) == Usual(*np.quantile(values, [0.1, 0.5, 0.9]))
        assert usual.of(1).text == "False (70 %)"  # type: ignore[union-attr]
        assert usual.of(2).text == "1.5 (100 %)"  # type: ignore[union-attr]
        assert usual.of(3) is None  # all different
        assert usual.of(4) is None
    weighted = ColumnSample()
    weighted.take_in(values[:, None], np.where(values < 500, 0.0, 1.0))
    found = weighted.usual()
    assert found is not None
    assert abs(found.of(0).middle - 749.5) <= 1.0  # type: ignore[union-attr]
    large = ColumnSample()
    for _ in range(3):
        large.take_in(np.random.default_rng(0).normal(size=(30_000, 1)))
    thinned = large.usual()
    assert thinned is not None
    assert abs(thinned.of(0).high - 1.2816) < 0.05  # type: ignore[union-attr]
    other = ColumnSample()
    other.take_in(["a text"])
    assert other.merge(whole).usual() is None


def test_the_base_rate_is_not_a_reason():
    table = EXPLAINER(FRAME).reasons(class_="setosa", top=10)
    assert "base rate" not in set(table["component"])
    assert len(table) == 4 * len(FRAME)


def test_codes_and_texts():
    codes = {
        "petal width (cm)": ("P1", "The petal is wide"),
        "petal length (cm)": "P2",
        "sepal width (cm)": ("P1", "The petal is wide"),
    }
    ev = EXPLAINER(FRAME)
    table = ev.reasons(class_="virginica", top=4, codes=codes)
    assert set(table["code"].dropna()) == {"P1", "P2"}
    assert (table.groupby("row").size() == 3).all()  # two components share a code
    assert not table.duplicated(["row", "code"])[table["code"].notna()].any()
    again = ev.reasons(class_="virginica", top=4, codes=codes, distinct=False)
    assert (again.groupby("row").size() == 4).all()
    width = again[again["component"] == "petal width (cm)"]
    assert set(width["text"]) == {"The petal is wide"}
    assert again.loc[again["component"] == "petal length (cm)", "text"].isna().all()


def test_one_hot_columns_count_once_and_show_the_category():
    frame = pd.DataFrame({"colour": list("rgb") * 20, "size": np.arange(60.0)})
    target = np.where(np.arange(60) % 3 == 0, "yes", "no")
    encoder = make_column_transformer((OneHotEncoder(), ["colour"]), (StandardScaler(), ["size"]))
    model = make_pipeline(encoder, LogisticRegression()).fit(frame, target)
    ev = shafer.Explainer(model, frame, prior="own")(frame)
    table = ev.reasons(class_="yes", top=4)
    assert (table.groupby("row").size() == 2).all()
    colour = table[table["component"].str.contains("colour")]
    assert colour["value"].tolist() == frame["colour"].tolist()
    codes = ev.reasons(class_="yes", top=4, codes={"colour": "C", "size": "S"})
    assert sorted(set(codes["code"])) == ["C", "S"]
    grouped = shafer.Explainer(model, frame, "source", prior="own")(frame).reasons("yes")
    assert set(grouped["component"]) == {"colour", "size"}
    assert grouped["value"].tolist()[:2] in (["r", 0.0], [0.0, "r"])


def test_groups_show_the_values_of_their_columns():
    groups = {"petal": ["petal length (cm)", "petal width (cm)"]}
    grouped = shafer.Explainer(MODEL, FRAME, groups, prior="own")(FRAME.iloc[:1])
    table = grouped.reasons("setosa").set_index("component")
    assert table.loc["petal", "value"] == "petal length (cm) = 1.4, petal width (cm) = 0.2"
    later = EXPLAINER(FRAME.iloc[:1]).grouped(groups).reasons("setosa").set_index("component")
    assert later.loc["petal", "value"] == table.loc["petal", "value"]


def test_values_follow_rows_permuted_columns_and_left_out_components():
    ev = EXPLAINER(FRAME[FRAME.columns[::-1]])[[7, 3]].without("petal width (cm)")
    table = ev.reasons("setosa", top=4)
    for _, reason in table.iterrows():
        assert reason["value"] == FRAME[reason["component"]].iloc[[7, 3][reason["row"]]]


@pytest.mark.parametrize("kind", ["array", "list", "polars", "tensor"])
def test_other_tables(kind):
    torch = pytest.importorskip("torch")
    values = FRAME.to_numpy()
    X = {
        "array": values,
        "list": values.tolist(),
        "polars": pl.DataFrame(values, schema=[f"x{j}" for j in range(4)]),
        "tensor": torch.tensor(values),
    }[kind]
    model = GaussianNB().fit(X if kind == "polars" else values, TARGET)
    explainer = shafer.Explainer(model, X if kind == "polars" else values)
    table = explainer(X).reasons("setosa", top=2)
    expected = [values[r, int(c[1])] for r, c in zip(table["row"], table["component"], strict=True)]
    np.testing.assert_allclose(table["value"].astype(float), expected)


def test_other_frames():
    table = EXPLAINER(FRAME).reasons("setosa", top=2, backend="polars")
    assert isinstance(table, pl.DataFrame)
    assert table.height == 300


def test_row_labels():
    ev = EXPLAINER(FRAME.set_axis([f"flower {i}" for i in range(150)]))
    assert ev.reasons("setosa", top=1)["index"].tolist()[3] == "flower 3"


def test_evidence_without_inputs():
    ev = shafer.Evidence.from_weights(np.ones((2, 3, 2)), classes=["no", "yes"])
    table = ev.reasons("yes", top=2)
    assert table["component"].tolist() == ["x0", "x1"] * 2  # ties in the order of components
    assert table["value"].isna().all()


def test_a_pickled_copy_keeps_the_values():
    import pickle

    ev = EXPLAINER(FRAME)[10:13]
    again = pickle.loads(pickle.dumps(ev))
    pd.testing.assert_frame_equal(again.reasons("setosa"), ev.reasons("setosa"))


def test_missing_values_are_shown_as_missing():
    explainer = shafer.Explainer(MODEL, FRAME, prior="own", missing="conditional")
    rows = FRAME.iloc[:2].copy()
    rows.iloc[0, 3] = np.nan
    table = explainer(rows).reasons("setosa").set_index(["row", "component"])
    assert np.isnan(table.loc[(0, "petal width (cm)"), "value"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"class_": "rose"}, "rose"),
        ({"class_": 0}, "0"),
        ({"top": 0}, "top must be an integer of at least 1; got 0"),
        ({"top": True}, "top must be an integer"),
        ({"keep": "some"}, "keep must be 'all', 'positive' or 'clear'; got 'some'"),
        ({"class_": "setosa", "over": "setosa"}, "Pass two different classes"),
        ({"over": "setosa"}, "over needs class_"),
        ({"units": "logit"}, "units must be one of 'log_odds', 'odds', .* got 'logit'"),
        ({"class_": "rose", "over": "setosa", "units": "weight"}, "units='weight' are of one"),
        ({"codes": ["a"]}, "codes must be a mapping"),
        ({"codes": {"nothing": "a"}}, "codes has none of the components"),
        ({"codes": {"petal width (cm)": (1, 2, 3)}}, "a pair"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        EXPLAINER(FRAME).reasons(**options)


def test_components_alone_have_no_reasons():
    with pytest.raises(ValueError, match="evidence of whole rows"):
        EXPLAINER(FRAME).components.reasons()


def _iris(names, prior):
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    return shafer.Explainer(model, X, names=names, prior=prior)(X[::10])


def test_the_base_rates_of_combined_sources_are_not_reasons():
    ev = _iris(list("abcd"), "own")
    with pytest.warns(UserWarning, match="share the components"):
        both = shafer.combine({"lab": ev, "clinic": ev})
    found = set(both.reasons(top=10)["component"])
    assert found == {f"{source}: {name}" for source in ("lab", "clinic") for name in "abcd"}
    np.testing.assert_allclose(both.grouped("one").base_rate, 2.0 * ev.base_rate)
    assert set(both.grouped({"x": ["lab: a", "clinic: a"]}).reasons(top=10)["component"]) == (
        found - {"lab: a", "clinic: a"} | {"x"}
    )


def test_an_input_called_base_rate_is_a_reason():
    """Central banks have a base rate, too."""
    found = _iris(["base rate", "b", "c", "d"], "shared").reasons(top=10)
    assert set(found["component"]) == {"base rate", "b", "c", "d"}


def test_the_base_rate_alone_is_no_reason():
    ev = EXPLAINER(FRAME)
    alone = ev.without([name for name in ev.component_names if name != "base rate"])
    with pytest.raises(ValueError, match="needs a component besides the base rate"):
        alone.reasons()


# Row reasons.


IRIS = load_iris()


def iris_evidence(**options: Any) -> shafer.Evidence:
    X = pd.DataFrame(IRIS.data, columns=["sl", "sw", "pl", "pw"])
    y = IRIS.target_names[IRIS.target]
    ev = shafer.Explainer(LogisticRegression(max_iter=500).fit(X, y), X, prior="own", **options)(X)
    assert isinstance(ev, shafer.Evidence)
    return ev


def test_each_row_has_its_own_pair() -> None:
    """The same numbers as asking row by row, for its answer over its runner-up."""
    ev = iris_evidence()
    found = row_reasons(ev, 3)
    for row in range(0, 150, 7):
        best, second = np.argsort(-ev.logits[row], kind="stable")[:2]
        assert (found.classes[row], found.over[row]) == (best, second)
        table = ev[[row]].reasons(ev.classes[best], 3, over=ev.classes[second], keep="positive")
        count = len(table)
        assert found.component[row, :count].tolist() == table["component"].tolist()
        np.testing.assert_array_equal(found.value[row, :count], table["value"])
        np.testing.assert_allclose(found.log_odds[row, :count], table["log_odds"], rtol=1e-12)
        np.testing.assert_allclose(found.share[row, :count], table["share"], rtol=1e-12)
        assert all(name is None for name in found.component[row, count:])
        assert np.isnan(found.log_odds[row, count:]).all()
        assert "base rate" not in found.component[row].tolist()


def test_reasons_for_one_class_and_more_than_there_are() -> None:
    ev = iris_evidence()
    found = row_reasons(ev, 9, class_="setosa", over="virginica")
    assert set(found.classes) == {0}
    assert set(found.over) == {2}
    contrast = ev.contrast("setosa", "virginica")[:, :4]
    np.testing.assert_allclose(
        np.nansum(found.log_odds, axis=1), np.maximum(contrast, 0).sum(axis=1), rtol=1e-12
    )
    some = (contrast > 0).any(axis=1)
    np.testing.assert_allclose(np.nansum(found.share, axis=1), some.astype(float), atol=1e-12)


def test_codes_and_intervals() -> None:
    ev = iris_evidence(errors="laplace")
    found = row_reasons(ev, 2, codes={"pl": ("P1", "petal"), "sw": "S"})
    assert set(found.code[found.component == "pl"]) == {"P1"}
    assert set(found.text[found.component == "pl"]) == {"petal"}
    assert set(found.code[found.component == "pw"]) <= {None}
    known = ~np.isnan(found.log_odds)
    assert np.all(found.lower[known] < found.log_odds[known])
    assert np.all(found.upper[known] > found.log_odds[known])
    assert np.isnan(row_reasons(iris_evidence(), 2).lower).all()


# Points of components: the score of a row, and the probabilities it stands for.


TWO = ["bad", "good"]
SIZES = st.floats(1e-3, 1e3)
WEIGHTS = st.integers(2, 5).flatmap(
    lambda k: arrays(np.float64, (3, 4, k), elements=st.floats(-30, 30))
)


def _two(weights: Any, **options: Any) -> Evidence:
    return Evidence.from_weights(weights, classes=TWO, **options)


def test_the_scale() -> None:
    # ln 50 is 3.912, so this row has the odds 50; the second one has 100, which is pdo more.
    ev = _two([[[0.0, math.log(50.0)]], [[0.0, math.log(100.0)]]])
    assert_allclose(ev.points(class_="good"), [[600.0], [620.0]])
    assert_allclose(ev.points(500, 1, 50, "good")[:, 0], [500 + 50 * math.log2(50), 832.192809])
    # The odds of the other class are 1 / 50.
    assert_allclose(ev.points(600, 1 / 50, 20, "bad"), [[600.0], [580.0]])


@given(WEIGHTS, SIZES, SIZES, SIZES)
def test_sums_are_scores(weights: Any, points: float, odds: float, pdo: float) -> None:
    ev = Evidence.from_weights(weights)
    n_classes = weights.shape[2]
    log_p = log_softmax(weights.sum(axis=1), axis=1)
    if n_classes == 2:
        scores = ev.points(points, odds, pdo, 1).sum(axis=1)
        expected = points + pdo / math.log(2) * (log_p[:, 1] - log_p[:, 0] - math.log(odds))
        assert_allclose(scores, expected, rtol=1e-9, atol=1e-9 * (points + pdo))
        return
    table = ev.points(points, odds, pdo)
    assert table.shape == weights.shape
    scores = table.sum(axis=1)
    assert_allclose(softmax(scores * math.log(2) / pdo, axis=1), ev.probability, atol=1e-9)
    for k in range(n_classes):
        assert_allclose(ev.points(points, odds, pdo, k), table[:, :, k])


def test_the_default_scale_is_600_points_at_odds_of_50_and_20_points_to_double() -> None:
    assert PointScale() == PointScale(points=600.0, odds=50.0, pdo=20.0)


def test_pdo_more_points_are_twice_as_probable() -> None:
    weights = np.random.default_rng(0).normal(size=(5, 3, 4))
    ev = Evidence.from_weights(weights, classes=["a", "b", "c", "d"])
    scores = ev.points(pdo=10.0).sum(axis=1)
    ratio = ev.probability[:, 2] / ev.probability[:, 1]
    assert_allclose(scores[:, 2] - scores[:, 1], 10.0 * np.log2(ratio))


class TestTheConstant:
    WEIGHTS = np.random.default_rng(1).normal(size=(4, 3, 2))

    def test_is_shared_equally(self) -> None:
        ev = _two(self.WEIGHTS)
        factor, offset = 20 / math.log(2), 600 - 20 / math.log(2) * math.log(50)
        expected = factor * ev.contrast("good", "bad") + offset / 3
        assert_allclose(ev.points(class_="good"), expected)

    def test_belongs_to_the_base_rate(self) -> None:
        coef, X = np.array([1.0, -0.5]), np.random.default_rng(1).normal(size=(4, 2))
        made = {"classes": ["bad", "good"], "names": ["a", "b"]}
        shared = shafer.least_commitment(coef, 0.3, **made)(X)
        own = shafer.least_commitment(coef, 0.3, **made, prior="own")(X)
        points = own.points(class_="good")
        factor = 20 / math.log(2)
        assert_allclose(points[:, :2], factor * own.contrast("good", "bad")[:, :2])
        assert_allclose(points.sum(axis=1), shared.points(class_="good").sum(axis=1))

    def test_for_three_classes(self) -> None:
        coef, X = np.random.default_rng(1).normal(size=(3, 2)), np.ones((4, 2))
        own = shafer.least_commitment(coef, [0.1, 0.2, 0.3], prior="own")(X)
        shared = shafer.least_commitment(coef, [0.1, 0.2, 0.3])(X)
        assert_allclose(own.points()[:, :2], 20 / math.log(2) * own.weights[:, :2])
        assert_allclose(own.points().sum(axis=1), shared.points().sum(axis=1))

    def test_a_component_of_that_name_has_an_equal_share(self) -> None:
        named = _two(self.WEIGHTS, names=["a", BASE_RATE, "c"])
        plain = _two(self.WEIGHTS, names=["a", "b", "c"])
        assert_allclose(named.points(class_="good"), plain.points(class_="good"))


def test_arrays_of_torch() -> None:
    weights = np.random.default_rng(2).normal(size=(4, 3, 2))
    found = _two(torch.asarray(weights)).points(class_="good")
    assert isinstance(found, torch.Tensor)
    assert_allclose(found, _two(weights).points(class_="good"))
    table = Evidence.from_weights(torch.ones((2, 3, 4), dtype=torch.float32)).points()
    assert table.dtype == torch.float32
    assert table.shape == (2, 3, 4)


def test_evidence_of_single_components() -> None:
    ev = _two(np.random.default_rng(3).normal(size=(4, 3, 2)))
    found = ev.components.points(class_="good")
    assert found.shape == (4, 3, 1)
    share = 600 - 20 / math.log(2) * math.log(50)
    assert_allclose(found[..., 0], ev.points(class_="good") + share * 2 / 3)


class TestErrors:
    EV = _two(np.zeros((1, 2, 2)))

    def test_two_classes_need_a_favourable_one(self) -> None:
        with pytest.raises(ValueError, match=r"class_ is needed for two classes.*'bad', 'good'"):
            self.EV.points()

    @pytest.mark.parametrize("labels", [[0, 1], [1, 0], [-1, 1], [False, True], [2.0, 1.0]])
    def test_of_two_numbers_the_smaller_is_favourable(self, labels: list[float]) -> None:
        ev = shafer.Evidence.from_weights([[[0.9, -0.9]]], classes=labels)
        assert_allclose(ev.points(), ev.points(class_=min(labels)))

    def test_labels_not_positions(self) -> None:
        with pytest.raises(ValueError, match="Unknown class label"):
            self.EV.points(class_=1)
        with pytest.raises(ValueError, match="class_ must be one class label"):
            self.EV.points(class_=["bad", "good"])

    @pytest.mark.parametrize(
        ("name", "value", "text"),
        [
            ("points", float("inf"), "points must be a finite number; got inf"),
            ("points", "600", "points must be a finite number; got '600'"),
            ("odds", 0, "odds must be a finite number above 0; got 0"),
            ("odds", -2.0, "odds must be a finite number above 0; got -2.0"),
            ("pdo", 0.0, "pdo must be a finite number above 0; got 0.0"),
            ("pdo", float("nan"), "pdo must be a finite number above 0; got nan"),
            ("pdo", True, "pdo must be a finite number above 0; got True"),
        ],
    )
    def test_the_scale(self, name: str, value: Any, text: str) -> None:
        with pytest.raises(ValueError, match=text):
            self.EV.points(**{name: value}, class_="good")

    def test_other_types_have_no_points(self) -> None:
        with pytest.raises(AttributeError, match="no weights, so it has no 'points'"):
            self.EV.discounted(0.5).points  # noqa: B018 - the access is the test


# Few of many components are looked at, as long as these are the best.


@pytest.mark.parametrize("top", [1, 3])
def test_the_best_of_many_components(top: int) -> None:
    rng = np.random.default_rng(top)
    letters = np.array([[f"{c}{i}" for c in "abc"] for i in range(40)])  # three columns in 120
    columns = letters[rng.integers(40, size=200)[:, None], np.arange(3)]
    X = pd.DataFrame(columns, columns=["p", "q", "r"])
    y = rng.integers(3, size=200)
    encoder = OneHotEncoder(handle_unknown="ignore")
    model = make_pipeline(encoder, LogisticRegression(C=100.0)).fit(X, y)
    for groups in (None, "source"):
        ev = shafer.Explainer(model, X, groups=groups)(X[:20])
        found = ev.reasons(top=top)
        every = ev.reasons(top=ev.n_components)
        pd.testing.assert_frame_equal(
            found, every[every["rank"] <= top].reset_index(drop=True), check_dtype=False
        )


def test_ties_among_many_components_keep_their_order() -> None:
    rng = np.random.default_rng(0)
    halves = rng.integers(-2, 3, size=(30, 80, 2)) / 2.0
    ev = Evidence.from_weights(halves)
    every = ev.reasons(top=80, keep="all")
    for top in (1, 4):
        found = ev.reasons(top=top, keep="all")
        expected = every[every["rank"] <= top].reset_index(drop=True)
        pd.testing.assert_frame_equal(found, expected)
