"""Sources that do not know the same classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

import shafer
from shafer import Evidence, belief, combine
from shafer.fusion import FiniteEvidence

RANDOM = np.random.default_rng(0)


def source(classes: Any, n: int = 2, seed: int = 0) -> Evidence:
    weights = np.random.default_rng(seed).normal(size=(n, 2, len(classes)))
    return Evidence.from_weights(weights, classes=classes)


def mass_function(evidence: Evidence, row: int) -> belief.MassFunction:
    return belief.MassFunction(belief.Frame(evidence.classes.tolist()), evidence.masses()[row])


def test_classes_are_matched_by_label() -> None:
    first, second = source(list("abc")), source(list("cab"), seed=1)
    result = combine([first, second])
    assert result.classes.tolist() == ["a", "b", "c"]
    assert_allclose(result.logits, first.logits + second.logits[:, [1, 2, 0]])
    other_order = combine([first, second], classes=list("cba"))
    assert_allclose(other_order.logits, result.logits[:, ::-1])
    assert_allclose(other_order.mass_of(["a", "c"]), result.mass_of(["a", "c"]))


@pytest.mark.parametrize("rule", ["dempster", "cautious"])
def test_a_source_that_knows_some_classes_contributes_only_there(rule: str) -> None:
    whole, part = source(list("abcd")), source(list("cb"), seed=1)
    result = combine({"whole": whole, "part": part}, rule)
    frame = belief.Frame(["a", "b", "c", "d"])
    for i in range(2):
        said = belief.MassFunction.vacuous(frame)
        for w in part.weights[i]:
            for label, weight in zip("cb", w, strict=True):
                focus = [label] if weight > 0 else [x for x in "abcd" if x != label]
                piece = belief.MassFunction.simple(focus, frame, weight=abs(weight))
                said = belief.dempster(said, piece)
        expected = getattr(belief, rule)(mass_function(whole, i), said)
        assert_allclose(result.masses()[i], expected.masses, atol=1e-12)
    assert_array_equal(combine([part], classes=list("abc")).weights[..., 0], 0.0)


def test_ballooned_sources_say_nothing_of_classes_they_do_not_know() -> None:
    whole, part = source(list("abcd")), source(list("cb"), seed=1)
    result = combine([whole, part], frame="balloon")
    assert isinstance(result, FiniteEvidence)
    frame = belief.Frame(["a", "b", "c", "d"])
    for i in range(2):
        small = mass_function(part, i)
        said = belief.MassFunction.from_dict(
            {tuple(sorted({*members, "a", "d"})): m for members, m in small.focal_sets.items()},
            frame,
        )
        given_back = said.conditioned_on(["b", "c"])  # what was known before is known again
        assert_allclose(given_back.mass_of("b"), small.mass_of("b"))
        assert_allclose(said.contour[[0, 3]], 1.0)
        expected = belief.dempster(mass_function(whole, i), said)
        assert_allclose(result.masses()[i], expected.masses, atol=1e-12)
    # An owl shown to a source that tells cats from dogs.
    sure = Evidence.from_weights([[[5.0, -5.0]]], classes=["cat", "dog"])
    matched = combine([sure], classes=["cat", "dog", "owl"])
    ballooned = combine([sure], classes=["cat", "dog", "owl"], frame="balloon")
    assert matched.probability[0, 2] < 0.01
    assert ballooned.probability[0, 2] == pytest.approx(0.5, abs=0.01)
    same = combine([whole, source(list("dcba"))], frame="balloon")
    assert isinstance(same, Evidence)  # all know all: nothing to balloon


@pytest.mark.parametrize("rule", ["dempster", "cautious", "disjunctive"])
def test_coarser_classes_spread_to_sets(rule: str) -> None:
    fine = source(["cat", "dog", "owl", "eel"])
    coarse = source(["mammal", "owl", "eel"], seed=1)
    result = combine([fine, coarse], rule, coarse={"mammal": ["cat", "dog"]})
    frame = belief.Frame(["cat", "dog", "owl", "eel"])
    stands_for = {"mammal": ["cat", "dog"], "owl": ["owl"], "eel": ["eel"]}
    for i in range(2):
        spread = belief.MassFunction.from_dict(
            {
                tuple(label for member in members for label in stands_for[member]): m
                for members, m in mass_function(coarse, i).focal_sets.items()
            },
            frame,
        )
        expected = getattr(belief, rule)(mass_function(fine, i), spread)
        assert_allclose(result.masses()[i], expected.masses, atol=1e-12)


def test_tuples_of_classes_explain_themselves() -> None:
    fine, coarse = source(["a", "b", "c"]), source([("a", "b"), "c"], seed=1)
    result = combine([fine, coarse])
    named = Evidence.from_weights(coarse.weights, classes=["ab", "c"])
    expected = combine([fine, named], coarse={"ab": ["a", "b"]})
    assert result.classes.tolist() == ["a", "b", "c"]
    assert_allclose(result.masses(), expected.masses())
    sets = Evidence.from_weights(coarse.weights, classes=[frozenset("ab"), "c"])
    assert_allclose(combine([fine, sets]).masses(), expected.masses())


def test_large_frames_are_refused_where_sets_must_be_listed() -> None:
    many = Evidence.from_weights(np.zeros((1, 1, 20)))
    few = Evidence.from_weights(np.zeros((1, 1, 2)), classes=["low", 19])
    coarse = {"low": range(19)}
    with pytest.raises(shafer.FrameTooLargeError, match="stand for several.*16 classes.*got 20"):
        combine([many, few], coarse=coarse)
    part = Evidence.from_weights(np.zeros((1, 1, 2)))
    with pytest.raises(shafer.FrameTooLargeError, match="with frame='balloon', have no closed"):
        combine([many, part], frame="balloon")
    assert combine([many, part]).n_classes == 20


def test_what_is_refused() -> None:
    fine = source(["a", "b", "c"])
    with pytest.raises(ValueError, match="has an entry for 'z', but no source has this class"):
        combine([fine], coarse={"z": ["a"]})
    with pytest.raises(ValueError, match="classes must hold all classes.*'c'. are missing"):
        combine([fine], classes=["a", "b"])
    with pytest.raises(ValueError, match="must not overlap; after replacing"):
        combine([fine, source(["ab", "bc"])], coarse={"ab": ["a", "b"], "bc": ["b", "c"]})
    with pytest.raises(ValueError, match="stands for 'ab', which stands for other classes"):
        combine([fine, source(["ab", "x"])], coarse={"ab": ["a", "b"], "x": ["ab", "c"]})
    with pytest.raises(ValueError, match="got none"):
        combine([fine, source(["ab", "c"])], coarse={"ab": []})
    with pytest.raises(ValueError, match="Evidence with the same classes"):
        combine([fine, source(["a", "b"])], prior=[0.2, 0.3, 0.5])


@pytest.mark.parametrize("rule", ["dempster", "cautious", "disjunctive", "dubois_prade"])
def test_a_source_without_a_class_does_not_rule_it_out(rule: str) -> None:
    # Outside the closed forms too, weights stand as claims in the joined frame.
    whole, part = source(list("abcd")), source(list("cb"), seed=1)
    grown = combine([part], classes=list("abcd"))
    for options in ({}, {"reliability": [0.9, 0.8]}, {"tempering": {"part": 0.5}}):
        result = combine({"whole": whole, "part": part}, rule, **options)
        expected = combine({"whole": whole, "part": grown}, rule, **options)
        assert_allclose(result.masses(), expected.masses(), atol=1e-12)
        assert result.plausibility.min() > 0.01


def test_a_coarse_source_without_a_class_does_not_rule_it_out() -> None:
    coarse = Evidence.from_weights([[[0.5, -0.7]]], classes=["mammal", "owl"])
    classes = ["cat", "dog", "owl", "eel"]
    result = combine([coarse], coarse={"mammal": ["cat", "dog"]}, classes=classes)
    frame = belief.Frame(classes)
    expected = belief.dempster(
        belief.MassFunction.simple(["cat", "dog"], frame, weight=0.5),
        belief.MassFunction.simple(["cat", "dog", "eel"], frame, weight=0.7),
    )
    assert_allclose(result.masses()[0], expected.masses, atol=1e-12)


def test_masses_without_weights_must_know_all_classes() -> None:
    part = FiniteEvidence.from_statements("for a with support 0.5", classes=list("ab"))
    whole = source(list("abc"))
    with pytest.raises(
        ValueError, match="'source 1'.*FiniteEvidence, which has no weights. Use frame='balloon'"
    ):
        combine([part, whole])
    ballooned = combine([part, whole], frame="balloon")
    frame = belief.Frame(list("abc"))
    said = belief.MassFunction.simple(["a", "c"], frame, support=0.5)
    for i in range(2):
        expected = belief.dempster(said, mass_function(whole, i))
        assert_allclose(ballooned.masses()[i], expected.masses, atol=1e-12)


def test_influence_of_sources_with_coarser_classes() -> None:
    fine = source(["cat", "dog", "owl"])
    coarse = source(["mammal", "owl"], seed=1)
    meaning = {"mammal": ["cat", "dog"]}
    found = shafer.fusion.influence({"fine": fine, "coarse": coarse}, coarse=meaning)
    assert_allclose(found.without[1].masses(), fine.masses(), atol=1e-12)
    alone = combine([coarse], coarse=meaning, classes=["cat", "dog", "owl"])
    assert_allclose(found.without[0].masses(), alone.masses(), atol=1e-12)
    tuples = Evidence.from_weights(coarse.weights, classes=[("cat", "dog"), "owl"])
    again = shafer.fusion.influence({"fine": fine, "coarse": tuples})
    assert_allclose(again.probability_change, found.probability_change)


def test_sources_that_share_no_class_must_be_meant() -> None:
    numbers, texts = source([0, 1]), source(["0", "1"])
    with pytest.raises(
        ValueError, match=r"'source 1' has the classes \[0, 1\], and no other source"
    ):
        combine([numbers, texts])
    meant = combine([numbers, texts], classes=[0, 1, "0", "1"])
    assert meant.classes.tolist() == [0, 1, "0", "1"]


def test_ballooned_conflict_stays_on_the_empty_set() -> None:
    rng = np.random.default_rng(4)
    part = Evidence.from_weights(rng.normal(size=(3, 4, 2)), classes=["a", "b"])
    whole = Evidence.from_weights(rng.normal(size=(3, 4, 3)), classes=["a", "b", "c"])
    result = combine([part, whole], "bold", frame="balloon")
    frame = belief.Frame(["a", "b", "c"])
    for i in range(3):
        rows = []
        for evidence, places in ((part, [0, 0b101, 0b110, 0b111]), (whole, range(8))):
            masses = np.zeros(8)
            masses[places] = evidence.masses()[i] * (1.0 - evidence.conflict[i])
            masses[0] = evidence.conflict[i]
            rows.append(belief.MassFunction(frame, masses))
        expected = belief.bold(*rows).masses
        assert_allclose(result.conflict[i], expected[0])
        assert_allclose(result.masses()[i, 1:], expected[1:] / (1.0 - expected[0]), atol=1e-12)


def test_frozen_models_with_other_names_of_the_same_classes() -> None:
    X, y = np.array([[-1.0], [1.0]] * 10), np.array([0, 1] * 10)
    names = np.array(["stay", "churn"])
    sources = [("a", LogisticRegression().fit(X, y)), ("b", LogisticRegression().fit(X, names[y]))]
    clf = shafer.EvidentialVotingClassifier([(n, FrozenEstimator(m)) for n, m in sources])
    with pytest.raises(ValueError, match=r"'a' has the labels \[0, 1\], .*Train the models with"):
        clf.fit(X, names[y])
    renamed = shafer.Explainer(sources[0][1], X, classes=["stay", "churn"])
    other = shafer.Explainer(sources[1][1], X)
    fused = shafer.fusion.combine({"a": renamed(X), "b": other(X)}, tempering=[0.5, 0.5])
    assert fused.classes[fused.probability.argmax(axis=1)].tolist() == names[y].tolist()
