"""``Explainer``: every kind of input, batches, and one pass through the model."""

from __future__ import annotations

import pickle
import tracemalloc
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from shafer.models.sklearn import linear

# ``Explainer``: the door, with every kind of input and what it refuses.


@pytest.fixture
def wine() -> tuple[Any, Any]:
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"C": 1e4, "max_iter": 5000},
        {"solver": "newton-cg"},
        {"solver": "saga", "max_iter": 5000},
        {"class_weight": "balanced"},
        {"fit_intercept": False},
    ],
)
def test_probabilities_are_the_models(wine: tuple[Any, Any], options: dict[str, Any]) -> None:
    X, y = wine
    for target in (y, y == 1):
        model = LogisticRegression(**options).fit(X, target)
        explainer = shafer.Explainer(model, X, prior="shared")
        ev = explainer(X)
        assert_allclose(ev.probability, model.predict_proba(X), rtol=1e-9, atol=1e-15)
        assert ev.weights.shape == (len(X), X.shape[1], len(model.classes_))
        assert_array_equal(explainer.classes, model.classes_)
        assert_allclose(ev.weights.sum(axis=1), ev.logits, atol=1e-10)
        assert_allclose(ev.weights.sum(axis=2), 0, atol=1e-10)


def test_the_papers_cut_offs() -> None:
    # Where a feature's own mass function is vacuous: age 49.67, LDL 6.868 (Denœux 2019, §5.1).
    heart = shafer.datasets.load_heart()
    X = heart.data[:, [heart.feature_names.index(name) for name in ("age", "ldl")]]
    model = LogisticRegression(C=np.inf, solver="newton-cholesky").fit(X, heart.target)
    explainer = shafer.Explainer(model, X, names=["age", "ldl"], prior="shared")
    cut_offs = -explainer.pool.alpha[:, 1] / explainer.pool.beta[:, 1]
    assert_allclose(cut_offs, [49.67, 6.868], atol=5e-3)
    at_cut_off = explainer(cut_offs[None]).components
    assert_allclose(at_cut_off.ignorance, 1.0, rtol=1e-12)


def test_arrays(wine: tuple[Any, Any]) -> None:
    X, y = wine
    model = LogisticRegression().fit(X, y)
    expected = shafer.Explainer(model, X)(X)
    head = shafer.LinearHead(model.coef_, model.intercept_, classes=["a", "b", "c"])
    ev = shafer.Explainer(head, X)(X)
    assert_allclose(ev.belief, expected.belief, rtol=1e-12)
    assert ev.classes.tolist() == ["a", "b", "c"]
    assert_allclose(shafer.Explainer((model.coef_, model.intercept_), X)(X).belief, ev.belief)
    tensors = [torch.asarray(array) for array in (model.coef_, model.intercept_, X)]
    there = shafer.Explainer(shafer.LinearHead(*tensors[:2]), tensors[2])(tensors[2])
    assert isinstance(there.belief, torch.Tensor)
    assert_allclose(there.belief.numpy(), ev.belief, rtol=1e-10)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames(wine: tuple[Any, Any], make: Any) -> None:
    X, y = wine
    frame = make({f"column {j}": X[:, j] for j in range(X.shape[1])})
    model = LogisticRegression().fit(frame, y)
    explainer = shafer.Explainer(model, frame)
    assert explainer.component_names[2] == "column 2"
    assert_allclose(explainer(frame).probability, model.predict_proba(frame), rtol=1e-9)
    head = shafer.LinearHead(model.coef_, model.intercept_)
    named = shafer.Explainer(head, frame)
    assert named.component_names == explainer.component_names
    assert_allclose(named(frame).belief, explainer(frame).belief)
    assert shafer.Explainer(model, frame, names=range(13)).component_names[2] == "2"


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix])
def test_sparse(wine: tuple[Any, Any], form: Any) -> None:
    X, y = wine
    X = np.where(X > 0.5, X, 0.0)
    model = LogisticRegression().fit(form(X), y)
    weight = np.random.default_rng(0).random(len(y))
    for options in ({}, {"sample_weight": weight}):
        ev = shafer.Explainer(model, form(X), **options)(form(X))
        dense = shafer.Explainer(model, X, **options)(X)
        assert_allclose(ev.probability, model.predict_proba(X), rtol=1e-9)
        assert_allclose(ev.ignorance, dense.ignorance, rtol=1e-9)


def test_float32_stays(wine: tuple[Any, Any]) -> None:
    X, y = wine
    model = LogisticRegression().fit(X.astype(np.float32), y)
    ev = shafer.Explainer(model, X.astype(np.float32))(X.astype(np.float32))
    assert ev.belief.dtype == np.float32
    assert_allclose(ev.probability, model.predict_proba(X.astype(np.float32)), atol=1e-5)


def test_one_row_one_feature() -> None:
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression().fit(X[:, :1], y)
    ev = shafer.Explainer(model, X[:, :1], prior="shared")(X[:1, :1])
    assert ev.weights.shape == (1, 1, 3)
    assert_allclose(ev.probability, model.predict_proba(X[:1, :1]), rtol=1e-12)


def test_bad_rows(wine: tuple[Any, Any]) -> None:
    X, y = wine
    explainer = shafer.Explainer(LogisticRegression().fit(X, y), X)
    with pytest.raises(
        ValueError, match="X has 3 features, but LogisticRegression is expecting 13"
    ):
        explainer(X[:, :3])
    with pytest.raises(ValueError, match="contains NaN"):
        explainer(np.full((1, 13), np.nan))
    with pytest.raises(ValueError, match="0 sample"):
        explainer(X[:0])


def test_bad_background(wine: tuple[Any, Any]) -> None:
    X, y = wine
    model = LogisticRegression().fit(X, y)
    head = shafer.LinearHead(model.coef_, model.intercept_)
    for background, message in (
        (X[:0], "background must have at least one row"),
        (X[0], "background must have 2 dimension"),
        (X[:, :2], r"X must have 13 columns, one for each coefficient; got shape \(178, 2\)"),
        (np.full_like(X, np.inf), "background must be finite"),
    ):
        with pytest.raises(ValueError, match=message):
            shafer.Explainer(head, background)
    for weight, message in (
        (np.ones(3), "one weight for each of the 178 rows; got 3"),
        (np.zeros(178), "at least one row with a positive weight"),
        (np.full(178, np.nan), "sample_weight must be finite"),
        (np.linspace(-1, 1, 178), "sample_weight must be nonnegative and not all zero"),
    ):
        with pytest.raises(ValueError, match=message):
            shafer.Explainer(head, X, sample_weight=weight)


def test_nan_names_its_column_and_missing(wine: tuple[Any, Any]) -> None:
    X, y = wine
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(13)])
    holed = frame.copy()
    holed.iloc[5, 2] = np.nan
    explainer = shafer.Explainer(LogisticRegression().fit(frame, y), frame)
    with pytest.raises(ValueError, match=r"row 5, column 'column 2'; Logistic.*missing="):
        explainer(holed)
    head = shafer.LinearHead(np.ones((3, 13)), np.zeros(3))
    for values in (holed, holed.to_numpy(), torch.tensor(holed.to_numpy().copy())):
        with pytest.raises(ValueError, match=r"NaN, the first in row 5, .*missing="):
            shafer.Explainer(head, values)
    for model in (
        make_pipeline(StandardScaler(), LogisticRegression()),
        GaussianNB(),
        MLPClassifier((3,), max_iter=5000),
    ):
        with pytest.raises(ValueError, match=r"NaN.*missing="):
            shafer.Explainer(model.fit(frame, y), holed)
    rows = sparse.csr_array(holed.to_numpy())
    with pytest.raises(ValueError, match=r"NaN, the first in row 5, column 2; .*missing="):
        shafer.Explainer(LogisticRegression().fit(X, y), rows)


def test_columns_of_a_head_are_read_by_name(wine: tuple[Any, Any]) -> None:
    X, _ = wine
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(13)])
    head = shafer.LinearHead(np.ones((3, 13)), np.zeros(3))
    for groups in (None, "one"):
        explainer = shafer.Explainer(head, frame, groups)
        assert len(explainer(frame.to_numpy())) == len(X)
        permuted = explainer(frame[frame.columns[::-1]])
        np.testing.assert_array_equal(permuted.logits, explainer(frame).logits)
        with pytest.raises(ValueError, match="must have the columns"):
            explainer(frame.rename(columns={"column 0": "another"}))


def test_classes_can_be_given(wine: tuple[Any, Any]) -> None:
    X, y = wine
    ev = shafer.Explainer(LogisticRegression().fit(X, y), X, classes=["a", "b", "c"])(X)
    assert ev.classes.tolist() == ["a", "b", "c"]


def test_options_belong_to_families(wine: tuple[Any, Any]) -> None:
    X, y = wine
    model = LogisticRegression().fit(X, y)
    for given in (model, shafer.LinearHead(model.coef_, model.intercept_)):
        with pytest.raises(TypeError, match=r"unknown options \['layer'\]; L.* options: none"):
            shafer.Explainer(given, X, layer="last")


def test_subclasses_with_ideas_of_their_own(wine: tuple[Any, Any]) -> None:
    class Tempered(LogisticRegression):
        def decision_function(self, X: Any) -> Any:
            return super().decision_function(X) / 3

    class Renamed(LogisticRegression):
        pass

    X, y = wine
    with pytest.raises(shafer.UnsupportedModelError, match="Tempered overrides decision_function"):
        shafer.Explainer(Tempered().fit(X, y), X)
    model = Renamed().fit(X, y)
    assert_allclose(shafer.Explainer(model, X)(X).probability, model.predict_proba(X), rtol=1e-9)


def test_parameters_of_older_scikit_learn() -> None:
    # multi_class is gone since 1.8; what it meant still decides how to read an older model.
    ovr = SimpleNamespace(classes_=np.arange(3), multi_class="ovr", solver="lbfgs")
    with pytest.raises(shafer.UnsupportedModelError, match="normalises separate sigmoids"):
        linear._log_odds_factor(ovr)
    liblinear = SimpleNamespace(classes_=np.arange(3), multi_class="auto", solver="liblinear")
    with pytest.raises(shafer.UnsupportedModelError, match="normalises separate sigmoids"):
        linear._log_odds_factor(liblinear)
    doubled = SimpleNamespace(classes_=np.arange(2), multi_class="multinomial", solver="lbfgs")
    assert linear._log_odds_factor(doubled) == 2.0


def test_repr(wine: tuple[Any, Any]) -> None:
    X, y = wine
    explainer = shafer.Explainer(LogisticRegression().fit(X, y), X)
    assert repr(explainer) == "<Explainer: 14 components, 3 classes>"


def test_evidence_has_the_index_of_a_frame(wine: tuple[Any, Any]) -> None:
    X, y = wine
    frame = pd.DataFrame(X, index=[f"wine {i}" for i in range(len(X))])
    model = LogisticRegression().fit(X, y)
    for moderate in (None, "laplace+discount"):
        ev = shafer.Explainer(model, X, moderate=moderate)(frame)
        assert list(ev.to_frame().index) == list(frame.index)
        assert list(ev[10:12].to_frame().index) == ["wine 10", "wine 11"]
    assert shafer.Explainer(model, X)(X).index is None
    voting = shafer.EvidentialVotingClassifier([("a", LogisticRegression())], tempering=None)
    assert list(voting.fit(X, y).evidence(frame).to_frame().index) == list(frame.index)


def test_frames_with_equal_column_names(wine: tuple[Any, Any]) -> None:
    X, y = wine
    frame = pd.DataFrame(X[:, :4], columns=list("aabb"))
    model = LogisticRegression().fit(X[:, :4], y)
    ev = shafer.Explainer(model, frame)(frame)
    assert_allclose(ev.probability, model.predict_proba(X[:, :4]), rtol=1e-9)


# Data that do not fit in memory: batches in, batches out.


@pytest.mark.parametrize(
    "model", [LogisticRegression(max_iter=9000), HistGradientBoostingClassifier(max_iter=5)]
)
def test_batches_of_background(model: Any) -> None:
    X, y = load_wine(return_X_y=True)
    model = model.fit(X, y)
    whole = shafer.Explainer(model, X)
    cut = shafer.Explainer(model, iter(np.array_split(X, 7)))
    assert_allclose(cut(X).weights, whole(X).weights, atol=1e-10)
    parts = list(whole.stream(np.array_split(X, 5)))
    assert sum(map(len, parts)) == len(X)
    assert_allclose(np.vstack([part.belief for part in parts]), whole(X).belief)


def test_no_batches() -> None:
    with pytest.raises(ValueError, match="at least one batch"):
        shafer.Explainer((np.ones(2), 0.0), iter([]))


def test_weights_of_batches_are_refused_before_a_batch_is_read() -> None:
    batches = iter([np.zeros((3, 2))])
    for weight in (np.ones(3), 1.0):
        with pytest.raises(ValueError, match="sample_weight cannot be given with an iterator"):
            shafer.Explainer((np.ones(2), 0.0), batches, sample_weight=weight)
    assert len(list(batches)) == 1


def test_memory_stays_constant() -> None:
    explainer = shafer.Explainer((np.ones(50), 0.0), np.zeros((1, 50)))

    def batches(count: int) -> Iterator[Any]:
        for seed in range(count):
            yield np.random.default_rng(seed).normal(size=(2000, 50))

    def peak(count: int) -> int:
        tracemalloc.start()
        for ev in explainer.stream(batches(count)):
            assert ev.belief.shape == (2000, 2)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(1)
    assert peak(20) < 1.5 * peak(2)


# Rows pass through transformers and networks once per call.


X, Y = load_iris(return_X_y=True)

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "grouped": {"groups": "one"},
    "tempered": {"temper": 0.5},
    "laplace": {"moderate": "laplace", "temper": 1.0},
    "laplace+discount": {"moderate": "laplace+discount", "temper": 0.7},
    "discount, grouped": {"groups": "one", "moderate": "laplace+discount", "temper": 0.7},
    "conditional": {"missing": "conditional"},
    "conditional, discount": {
        "missing": "conditional",
        "moderate": "laplace+discount",
        "temper": 0.7,
    },
}


class Counter(TransformerMixin, BaseEstimator):
    """Passes its rows on, and counts how often it is asked to."""

    def fit(self, X: Any, y: Any = None) -> Counter:
        self.calls, self.fitted_ = 0, True
        return self

    def transform(self, X: Any) -> Any:
        self.calls += 1
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _calls(counter: Counter, call: Any) -> int:
    counter.calls = 0
    call(X)
    return counter.calls


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_transformer_is_called_once(options: dict[str, Any]) -> None:
    inner = make_pipeline(Counter(), LogisticRegression(max_iter=1000))
    clf = shafer.EvidentialClassifier(inner, **options).fit(X, Y)
    counter = clf.estimator_[0]
    clf.explainer_.typicality(X)  # the background passes once, for reasons of deferral
    for call in (
        clf.evidence,
        clf.predict_proba,
        clf.predict,
        clf.explainer_,
        lambda rows: clf.explainer_.observe(rows).bet,
        lambda rows: clf.predict(rows, rule="belief"),
        lambda rows: clf.predict_set(rows, rule="interval_dominance"),
        lambda rows: clf.explainer_.temper(rows, Y),
        lambda rows: clf.conformalize(rows, Y),
        clf.predict_set,
        clf.decide,
        lambda rows: clf.control_error(rows, Y, error=0.3),
        clf.predict_or_defer,
    ):
        assert _calls(counter, call) == 1


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_background_passes_once(options: dict[str, Any]) -> None:
    model = make_pipeline(Counter(), LogisticRegression(max_iter=1000)).fit(X, Y)
    given = {name: value for name, value in options.items() if name != "temper"}
    model[0].calls = 0
    shafer.Explainer(model, X, check=False, **given)
    assert model[0].calls == 1
    shafer.Explainer(model, X, **given)
    # The check passes 64 rows through the explainer, and through two methods of the model.
    assert model[0].calls == 5


@pytest.mark.parametrize("options", [{}, {"combination": "cautious"}, {"reliability": [0.8, 0.6]}])
def test_voting_passes_each_source_once(options: dict[str, Any]) -> None:
    sources = [
        (name, make_pipeline(Counter(), LogisticRegression(max_iter=1000)), columns)
        for name, columns in {"sepal": [0, 1], "petal": [2, 3]}.items()
    ]
    clf = shafer.EvidentialVotingClassifier(sources, **options).fit(X, Y)
    counters = [source.estimator[0] for source in clf.sources_.values()]
    for call in (
        clf.evidence,
        clf.predict_proba,
        clf.predict,
        lambda rows: clf.predict(rows, rule="belief"),
        lambda rows: clf.predict_set(rows, rule="interval_dominance"),
        lambda rows: clf.control_error(rows, Y, error=0.3),
        clf.predict_or_defer,
    ):
        assert [_calls(counter, call) for counter in counters] == [1, 1]


class Network(torch.nn.Module):
    """Counts its forward passes."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden, self.head = torch.nn.Linear(4, 8), torch.nn.Linear(8, 3)
        self.calls = 0

    def forward(self, rows: Any) -> Any:
        self.calls += 1
        return self.head(torch.relu(self.hidden(rows)))


@pytest.mark.parametrize("groups", [None, "one"])
@pytest.mark.parametrize("moderate", [None, "laplace", "laplace+discount"])
def test_a_network_is_called_once(groups: Any, moderate: Any) -> None:
    torch.manual_seed(0)
    network = Network()
    rows = torch.tensor(X, dtype=torch.float32)
    explainer = shafer.Explainer(
        network, rows, groups, moderate=moderate, layer="head", check=False
    )
    assert network.calls == 1
    explainer.temper(rows, Y)
    explainer.conformalize(rows, Y)
    for call in (explainer, explainer.predict_set, explainer.predict_proba):
        network.calls = 0
        call(rows)
        assert network.calls == 1
    expected = torch.softmax(network(rows), dim=1).detach().numpy()
    plain = shafer.Explainer(network, rows, groups)(rows)
    assert_allclose(plain.probability.numpy(), expected, atol=1e-6)


def test_calibration_makes_new_objects() -> None:
    explainer = shafer.Explainer(
        LogisticRegression(max_iter=1000).fit(X, Y), X, moderate="laplace+discount"
    )
    before = explainer.calibration
    reliability = before.reliability(explainer.weighed_model(X)[0], np.full((150, 3), 1 / 3))
    explainer.temper(X[::2] + 1.0, Y[::2])
    after = before.reliability(explainer.weighed_model(X)[0], np.full((150, 3), 1 / 3))
    assert before.tempering == 1.0
    assert_allclose(after, reliability)
    assert explainer.calibration.tempering != 1.0


def test_a_failed_temper_changes_nothing() -> None:
    model = LogisticRegression(max_iter=1000).fit(X, Y)
    explainer = shafer.Explainer(model, X, temper=0.5).conformalize(X, Y)
    with pytest.raises(ValueError, match="Unknown class label"):
        explainer.temper(X, np.full(150, 7))
    assert explainer.factor == 0.5
    assert explainer.conformal is not None


def test_tempering_can_be_given() -> None:
    model = LogisticRegression(max_iter=1000).fit(X, Y)
    ev = shafer.Explainer(model, X, temper=0.5)(X)
    assert_allclose(ev.weights, 0.5 * shafer.Explainer(model, X)(X).weights)
    for wrong in (0.0, -1.0, np.nan, np.inf, True, "cv"):
        with pytest.raises(ValueError, match="temper must be a finite number > 0"):
            shafer.Explainer(model, X, temper=wrong)


def test_what_a_notebook_shows() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.columns = pd.Index(["<b>", "sw", "pl", "pw"])
    labels = np.where(y == 2, "ill", "well")
    model = LogisticRegression(max_iter=500).fit(X[::2], labels[::2])
    explainer = shafer.Explainer(model, X[::2], prior="own", threshold={"ill": 0.3})
    page = explainer._repr_html_()
    for text in ("LogisticRegression", "ill, well", "&#x27;ill&#x27; from 0.3 on", "75 rows"):
        assert text in page
    assert "4: &lt;b&gt;, sw, pl, pw; the base rate is one more" in page
    assert "none yet: conformalize, control_error" in page
    explainer.temper(X[1::2], labels[1::2]).conformalize(X[1::2], labels[1::2], coverage=0.9)
    assert "at least 90 %, from 75 rows" in explainer._repr_html_()
    assert "tempered by" in explainer._repr_html_()
    copied = pickle.loads(pickle.dumps(explainer))
    assert "not kept" in copied._repr_html_()
    many = shafer.Explainer((np.ones(500), 0.0), np.zeros((2, 500)))
    assert len(many._repr_html_()) < 2000
    assert "they share the base rate" in many._repr_html_() or "one more" in many._repr_html_()
