"""The contract of all evidence: shared names, decision rules by definition, every Display."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib import pyplot
from numpy.testing import assert_allclose, assert_array_equal

import shafer
from evidence_types import CLOSE, PAIRS, TYPES, Weights, every_type, made
from rule_oracle import best_by_value, check_rule, expectations, members, risks
from shafer import DiscountedEvidence, Evidence, MassEvidence, combine
from shafer.belief import MassFunction
from shafer.decision import BETTING_RULES, PRECISE_RULES, RULES, owa_weights, set_utility
from shafer.decision.rules import EXPECTATIONS
from shafer.fusion import FiniteEvidence
from shafer.plots import (
    DependenceDisplay,
    IntervalDisplay,
    MassDisplay,
    RegionDisplay,
    SetConfusionDisplay,
    SummaryDisplay,
    UncertaintyDisplay,
    UnitDisplay,
    WaterfallDisplay,
)

# The contract of all evidence: every shared name, rows, tables, text and pickles.


# -- every shared name against the oracle -------------------------------------------------------

BY_CLASS: dict[str, Callable[[MassFunction], Any]] = {
    "belief": lambda m: [m.belief_of([k]) for k in m.frame],
    "plausibility": lambda m: m.contour,
    "probability": lambda m: m.probability,
    "pignistic": lambda m: m.pignistic,
    "ignorance": lambda m: m.masses[-1],
    "lack": lambda m: np.log(np.sum(m.contour)),
    "contradiction": lambda m: -np.log(np.max(m.contour)),
    "surprise": lambda m: -np.log(np.max(m.probability)),
    "masses": lambda m: m.masses,
}
OF_SETS = ("mass_of", "belief_of", "plausibility_of", "commonality_of")
ELSEWHERE = {  # each has a test of its own below
    "classes",
    "n_classes",
    "index",
    "with_index",
    "of",
    "betting_probability",
    "conflict",
    "weight_of_conflict",
    "focal_sets",
    "lower_risk",
    "upper_risk",
    "decide",
    "acts",
    "to_frame",
    "undiscounted",
    "weighed",
}


def test_every_shared_name_is_tested() -> None:
    public = {name for name in dir(MassEvidence) if not name.startswith("_")} | {"classes"}
    assert public == {*BY_CLASS, *OF_SETS, *ELSEWHERE}
    assert inspect.isabstract(MassEvidence)
    assert {cls.__name__ for cls in _concrete(MassEvidence)} == set(TYPES)


def _concrete(kind: type) -> list[type]:
    """Return all subclasses that instances can be made of."""
    below = [found for sub in kind.__subclasses__() for found in _concrete(sub)]
    return below if inspect.isabstract(kind) else [kind, *below]


@every_type
@given(pair=PAIRS)
@settings(max_examples=25)
def test_readings(kind: str, pair: tuple[Weights, Weights]) -> None:
    case = TYPES[kind](*pair)
    ev = case.evidence
    for name, by_definition in BY_CLASS.items():
        found = getattr(ev, name)
        found = found() if callable(found) else found
        assert_allclose(found, [by_definition(m) for m in case.rows], err_msg=name, **CLOSE)
    for name in OF_SETS:
        for inside in members(ev.n_classes):
            subset = np.flatnonzero(inside).tolist()
            expected = [getattr(m, name)(subset) for m in case.rows]
            assert_allclose(getattr(ev, name)(subset), expected, err_msg=name, **CLOSE)
    for found, m in zip(ev.focal_sets(5), case.rows, strict=True):
        largest = np.sort(m.masses)[::-1][: len(found)]
        assert_allclose([entry.mass for entry in found], largest, **CLOSE)
        assert_allclose([m.mass_of(entry.classes) for entry in found], largest, **CLOSE)
    assert_allclose(ev.betting_probability, [m.probability for m in case.bets], **CLOSE)


@every_type
def test_shape_and_conflict(kind: str) -> None:
    ev = made(kind).evidence
    assert (len(ev), ev.n_classes, ev.classes.tolist()) == (6, 3, [0, 1, 2])
    assert ev.conflict.shape == (6,)
    assert ((ev.conflict >= 0) & (ev.conflict <= 1)).all()
    assert_allclose(ev.weight_of_conflict, -np.log1p(-ev.conflict), rtol=1e-12)
    with pytest.raises(ValueError, match="top must be a positive integer; got 0"):
        ev.focal_sets(0)


@every_type
def test_lack_and_contradiction_are_minus_ln_p_of_100_000_rows(kind: str) -> None:
    """Both parts of the sum are exact, and −ln p of the most probable class is too."""
    random = np.random.default_rng(1)
    for n_classes in (2, 3, 4):
        size = np.exp(random.uniform(-6, 3.5, size=(33_334, 1, 1)))
        a, b = size * random.normal(size=(2, 33_334, 2, n_classes))
        ev = BARE[kind](a, b)
        total = -np.log(ev.probability.max(axis=1))
        assert_allclose(ev.lack + ev.contradiction, total, rtol=0, atol=1e-14)
        assert_array_equal(ev.surprise, ev.lack + ev.contradiction)
        assert (np.minimum(ev.lack, ev.contradiction) >= 0.0).all()
        assert (np.maximum(ev.lack, ev.contradiction) <= np.log(n_classes) + 1e-14).all()
        assert_allclose(ev.lack, np.log(ev.plausibility.sum(axis=1)), rtol=0, atol=1e-13)


BARE: dict[str, Callable[[Weights, Weights], MassEvidence]] = {  # without the masses by brute force
    "Evidence": lambda a, _: Evidence.from_weights(a),
    "DiscountedEvidence": lambda a, _: Evidence.from_weights(a).discounted(
        np.linspace(0.0, 1.0, len(a))
    ),
    "MixedEvidence": lambda a, b: combine(
        [Evidence.from_weights(w) for w in (a, b)], reliability=[0.8, 0.6]
    ),
    "FiniteEvidence": lambda a, _: FiniteEvidence(
        table=Evidence.from_weights(a).masses(),
        conflict_mass=np.zeros(len(a)),
        classes=np.arange(a.shape[2]),
    ),
}


def test_small_lack_and_contradiction_keep_their_digits() -> None:
    """ln Σ pl and −ln max pl would both round to zero."""
    ev = Evidence.from_weights([[[60.0, -60.0]], [[0.0, -50.0]], [[-45.0, -45.0]]])
    assert_allclose(ev.lack, [np.exp(-120.0), np.exp(-50.0), 0.5 * np.exp(-45.0)], rtol=1e-12)
    assert_allclose(ev.contradiction, [0.0, 0.0, np.log(2.0)], rtol=1e-14)
    against = Evidence.from_weights([[[60.0, -60.0], [-30.0, 30.0]]])
    assert_allclose(against.surprise, np.exp(-60.0), rtol=1e-12)
    assert against.contradiction[0] > 0.0


def test_one_discount_two_ways() -> None:
    ev = Evidence.from_weights([[[0.9, -0.9], [-0.2, 0.2]]])
    one, other = ev.discounted(0.5), combine([ev], reliability=0.5)
    assert_allclose(one.probability, other.probability, rtol=1e-12)
    assert_allclose(one.probability, [[0.610, 0.390]], atol=5e-4)
    assert_allclose(one.betting_probability, [[0.802, 0.198]], atol=5e-4)


# -- rows, tables, text, pickles ----------------------------------------------------------------


@every_type
def test_rows(kind: str) -> None:
    ev = made(kind).evidence
    for rows in (3, -1, slice(1, 4), [5, 0, 0], np.array([True, False] * 3), np.int64(2)):
        part = ev[rows]
        assert type(part) is type(ev)
        assert_allclose(part.belief, np.atleast_2d(ev.belief[rows]), rtol=1e-14)
        assert_allclose(part.masses(), np.atleast_2d(ev.masses()[rows]), rtol=1e-14)
        assert_allclose(part.conflict, np.atleast_1d(ev.conflict[rows]), rtol=1e-14)
    assert len(ev[[]]) == 0
    assert ev[:0].belief.shape == (0, 3)
    with pytest.raises(IndexError, match="indexed by rows only"):
        ev[np.ones((2, 2), dtype=int)]
    with pytest.raises(IndexError, match=r"label 'p17'.*ev\.of\('p17'\)"):
        ev["p17"]
    with pytest.raises(IndexError):
        ev[17]


@every_type
def test_index_is_kept(kind: str) -> None:
    ev = made(kind).evidence
    assert ev.index is None
    assert ev.to_frame("pandas").index.tolist() == list(range(6))
    for index in (list("uvwxyz"), pd.Index(list("uvwxyz"), name="case")):
        named = ev.with_index(index)
        assert_array_equal(named.belief, ev.belief)
        assert named.to_frame("pandas").index.tolist() == list("uvwxyz")
        assert named[[4, 1]].to_frame("pandas").index.tolist() == ["y", "v"]
        assert named[2].index.tolist() == ["w"]
        assert named.with_index(None).index is None
        assert "<td>u</td>" in named._repr_html_()
        assert_array_equal(named.of("w").belief, ev[[2]].belief)
    assert named.to_frame("pandas").index.name == "case"
    with pytest.raises(ValueError, match="one label for each of the 6 rows of evidence; got 2"):
        ev.with_index([1, 2])
    with pytest.raises(ValueError, match="read-only"):
        ev.with_index(list("uvwxyz")).index[0] = "other"


@every_type
@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_to_frame(kind: str, backend: str) -> None:
    ev = made(kind).evidence
    frame = ev.to_frame(backend)
    table = {
        name: np.asarray(frame[name]) for name in getattr(frame, "column_names", frame.columns)
    }
    bet = {"probability": ev.betting_probability}
    bet |= {name: getattr(ev, name) for name in ("belief", "plausibility", "pignistic")}
    for name, values in bet.items():
        for k in range(3):
            assert_allclose(table[f"{name}_{k}"], values[:, k])
    for name in ("lack", "contradiction", "ignorance", "conflict", "weight_of_conflict"):
        assert_allclose(table[name], getattr(ev, name))
    assert table["answer"].tolist() == np.argmax(ev.betting_probability, axis=1).tolist()


@every_type
def test_text_and_html(kind: str) -> None:
    ev = made(kind).evidence
    assert repr(ev).startswith(f"<{kind}: 6 instances")
    assert "3 classes (0, 1, 2)" in repr(ev)
    page = ev._repr_html_()
    assert page.count("<tr>") == 1 + 5
    assert f"{ev.betting_probability[0].max():.3f}" in page
    assert kind in ev[:0]._repr_html_()


@every_type
def test_pickled(kind: str) -> None:
    ev = made(kind).evidence.with_index(list("uvwxyz"))
    _ = ev.belief, ev.decide("e_admissible")  # what is cached goes along, or not
    again = pickle.loads(pickle.dumps(ev))
    assert type(again) is type(ev)
    assert_array_equal(again.masses(), ev.masses())
    assert again.acts("e_admissible") == ev.acts("e_admissible")
    assert again.index.tolist() == list("uvwxyz")


@every_type
def test_results_cannot_be_written_to(kind: str) -> None:
    ev = made(kind).evidence
    for name in ("belief", "plausibility", "probability", "pignistic"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(ev, name)[0] = 1.0
    with pytest.raises(AttributeError):
        ev.classes = np.arange(3)  # type: ignore[misc]


# -- weights belong to Evidence alone -----------------------------------------------------------


@every_type
def test_the_evidence_behind(kind: str) -> None:
    ev = made(kind).evidence
    plain = ev.evidence if isinstance(ev, DiscountedEvidence) else ev
    assert ev.undiscounted is plain
    assert_array_equal(ev.undiscounted.probability, ev.betting_probability)
    if isinstance(plain, Evidence):
        assert ev.weighed is plain
    else:
        with pytest.raises(ValueError, match=f"needed here, and {kind} has no weights"):
            ev.weighed  # noqa: B018 - the access is the test


def test_a_name_that_nothing_has() -> None:
    with pytest.raises(AttributeError, match="'Evidence' object has no attribute 'beleif'"):
        made("Evidence").evidence.beleif  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("kind", [kind for kind in TYPES if kind != "Evidence"])
def test_names_that_need_weights(kind: str) -> None:
    ev = made(kind).evidence
    advice = "ev.evidence.weights" if kind == "DiscountedEvidence" else "Ask the sources"
    with pytest.raises(AttributeError, match=f"{kind} has no weights. .*{advice}"):
        ev.weights  # type: ignore[attr-defined]  # noqa: B018 - the access is the test
    for name in (
        "component_names",
        "tempered",
        "save",
        "logits",
        "grouped",
        "top_weights",
        "layout",
    ):
        with pytest.raises(AttributeError, match=f"{kind} has no weights, so it has no '{name}'"):
            getattr(ev, name)
    with pytest.raises(AttributeError, match="no attribute 'beleif'"):
        ev.beleif  # type: ignore[attr-defined]  # noqa: B018


# Every decision rule by its definition, over all types of evidence.


OWA = [owa_weights(size, 0.8) for size in (1, 2, 3)]
LOSSES = arrays(float, (3, 4), elements=st.floats(-3, 3).map(lambda x: round(x, 3)))


# Every rule sees every case: to draw a case takes longer than to decide it.


@every_type
@given(pair=PAIRS, loss=LOSSES)
@settings(max_examples=25)
def test_rules(kind: str, pair: tuple[Weights, Weights], loss: Weights) -> None:
    case = TYPES[kind](*pair)
    n_classes = case.evidence.n_classes
    loss = loss[:, :n_classes]
    for rule in RULES:
        if rule == "utility_set":
            continue
        note(rule)
        zero_one, any_loss = case.evidence.decide(rule), case.evidence.decide(rule, loss=loss)
        utility = case.evidence.decide(rule, utility=-loss)
        assert_array_equal(utility, any_loss)
        for i, m in enumerate(case.bets if rule in BETTING_RULES else case.rows):
            check_rule(m, rule, 1.0 - np.eye(n_classes), zero_one[i])
            check_rule(m, rule, loss, any_loss[i])


@every_type
@given(pair=PAIRS, loss=LOSSES, tolerance=st.sampled_from(["u65", "u80", 0.5, 0.7, 1.0]))
@settings(max_examples=25)
def test_best_sets(kind: str, pair: tuple[Weights, Weights], loss: Weights, tolerance: Any) -> None:
    case = TYPES[kind](*pair)
    n_classes = case.evidence.n_classes
    sets = members(n_classes)[1:]
    worth = set_utility(n_classes, tolerance)[sets.sum(axis=1) - 1][:, None] * sets
    # Acts that are worse than some other whatever the class are left out.
    never = loss[:, :n_classes].min(axis=1) > loss[:, :n_classes].max(axis=1).min()
    act_sets = np.array([inside for inside in members(3)[1:] if not inside[never].any()])
    utility = np.array(
        [OWA[inside.sum() - 1] @ -np.sort(loss[inside, :n_classes], axis=0) for inside in act_sets]
    )
    bets = case.bets
    for expectation in EXPECTATIONS:
        note(expectation)
        options = {"expectation": expectation}
        options |= {"alpha": 0.3} if expectation == "hurwicz" else {}
        chosen = case.evidence.decide("utility_set", tolerance=tolerance, **options)
        of_acts = case.evidence.decide(
            "utility_set", loss=loss[:, :n_classes], tolerance=0.8, **options
        )
        for i, m in enumerate(bets):
            best_by_value(expectations(m, worth, expectation), sets, chosen[i])
            best_by_value(expectations(m, utility, expectation), act_sets, of_acts[i])


@every_type
@given(pair=PAIRS, loss=LOSSES)
@settings(max_examples=25)
def test_risks(kind: str, pair: tuple[Weights, Weights], loss: Weights) -> None:
    case = TYPES[kind](*pair)
    loss = loss[:, : case.evidence.n_classes]
    expected = np.array([risks(m.masses, loss) for m in case.rows])
    assert_allclose(case.evidence.lower_risk(loss), expected[:, 0], **CLOSE)
    assert_allclose(case.evidence.upper_risk(loss), expected[:, 1], **CLOSE)


@every_type
def test_rejection(kind: str) -> None:
    case = made(kind, n=20)
    loss = 1.0 - np.eye(3)
    lower, upper = np.moveaxis([risks(m.masses, loss) for m in case.rows], 1, 0)
    bet = 1.0 - np.array([m.pignistic for m in case.rows])
    before_discounting = 1.0 - np.array([m.probability for m in case.bets])
    by_rule = {
        "plausibility": lower,
        "belief": upper,
        "pignistic": bet,
        "expected_loss": before_discounting,
        "hurwicz": 0.5 * (lower + upper),
        "minimax_regret": upper,
    }
    assert set(by_rule) == set(PRECISE_RULES)
    for rule, risk in by_rule.items():
        cost = float(np.median(risk.min(axis=1)))
        rejected = risk.min(axis=1) > cost + 1e-9
        clear = np.abs(risk.min(axis=1) - cost) > 1e-9
        assert rejected[clear].any()
        assert not rejected[clear].all()
        kept = case.evidence.decide(rule, reject=cost)
        assert_array_equal(kept.all(axis=1)[clear], rejected[clear])
        named = case.evidence.acts(rule, loss=loss, reject=cost)
        found = np.array([row == ("reject",) for row in named])
        assert_array_equal(found[clear], rejected[clear])


@every_type
def test_ties_go_to_the_first(kind: str) -> None:
    a = np.array([[[2.0, 0.0, 0.0], [-2.0, 0.0, 0.0]], [[0.1, 0.7, 0.7], [-0.3, 0.7, 0.7]]])
    tied = [[0, 1], [1, 2]]  # of the first row under the pignistic rule, of the second always
    case = TYPES[kind](np.concatenate([a, a[::-1]]), np.concatenate([a, a[::-1]]))
    for rule in PRECISE_RULES:
        for options in ({}, {"loss": 1.0 - np.eye(3)}):
            chosen = case.evidence.decide(rule, **options).argmax(axis=1)
            assert chosen[1] == chosen[2] == tied[1][0]
            alone = [case.evidence[i].decide(rule, **options).argmax() for i in range(4)]
            assert chosen.tolist() == alone


@every_type
def test_unknown_options(kind: str) -> None:
    ev = made(kind).evidence
    with pytest.raises(ValueError, match="rule must be one of 'plausibility'"):
        ev.decide("guess")
    with pytest.raises(TypeError, match="Unknown option 'cost'"):
        ev.acts("belief", cost=1)


def test_large_frames() -> None:
    random = np.random.default_rng(0)
    sources = [Evidence.from_weights(random.normal(size=(2, 2, 20))) for _ in range(2)]
    mixed = combine(sources, reliability=[0.8, 0.6])
    kept = mixed.decide("e_admissible")
    assert (kept <= mixed.decide("maximality")).all()
    assert kept.any(axis=1).all()
    with pytest.raises(shafer.FrameTooLargeError, match="at most 16 classes are accepted; got 20"):
        mixed.decide("utility_set", expectation="lower")
    assert isinstance(combine(sources[:1], reliability=1.0), Evidence)
    assert not isinstance(mixed, FiniteEvidence)


# Every Display over all types of evidence.


matplotlib.use("agg")


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    pyplot.close("all")


@every_type
def test_displays_without_weights(kind: str) -> None:
    ev = made(kind).evidence
    y = ev.classes[ev.decide("plausibility").argmax(axis=1)]
    interval = IntervalDisplay.from_evidence(ev[:3]).plot()
    assert_allclose(interval.belief, ev[:3].belief)
    mass = MassDisplay.from_evidence(ev, 2).plot()
    assert_allclose(mass.masses, [entry.mass for entry in ev[2].focal_sets(10)[0]])
    uncertainty = UncertaintyDisplay.from_evidence(ev, y_true=y).plot()
    assert_allclose(uncertainty.ignorance, ev.ignorance)
    assert uncertainty.right is not None
    assert uncertainty.right.all()
    confusion = SetConfusionDisplay.from_predictions(y, ev.decide(), labels=ev.classes).plot()
    assert confusion.counts.sum() == 6
    for response in ("belief", "plausibility", "mass", "probability", "ignorance", "conflict"):
        region = RegionDisplay.from_evidence(ev, [0.0, 1.0, 2.0], [0.0, 1.0], response)
        assert region.response.shape == (2, 3)
    for rule in RULES:
        drawn = RegionDisplay.from_evidence(ev, [0.0, 1.0, 2.0], [0.0, 1.0], "decision", rule=rule)
        assert_array_equal(drawn.chosen.reshape(6, 3), ev.decide(rule))
    drawn.plot()


@every_type
def test_displays_of_weights(kind: str) -> None:
    ev = made(kind).evidence
    values = np.arange(6.0)
    for draw in (
        lambda: WaterfallDisplay.from_evidence(ev, 1),
        lambda: SummaryDisplay.from_evidence(ev),
        lambda: DependenceDisplay.from_evidence(ev, 0, values),
        lambda: UnitDisplay.from_evidence(ev, 0, values),
    ):
        if kind in ("Evidence", "DiscountedEvidence"):
            draw().plot()
        else:
            with pytest.raises(ValueError, match=f"{kind} has no weights"):
                draw()


def test_the_waterfall_of_discounted_evidence_shows_the_bet() -> None:
    case = made("DiscountedEvidence")
    display = WaterfallDisplay.from_evidence(case.evidence, 0, class_=1)
    assert display.probability == pytest.approx(case.evidence.betting_probability[0, 1])
    assert display.ignorance == pytest.approx(case.evidence.ignorance[0])
