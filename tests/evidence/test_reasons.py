"""Reasons: ranked components with values and codes."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer

LABELS = ["setosa", "versicolor", "virginica"]
DATA = load_iris(as_frame=True)
FRAME = DATA.data
TARGET = np.array(LABELS)[DATA.target]
MODEL = make_pipeline(StandardScaler(), LogisticRegression()).fit(FRAME, TARGET)
EXPLAINER = shafer.Explainer(MODEL, FRAME, prior="own")


def test_the_largest_weights_in_order():
    ev = EXPLAINER(FRAME)
    table = ev.reasons(for_="virginica", top=3)
    assert list(table.columns[:5]) == ["row", "rank", "component", "value", "weight"]
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
    table = EXPLAINER(FRAME).reasons(for_="setosa", top=4)
    positive = table[table["weight"] > 0].groupby("row")["share"].sum()
    np.testing.assert_allclose(positive, 1.0)
    assert (table.loc[table["weight"] <= 0, "share"] == 0.0).all()


def test_without_a_class_it_is_the_predicted_one():
    table = EXPLAINER(FRAME).reasons(top=1)
    np.testing.assert_array_equal(table["class"], MODEL.predict(FRAME))
    for label in LABELS:
        rows = np.flatnonzero(MODEL.predict(FRAME) == label)
        one = EXPLAINER(FRAME.iloc[rows]).reasons(for_=label, top=1)
        np.testing.assert_allclose(table["weight"].to_numpy()[rows], one["weight"])


def test_over_another_class_is_the_contrast():
    ev = EXPLAINER(FRAME)
    table = ev.reasons(for_="virginica", over="versicolor", top=1)
    np.testing.assert_allclose(
        table["weight"], ev.contrast("virginica", "versicolor")[:, :-1].max(axis=1)
    )


def test_positive_only():
    table = EXPLAINER(FRAME).reasons(for_="setosa", top=4, keep="positive")
    assert (table["weight"] > 0).all()
    assert 0 < len(table) < 4 * len(FRAME)


def test_the_base_rate_is_not_a_reason():
    table = EXPLAINER(FRAME).reasons(for_="setosa", top=10)
    assert "base rate" not in set(table["component"])
    assert len(table) == 4 * len(FRAME)


def test_codes_and_texts():
    codes = {
        "petal width (cm)": ("P1", "The petal is wide"),
        "petal length (cm)": "P2",
        "sepal width (cm)": ("P1", "The petal is wide"),
    }
    ev = EXPLAINER(FRAME)
    table = ev.reasons(for_="virginica", top=4, codes=codes)
    assert set(table["code"].dropna()) == {"P1", "P2"}
    assert (table.groupby("row").size() == 3).all()  # two components share a code
    assert not table.duplicated(["row", "code"])[table["code"].notna()].any()
    again = ev.reasons(for_="virginica", top=4, codes=codes, distinct=False)
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
    table = ev.reasons(for_="yes", top=4)
    assert (table.groupby("row").size() == 2).all()
    colour = table[table["component"].str.contains("colour")]
    assert colour["value"].tolist() == frame["colour"].tolist()
    codes = ev.reasons(for_="yes", top=4, codes={"colour": "C", "size": "S"})
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
        ({"for_": "rose"}, "rose"),
        ({"for_": 0}, "0"),
        ({"top": 0}, "top must be an integer of at least 1; got 0"),
        ({"top": True}, "top must be an integer"),
        ({"keep": "some"}, "keep must be 'all', 'positive' or 'clear'; got 'some'"),
        ({"for_": "setosa", "over": "setosa"}, "Pass two different classes"),
        ({"over": "setosa"}, "over needs for_"),
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
