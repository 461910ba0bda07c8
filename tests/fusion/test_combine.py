"""``combine``: components, priors, labels, files, evidence without weights, and what is refused."""

from __future__ import annotations

import copy
import time
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

import shafer
from shafer import Evidence, belief, combine
from shafer.fusion import FiniteEvidence, MixedEvidence, prior_evidence, without_prior

# ``combine``: components, priors, tensors, files, and what is refused.


def test_a_source_may_be_left_out_of_a_row() -> None:
    random = np.random.default_rng(0)
    a, b = (Evidence.from_weights(random.normal(size=(3, 2, 4))) for _ in range(2))
    present = np.array([[1, 1], [1, 0], [0, 1]])
    result = combine({"a": a, "b": b}, tempering=present)
    assert_allclose(result[1].masses(), a[1].masses(), rtol=1e-14)
    assert_allclose(result[2].masses(), b[2].masses(), rtol=1e-14)
    assert_allclose(result[0].logits, a[0].logits + b[0].logits)
    assert_allclose(combine([a, b], tempering=0.5).logits, (a.logits + b.logits) / 2)
    by_name = combine({"a": a, "b": b}, tempering={"b": present[:, 1], "a": present[:, 0]})
    assert_array_equal(by_name.logits, result.logits)


def test_components_are_the_union_labelled_by_source() -> None:
    random = np.random.default_rng(1)
    lab = shafer.least_commitment(random.normal(size=(3, 2)), np.zeros(3), names=["age", "ldl"])
    X = random.normal(size=(5, 2))
    image = Evidence.from_weights(random.normal(size=(5, 1, 3)), names=["all"])
    both = combine({"lab": lab(X), "image": image})
    assert both.component_names == ("lab: age", "lab: ldl", "image: all")
    assert_allclose(both.weights[:, :2], lab(X).weights)
    assert_allclose(both.without("image: all").logits, lab(X).logits)
    assert_allclose(both.without(["lab: age", "lab: ldl"]).logits, image.logits)
    pooled = both.grouped({"lab": ["lab: age", "lab: ldl"], "rest": ["image: all"]})
    assert_allclose(pooled.weights[:, 0], lab(X).logits, atol=1e-12)
    assert_allclose(pooled.logits, both.logits, atol=1e-12)
    assert_allclose(both.tempered(0.5).weights, both.weights / 2)
    assert_allclose(both[[3, 1]].weights, both.weights[[3, 1]])
    assert both.components.belief.shape == (5, 3, 3)
    mixed = both.grouped([["lab: ldl", "image: all"]])
    assert_allclose(mixed.weights[:, 1], both.weights[:, 1] + both.weights[:, 2])
    whole = combine({"lab": lab(X), "image": image}, granularity="sources")
    assert whole.component_names == ("lab", "image")
    assert_allclose(whole.weights[:, 0], lab(X).logits, atol=1e-12)


def test_combining_in_steps_or_at_once() -> None:
    random = np.random.default_rng(2)
    a, b, c = (Evidence.from_weights(random.normal(size=(3, 2, 4))) for _ in range(3))
    for rule in ("dempster", "cautious"):
        once = combine([a, b, c], rule)
        steps = combine([combine([a, b], rule, tempering=[1.0, 1.0]), c], rule)
        assert_allclose(once.masses(), steps.masses(), rtol=1e-12)
    nested = combine({"x": combine({"a": a, "b": b}, tempering=[0.5, 2.0]), "c": c})
    assert nested.component_names[0] == "x: a: x0"
    assert_allclose(nested.weights[:, :2], a.weights / 2)


def test_saved_and_loaded(tmp_path: Any) -> None:
    from scipy import sparse

    random = np.random.default_rng(3)
    X = random.normal(size=(4, 3))
    pool = shafer.least_commitment(random.normal(size=(3, 3)), np.zeros(3), classes=list("abc"))
    ab = Evidence.from_weights(random.normal(size=(4, 2, 2)), classes=list("ba"))
    sources = {"dense": pool(X), "sparse": pool(sparse.csr_array(X)), "part": ab}
    for rule in ("dempster", "cautious"):
        both = combine(sources, rule, tempering=[0.5, 1.0, 1.0])
        both.save(tmp_path / "both.npz")
        again = Evidence.load(tmp_path / "both.npz")
        assert again.component_names == both.component_names
        assert_allclose(again.weights, both.weights)
        assert_allclose(again.masses(), both.masses(), rtol=1e-12)


def test_a_factor_for_each_row_of_combined_evidence(tmp_path: Any) -> None:
    random = np.random.default_rng(10)
    factor = np.array([0.5, 0.0, 2.0])
    a, b = (Evidence.from_weights(random.normal(size=(3, 2, 3))) for _ in range(2))
    for rule in ("dempster", "cautious"):
        both = combine([a, b], rule)
        tempered = both.tempered(factor)
        assert_allclose(tempered.weights, both.weights * factor[:, None, None])
        tempered.save(tmp_path / "rows.npz")
        assert_allclose(Evidence.load(tmp_path / "rows.npz").weights, tempered.weights)
        more = combine({"both": tempered, "a": a.tempered(factor)})
        assert_allclose(more.logits, (both.logits + a.logits) * factor[:, None], atol=1e-12)
        assert_allclose(more.weights[:, :4], tempered.weights, atol=1e-12)
        assert_allclose(more[[2, 0]].weights, more.weights[[2, 0]])
        more.save(tmp_path / "more.npz")
        assert_allclose(Evidence.load(tmp_path / "more.npz").weights, more.weights)
    assert_allclose(both.without(list(range(4))).ignorance, 1.0)


def test_features_changed_in_place_are_noticed() -> None:
    X = np.random.default_rng(4).normal(size=(4, 3))
    evidence = shafer.least_commitment(np.eye(3), np.zeros(3))(X)
    both = combine([evidence, evidence], tempering=[0.5, 0.5])
    X[:, 0] += 1.0
    with pytest.raises(ValueError, match="changed in place"):
        both.weights  # noqa: B018 - the access is the test


def test_one_row_is_combined_with_every_row() -> None:
    model = Evidence.from_weights(np.random.default_rng(5).normal(size=(6, 2, 3)))
    statement = Evidence.from_statements("against 2 with weight 1.5", classes=[0, 1, 2])
    both = combine({"model": model, "expert": statement})
    assert len(both) == 6
    assert_allclose(both.weights_against[:, 2], model.weights_against[:, 2] + 1.5)
    assert_array_equal(both.weights_for, model.weights_for)


def test_prior_is_counted_once() -> None:
    random = np.random.default_rng(6)
    prior = np.array([0.7, 0.2, 0.1])
    likelihoods = random.normal(size=(2, 5, 3))
    models = [
        shafer.least_commitment(np.eye(3), np.log(prior), np.ones(3), classes=list("abc"))(z)
        for z in likelihoods
    ]
    result = combine(models, prior=prior)
    posterior = np.log(prior) + likelihoods.sum(axis=0)
    expected = np.exp(posterior) / np.exp(posterior).sum(axis=1, keepdims=True)
    assert_allclose(result.probability, expected, rtol=1e-12)
    assert result.component_names[-1] == "base rate: base rate"
    assert not result.reasons(top=9)["component"].str.startswith("base rate").any()
    assert_allclose(result.base_rate, np.tile(np.log(prior) - np.log(prior).mean(), (5, 1)))
    by_label = combine(models, prior=dict(zip("abc", prior, strict=True)))
    assert_allclose(by_label.logits, result.logits)
    # With no source at all there, the prior is left.
    silent = combine(models, prior=prior, tempering=[0.0, 0.0])
    assert_allclose(silent.probability, np.tile(prior, (5, 1)))
    half = combine(models, prior=prior, tempering=[0.5, 0.0])
    assert_allclose(half.logits, result.logits * 0 + half.logits)
    expected_logits = np.log(prior) + 0.5 * likelihoods[0]
    centred = expected_logits - expected_logits.mean(axis=1, keepdims=True)
    assert_allclose(half.logits, centred, atol=1e-12)
    with pytest.raises(ValueError, match="prior= needs combination='dempster' or 'yager'"):
        combine(models, "cautious", prior=prior)
    with pytest.raises(ValueError, match="prior must be above 0 for every class; got"):
        combine(models, prior=[1.0, 0.0, 0.5])


def test_many_classes_and_huge_weights() -> None:
    random = np.random.default_rng(7)
    evidences = [Evidence.from_weights(random.normal(size=(3, 2, 1000)) * 1e4) for _ in range(3)]
    for rule in ("dempster", "cautious", "yager"):
        for trust in (None, [0.5, 1.0, 0.9]):
            if rule == "cautious" and trust:
                with pytest.raises(shafer.FrameTooLargeError, match="cautious combi.*got 1000"):
                    combine(evidences, rule, reliability=trust)
                continue
            result = combine(evidences, rule, reliability=trust)
            for name in ("belief", "plausibility", "probability", "pignistic", "ignorance"):
                values = getattr(result, name)
                assert np.isfinite(values).all()
                assert (values >= 0).all()
                assert (values <= 1 + 1e-12).all()
            assert_allclose(result.probability.sum(axis=1), 1.0)
    with pytest.raises(shafer.FrameTooLargeError, match="disjunctive"):
        combine(evidences, "disjunctive")


def test_a_hundred_sources_are_quick() -> None:
    random = np.random.default_rng(8)
    evidences = [Evidence.from_weights(random.normal(size=(10_000, 1, 10))) for _ in range(100)]
    start = time.perf_counter()
    result = combine(evidences)
    assert result.belief.shape == (10_000, 10)
    assert time.perf_counter() - start < 1.0
    assert result.n_components == 100


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_tensors_stay_tensors(dtype: Any) -> None:
    random = np.random.default_rng(9)
    weights = [random.normal(size=(4, 2, 3)) for _ in range(2)]
    for rule in ("dempster", "cautious", "yager"):
        numpy_result = combine([Evidence.from_weights(w) for w in weights], rule)
        tensors = [Evidence.from_weights(torch.tensor(w, dtype=dtype)) for w in weights]
        result = combine(tensors, rule, tempering=[1.0, 1.0])
        assert result.belief.dtype == dtype
        assert_allclose(result.belief.numpy(), numpy_result.belief, atol=1e-5)
        tempered = combine(tensors, rule, tempering=[0.5, 0.0])
        assert tempered.belief.dtype == dtype
    mixed = combine([tensors[0], Evidence.from_weights(weights[1])])  # the tensors are followed
    assert mixed.belief.dtype == dtype
    assert_allclose(mixed.belief, combine(tensors).belief, atol=1e-6)


def test_gradients_pass() -> None:
    w = torch.tensor([[[0.5, -0.3, 0.1]]], dtype=torch.float64, requires_grad=True)
    other = Evidence.from_weights(torch.ones((1, 1, 3), dtype=torch.float64))
    combine([Evidence.from_weights(w), other]).belief.sum().backward()
    assert torch.isfinite(w.grad).all()
    assert w.grad.abs().sum() > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(combination="guess"), "combination must be one of 'dempster'"),
        (dict(frame="guess"), "frame must be one of"),
        (dict(granularity="guess"), "granularity must be one of"),
        (dict(reliability=[0.5]), "one entry for each of the 2 sources; got 1"),
        (dict(reliability=[0.5, 1.5]), r"reliability must be in \[0, 1\]; got 1.5"),
        (dict(reliability={"c": 0.5}), "unknown sources"),
        (dict(tempering=[-1.0, 1.0]), "tempering must be ≥ 0; got -1.0"),
        (dict(tempering=np.ones((3, 2))), r"shape \(2, 2\).*got \(3, 2\)"),
        (dict(tempering=[np.ones(3), 1.0]), r"'a' must be a number or have one.*\(3,\)"),
        (dict(prior=[0.5, 0.5]), "one probability for each of the 3 classes"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], message: str) -> None:
    evidence = Evidence.from_weights(np.ones((2, 1, 3)))
    with pytest.raises(ValueError, match=message):
        combine({"a": evidence, "b": evidence}, **arguments)


def test_sources_that_are_refused() -> None:
    evidence = Evidence.from_weights(np.ones((2, 1, 3)))
    with pytest.raises(ValueError, match="at least one source"):
        combine([])
    with pytest.raises(ValueError, match="sequence of Evidence or a mapping"):
        combine(evidence)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'a' must be evidence; got ndarray"):
        combine({"a": np.ones(3)})
    with pytest.raises(ValueError, match="same number of rows.*'b' has 2 rows and another has 3"):
        combine({"a": Evidence.from_weights(np.ones((3, 1, 3))), "b": evidence})
    with pytest.raises(ValueError, match="evidence of single components"):
        combine([evidence.components, evidence])
    with pytest.raises(ValueError, match="A source is called 'base rate'"):
        combine({"base rate": evidence}, prior=[0.2, 0.3, 0.5])
    with pytest.raises(ValueError, match="11 sources have a reliability below 1.*tempering="):
        combine([evidence] * 11, reliability=[0.5] * 11)


def test_sources_whose_names_read_the_same_are_refused() -> None:
    ev = Evidence.from_weights(np.zeros((1, 1, 2)))
    with pytest.raises(ValueError, match=r"must differ as text; got \[1, '1'\]"):
        combine({1: ev, "1": ev})


def test_components_stay_distinct(tmp_path: Any) -> None:
    a = Evidence.from_weights(np.ones((1, 1, 2)), names=["b: c"])
    b = Evidence.from_weights(np.zeros((1, 1, 2)), names=["c"])
    result = combine({"a": a, "a: b": b})
    assert result.component_names == ("a: b: c (1)", "a: b: c (2)")
    result.save(tmp_path / "both.npz")
    assert Evidence.load(tmp_path / "both.npz").component_names == result.component_names


def test_a_torch_model_is_combined_with_an_expert_and_a_prior() -> None:
    weights = np.random.default_rng(0).normal(size=(3, 2, 3))
    expert = Evidence.from_statements("for 1 with weight 1.2", classes=[0, 1, 2])
    expected = combine([Evidence.from_weights(weights), expert], prior=[0.2, 0.3, 0.5])
    model = Evidence.from_weights(torch.tensor(weights, dtype=torch.float32))
    result = combine([model, expert], prior=[0.2, 0.3, 0.5])
    assert result.belief.dtype == torch.float32
    assert_allclose(result.belief, expected.belief, atol=1e-6)


def test_former_names_still_work() -> None:
    sources = [Evidence.from_weights(w) for w in np.random.default_rng(0).normal(size=(2, 3, 2, 3))]
    with pytest.warns(FutureWarning, match=r"rule=\) is now called combine\(combination="):
        assert_array_equal(
            combine(sources, rule="cautious").weights, combine(sources, "cautious").weights
        )
    for old, new in (("sources", "sources"), ("all", "components")):
        with pytest.warns(FutureWarning, match=r"components=\) is now called .*granularity="):
            names = combine(sources, components=old).component_names
        assert names == combine(sources, granularity=new).component_names


@pytest.mark.parametrize("options", [{}, {"reliability": 0.5}, {"combination": "disjunctive"}])
def test_row_labels_are_kept(options: dict[str, Any]) -> None:
    weights = np.random.default_rng(0).normal(size=(2, 3, 2, 3))
    plain, labelled = (Evidence.from_weights(w) for w in weights)
    expert = Evidence.from_statements("for 1 with weight 0.5", classes=[0, 1, 2]).with_index(["x"])
    result = combine([expert, plain, labelled.with_index(list("abc"))], **options)
    assert result.to_frame("pandas").index.tolist() == ["a", "b", "c"]
    assert combine([plain, expert], **options).index is None


# Priors and reliabilities with labels are read by label, never by position.


RNG = np.random.default_rng(0)
A, B = (Evidence.from_weights(RNG.normal(size=(6, 2, 3)), classes=["x", "y", "z"]) for _ in "ab")
SOURCES = {"a": A, "b": B}


@pytest.mark.parametrize(
    "prior",
    [
        {"z": 0.5, "x": 0.2, "y": 0.3},
        pd.Series({"z": 0.5, "x": 0.2, "y": 0.3}),
        pd.Series(list("zzzzzxxyyy")).value_counts(normalize=True),
        pd.Series([0.2, 0.3, 0.5]),  # only numbered
    ],
)
def test_priors(prior: Any) -> None:
    wanted = combine(SOURCES, prior=[0.2, 0.3, 0.5]).probability
    assert_allclose(combine(SOURCES, prior=prior).probability, wanted)


def test_numbers_that_are_labels() -> None:
    sources = [Evidence.from_weights(A.weights, classes=[2, 1, 0])]
    wanted = combine(sources, prior=[0.5, 0.3, 0.2]).probability
    assert_allclose(combine(sources, prior=pd.Series([0.2, 0.3, 0.5])).probability, wanted)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (pd.Series({"x": 0.5, "y": 0.5}), r"none for \['z'\]"),
        ({"x": 0.2, "y": 0.3, "z": 0.4, "q": 0.1}, r"unknown classes \['q'\].*\['x', 'y', 'z'\]"),
        (pd.Series([0.2, 0.3, 0.5], index=["x", "x", "y"]), "labels of a Series must differ"),
    ],
)
def test_wrong_labels(prior: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        combine(SOURCES, prior=prior)


@pytest.mark.parametrize("option", ["reliability", "tempering"])
@pytest.mark.parametrize(
    "numbers",
    [
        {"b": 0.3, "a": 0.9},
        pd.Series({"b": 0.3, "a": 0.9}),
        pd.Series([0.9, 0.3]),
        pd.DataFrame({"b": [0.3] * 6, "a": [0.9] * 6}),
        pl.DataFrame({"b": [0.3] * 6, "a": [0.9] * 6}),
        pd.DataFrame([[0.9, 0.3]] * 6),
    ],
)
def test_numbers_by_source(option: str, numbers: Any) -> None:
    wanted = combine(SOURCES, **{option: [0.9, 0.3]}).belief
    assert_allclose(combine(SOURCES, **{option: numbers}).belief, wanted)


# Combined evidence without weights: mixtures, tables, and both as sources again.


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
