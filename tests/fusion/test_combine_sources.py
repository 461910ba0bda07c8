"""``combine``: components, priors, tensors, files, and what is refused."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

import shafer
from shafer import Evidence, combine


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
    assert result.component_names[-1] == "prior: prior"
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
    with pytest.raises(ValueError, match="A source is called 'prior'"):
        combine({"prior": evidence}, prior=[0.2, 0.3, 0.5])
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
