"""Every family of models that can be written gives the numbers of the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC

import shafer

from ...graph_runs import check, session

X, Y = load_iris(return_X_y=True)
BINARY = (Y > 1).astype(int)


def _calibrated(model: Any, **options: Any) -> CalibratedClassifierCV:
    return CalibratedClassifierCV(model, ensemble=False, cv=2, **options)


@pytest.mark.parametrize(
    "model",
    [
        LinearDiscriminantAnalysis(),
        GaussianNB(),
        BernoulliNB(binarize=2.0),
        BernoulliNB(binarize=None),
        MultinomialNB(),
        ComplementNB(),
    ],
    ids=lambda model: str(model),
)
def test_three_classes(model: Any) -> None:
    rows = (X > 2.0).astype(float) if getattr(model, "binarize", 0) is None else X
    check(shafer.Explainer(model.fit(rows, Y), rows), rows)


@pytest.mark.parametrize(
    "model",
    [
        SGDClassifier(loss="log_loss", random_state=0),
        _calibrated(LinearSVC()),
        _calibrated(SVC(kernel="linear")),
        _calibrated(SVC(kernel="rbf")),
        _calibrated(SVC(kernel="poly", coef0=1.0, degree=2)),
        _calibrated(SVC(kernel="sigmoid"), method="temperature"),
    ],
    ids=["sgd", "linear svc", "linear", "rbf", "poly", "sigmoid"],
)
def test_two_classes(model: Any) -> None:
    check(shafer.Explainer(model.fit(X, BINARY), X), X)


def test_support_vectors_of_a_linear_kernel() -> None:
    model = _calibrated(SVC(kernel="linear")).fit(X, BINARY)
    check(shafer.Explainer(model, X, components="vector"), X)


def test_kernels_that_the_caller_computes() -> None:
    products = X @ X.T / 10
    model = _calibrated(SVC(kernel="precomputed")).fit(products, BINARY)
    check(shafer.Explainer(model, products), products)


@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic", "identity"])
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_networks(activation: str) -> None:
    network = MLPClassifier((6, 5), activation=activation, max_iter=5, random_state=0).fit(X, Y)
    check(shafer.Explainer(network, X, groups={"first": [0, 1], "rest": [2, 3, 4]}), X)
    check(shafer.Explainer(network, X), X)


def test_nan_stays_nan_behind_a_threshold() -> None:
    explainer = shafer.Explainer(BernoulliNB(binarize=2.0).fit(X, Y), X)
    model = shafer.export.to_onnx(explainer, ["belief"])
    assert np.isnan(session(model).run(None, {"X": np.full((1, 4), np.nan)})[0]).all()


@pytest.fixture(scope="module")
def customers() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "age": rng.normal(40.0, 10.0, 200).round(),
            "town": rng.choice(["Oslo", "Rome", "Łódź"], 200),
            "income": rng.lognormal(size=200),
        }
    )


@pytest.fixture(scope="module")
def boosted(customers: pd.DataFrame) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    y = (customers.age / 40 + customers.income + (customers.town == "Rome") > 2.6).astype(int)
    machine = ExplainableBoostingClassifier(
        interactions=[("age", "town"), ("age", "income")],
        max_rounds=15,
        outer_bags=1,
        n_jobs=1,
        random_state=0,
    )
    return machine.fit(customers, y)


def test_boosted_tables_with_pairs_and_categories(boosted: Any, customers: pd.DataFrame) -> None:
    explainer = shafer.Explainer(boosted, customers)
    assert any(" & " in name for name in explainer.component_names)
    model = check(explainer, customers)
    assert [info.name for info in model.graph.input] == ["age", "town", "income"]
    check(shafer.Explainer(boosted, customers, "one", prior="own", temper=0.5), customers)


def test_unknown_missing_and_extreme_values_of_tables(
    boosted: Any, customers: pd.DataFrame
) -> None:
    rows = customers[:4].copy()
    rows["age"] = [np.nan, -1e300, 1e300, 40.0]
    rows["town"] = ["Oslo", "nowhere", "Łódź", "Rome"]
    check(shafer.Explainer(boosted, customers), rows)
    # On a cut point the bin above it counts.
    cuts = boosted.bins_[0][0]
    rows = customers.iloc[: len(cuts)].assign(age=cuts[: len(customers)])
    check(shafer.Explainer(boosted, customers), rows)


def test_an_empty_text_is_a_missing_category(boosted: Any, customers: pd.DataFrame) -> None:
    explainer = shafer.Explainer(boosted, customers)
    model = shafer.export.to_onnx(explainer, ["belief"])
    row = customers[:1].astype({"town": object})
    given = {name: row[[name]].to_numpy() for name in row.columns}
    given["town"] = np.array([[""]], dtype=object)
    found = session(model).run(None, given)[0]
    np.testing.assert_allclose(found, explainer(row.assign(town=[None])).belief, rtol=1e-12)


def test_tables_of_texts_alone(customers: pd.DataFrame) -> None:
    from interpret.glassbox import ExplainableBoostingClassifier

    texts = customers[["town"]].assign(old=np.where(customers.age > 40, "yes", "no"))
    machine = ExplainableBoostingClassifier(
        interactions=0, max_rounds=10, outer_bags=1, n_jobs=1, random_state=0
    )
    machine.fit(texts, (customers.income > 1).astype(int))
    model = check(shafer.Explainer(machine, texts), texts.astype(object))
    assert [info.name for info in model.graph.input] == ["X"]


def test_calibrated_tables_of_three_classes() -> None:
    from interpret.glassbox import ExplainableBoostingClassifier

    machine = ExplainableBoostingClassifier(
        interactions=0, max_rounds=10, outer_bags=1, n_jobs=1, random_state=0
    )
    model = CalibratedClassifierCV(machine, method="temperature", ensemble=False, cv=2)
    explainer = shafer.Explainer(model.fit(X, Y), X, groups={"sepal": [0, 1], "petal": [2, 3]})
    check(explainer, X)


def test_wrappers_and_tempered_classifiers() -> None:
    classifier = shafer.EvidentialClassifier(LogisticRegression(max_iter=500), temper="cv")
    check(shafer.Explainer(classifier.fit(X, Y), X), X)
    check(classifier.explainer_, X)
