"""Moderation and discount: the formulas, the invariants, and what they are for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from shafer.explain.calibration import Familiarity, moderating_factor, relative_variance

X, Y = load_wine(return_X_y=True)


def _logistic():
    return make_pipeline(StandardScaler(), LogisticRegression())


@given(
    p=st.lists(st.floats(0.001, 1.0), min_size=2, max_size=6),
    variance=st.floats(0.0, 100.0),
)
def test_relative_variance_is_the_formula(p: list[float], variance: float) -> None:
    q = np.array(p) / np.sum(p)
    square = np.sum(q**2)
    expected = variance / 2 * np.sum(q**2 * (1 - 2 * q + square)) / (1 - square)
    got = relative_variance(np.array([variance]), q[None])
    assert got == pytest.approx(expected, rel=1e-6, abs=1e-12)
    if len(q) == 2:
        assert got == pytest.approx(variance * q[0] * q[1], rel=1e-6, abs=1e-12)


def test_relative_variance_of_certainty_is_zero() -> None:
    p = np.array([[1.0, 0.0, 0.0], [1.0, 1e-300, 0.0], [1.0 - 1e-12, 1e-12, 0.0]])
    v = relative_variance(np.array([5.0, 5.0, 5.0]), p)
    assert (v[:2] < 1e-290).all()
    assert v[2] == pytest.approx(5e-12, rel=1e-3)


def test_the_factor_is_mackays() -> None:
    assert moderating_factor(np.array([0.0, 8 / np.pi])) == pytest.approx([1.0, 0.5**0.5])


@pytest.mark.parametrize("groups", [None, "one", "source"])
def test_moderated_evidence_is_the_plain_one_times_a_factor(groups) -> None:
    model = _logistic().fit(X, Y)
    plain = shafer.Explainer(model, X, groups)(X)
    moderated = shafer.Explainer(model, X, groups, moderate="laplace")(X)
    ratio = moderated.logits / plain.logits
    assert ratio == pytest.approx(np.broadcast_to(ratio[:, :1], ratio.shape), rel=1e-8)
    assert (ratio > 0).all()
    assert (ratio < 1).all()
    assert (moderated.decide("plausibility") == plain.decide("plausibility")).all()
    assert moderated.weights == pytest.approx(
        ratio[:, :1, None] * plain.weights, rel=1e-7, abs=1e-12
    )


def test_discounted_evidence_is_the_issue_s_formula() -> None:
    model = _logistic().fit(X, Y)
    bet = shafer.Explainer(model, X, "one", moderate="laplace")(X)
    ev = shafer.Explainer(model, X, "one", moderate="laplace+discount")(X)
    r = ev.reliability
    assert isinstance(ev, shafer.DiscountedEvidence)
    assert ev.betting_probability == pytest.approx(bet.probability)
    assert ev.belief == pytest.approx(r[:, None] * bet.belief)
    assert ev.plausibility == pytest.approx(1 - r[:, None] + r[:, None] * bet.plausibility)
    assert ev.ignorance == pytest.approx(1 - r + r * bet.ignorance)
    assert ev.epistemic_ignorance == pytest.approx(1 - r)
    assert ((r > 0) & (r <= 1)).all()


def test_ignorance_grows_away_from_the_data_and_with_less_of_it() -> None:
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    train, test = order[:120], order[120:]

    def ignorance(rows, new):
        clf = shafer.EvidentialClassifier(_logistic(), groups="one", moderate="laplace+discount")
        return clf.fit(X[rows], Y[rows]).evidence(new).ignorance

    noise = X.mean(axis=0) + 3 * X.std(axis=0) * rng.normal(size=X[test].shape)
    score = np.concatenate([ignorance(train, X[test]), ignorance(train, noise)])
    assert roc_auc_score(np.repeat([0, 1], len(test)), score) > 0.95
    assert ignorance(train[:15], X[test]).mean() > ignorance(train, X[test]).mean() + 0.1


def test_moderation_fits_a_factor_unless_it_is_given_one() -> None:
    fitted = shafer.EvidentialClassifier(_logistic(), moderate="laplace").fit(X, Y)
    assert fitted.explainer_.factor != 1.0
    given_one = shafer.EvidentialClassifier(_logistic(), moderate="laplace", temper=1.0).fit(X, Y)
    assert given_one.explainer_.factor == 1.0
    assert fitted.predict_proba(X) == pytest.approx(fitted.evidence(X).probability)
    assert (fitted.predict(X) == given_one.predict(X)).all()


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(C=0.1, max_iter=5000),
        LogisticRegression(C=np.inf, max_iter=5000),
        LogisticRegressionCV(
            Cs=3,
            max_iter=5000,
            l1_ratios=(0.0,),
            scoring="neg_log_loss",
            use_legacy_attributes=False,
        ),
        MLPClassifier((8,), max_iter=50, random_state=0, solver="lbfgs"),
        MLPClassifier((), max_iter=50, random_state=0, solver="lbfgs"),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_models_it_moderates(model) -> None:
    Z = StandardScaler().fit_transform(X)
    plain = shafer.Explainer(model.fit(Z, Y), Z)(Z)
    explainer = shafer.Explainer(model, Z, moderate="laplace+discount")
    ev, far = explainer(Z), explainer(10.0 * Z)
    shrunk = explainer.observe(Z).bet.logits / plain.logits
    assert (shrunk > 0.0).all()
    assert (shrunk < 1.0).all()
    assert_allclose(shrunk, shrunk[:, :1] * np.ones((1, 3)), rtol=1e-7)  # one factor for a row
    assert (ev.decide("plausibility") == plain.decide("plausibility")).all()
    assert ((ev.reliability > 0.0) & (ev.reliability <= 1.0)).all()
    assert_allclose(ev.belief, ev.reliability[:, None] * explainer.observe(Z).bet.belief, rtol=1e-9)
    assert np.median(far.reliability) < 0.1 * np.median(ev.reliability)


def test_the_chosen_penalty_of_cross_validation_is_the_prior() -> None:
    Z = StandardScaler().fit_transform(X)
    options = {"l1_ratios": (0.0,), "scoring": "neg_log_loss", "use_legacy_attributes": False}
    chosen = LogisticRegressionCV(Cs=[0.02], tol=1e-10, max_iter=5000, **options).fit(Z, Y)
    plain = LogisticRegression(C=0.02, tol=1e-10, max_iter=5000).fit(Z, Y)
    ours, theirs = (shafer.Explainer(m, Z, moderate="laplace")(Z).logits for m in (chosen, plain))
    assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-6)


def test_torch_modules_take_a_precision() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    rows = torch.as_tensor(StandardScaler().fit_transform(X), dtype=torch.float32)
    net = torch.nn.Sequential(torch.nn.Linear(13, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    loose, tight = (
        shafer.Explainer(net, rows, moderate="laplace+discount", precision=tau)(rows)
        for tau in (0.1, 10.0)
    )
    assert loose.epistemic_ignorance.mean() > tight.epistemic_ignorance.mean()
    with pytest.raises(ValueError, match="precision must be a finite number ≥ 0; got -1"):
        shafer.Explainer(net, rows, moderate="laplace", precision=-1)


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(),
        GradientBoostingClassifier(n_estimators=3),
        LogisticRegression(l1_ratio=1.0, solver="saga", max_iter=5000),
    ],
)
def test_models_it_refuses(model) -> None:
    Z = StandardScaler().fit_transform(X)
    with pytest.raises(
        shafer.UnsupportedModelError,
        match=r"penalised log loss.*explainer\.temper\(X_held, y_held\)",
    ):
        shafer.Explainer(model.fit(Z, Y), Z, moderate="laplace")


def test_wrong_words_are_refused() -> None:
    model = _logistic().fit(X, Y)
    with pytest.raises(ValueError, match="moderate must be .* got 'bayes'"):
        shafer.Explainer(model, X, moderate="bayes")
    for temper in ("yes", -1.0, float("nan"), True):
        with pytest.raises(ValueError, match="temper must be 'cv', None or a positive number"):
            shafer.EvidentialClassifier(_logistic(), temper=temper).fit(X, Y)
    with pytest.raises(ValueError, match="needs at least 3 background rows"):
        shafer.Explainer(model, X[:2], moderate="laplace+discount")


def test_familiarity_of_repeated_rows() -> None:
    near = Familiarity.fit(np.ones((10, 2)))
    assert near(np.ones((1, 2))) == pytest.approx(1.0)
    assert near(np.full((1, 2), 5.0)) == pytest.approx(0.0)


def test_background_in_batches_gives_the_same() -> None:
    model = _logistic().fit(X, Y)
    whole = shafer.Explainer(model, X, moderate="laplace+discount")(X)
    parts = shafer.Explainer(model, iter([X[:50], X[50:]]), moderate="laplace+discount")(X)
    assert parts.belief == pytest.approx(whole.belief, rel=1e-9)


def test_a_class_of_one_row_cannot_be_cross_validated() -> None:
    iris, species = load_iris(return_X_y=True)
    rows = np.r_[0:20, 50:70, 100]
    with pytest.raises(ValueError, match="at least 2 rows of every class"):
        shafer.EvidentialClassifier(temper="cv").fit(iris[rows], species[rows])


def test_bets_look_for_no_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """One class, probabilities and utility sets are the same with the discount and without."""
    X, y = load_iris(return_X_y=True)
    inner = LogisticRegression(max_iter=1000)
    clf = shafer.EvidentialClassifier(inner, "one", moderate="laplace+discount").fit(X, y)
    ev = clf.evidence(X + 0.5)
    monkeypatch.setattr(Familiarity, "__call__", lambda *_: pytest.fail("not asked for"))
    for rule in shafer.decision.PRECISE_RULES:
        np.testing.assert_array_equal(clf.predict(X + 0.5, rule), ev.decide(rule).argmax(axis=1))
    np.testing.assert_array_equal(clf.predict_proba(X + 0.5), ev.betting_probability)
    np.testing.assert_array_equal(clf.predict_set(X + 0.5), ev.decide("utility_set"))


def test_rows_without_weight_make_nothing_familiar() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    X[60:] += 50.0
    weight = np.repeat([1.0, 0.0], [60, 20])
    model = LogisticRegression().fit(X[:60], y[:60])
    without = shafer.Explainer(model, X[:60], moderate="laplace+discount")
    ignored = shafer.Explainer(model, X, moderate="laplace+discount", sample_weight=weight)
    np.testing.assert_allclose(ignored(X).reliability, without(X).reliability, rtol=1e-9)
    np.testing.assert_allclose(ignored.typicality(X), without.typicality(X), rtol=1e-9)


@pytest.mark.parametrize("n_columns", [4, 20])  # a tree and brute force
def test_rounding_makes_no_row_strange(n_columns: int) -> None:
    rows = np.repeat(np.random.default_rng(0).normal(5.0, 10.0, size=(300, n_columns)), 8, axis=0)
    near = Familiarity.fit(rows)
    assert near(rows).min() > 0.9
    assert near(rows.astype(np.float32).astype(np.float64)).min() > 0.7
    assert near(rows + 0.1).max() < 1e-6


def test_held_out_rows_say_how_far_is_far() -> None:
    model = _logistic().fit(X[::2], Y[::2])
    explainer = shafer.Explainer(model, X[::2], moderate="laplace+discount")
    rows = model[0].transform(X[1::2])
    at_first = explainer.calibration.moderation.familiarity
    explainer.temper(X[1::2][:10], Y[1::2][:10])  # too few to take quantiles from
    assert explainer.calibration.moderation.familiarity(rows) == pytest.approx(at_first(rows))
    distance = at_first.distance(rows)
    q50, q90 = np.quantile(distance, [0.5, 0.9])
    before = at_first(rows)
    explainer.temper(X[1::2], Y[1::2])
    near = explainer.calibration.moderation.familiarity
    assert near(rows) == pytest.approx(np.exp(-np.maximum(0, (distance - q90) / (q90 - q50))))
    assert (near(rows) != before).any()
    assert (at_first(rows) == before).all()  # the earlier object is unchanged
