"""Evidence: shapes, rows, groups, missing components, tempering, decisions, and many classes."""

from __future__ import annotations

import pickle
import tracemalloc
from dataclasses import replace
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import shafer
from shafer._checks import to_numpy
from shafer.decision.policy import Cutoff, LeastLoss

# The face: shapes, rows, groups, missing components, tempering, decisions.


N, G, K = 7, 5, 4
ABOUT_CLASSES = (
    "logits",
    "weights_for",
    "weights_against",
    "probability",
    "plausibility",
    "belief",
    "pignistic",
)
ABOUT_INSTANCES = ("ignorance", "conflict", "weight_of_conflict", "conflict_for_against")


@pytest.fixture
def arrays() -> tuple[Any, ...]:
    rng = np.random.default_rng(5)
    return rng.normal(size=(K, G)), rng.normal(size=K), rng.normal(size=G), rng.normal(size=(N, G))


@pytest.fixture(params=["dense", "linear", "sparse", "torch", "strict"])
def ev(request: pytest.FixtureRequest, arrays: tuple[Any, ...]) -> shafer.Evidence:
    coef, intercept, means, features = arrays
    options = {"classes": list("abcd"), "names": [f"f{g}" for g in range(G)]}
    if request.param == "torch":
        coef, intercept, means, features = (torch.asarray(array) for array in arrays)
    elif request.param == "strict":
        coef, intercept, means, features = (array_api_strict.asarray(a) for a in arrays)
    elif request.param == "sparse":
        features = sparse.csr_array(features)
    evidence = shafer.least_commitment(coef, intercept, means, **options)(features)
    if request.param == "dense":
        return shafer.Evidence.from_weights(evidence.weights, **options)
    return evidence


def reference(arrays: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """Least commitment written out: w = z* − μ + b/J."""
    coef, intercept, means, features = arrays
    beta = coef - coef.mean(axis=0)
    b = intercept - intercept.mean() + beta @ means
    return (features - means)[:, :, None] * beta.T + b / G


def test_weights(ev: shafer.Evidence, arrays: tuple[Any, ...]) -> None:
    weights = to_numpy(ev.weights)
    assert_allclose(weights, reference(arrays), rtol=1e-9, atol=1e-12)
    assert_allclose(weights.sum(axis=2), 0, atol=1e-12)
    assert_allclose(weights.sum(axis=1), to_numpy(ev.logits), atol=1e-12)
    assert_allclose(np.clip(weights, 0, None).sum(axis=1), to_numpy(ev.weights_for), atol=1e-12)
    assert_allclose(np.clip(-weights, 0, None).sum(1), to_numpy(ev.weights_against), atol=1e-12)


def test_softmax_identity(ev: shafer.Evidence, arrays: tuple[Any, ...]) -> None:
    coef, intercept, _, features = arrays
    logits = features @ coef.T + intercept
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    assert_allclose(to_numpy(ev.probability), odds / odds.sum(axis=1, keepdims=True), rtol=1e-12)


def test_shapes(ev: shafer.Evidence) -> None:
    assert (len(ev), ev.n_components, ev.n_classes) == (N, G, K)
    assert ev.weights.shape == (N, G, K)
    for name in ABOUT_CLASSES:
        assert getattr(ev, name).shape == (N, K), name
        assert getattr(ev.components, name).shape == (N, G, K), name
    for name in ABOUT_INSTANCES:
        assert getattr(ev, name).shape == (N,), name
        assert getattr(ev.components, name).shape == (N, G), name
    assert ev.masses().shape == (N, 2**K)
    assert ev.decide().shape == (N, K)
    assert len(ev.focal_sets(3)) == N


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        (3, [3]),
        (-1, [6]),
        (np.int64(2), [2]),
        (slice(1, 4), [1, 2, 3]),
        (slice(None, None, -2), [6, 4, 2, 0]),
        ([5, 0, 5], [5, 0, 5]),
        (np.arange(N) % 2 == 1, [1, 3, 5]),
        (torch.arange(N) < 2, [0, 1]),
        (slice(0), []),
    ],
)
def test_rows(ev: shafer.Evidence, rows: Any, kept: list[int]) -> None:
    part = ev[rows]
    assert len(part) == len(kept)
    for name in (*ABOUT_CLASSES, *ABOUT_INSTANCES, "weights"):
        assert_array_equal(to_numpy(getattr(part, name)), to_numpy(getattr(ev, name))[kept])


def test_rows_that_are_not_there(ev: shafer.Evidence) -> None:
    with pytest.raises(IndexError):
        ev[N]
    with pytest.raises(IndexError):
        ev[np.array([True])]
    with pytest.raises(IndexError):
        ev[[[0, 1], [2, 3]]]


def test_results_are_frozen(arrays: tuple[Any, ...]) -> None:
    coef, intercept, means, features = arrays
    ev = shafer.least_commitment(coef, intercept, means)(features)
    before = ev.belief.copy()
    with pytest.raises(ValueError, match="read-only"):
        ev.belief[0, 0] = 2.0
    with pytest.raises(AttributeError):
        ev.belief = before  # type: ignore[misc]


@pytest.mark.parametrize(("mean", "dtype"), [(1.7e9, "float64"), (1e6, "float32")])
def test_large_means_do_not_look_like_a_change(mean: float, dtype: str) -> None:
    rng = np.random.default_rng(0)
    X = (mean + 100 * rng.normal(size=(50, 50))).astype(dtype)
    means, coef = X.mean(axis=0, dtype=np.float64).astype(dtype), rng.normal(size=(3, 50))
    coef = coef.astype(dtype)
    ev = shafer.least_commitment(coef, -(coef @ means), means)(X)
    assert ev[0].weights.shape == (1, 50, 3)
    assert ev.weights.shape == (50, 50, 3)


@pytest.mark.parametrize("asarray", [np.array, torch.tensor])
def test_features_changed_in_place(asarray: Any, arrays: tuple[Any, ...], tmp_path: Any) -> None:
    coef, intercept, means, features = (asarray(array) for array in arrays)
    ev = shafer.least_commitment(coef, intercept, means)(features)
    fourth = ev[3]  # rows taken are copies
    expected = to_numpy(ev.belief).copy()
    features[2:4] += 0.1
    assert_array_equal(to_numpy(ev.belief), expected)
    assert_allclose(to_numpy(fourth.weights.sum(1)), to_numpy(fourth.logits), atol=1e-12)
    assert ev[0].weights.shape == (1, G, K)
    for use in (
        lambda: ev.weights,
        lambda: ev[2],
        lambda: ev.components,
        lambda: ev.grouped("one"),
        lambda: ev.without("x0"),
        lambda: ev.save(tmp_path / "x"),
        lambda: ev.tempered(0.5).weights,
        lambda: pickle.dumps(ev),
        lambda: pickle.dumps(ev.discounted(0.5)),
    ):
        with pytest.raises(ValueError, match="was changed in place"):
            use()


def test_grouped(ev: shafer.Evidence) -> None:
    coarse = ev.grouped({"pair": ["f0", "f3"], "one": [4]})
    assert coarse.component_names == ("pair", "f1", "f2", "one")
    weights = to_numpy(ev.weights)
    assert_allclose(to_numpy(coarse.weights)[:, 0], weights[:, [0, 3]].sum(1), atol=1e-12)
    assert_allclose(to_numpy(coarse.weights)[:, 2], weights[:, 2], atol=1e-12)
    assert_allclose(to_numpy(coarse.probability), to_numpy(ev.probability), rtol=1e-12)
    assert np.all(to_numpy(coarse.conflict) <= to_numpy(ev.conflict) + 1e-12)
    assert ev.grouped([["f0", 1], (2, "f4")]).component_names == ("f0+f1", "f2+f4", "f3")


def test_one_group_has_no_conflict_within_a_class(ev: shafer.Evidence) -> None:
    one = ev.grouped("one")
    assert one.component_names == ("all",)
    assert_allclose(to_numpy(one.weights_for) * to_numpy(one.weights_against), 0, atol=1e-12)
    assert_allclose(to_numpy(one.probability), to_numpy(ev.probability), rtol=1e-12)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ("some", "'one', 'auto', a mapping or a sequence"),
        ({"a": ["nobody"]}, "Unknown component 'nobody'; the 5 components are 'f0', 'f1'"),
        ({"a": [9]}, "Unknown component 9"),
        ({"a": [1.5]}, "Unknown component 1.5"),
        ({"a": [slice(2)]}, "Unknown component slice"),
        ({"a": ["f0"], "b": [0]}, "component 'f0' is named more than once"),
        ({"a": []}, "group 'a' has no component"),
        ({"f1": ["f0"]}, "no other group, and no component outside the groups"),
        ({1: ["f0"], "1": ["f1"]}, "Each group needs a name that no other group"),
        ({"a": [True, False]}, "Unknown component True"),
        (["f0", "f1"], r"sequence of groups, as in \[\[0, 1\], \[2\]\]; got 'f0'"),
        ([0, 0, 1, 1, 1], "sequence of groups"),
        ([["f0"], ["f0"]], "component 'f0' is named more than once"),
        (None, "'one', a mapping or a sequence; got None"),
    ],
)
def test_bad_groups(ev: shafer.Evidence, groups: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ev.grouped(groups)


def test_without(ev: shafer.Evidence) -> None:
    fewer = ev.without(["f1", 3])
    assert fewer.component_names == ("f0", "f2", "f4")
    left = to_numpy(ev.weights)[:, [0, 2, 4]]
    assert_allclose(to_numpy(fewer.logits), left.sum(axis=1), atol=1e-12)
    assert ev.without("f1").n_components == G - 1
    nothing = ev.without(range(G))
    assert_allclose(to_numpy(nothing.ignorance), 1.0)
    with pytest.raises(ValueError, match="Unknown component 'x'"):
        ev.without("x")


def test_tempered(ev: shafer.Evidence) -> None:
    half = ev.tempered(0.5)
    assert_allclose(to_numpy(half.logits), to_numpy(ev.logits) / 2)
    assert_allclose(to_numpy(half.weights), to_numpy(ev.weights) / 2)
    assert_allclose(to_numpy(half.weights_for), to_numpy(ev.weights_for) / 2)
    assert np.all(to_numpy(half.ignorance) >= to_numpy(ev.ignorance))
    assert_allclose(to_numpy(ev.tempered(0).ignorance), 1.0)
    for factor in (-1.0, np.nan, np.inf, None, "warm"):
        with pytest.raises(ValueError, match="factor must be a finite number"):
            ev.tempered(factor)


LOSS = ((0.0, 9.0, 1.0), (1.0, 0.0, 5.0), (3.0, 4.0, 0.0))
SAME_COMPONENTS = {
    "grouped": lambda ev, path: ev.grouped([["x0", "x1"]]),
    "one group": lambda ev, path: ev.grouped("one"),
    "automatic groups": lambda ev, path: ev.grouped("auto", n_groups=2),
    "without": lambda ev, path: ev.without([]),
    "tempered": lambda ev, path: ev.tempered(1.0),
    "rows": lambda ev, path: ev[:],
    "row labels": lambda ev, path: ev.with_index(range(1, len(ev) + 1)),
    "copied": lambda ev, path: pickle.loads(pickle.dumps(ev)),
    "discounted": lambda ev, path: ev.discounted(1.0),
    "saved": lambda ev, path: (ev.save(path), shafer.Evidence.load(path))[1],
}


@pytest.mark.parametrize("rule", [Cutoff(0.1), Cutoff(0.9, 0), LeastLoss(LOSS)])
@pytest.mark.parametrize("made", SAME_COMPONENTS.values(), ids=SAME_COMPONENTS)
def test_evidence_made_of_evidence_has_its_answers(made: Any, rule: Any, tmp_path: Any) -> None:
    n_classes = 3 if isinstance(rule, LeastLoss) else 2
    weights = np.random.default_rng(0).normal(size=(50, 4, n_classes))
    ev = replace(shafer.Evidence.from_weights(weights), cutoff=rule)
    again = made(ev, tmp_path / "evidence")
    answers = ev.to_frame("pandas")["answer"].tolist()
    assert answers == rule.positions(ev.logits).tolist() != ev.logits.argmax(axis=1).tolist()
    assert again.to_frame("pandas")["answer"].tolist() == answers


def test_sets_by_label(ev: shafer.Evidence) -> None:
    assert_array_equal(to_numpy(ev.mass_of("b")), to_numpy(ev.belief)[:, 1])
    assert_array_equal(to_numpy(ev.commonality_of({"b"})), to_numpy(ev.plausibility)[:, 1])
    assert_allclose(to_numpy(ev.mass_of(list("abcd"))), to_numpy(ev.ignorance))
    assert_allclose(to_numpy(ev.belief_of("abcd".__iter__())), 1.0)
    assert_allclose(to_numpy(ev.plausibility_of(list("abcd"))), 1.0)
    for of, value in (
        (ev.mass_of, 0.0),
        (ev.belief_of, 0.0),
        (ev.plausibility_of, 0.0),
        (ev.commonality_of, 1.0),
    ):
        assert_array_equal(to_numpy(of([])), np.full(N, value))
        with pytest.raises(ValueError, match=r"Unknown class label.*'z'.*'a', 'b', 'c', 'd'"):
            of(["a", "z"])


def test_labels_of_any_kind() -> None:
    weights = np.random.default_rng(0).normal(size=(1, 2, 3))
    for classes in ([10, 20, 30], [True, "x", None], [0.5, 1.5, 2.5], [("a", 1), ("b", 2), "c"]):
        ev = shafer.Evidence.from_weights(weights, classes=classes)
        assert_array_equal(ev.mass_of(classes[1]), ev.belief[:, 1])
        assert_allclose(ev.mass_of([classes[0], classes[2]]), ev.masses()[:, 5])
    ev = shafer.Evidence.from_weights(weights, classes=np.array(["u", "v", "w"]))
    assert_array_equal(ev.belief_of(np.array(["v"])), ev.belief_of("v"))
    numbered = shafer.Evidence.from_weights(weights)
    assert_array_equal(numbered.mass_of(torch.tensor([1])), numbered.belief[:, 1])
    assert_array_equal(numbered.mass_of(np.int64(1)), numbered.belief[:, 1])
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="datetime64[D]")
    dated = shafer.Evidence.from_weights(weights, classes=days)
    assert_array_equal(dated.mass_of(days[2]), dated.belief[:, 2])
    huge = shafer.Evidence.from_weights(weights, classes=[2**63, 1, 2])
    assert_array_equal(huge.mass_of(2**63), huge.belief[:, 0])


@pytest.mark.parametrize("subset", [[True, False, True], np.array([True, False, True]), [[0, 1]]])
def test_masks_are_not_labels(subset: Any) -> None:
    ev = shafer.Evidence.from_weights(np.ones((1, 1, 3)))
    with pytest.raises(ValueError, match="Unknown class label"):
        ev.mass_of(subset)


def test_long_lists_of_labels_are_cut() -> None:
    ev = shafer.Evidence.from_weights(np.ones((1, 1, 1000)))
    with pytest.raises(ValueError, match="and 992 more") as caught:
        ev.mass_of("x")
    assert len(str(caught.value)) < 200


def test_masses_past_the_limit() -> None:
    ev = shafer.Evidence.from_weights(np.ones((2, 1, 40)))
    with pytest.raises(shafer.FrameTooLargeError, match=r"2 × 2\^40 values; at most 2\^26"):
        ev.masses()


@pytest.mark.parametrize("top", [0, -1, 2.5, True, "all"])
def test_bad_top(top: Any) -> None:
    with pytest.raises(ValueError, match="top must be a positive integer"):
        shafer.Evidence.from_weights(np.ones((1, 1, 2))).focal_sets(top)


def test_focal_sets_leave_out_sets_without_mass() -> None:
    vacuous = shafer.Evidence.from_weights(np.zeros((1, 1, 3)), classes=list("abc"))
    assert vacuous.focal_sets() == [[(frozenset("abc"), 1.0)]]


def test_decisions(ev: shafer.Evidence) -> None:
    bel, pl = to_numpy(ev.belief), to_numpy(ev.plausibility)
    expected = np.array([[not (b > p).any() for p in row] for b, row in zip(bel, pl, strict=True)])
    assert_array_equal(to_numpy(ev.decide()), expected)
    assert_array_equal(to_numpy(ev.decide("maximality")), expected)
    for rule, score in (("plausibility", pl), ("belief", bel), ("pignistic", ev.pignistic)):
        chosen = to_numpy(ev.decide(rule))
        assert_array_equal(chosen.sum(axis=1), 1)
        assert_array_equal(chosen.argmax(axis=1), to_numpy(score).argmax(axis=1))
    for rule in ("best", ["belief"], "", 5):
        with pytest.raises(ValueError, match="rule must be one of 'plausibility'.*got"):
            ev.decide(rule)


def test_repr(ev: shafer.Evidence) -> None:
    assert repr(ev) == "<Evidence: 7 instances, 5 components, 4 classes ('a', 'b', 'c', 'd')>"
    many = shafer.Evidence.from_weights(np.ones((1, 1, 9)))
    assert "..." in repr(many)


def test_html_escapes_names(ev: shafer.Evidence) -> None:
    page = shafer.Evidence.from_weights(ev.weights, classes=["<b>", "&", '"', "d"])._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert page.count("<tr>") == 6  # the header and five rows
    assert "7 instances × 5 components, each on its own" in ev.components._repr_html_()
    assert "..." in shafer.Evidence.from_weights(np.zeros((1, 1, 99)))._repr_html_()


# Many classes, many components, weights up to 10^5: finite, ordered, in range, no warnings.


N_CLASSES, N_INPUTS, N_ROWS = 1000, 2000, 4


@pytest.fixture(scope="module", params=["float32", "float64", "torch float32"])
def large(request: pytest.FixtureRequest) -> shafer.Evidence:
    rng = np.random.default_rng(0)
    dtype = request.param.rpartition(" ")[2]
    coef = (
        rng.normal(size=(N_CLASSES, N_INPUTS)) * 2e4
    )  # the largest of 8 million weights is about 10^5
    arrays = (
        coef,
        rng.normal(size=N_CLASSES),
        rng.normal(size=N_INPUTS),
        rng.normal(size=(N_ROWS, N_INPUTS)),
    )
    coef, intercept, means, features = (array.astype(dtype) for array in arrays)
    if request.param.startswith("torch"):
        made: Any = [torch.asarray(array) for array in (coef, intercept, means, features)]
        return shafer.least_commitment(*made[:3])(made[3])
    return shafer.least_commitment(coef, intercept, means)(features)


def test_weights_are_as_large_as_meant(large: shafer.Evidence) -> None:
    assert np.abs(to_numpy(large[0].weights)).max() > 1e5


@pytest.mark.parametrize(
    "name",
    [
        "probability",
        "belief",
        "plausibility",
        "pignistic",
        "ignorance",
        "conflict",
        "conflict_for_against",
    ],
)
def test_in_range(large: shafer.Evidence, name: str) -> None:
    values = getattr(large, name)
    assert values.dtype == large.pooled.logits.dtype
    values = to_numpy(values)
    assert np.isfinite(values).all()
    assert ((values >= 0) & (values <= 1)).all()


def test_order_and_decisions(large: shafer.Evidence) -> None:
    assert bool((large.belief <= large.plausibility).all())
    assert np.isfinite(to_numpy(large.weight_of_conflict)).all()
    for rule in ("interval_dominance", "plausibility", "belief", "pignistic"):
        assert to_numpy(large.decide(rule)).any(axis=1).all()


def test_sets_of_many_classes(large: shafer.Evidence) -> None:
    half = range(0, N_CLASSES, 2)
    other = range(1, N_CLASSES, 2)
    assert np.all(to_numpy(large.belief_of(half)) <= to_numpy(large.plausibility_of(half)))
    np.testing.assert_allclose(
        to_numpy(large.belief_of(half)) + to_numpy(large.plausibility_of(other)), 1.0, rtol=1e-5
    )


def test_focal_sets_of_a_thousand_classes() -> None:
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(2, 5, N_CLASSES))
    weights[1] *= 1e-3
    ev = shafer.Evidence.from_weights(weights - weights.mean(axis=2, keepdims=True))
    for row, found in enumerate(ev.focal_sets(top=20)):
        masses = [mass for _, mass in found]
        assert len(found) == 20
        assert masses == sorted(masses, reverse=True)
        for classes, mass in found:
            np.testing.assert_allclose(mass, ev[row].mass_of(classes)[0], rtol=1e-9)


def test_evidence_does_not_hold_all_weights() -> None:
    coef, features = np.ones((100, 1000)), np.ones((1000, 1000))
    coef[0] = 2.0
    pool = shafer.least_commitment(coef, np.zeros(100))
    tracemalloc.start()
    ev = pool(features)
    assert ev.belief.shape == (1000, 100)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 128e6  # all weights would take 800 MB


def test_the_limit_of_masses_counts_the_rows() -> None:
    ev = shafer.Evidence.from_weights(np.zeros((100, 1, 20)))
    with pytest.raises(shafer.FrameTooLargeError, match=r"100 × 2\^20 values"):
        ev.masses()
    assert ev[:2].masses().shape == (2, 2**20)
