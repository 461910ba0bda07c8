"""The base rate as a component of its own, and the shares of it in other components."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import shafer
from shafer.evidence import least_commitment_additive
from shafer.evidence.base_rate import base_rate_position, shares_base_rate

FLOATS = st.floats(-20.0, 20.0)


@st.composite
def heads(draw):
    """Coefficients, intercepts, means and features of a linear model."""
    n_classes, n_features = draw(st.integers(2, 5)), draw(st.integers(1, 4))
    rows = 1 if n_classes == 2 and draw(st.booleans()) else n_classes
    return (
        draw(arrays(float, (rows, n_features), elements=FLOATS)),
        draw(arrays(float, rows, elements=FLOATS)),
        draw(arrays(float, n_features, elements=FLOATS)),
        draw(arrays(float, (3, n_features), elements=FLOATS)),
    )


@given(heads())
def test_probabilities_do_not_depend_on_the_prior(head):
    coef, intercept, means, features = head
    shared = shafer.least_commitment(coef, intercept, means)(features)
    own = shafer.least_commitment(coef, intercept, means, prior="own")(features)
    np.testing.assert_allclose(own.probability, shared.probability, rtol=0, atol=1e-12)
    np.testing.assert_allclose(own.logits, shared.logits, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(own.base_rate, shared.base_rate, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(own.weights.sum(axis=-1), 0.0, atol=1e-10)


@given(heads())
def test_features_at_their_means_have_no_weight(head):
    coef, intercept, means, _ = head
    pool = shafer.least_commitment(coef, intercept, means, prior="own")
    ev = pool(means[None, :])
    assert ev.component_names[-1] == "base rate"
    np.testing.assert_array_equal(ev.weights[:, :-1], 0.0)
    np.testing.assert_array_equal(ev.weights[:, -1], ev.logits)
    np.testing.assert_array_equal(pool.base_rate, ev.weights[0, -1])


@given(heads())
def test_the_two_priors_differ_by_the_shares(head):
    coef, intercept, means, features = head
    shared = shafer.least_commitment(coef, intercept, means)(features)
    own = shafer.least_commitment(coef, intercept, means, prior="own")(features)
    spread = shared.base_rate[:, None, :] / shared.n_components
    np.testing.assert_allclose(own.weights[:, :-1] + spread, shared.weights, atol=1e-9)


def made(prior, sparse=False, additive=False):
    random = np.random.default_rng(3)
    coef, intercept = random.normal(size=(3, 4)), random.normal(size=3)
    means, features = random.normal(size=4), random.normal(size=(6, 4))
    if additive:
        contributions = random.normal(size=(6, 4, 3))
        pool = least_commitment_additive(contributions.mean(axis=0), intercept, prior=prior)
        return pool(contributions)
    pool = shafer.least_commitment(coef, intercept, means, prior=prior)
    if sparse:
        from scipy.sparse import csr_array

        return pool(csr_array(features))
    return pool(features)


KINDS = {"dense": {}, "sparse": {"sparse": True}, "additive": {"additive": True}}
every_kind = pytest.mark.parametrize("kind", KINDS)
every_prior = pytest.mark.parametrize("prior", ["shared", "own"])


@every_kind
@every_prior
def test_pooled_weights_are_those_of_the_dense_weights(kind, prior):
    ev = made(prior, **KINDS[kind])
    again = shafer.Evidence.from_weights(ev.weights)
    for name in ("logits", "weights_for", "weights_against", "belief", "conflict"):
        np.testing.assert_allclose(getattr(ev, name), getattr(again, name), atol=1e-13)


@every_kind
@every_prior
def test_the_base_rate_follows_rows_factors_groups_and_files(kind, prior, tmp_path):
    ev = made(prior, **KINDS[kind])
    base = ev.base_rate
    names = ev.component_names
    assert base.shape == ev.logits.shape
    np.testing.assert_allclose(ev[2:4].base_rate, base[2:4])
    np.testing.assert_allclose(ev.tempered(0.5).base_rate, 0.5 * base)
    factors = np.linspace(0.1, 1.0, 6)
    np.testing.assert_allclose(ev.tempered(factors).base_rate, factors[:, None] * base)
    np.testing.assert_allclose(ev.grouped("one").base_rate, base, atol=1e-14)
    pairs = ev.grouped({"first": names[:2], "second": names[2:4]})
    np.testing.assert_allclose(pairs.base_rate, base, atol=1e-14)
    mixed = ev.grouped({"mixed": (names[-1], names[0])})
    np.testing.assert_allclose(mixed.base_rate, base, atol=1e-14)
    np.testing.assert_allclose(mixed.logits, ev.logits, atol=1e-14)
    kept = ev.without([names[0]]).base_rate
    np.testing.assert_allclose(kept, base * (0.75 if prior == "shared" else 1.0), atol=1e-14)
    for number, saved in enumerate((ev, ev.tempered(factors))):
        saved.save(tmp_path / f"{number}.npz")
        loaded = shafer.Evidence.load(tmp_path / f"{number}.npz")
        np.testing.assert_array_equal(loaded.weights, saved.weights)
        np.testing.assert_array_equal(loaded.base_rate, saved.base_rate)


@every_prior
def test_the_base_rate_of_combined_sources_is_the_sum(prior, tmp_path):
    a, b = made(prior), made(prior, additive=True)
    twice = pytest.warns(UserWarning, match="each have a base rate")
    with twice if prior == "own" else nullcontext():
        both = shafer.combine({"a": a, "b": b.tempered(np.linspace(0.5, 1.0, 6))})
    expected = a.base_rate + np.linspace(0.5, 1.0, 6)[:, None] * b.base_rate
    np.testing.assert_allclose(both.base_rate, expected, atol=1e-14)
    both.save(tmp_path / "both.npz")
    loaded = shafer.Evidence.load(tmp_path / "both.npz")
    np.testing.assert_array_equal(loaded.weights, both.weights)
    np.testing.assert_allclose(loaded.base_rate, expected, atol=1e-14)


@every_prior
def test_taking_out_a_prior(prior):
    ev = made(prior)
    log = np.log([0.2, 0.3, 0.5])
    less = shafer.fusion.without_prior(ev, [0.2, 0.3, 0.5])
    np.testing.assert_allclose(less.base_rate, ev.base_rate - (log - log.mean()), atol=1e-14)
    change = ev.weights - less.weights
    if prior == "own":
        np.testing.assert_array_equal(change[:, :-1], 0.0)
    else:
        np.testing.assert_allclose(change, (log - log.mean()) / 4 + 0 * change, atol=1e-14)


def test_weights_from_elsewhere_have_no_known_base_rate():
    ev = shafer.Evidence.from_weights(np.ones((2, 3, 2)))
    np.testing.assert_array_equal(ev.base_rate, np.zeros((2, 2)))


def test_a_name_that_is_taken():
    with pytest.raises(ValueError, match="prior='own' adds a component named 'base rate', but"):
        shafer.least_commitment([1.0, 2.0], 0.0, names=["base rate", "age"], prior="own")


@pytest.mark.parametrize("prior", ["mine", None, 1])
def test_unknown_priors(prior):
    with pytest.raises(ValueError, match="prior must be 'shared' .* or 'own'"):
        shafer.least_commitment([1.0], 0.0, prior=prior)


def test_frames_need_the_columns_of_the_features_only():
    pandas = pytest.importorskip("pandas")
    pool = shafer.least_commitment([1.0, 2.0], 0.0, names=["a", "b"], prior="own")
    assert pool(pandas.DataFrame({"a": [1.0], "b": [2.0]})).n_components == 3
    with pytest.raises(ValueError, match=r"columns \['a', 'b'\], in that order"):
        pool(pandas.DataFrame({"b": [1.0], "a": [2.0]}))


def test_single_precision_stays_single():
    pool = shafer.least_commitment(
        np.float32([[1.0, 2.0]]), np.float32([0.5]), np.float32([0.1, 0.2]), prior="own"
    )
    ev = pool(np.float32([[1.0, 2.0]]))
    assert ev.weights.dtype == ev.probability.dtype == np.float32


# Own base rate.


IRIS = load_iris()


@pytest.mark.parametrize("prior", ["own", "shared"])
@pytest.mark.parametrize(
    ("model", "options"),
    [
        (LogisticRegression(max_iter=500), {}),
        (LogisticRegression(max_iter=500), {"temper": 2.0}),
        (LogisticRegression(max_iter=500), {"moderate": "laplace"}),
        (LogisticRegression(max_iter=500), {"moderate": "laplace+discount"}),
        (GaussianNB(), {}),
    ],
)
def test_own_or_shared(model: Any, options: dict[str, Any], prior: str) -> None:
    fitted = model.fit(IRIS.data, IRIS.target)
    ev = shafer.Explainer(fitted, IRIS.data, prior=prior, **options)(IRIS.data).weighed
    expected = 4 if prior == "own" else None
    for rows in (ev, ev[:1], ev[[3, 3]], ev[:0]):
        assert base_rate_position(rows) == expected
    assert shares_base_rate(ev) == (prior == "shared")
    assert base_rate_position(ev.without(["x0"])) == (None if expected is None else 3)


def test_sparse_rows() -> None:
    X = sp.csr_array(IRIS.data)
    model = LogisticRegression(max_iter=500).fit(X, IRIS.target)
    assert base_rate_position(shafer.Explainer(model, X, prior="own")(X)) == 4
    assert base_rate_position(shafer.Explainer(model, X, prior="shared")(X)) is None


def test_a_component_of_the_same_name_is_not_the_base_rate() -> None:
    model = LogisticRegression(max_iter=500).fit(IRIS.data, IRIS.target)
    names = ["a", "base rate", "c", "d"]
    ev = shafer.Explainer(model, IRIS.data, names=names, prior="shared")(IRIS.data)
    assert base_rate_position(ev) is None
    plain = shafer.Evidence.from_weights(np.ones((2, 1, 2)), names=["base rate"])
    assert base_rate_position(plain) is None
    assert not shares_base_rate(plain)


def test_a_share_of_zero_for_one_class_is_still_a_base_rate() -> None:
    pool = shafer.least_commitment(np.zeros((3, 2)), [0.5, -0.5, 0.0], np.zeros(2))
    assert shares_base_rate(pool(np.ones((2, 2))))
    none = shafer.least_commitment(np.zeros((3, 2)), np.zeros(3), np.zeros(2))
    assert not shares_base_rate(none(np.ones((2, 2))))


# The base rate is known by its place. Columns may have its name, or what looks like it.

LOOKALIKES = ["base rate", "a: base rate", "a: x", "base rate: base rate"]


@pytest.mark.parametrize("intercept", [0.0, 0.7])
@pytest.mark.parametrize("prior", ["own", "shared"])
def test_a_column_that_is_named_like_a_base_rate_is_a_column(prior, intercept, tmp_path):
    names = LOOKALIKES[1:] if prior == "own" else LOOKALIKES
    plain = [f"x{j}" for j in range(len(names))]
    X = np.random.default_rng(0).normal(size=(30, len(names)))
    background = X if intercept else np.zeros((2, len(names)))  # nothing to share
    coef = np.arange(1.0, len(names) + 1)

    def evidence(names):
        return shafer.Explainer((coef, intercept), background, names=names, prior=prior)(X)

    odd, even = evidence(names), evidence(plain)
    renamed = dict(zip(plain, names, strict=True)) | {"base rate": "base rate"}

    def same(odd, even):
        assert odd.unchanged_source().base_rates() == even.unchanged_source().base_rates()
        assert base_rate_position(odd) == base_rate_position(even)
        assert shares_base_rate(odd) == shares_base_rate(even)
        np.testing.assert_array_equal(odd.fragility(), even.fragility())
        np.testing.assert_array_equal(odd.points(class_=0), even.points(class_=0))
        found = even.reasons(top=9)["component"]
        assert odd.reasons(top=9)["component"].tolist() == [renamed[name] for name in found]

    same(odd, even)
    odd.save(tmp_path / "odd.npz")
    same(shafer.Evidence.load(tmp_path / "odd.npz"), even)
    rest = list(range(1, odd.n_components))
    parts = [ev[3:9].without([0]).tempered(0.5) for ev in (odd, even)]
    assert parts[0].reasons()["component"].tolist() == [
        renamed[name] for name in parts[1].reasons()["component"]
    ]
    twice = [
        shafer.combine({"s": ev, "t": ev}, tempering={"s": 0.4, "t": 0.6}) for ev in (odd, even)
    ]
    assert twice[0].unchanged_source().base_rates() == twice[1].unchanged_source().base_rates()
    groups = {"first": [0], "base rate": rest}
    joined = odd.grouped(groups).unchanged_source().base_rates()
    assert joined == ()  # columns joined with the base rate are not the base rate


def test_the_place_of_the_base_rate_follows_the_components(tmp_path):
    ev = made("own")
    last = ev.n_components - 1
    named = ev.grouped({"what we knew before": [last], "rest": list(range(last))})
    named.save(tmp_path / "named.npz")
    for renamed in (named, shafer.Evidence.load(tmp_path / "named.npz")):
        assert renamed.component_names == ("rest", "what we knew before")
        assert base_rate_position(renamed) == 1
    assert base_rate_position(ev.without([0])) == last - 1
    assert base_rate_position(ev.without([last])) is None
    assert base_rate_position(ev[[2, 0]].tempered(np.array([0.5, 2.0]))) == last
