"""Saved estimators: no functions inside, exact types, and the same numbers after loading."""

from __future__ import annotations

import copy
import functools
import pickle
import pickletools
import types
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
import torch
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer

X, Y = load_iris(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
FRAME = pd.DataFrame(X, columns=["a", "b", "c", "d"])
MODEL = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
HEAD = shafer.LinearHead(MODEL[-1].coef_, MODEL[-1].intercept_)
NAMES = ["setosa", "versicolor", "virginica"]

EXPLAINER = "shafer.explain.explainer.Explainer"
CLASSIFIER = "shafer.estimators.evidential_classifier.EvidentialClassifier"
VOTING = "shafer.estimators.evidential_voting.EvidentialVotingClassifier"
VOTING_PARTS = [
    "shafer.estimators.sources.FittedSource",
    "shafer.estimators.sources.SourceFactors",
]
NEIGHBOURS = "shafer.estimators.neighbour_evidence.NeighbourEvidence"

EXPLAINERS = {
    "plain": shafer.Explainer(MODEL, X),
    "grouped": shafer.Explainer(MODEL, X, {"sepal": [0, 1], "petal": [2, 3]}),
    "tempered": shafer.Explainer(MODEL, X, temper=0.5).conformalize(X, Y),
    "class-conditional": shafer.Explainer(MODEL, X).conformalize(X, Y, class_conditional=True),
    "moderated": shafer.Explainer(MODEL, X, moderate="laplace"),
    "discounted": shafer.Explainer(MODEL, X, moderate="laplace+discount").temper(X[::2], Y[::2]),
    "vacuous": shafer.Explainer(MODEL, X, missing="vacuous"),
    "conditional": shafer.Explainer(MODEL, X, missing="conditional", classes=NAMES),
    "head": shafer.Explainer(HEAD, X),
    "pair": shafer.Explainer((MODEL[-1].coef_, MODEL[-1].intercept_), X),
    "laplace errors": shafer.Explainer(MODEL, X, {"sepal": [0, 1]}, errors="laplace", prior="own"),
    "sandwich errors": shafer.Explainer(MODEL, X, errors="sandwich"),
    "bootstrap errors": shafer.Explainer(
        MODEL, X, errors="bootstrap", refits=shafer.models.bootstrap_refits(MODEL, X, Y, 3)
    ),
    "bayes": shafer.Explainer(GaussianNB().fit(X, Y), X, "one"),
}


def _same(explainer: shafer.Explainer, again: shafer.Explainer, rows: Any = X) -> None:
    ev, reread = explainer(rows), again(rows)
    assert type(ev) is type(reread)
    assert_array_equal(reread.belief, ev.belief)
    assert_array_equal(reread.plausibility, ev.plausibility)
    assert again.policy == explainer.policy
    if explainer.conformal is not None:
        assert_array_equal(again.predict_set(rows), explainer.predict_set(rows))
    assert_array_equal(again.classes, explainer.classes)
    assert again.component_names == explainer.component_names
    assert again.factor == explainer.factor
    plain, plain_again = ev.weighed, reread.weighed
    assert (plain.errors is None) == (plain_again.errors is None)
    if plain.errors is not None:
        assert_array_equal(plain_again.weights_std, plain.weights_std)
    assert_allclose(again.typicality(rows), explainer.typicality(rows), rtol=1e-12)


def _held(value: Any) -> list[Any]:
    """List everything that a state holds."""
    if isinstance(value, dict):
        return [part for item in value.items() for part in _held(item)]
    if isinstance(value, list | tuple | set):
        return [part for item in value for part in _held(item)]
    return [value]


@pytest.mark.parametrize("explainer", EXPLAINERS.values(), ids=EXPLAINERS)
def test_an_explainer_holds_arrays_and_its_model(explainer: shafer.Explainer) -> None:
    kinds = {type(part) for part in _held(explainer.__getstate__())}
    plain = {str, int, float, bool, type(None), np.ndarray}
    assert kinds <= plain | {type(MODEL), GaussianNB, shafer.LinearHead}
    functions = (functools.partial, types.FunctionType, types.MethodType)
    assert not any(issubclass(kind, functions) for kind in kinds)


@pytest.mark.parametrize("explainer", EXPLAINERS.values(), ids=EXPLAINERS)
def test_an_explainer_is_the_same_after_loading(explainer: shafer.Explainer) -> None:
    for again in (pickle.loads(pickle.dumps(explainer)), copy.deepcopy(explainer)):
        _same(explainer, again)
        _same(explainer, pickle.loads(pickle.dumps(again)))  # and once more
    with_gaps = X.copy()
    with_gaps[::3, 1] = np.nan
    if explainer.__getstate__()["missing"] is not None:
        _same(explainer, pickle.loads(pickle.dumps(explainer)), with_gaps)


@pytest.mark.parametrize("explainer", EXPLAINERS.values(), ids=EXPLAINERS)
def test_an_explainer_in_a_skops_file(explainer: shafer.Explainer) -> None:
    data = skops.io.dumps(explainer)
    trusted = skops.io.get_untrusted_types(data=data)
    head = ["shafer.models.heads.LinearHead"] if explainer is EXPLAINERS["head"] else []
    assert sorted(trusted) == sorted([EXPLAINER, *head])
    _same(explainer, skops.io.loads(data, trusted=trusted))


def test_a_pickle_names_no_functions_of_ours() -> None:
    data = pickle.dumps(EXPLAINERS["conditional"], protocol=2)
    named = [text for code, text, _ in pickletools.genops(data) if code.name == "GLOBAL"]
    ours = [name for name in named if "shafer" in str(name)]
    assert ours == ["shafer.explain.explainer Explainer"]


def test_frames_and_networks_are_read_again() -> None:
    encoder = make_column_transformer(
        (StandardScaler(), ["a", "b"]), (OneHotEncoder(handle_unknown="ignore"), ["kind"])
    )
    rows = FRAME.assign(kind=np.where(X[:, 2] > 0, "long", "short"))
    model = make_pipeline(encoder, LogisticRegression()).fit(rows, Y)
    explainer = shafer.Explainer(model, rows, "source", prior="shared")
    _same(explainer, pickle.loads(pickle.dumps(explainer)), rows)
    of_head = pickle.loads(pickle.dumps(shafer.Explainer(HEAD, FRAME, prior="shared")))
    assert of_head.component_names == ("a", "b", "c", "d")
    _same(of_head, of_head, FRAME)
    permuted = of_head(FRAME[["b", "a", "c", "d"]])
    assert_array_equal(permuted.logits, of_head(FRAME).logits)
    with pytest.raises(ValueError, match="columns of the background"):
        of_head(FRAME.rename(columns={"b": "z"}))
    network = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3))
    tensor = torch.tensor(X, dtype=torch.float32)
    explainer = shafer.Explainer(network, tensor, batch_size=7, prior="shared")
    again = pickle.loads(pickle.dumps(explainer))
    assert torch.equal(again(tensor).belief, explainer(tensor).belief)


def test_a_model_trained_again_is_not_saved() -> None:
    model = LogisticRegression().fit(X, Y)
    explainer = shafer.Explainer(model, X)
    model.fit(X[:120], Y[:120])
    with pytest.raises(ValueError, match="trained again after this Explainer was made"):
        pickle.dumps(explainer)


CLASSIFIERS = {
    "plain": shafer.EvidentialClassifier(),
    "discounted": shafer.EvidentialClassifier(MODEL, "one", moderate="laplace+discount"),
    "search": shafer.EvidentialClassifier(
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}), temper="cv"
    ),
}


@pytest.mark.parametrize("clf", CLASSIFIERS.values(), ids=CLASSIFIERS)
@pytest.mark.parametrize("rows", [X, FRAME], ids=["array", "frame"])
def test_a_classifier_in_a_skops_file(clf: Any, rows: Any) -> None:
    clf.fit(rows, Y)
    for calibration in ([], ["ConformalSets"], ["CrossConformalSets"]):
        if calibration:
            clf.conformalize(rows, Y, cv=3 if "Cross" in calibration[0] else None)
        data = skops.io.dumps(clf)
        trusted = skops.io.get_untrusted_types(data=data)
        ours = [name for name in trusted if name.startswith("shafer.")]
        assert [name.rpartition(".")[2] for name in ours if "conformal" in name] == calibration
        assert {name for name in ours if "conformal" not in name} == {EXPLAINER, CLASSIFIER}
        assert not any("partial" in name or "function" in name for name in trusted)
        again = skops.io.loads(data, trusted=trusted)
        assert_array_equal(again.predict_proba(rows), clf.predict_proba(rows))
        if calibration:
            assert_array_equal(again.predict_set(rows), clf.predict_set(rows))
        assert_array_equal(again.evidence(rows).belief, clf.evidence(rows).belief)


@pytest.mark.parametrize("rows", [X, FRAME], ids=["array", "frame"])
@pytest.mark.parametrize("options", [{}, {"tempering": None}, {"combination": "cautious"}])
def test_a_voting_classifier_in_a_skops_file(rows: Any, options: dict[str, Any]) -> None:
    sources = [
        ("a", LogisticRegression(max_iter=1000), [0, 1]),
        ("b", GaussianNB(), [2, 3]),
        ("c", make_pipeline(StandardScaler(), shafer.NeighbourEvidence(k=3))),
    ]
    clf = shafer.EvidentialVotingClassifier(sources, **options).fit(rows, Y)
    data = skops.io.dumps(clf)
    trusted = skops.io.get_untrusted_types(data=data)
    assert sorted(trusted) == sorted([EXPLAINER, VOTING, NEIGHBOURS, *VOTING_PARTS])
    again = skops.io.loads(data, trusted=trusted)
    assert_array_equal(again.predict_proba(rows), clf.predict_proba(rows))
    rule = "interval_dominance"
    assert_array_equal(again.predict_set(rows, rule), clf.predict_set(rows, rule))


def test_missing_sources_after_loading() -> None:
    sources = [("a", LogisticRegression(max_iter=1000), [0, 1]), ("b", GaussianNB(), [2, 3])]
    clf = shafer.EvidentialVotingClassifier(sources).fit(X, Y)
    again = skops.io.loads(skops.io.dumps(clf), trusted=[EXPLAINER, VOTING, *VOTING_PARTS])
    holed = X.copy()
    holed[::2, :2] = np.nan
    for rows in (holed, holed[::2]):  # in some rows, or in all
        assert_array_equal(again.predict_proba(rows), clf.predict_proba(rows))


def _damaged(**changes: Any) -> dict[str, Any]:
    return {**EXPLAINERS["discounted"].__getstate__(), **changes}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 1}, "written by another version of shafer"),
        ({"extra": 1}, "written by another version of shafer"),
        ({"means": np.full(4, np.nan)}, "means must be finite"),
        ({"means": np.zeros(3)}, "names must hold 3|must fit 3 components"),
        ({"factor": -1.0}, "factor must be a finite number > 0"),
        ({"factor": "1"}, "factor must be a finite number > 0"),
        ({"classes": np.array([0, 0, 1])}, "classes must be distinct"),
        ({"groups": {"a": [0, 1], "b": [2]}}, "each of the 4 components once"),
        ({"moderation": {"posterior": {}}}, "damaged"),
        ({"conformal": {"threshold": np.nan, "n_classes": 3}}, "threshold must be"),
        ({"missing": {"how": "mean"}}, "missing must be one of"),
        ({"profile": 3}, "damaged"),
        ({"options": None}, "damaged"),
        ({"errors": {"kind": "bayes"}}, "errors must be one of"),
        ({"errors": {}}, "damaged"),
        ({"errors": "laplace"}, "damaged"),
        ({"errors": {"kind": "laplace"}}, "damaged"),
        ({"errors": {"kind": "laplace", "covariance": np.ones((2, 2, 2, 2))}}, "errors must fit"),
        ({"errors": {"kind": "laplace", "covariance": np.nan}}, "damaged"),
        ({"errors": {"kind": "bootstrap"}}, "errors must fit"),
        ({"refits": [{}]}, "errors must fit"),
        ({"refits": None}, "damaged"),
    ],
)
def test_a_damaged_state_is_an_error(changes: dict[str, Any], message: str) -> None:
    explainer = shafer.Explainer.__new__(shafer.Explainer)
    with pytest.raises(ValueError, match=message):
        explainer.__setstate__(_damaged(**changes))


def test_trees_are_saved_with_their_library() -> None:
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, Y)
    explainer = shafer.Explainer(model, X, components="tree")
    _same(explainer, pickle.loads(pickle.dumps(explainer)))
