"""``EvidentialVotingClassifier``: several sources, also missing ones, and their priors."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from shafer import (
    Evidence,
    EvidentialClassifier,
    EvidentialVotingClassifier,
    NeighbourEvidence,
    UnsupportedModelError,
    combine,
)
from shafer.evidence.base_rate import base_rate_position
from shafer.fusion import FiniteEvidence, MixedEvidence

from .examples import two

# ``EvidentialVotingClassifier`` as scikit-learn sees it, and as its users do.


@parametrize_with_checks(
    [
        EvidentialVotingClassifier(two()),
        EvidentialVotingClassifier(two(), "cautious", granularity="components"),
        EvidentialVotingClassifier(two(), tempering=None, prior="each", absent_if="any"),
    ]
)
def test_scikit_learn_conventions(estimator: Any, check: Any) -> None:
    check(estimator)


def test_dempster_is_bayes_rule_with_the_prior_once(heart: Any) -> None:
    X, y = heart.data, heart.target
    estimators = [("a", LogisticRegression(max_iter=5000), [0, 1, 2]), ("b", GaussianNB(), [5, 8])]
    clf = EvidentialVotingClassifier(estimators, tempering=None).fit(X, y)
    first = LogisticRegression(max_iter=5000).fit(X[:, :3], y).predict_log_proba(X[:, :3])
    second = GaussianNB().fit(X[:, [5, 8]], y).predict_log_proba(X[:, [5, 8]])
    prior = np.bincount(y) / len(y)
    assert_allclose(clf.prior_, prior)
    expected = softmax(first + second - np.log(prior), axis=1)
    assert_allclose(clf.predict_proba(X), expected, atol=1e-10)
    assert_array_equal(clf.predict(X), expected.argmax(axis=1))
    each = EvidentialVotingClassifier(estimators, tempering=None, prior="each").fit(X, y)
    assert_allclose(each.predict_proba(X), softmax(first + second, axis=1), atol=1e-10)
    given = EvidentialVotingClassifier(estimators, tempering={"b": 0.5}).fit(X, y)
    halved = first + 0.5 * (second - np.log(prior))
    assert_allclose(given.predict_proba(X), softmax(halved, axis=1), atol=1e-10)


def test_cautious_counts_copies_once() -> None:
    X, y = load_iris(return_X_y=True)
    copies = [(f"copy {i}", LogisticRegression(max_iter=1000)) for i in range(3)]
    clf = EvidentialVotingClassifier(copies, "cautious", tempering=None).fit(X, y)
    alone = LogisticRegression(max_iter=1000).fit(X, y)
    assert_allclose(clf.predict_proba(X), alone.predict_proba(X), atol=1e-9)


def test_the_evidence_is_that_of_combine(heart: Any) -> None:
    X, y = heart.data, heart.target
    estimators = [
        ("model", EvidentialClassifier(LogisticRegression(max_iter=5000))),
        ("neighbours", make_pipeline(StandardScaler(), NeighbourEvidence(k=5))),
    ]
    clf = EvidentialVotingClassifier(
        estimators, tempering=[0.7, 0.4], prior="each", granularity="components"
    ).fit(X, y)
    model = EvidentialClassifier(LogisticRegression(max_iter=5000)).fit(X, y)
    scaler = StandardScaler().fit(X)
    neighbours = NeighbourEvidence(k=5).fit(scaler.transform(X), y)
    sources = {
        "model": model.evidence(X),
        "neighbours": neighbours.evidence(scaler.transform(X)),
    }
    expected = combine(sources, tempering=[0.7, 0.4])
    evidence = clf.evidence(X)
    assert isinstance(evidence, Evidence)
    assert evidence.component_names == expected.component_names
    assert_allclose(evidence.weights, expected.weights, atol=1e-12)
    by_rule = clf.predict_set(X, "interval_dominance")
    assert_array_equal(by_rule, expected.decide("interval_dominance"))
    assert_array_equal(clf.predict(X, "belief"), expected.belief.argmax(axis=1))


def test_moderated_and_discounted_sources(heart: Any) -> None:
    X, y = heart.data[:150], heart.target[:150]
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    moderated = [("a", EvidentialClassifier(inner, moderate="laplace")), ("b", GaussianNB())]
    clf = EvidentialVotingClassifier(moderated, granularity="components", cv=2).fit(X, y)
    assert isinstance(clf.evidence(X), Evidence)
    own = clf.sources_["a"].estimator.evidence(X)
    c = np.log(clf.prior_) - np.log(clf.prior_).mean()
    source = own.weights.copy()
    source[:, base_rate_position(own)] -= c  # the base rate of the training rows is counted once
    found = clf.evidence(X).weights[:, : own.n_components]
    assert_allclose(found, clf.tempering_[0] * source, atol=1e-12)
    discount = EvidentialClassifier(inner, moderate="laplace+discount")
    doubtful = EvidentialVotingClassifier([("a", discount), ("b", GaussianNB())], cv=2).fit(X, y)
    evidence = doubtful.evidence(np.vstack([X, X[:1] + 1e3]))
    assert isinstance(evidence, MixedEvidence)
    assert_allclose(evidence.probability.sum(axis=1), 1.0)
    strange = doubtful.sources_["a"].evidence(X[:1] + 1e3)
    assert strange.reliability[0] < 0.5


def test_other_rules(heart: Any) -> None:
    X, y = heart.data[:60], heart.target[:60]
    kinds = {"yager": MixedEvidence, "disjunctive": FiniteEvidence, "dubois_prade": FiniteEvidence}
    for rule, kind in kinds.items():
        clf = EvidentialVotingClassifier(two(), rule, tempering=None).fit(X, y)
        assert isinstance(clf.evidence(X), kind)
        assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0)
        assert clf.predict_set(X, "interval_dominance").any(axis=1).all()
    with pytest.raises(ValueError, match="'cv' .for combination='dempster' or 'cautious'"):
        EvidentialVotingClassifier(two(), "yager").fit(X, y)


def test_estimators_that_cannot_be_explained() -> None:
    X, y = load_iris(return_X_y=True)
    estimators = [("forest", RandomForestClassifier(20, random_state=0)), ("bayes", GaussianNB())]
    clf = EvidentialVotingClassifier(estimators, granularity="components").fit(X, y)
    assert clf.evidence(X).component_names[0] == "forest: output"
    assert np.isfinite(clf.evidence(X).logits).all()
    assert clf.score(X, y) > 0.95
    with pytest.raises(UnsupportedModelError):
        EvidentialVotingClassifier([("svc", LinearSVC()), ("bayes", GaussianNB())]).fit(X, y)


def test_in_the_company_of_scikit_learn() -> None:
    X, y = load_iris(return_X_y=True)
    clf = EvidentialVotingClassifier(
        [("logistic", LogisticRegression(max_iter=1000), [0, 1]), ("bayes", GaussianNB(), [2, 3])]
    )
    grid = {"logistic__C": [0.01, 1.0], "bayes": [GaussianNB(), LogisticRegression(max_iter=1000)]}
    search = GridSearchCV(clf, grid, scoring="neg_log_loss", cv=3).fit(X, y)
    assert search.best_score_ > -0.2
    assert clone(search.best_estimator_).get_params()["logistic__C"] in (0.01, 1.0)
    assert clone(clf).estimators[0][2] == [0, 1]
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert_array_equal(again.predict(X), search.predict(X))
    assert not get_tags(clf).input_tags.allow_nan
    boosted = EvidentialVotingClassifier([("trees", HistGradientBoostingClassifier(max_iter=5))])
    assert get_tags(boosted).input_tags.allow_nan
    assert boosted.fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(estimators=[]), "estimators must be a list"),
        (dict(estimators=[("a",)]), "estimators must be a list"),
        (dict(estimators=[("base rate", GaussianNB())]), "must not be called 'base rate'"),
        (
            dict(estimators=[("a", GaussianNB()), ("a", GaussianNB())]),
            "distinct; given more than once: .'a'",
        ),
        (dict(estimators=[("a__b", GaussianNB())]), "without '__'"),
        (dict(estimators=two(), combination="guess"), "combination must be one of 'dempster'"),
        (dict(estimators=two(), prior="twice"), "prior must be one of 'once'"),
        (dict(estimators=two(), granularity="some"), "granularity must be one of"),
        (dict(estimators=two(), absent_if="some"), "absent_if must be one of 'all', 'any'"),
        (dict(estimators=two(), tempering="guess"), "tempering must be 'cv'"),
        (dict(estimators=two(), tempering=[1.0]), "for each of the 2 sources"),
        (dict(estimators=two(), tempering=[1.0, -1.0]), "finite number ≥ 0"),
        (dict(estimators=two(), tempering={"c": 1.0}), "unknown sources"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], message: str) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        EvidentialVotingClassifier(**arguments).fit(X, y)


def test_too_little_to_learn_from() -> None:
    X, y = load_iris(return_X_y=True)
    clf = EvidentialVotingClassifier(two())
    with pytest.raises(ValueError, match="at least 2 rows of every class; class 1 has 1"):
        clf.fit(X[:51], y[:51])
    with pytest.raises(ValueError, match="at least two classes"):
        clf.fit(X[:50], y[:50])
    with pytest.raises(ValueError, match="predict returns one class"):
        clf.fit(X, y).predict(X, "interval_dominance")
    X = X.copy()
    X[:100, :2] = np.nan
    views = [("a", GaussianNB(), [0, 1]), ("b", GaussianNB(), [2, 3])]
    with pytest.raises(ValueError, match="Source 'a' cannot be trained: .* fewer than"):
        EvidentialVotingClassifier(views).fit(X, y)


def test_sample_weight_reaches_sources_prior_and_reliabilities(heart: Any) -> None:
    X, y = heart.data, heart.target
    random = np.random.default_rng(0)
    weight = random.integers(0, 3, len(y)).astype(float)
    estimators = [
        ("a", LogisticRegression(max_iter=5000), [0, 1, 2]),
        ("b", GaussianNB(), [5, 8]),
    ]
    folds = random.integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), weight.astype(int))

    def splits(fold: Any) -> list[Any]:
        return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(3)]

    weighted = EvidentialVotingClassifier(estimators, cv=splits(folds)).fit(X, y, weight)
    repeated = EvidentialVotingClassifier(estimators, cv=splits(folds[rows])).fit(X[rows], y[rows])
    assert_allclose(weighted.prior_, repeated.prior_)
    assert_allclose(weighted.tempering_, repeated.tempering_, atol=0.02)
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=0.01)
    plain = EvidentialVotingClassifier(estimators, cv=splits(folds)).fit(X, y)
    assert np.abs(plain.predict_proba(X) - weighted.predict_proba(X)).max() > 0.02
    with pytest.raises(ValueError, match=r"NeighbourEvidence\.fit does not accept it"):
        EvidentialVotingClassifier([("n", NeighbourEvidence())]).fit(X, y, weight)
    with pytest.raises(ValueError, match=r"zero for all rows of the classes \[1\]"):
        EvidentialVotingClassifier(estimators).fit(X, y, (y == 0).astype(float))


def test_folds_of_the_users_own(heart: Any) -> None:
    X, y = heart.data, heart.target
    shuffled = StratifiedKFold(5, shuffle=True, random_state=0)
    given = EvidentialVotingClassifier(two(), cv=shuffled).fit(X, y)
    assert_allclose(given.tempering_, EvidentialVotingClassifier(two()).fit(X, y).tempering_)
    for cv in (1, None, "five", True):
        with pytest.raises(ValueError, match="cv must be a whole number of folds ≥ 2"):
            EvidentialVotingClassifier(two(), cv=cv).fit(X, y)


def test_an_estimator_that_is_none_is_refused(heart: Any) -> None:
    clf = EvidentialVotingClassifier(two()).set_params(bayes="drop")
    with pytest.raises(ValueError, match="'bayes' must be a classifier; got 'drop'. To drop"):
        clf.fit(heart.data, heart.target)


def test_a_source_without_weights_is_an_error(heart: Any) -> None:
    inner = EvidentialVotingClassifier(two(), "yager", tempering=None)
    with pytest.raises(UnsupportedModelError, match="must give Evidence or DiscountedEvidence"):
        EvidentialVotingClassifier([("inner", inner)]).fit(heart.data, heart.target)


# Sources that are missing in some rows: left out of training, and vacuous or left out after.


@pytest.mark.parametrize("granularity", ["sources", "components"])
def test_missing_sources_contribute_nothing(heart: Any, granularity: str) -> None:
    X, y = heart.data.copy(), heart.target
    columns = {"a": [0, 1, 2], "b": [5, 7, 8]}
    X[::4, columns["a"]] = np.nan
    X[1::4, columns["b"]] = np.nan
    X[3::8] = np.nan
    estimators = [(name, LogisticRegression(max_iter=5000), c) for name, c in columns.items()]
    clf = EvidentialVotingClassifier(estimators, granularity=granularity).fit(X, y)
    evidence = clf.evidence(X)
    whole = np.array([name.split(":")[0] for name in evidence.component_names])
    weights = np.abs(evidence.weights).sum(axis=2)
    assert not weights[::4][:, whole == "a"].any()
    assert not weights[1::4][:, whole == "b"].any()
    assert weights[2::4][:, whole == "a"].any()
    assert_allclose(evidence[3::8].probability, np.tile(clf.prior_, (len(X[3::8]), 1)))
    # A source is trained on the rows where it is there.
    there = ~np.isnan(X[:, columns["a"]]).all(axis=1)
    alone = LogisticRegression(max_iter=5000).fit(X[there][:, columns["a"]], y[there])
    assert_allclose(clf.sources_["a"].estimator.coef_, alone.coef_)
    nothing = clf.evidence(np.full((3, 9), np.nan))
    assert_allclose(nothing.probability, np.tile(clf.prior_, (3, 1)))
    assert nothing.component_names == evidence.component_names
    one_row = clf.evidence(X[4:5])
    assert one_row.probability.shape == (1, 2)


def test_any_missing_input_can_leave_a_source_out(heart: Any) -> None:
    X, y = heart.data.copy(), heart.target
    X[::3, 0] = np.nan
    estimators = [("a", LogisticRegression(max_iter=5000), [0, 1, 2]), ("b", GaussianNB(), [5, 8])]
    with pytest.raises(ValueError, match="NaN"):
        EvidentialVotingClassifier(estimators).fit(X, y)
    clf = EvidentialVotingClassifier(estimators, absent_if="any").fit(X, y)
    weights = clf.evidence(X).weights
    assert not weights[::3, 0].any()
    assert weights[1::3, 0].any()
    there = np.arange(len(y)) % 3 > 0
    alone = LogisticRegression(max_iter=5000).fit(X[there][:, :3], y[there])
    assert_allclose(clf.sources_["a"].estimator.coef_, alone.coef_)
    mixed = pd.DataFrame({"x": X[:, 1], "kind": np.where(y > 0, "u", None)})
    from shafer.estimators.sources import present_rows

    assert_array_equal(present_rows(mixed, len(y), absent_if="any"), y > 0)
    assert present_rows(mixed, len(y)).all()


@pytest.mark.parametrize("rule", ["disjunctive", "dubois_prade"])
def test_a_missing_source_is_left_out_where_a_vacuous_one_would_count(rule: str) -> None:
    X, y = load_iris(return_X_y=True)
    columns = {"a": [0, 1], "b": [2], "c": [3]}
    estimators = [(name, LogisticRegression(), own) for name, own in columns.items()]
    clf = EvidentialVotingClassifier(estimators, rule, tempering=None).fit(X, y)
    gaps = X.copy()
    gaps[1::3, columns["a"]] = np.nan
    gaps[2::3] = np.nan
    evidence = clf.evidence(gaps)
    assert isinstance(evidence, FiniteEvidence)
    assert_allclose(evidence[::3].masses(), clf.evidence(X[::3]).masses())
    others = {name: clf.sources_[name].evidence(X[1::3][:, columns[name]]) for name in "bc"}
    assert_allclose(evidence[1::3].masses(), combine(others, rule).masses(), atol=1e-12)
    assert evidence[1::3].ignorance.min() < 0.5
    assert_allclose(evidence[2::3].ignorance, 1.0)


@pytest.mark.parametrize("missing_text", [None, float("nan")])
@pytest.mark.parametrize("kind", [list, pd.Series])
def test_a_missing_text_is_a_missing_source(heart: Any, missing_text: Any, kind: Any) -> None:
    y = heart.target[:80]
    texts = [f"word{label} and{i % 3}" for i, label in enumerate(y)]
    texts[3] = missing_text
    X = {"text": kind(texts), "life": heart.data[:80, [0, 5]]}
    estimators = [
        ("text", make_pipeline(CountVectorizer(), LogisticRegression())),
        ("life", GaussianNB()),
    ]
    weights = EvidentialVotingClassifier(estimators).fit(X, y).evidence(X).weights
    assert not weights[3, 0].any()
    assert weights[[2, 4], 0].all()


# The class prior that each source was trained with, which is counted once.


def uneven() -> tuple[Any, Any]:
    X, y = make_classification(1200, 6, n_informative=4, weights=[0.9], random_state=0)
    return X, y


@pytest.mark.parametrize(
    ("estimator", "prior"),
    [
        (LogisticRegression(class_weight="balanced"), [0.5, 0.5]),
        (make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced")), [0.5, 0.5]),
        (LogisticRegression(class_weight={0: 1.0, 1: 3.0}), None),
        (EvidentialClassifier(LogisticRegression(class_weight="balanced")), [0.5, 0.5]),
        (GaussianNB(priors=[0.3, 0.7]), [0.3, 0.7]),
        (BernoulliNB(fit_prior=False), [0.5, 0.5]),
        (LinearDiscriminantAnalysis(priors=[0.4, 0.6]), [0.4, 0.6]),
        (
            RandomForestClassifier(20, class_weight="balanced_subsample", random_state=0),
            [0.5, 0.5],
        ),
    ],
)
def test_a_model_told_of_another_prior_gives_that_one_back(estimator: Any, prior: Any) -> None:
    X, y = uneven()
    clf = EvidentialVotingClassifier([("a", estimator), ("b", GaussianNB())], tempering=None)
    source = clf.fit(X, y).sources_["a"]
    if prior is None:
        prior = np.bincount(y) * [1.0, 3.0] / (np.bincount(y) @ [1.0, 3.0])
    assert_allclose(source.prior, prior, atol=1e-12)
    assert_allclose(clf.sources_["b"].prior, np.bincount(y) / len(y))


def test_balanced_models_do_not_count_the_rare_class_again() -> None:
    X, y = uneven()
    views = ([0, 1, 2], [3, 4, 5])
    balanced = LogisticRegression(class_weight="balanced")
    clf = EvidentialVotingClassifier(
        [(f"view {v}", balanced, columns) for v, columns in enumerate(views)], tempering=None
    ).fit(X, y)
    assert clf.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.05)
