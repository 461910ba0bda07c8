"""Combined evidence without weights: mixtures, tables, and both as sources again."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import shafer
from shafer import Evidence, belief, combine
from shafer.fusion import FiniteEvidence, MixedEvidence, prior_evidence, without_prior


@pytest.fixture
def two() -> dict[str, Evidence]:
    random = np.random.default_rng(0)
    return {
        name: Evidence.from_weights(random.normal(size=(4, 2, 3)), classes=list("abc"))
        for name in ("first", "second")
    }


def mass_functions(evidence: object) -> list[belief.MassFunction]:
    frame = belief.Frame(list("abc"))
    return [belief.MassFunction(frame, row) for row in evidence.masses()]  # type: ignore[attr-defined]


def test_they_read_like_evidence(two: dict[str, Evidence]) -> None:
    mixed = combine(two, reliability=[0.8, 0.6])
    table = combine(two, "disjunctive")
    assert isinstance(mixed, MixedEvidence)
    assert isinstance(table, FiniteEvidence)
    for result in (mixed, table):
        assert isinstance(result, shafer.MassEvidence)
        assert len(result) == 4
        assert len(result[1:3]) == 2
        assert_allclose(result[[2, 0]].belief, result.belief[[2, 0]])
        assert_allclose(
            result[np.array([True, False, False, True])].masses()[1], result.masses()[3]
        )
        for rule in ("plausibility", "belief", "pignistic"):
            chosen = result.decide(rule)
            assert_array_equal(chosen.argmax(axis=1), getattr(result, rule).argmax(axis=1))
            assert (chosen.sum(axis=1) == 1).all()
        kept = result.decide()
        assert_array_equal(kept, result.plausibility >= result.belief.max(axis=1, keepdims=True))
        assert_array_equal(result.decide("maximality"), kept)
        with pytest.raises(ValueError, match="rule must be one of 'plausibility'"):
            result.decide("guess")
        frame = result.to_frame("pandas")
        assert isinstance(frame, pd.DataFrame)
        assert_allclose(frame["belief_b"], result.belief[:, 1])
        assert "4 instances, 3 classes ('a', 'b', 'c')" in repr(result)
        assert_allclose(result.belief_of(list("abc")), 1.0)
        assert_allclose(result.plausibility_of([]), 0.0)
        with pytest.raises(IndexError):
            result[np.ones((2, 2), dtype=int)]
    assert_allclose(mixed.weight_of_conflict, -np.log1p(-mixed.conflict))


def test_risks(two: dict[str, Evidence]) -> None:
    loss = np.random.default_rng(3).normal(size=(4, 3))
    mixed = combine(two, reliability=[0.8, 0.6])
    table = FiniteEvidence.from_masses(mixed.masses(), classes=list("abc"))
    for i, m in enumerate(mass_functions(mixed)):
        focal = [([("abc").index(c) for c in A], mass) for A, mass in m.focal_sets.items()]
        for a in range(4):
            low = sum(mass * loss[a, inside].min() for inside, mass in focal)
            high = sum(mass * loss[a, inside].max() for inside, mass in focal)
            for result in (mixed, table):
                assert_allclose(result.lower_risk(loss)[i, a], low, atol=1e-12)
                assert_allclose(result.upper_risk(loss)[i, a], high, atol=1e-12)
    with pytest.raises(ValueError, match="loss"):
        table.upper_risk(np.zeros((2, 5)))


def test_certain_and_worthless_sources(two: dict[str, Evidence]) -> None:
    one = combine(two, reliability=[1.0, 0.0])
    assert_allclose(one.masses(), two["first"].masses(), atol=1e-12)
    none = combine(two, reliability=[0.0, 0.0])
    assert_allclose(none.ignorance, 1.0)
    assert isinstance(combine(two, reliability=[1.0, 1.0]), Evidence)


def test_discounted_evidence_is_a_source(two: dict[str, Evidence]) -> None:
    r = np.array([0.1, 0.5, 0.9, 1.0])
    sources = {"first": two["first"].discounted(r), "second": two["second"]}
    result = combine(sources)
    assert isinstance(result, MixedEvidence)
    assert_allclose(result.masses(), combine(two, reliability={"first": r}).masses(), atol=1e-14)
    for i, (a, b) in enumerate(zip(*map(mass_functions, sources.values()), strict=True)):
        assert_allclose(result.masses()[i], belief.dempster(a, b).masses, atol=1e-12)
    twice = combine(sources, reliability={"first": 0.5})
    assert_allclose(twice.masses(), combine(two, reliability={"first": r / 2}).masses(), atol=1e-14)


def test_fused_evidence_is_a_source(two: dict[str, Evidence]) -> None:
    table = combine(two, "disjunctive")
    mixed = combine(two, reliability=[0.8, 0.6])
    for rule in ("dempster", "cautious", "disjunctive", "yager"):
        result = combine({"table": table, "mixed": mixed}, rule)
        assert isinstance(result, FiniteEvidence)
        for i, (a, b) in enumerate(zip(mass_functions(table), mass_functions(mixed), strict=True)):
            assert_allclose(result.masses()[i], getattr(belief, rule)(a, b).masses, atol=1e-12)
    with pytest.raises(ValueError, match="'table' is a FiniteEvidence.*no weights.*reliability="):
        combine({"table": table}, tempering=[0.5])
    assert_allclose(
        combine({"table": table, "first": two["first"]}, tempering=[1.0, 0.0]).masses(),
        table.masses(),
        atol=1e-12,
    )


def test_masses_as_they_are() -> None:
    table = [[0.1, 0.2, 0.3, 0.4], [0.0, 0.5, 0.0, 0.5]]
    evidence = FiniteEvidence.from_masses(table, classes=["x", "y"])
    assert_allclose(evidence.conflict, [0.1, 0.0])
    assert_allclose(evidence.masses()[0], [0.0, 2 / 9, 3 / 9, 4 / 9])
    assert_allclose(evidence.weight_of_conflict[0], -np.log(0.9))
    certain = FiniteEvidence.from_masses([[0.0, 1.0, 0.0, 0.0]])
    assert certain.decide("weak_dominance").tolist() == [[True, False]]
    assert certain.probability[0].tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match="sum to 1"):
        FiniteEvidence.from_masses([[0.5, 0.0, 0.0, 0.0]])


def test_statements_about_any_set() -> None:
    said = ["against {B, C} with support 0.7", "for {A, B} with weight 0.5"]
    expert = FiniteEvidence.from_statements(said, classes=list("ABCD"))
    frame = belief.Frame(list("ABCD"))
    expected = belief.dempster(
        belief.MassFunction.simple(["A", "D"], frame, support=0.7),
        belief.MassFunction.simple(["A", "B"], frame, weight=0.5),
    )
    assert_allclose(expert.masses()[0], expected.masses, atol=1e-15)
    model = Evidence.from_weights(
        np.random.default_rng(1).normal(size=(3, 2, 4)), classes=list("ABCD")
    )
    both = combine({"model": model, "expert": expert})
    for i in range(3):
        own = belief.MassFunction(frame, model.masses()[i])
        assert_allclose(both.masses()[i], belief.dempster(own, expected).masses, atol=1e-12)
    with pytest.raises(shafer.FrameTooLargeError, match="Statements about sets.*got 20"):
        FiniteEvidence.from_statements("for {1, 2} with weight 1", classes=range(20))


def test_prior_in_and_out() -> None:
    random = np.random.default_rng(2)
    prior = {"a": 0.5, "b": 0.3, "c": 0.2}
    evidence = Evidence.from_weights(random.normal(size=(3, 4, 3)), classes=list("abc"))
    less = without_prior(evidence, prior)
    logs = np.log(list(prior.values()))
    assert_allclose(less.logits, evidence.logits - (logs - logs.mean()), atol=1e-12)
    assert_allclose(np.diff(evidence.weights - less.weights, axis=1), 0.0, atol=1e-12)
    assert_allclose(
        prior_evidence(prior, classes=list("abc"), n=2).probability, [[0.5, 0.3, 0.2]] * 2
    )
    assert len(prior_evidence(prior, classes=list("abc"))) == 1
    from scipy import sparse

    pool = shafer.least_commitment(
        random.normal(size=(3, 5)), random.normal(size=3), classes=list("abc")
    )
    X = random.normal(size=(6, 5))
    for features in (X, sparse.csr_array(X)):
        shifted = without_prior(pool(features), prior)
        assert_allclose(shifted.logits, pool(X).logits - (logs - logs.mean()), atol=1e-12)
    with pytest.raises(ValueError, match=r"none for \['c'\]"):
        without_prior(evidence, {"a": 0.5, "b": 0.5})


def test_conflict_beyond_what_a_float_holds_still_leaves_ratios() -> None:
    one, other = (
        Evidence.from_weights([[row], [[1.0, 0.0]]]) for row in ([2000.0, 0.0], [0.0, 2000.0])
    )
    sure = combine([one, other])
    mixed = combine([one, other], reliability=np.array([[1.0, 1.0], [0.5, 0.5]]))
    assert_allclose(mixed.belief[0], sure.belief[0])
    assert_allclose(mixed.conflict[0], 1.0)
    weak = Evidence.from_weights([[[1.0, 0.0]]])
    doubted = combine([one, other, weak], reliability=[1.0, 1.0, 0.5])[0]
    # Weak evidence for 0 halves what speaks for 1: it is there with chance 1/2, (1 - s)/2 + 1/2.
    left = 0.5 * (1.0 + np.exp(-1.0))
    assert_allclose(doubted.belief, [[1.0 / (1.0 + left), left / (1.0 + left)]])


@pytest.mark.parametrize("rule", ["disjunctive", "dubois_prade", "cautious"])
def test_single_precision_goes_through_the_tables(two: dict[str, Evidence], rule: str) -> None:
    single = {
        name: Evidence.from_weights(e.weights.astype(np.float32), classes=list("abc"))
        for name, e in two.items()
    }
    expected = combine(two, rule, reliability=0.9).masses()
    assert_allclose(combine(single, rule, reliability=0.9).masses(), expected, atol=1e-6)


def test_no_instances(two: dict[str, Evidence]) -> None:
    empty = {name: e[[]] for name, e in two.items()}
    for options in ({}, {"combination": "disjunctive"}, {"reliability": 0.5}):
        assert combine(empty, **options).belief.shape == (0, 3)


@pytest.mark.parametrize("seed", range(5))
def test_fused_evidence_decides_as_evidence_does(seed: int) -> None:
    random = np.random.default_rng(seed)
    n_classes = 2 + seed % 4
    evidence = Evidence.from_weights(random.normal(size=(6, 2, n_classes)))
    loss = random.normal(size=(4, n_classes))
    named = {"stay": loss[0], "go": loss[1]}
    asked: list[tuple[str, dict[str, object]]] = [
        *((rule, {"reject": 0.3}) for rule in shafer.decision.PRECISE_RULES),
        *(
            (rule, options)
            for rule in shafer.decision.RULES
            for options in ({}, {"loss": loss, "reject": 0.1}, {"utility": named})
        ),
        ("hurwicz", {"alpha": 0.2, "loss": loss}),
        ("utility_set", {"tolerance": "u65"}),
        ("utility_set", {"expectation": "pignistic"}),
        *(
            ("utility_set", {"expectation": expectation} | more)
            for expectation in ("lower", "upper", "hurwicz")
            for more in ({}, {"loss": loss}, {"tolerance": "u80"})
        ),
    ]
    mixed = combine([evidence.discounted(1.0)])
    assert isinstance(mixed, MixedEvidence)
    for fused in (mixed, FiniteEvidence.from_masses(evidence.masses())):
        for rule, options in asked:
            expected = evidence.decide(rule, **options)  # type: ignore[arg-type]
            assert_array_equal(fused.decide(rule, **options), expected)
            assert fused.acts(rule, **options) == evidence.acts(rule, **options)


def test_focal_sets_of_fused_evidence(two: dict[str, Evidence]) -> None:
    for result in (combine(two, reliability=0.8), combine(two, "disjunctive")):
        for i, expected in enumerate(mass_functions(result)):
            found = result.focal_sets(5)[i]
            assert [entry.mass for entry in found] == sorted(expected.masses, reverse=True)[:5]
            for entry in found:
                assert entry.mass == pytest.approx(expected.mass_of(entry.classes))
    assert combine([two["first"].tempered(0)], "disjunctive").focal_sets()[0] == [
        (frozenset("abc"), 1.0)
    ]
    with pytest.raises(ValueError, match="top must be a positive integer; got 0"):
        result.focal_sets(0)


def test_deep_copies(two: dict[str, Evidence]) -> None:
    for result in (combine(two, reliability=0.8), combine(two, "disjunctive")):
        assert_array_equal(copy.deepcopy(result).belief, result.belief)


def test_sums_of_masses_do_not_exceed_one() -> None:
    """The masses of a row may add up to more than 1 by rounding."""
    random = np.random.default_rng(0)
    parts = [Evidence.from_weights(2 * random.normal(size=(500, 3, 6))) for _ in range(2)]
    table = combine(parts, "cautious", reliability=[0.5, 0.7])
    assert isinstance(table, FiniteEvidence)
    assert table.table.sum(axis=1).max() > 1.0
    assert table.belief_of(range(6)).max() <= 1.0
    assert table.plausibility_of(range(6)).max() <= 1.0


def test_what_has_no_closed_form_is_named() -> None:
    random = np.random.default_rng(0)
    parts = [Evidence.from_weights(random.normal(size=(2, 3, 30))) for _ in range(2)]
    mixed = combine(parts, reliability=[0.5, 0.7])
    with pytest.raises(shafer.FrameTooLargeError, match="Sources without weights of evidence have"):
        combine([mixed, parts[0]], "cautious")
