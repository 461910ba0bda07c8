"""Displays of a few rows: intervals, masses, one unit, sources in conflict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

import shafer
from shafer import Evidence
from shafer.evidence import LinearPool, least_commitment
from shafer.fusion import conflict_between
from shafer.plots import IntervalDisplay, MassDisplay, SourceConflictDisplay, UnitDisplay

Make = Callable[..., shafer.Evidence]


def _bars(display: IntervalDisplay) -> list[Any]:
    return [bar for container in display.ax_.containers for bar in container]


def test_intervals_and_decisions(make: Make, kind: Callable[[Any], Any]) -> None:
    evidence = make()
    display = IntervalDisplay.from_evidence(kind(evidence), rule="pignistic")
    for name in ("belief", "plausibility", "probability", "pignistic"):
        assert_allclose(getattr(display, name), getattr(evidence, name))
    assert_array_equal(display.chosen, evidence.decide("pignistic"))
    assert_array_equal(display.dominated, ~evidence.decide("interval_dominance"))
    display.plot(Figure().subplots())


def test_picture(make: Make) -> None:
    evidence = make()
    ax = Figure().subplots()
    display = IntervalDisplay.from_evidence(evidence[0])
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.get_figure()
    bars = _bars(display)
    assert_allclose([bar.get_x() for bar in bars], evidence.belief[0])
    assert_allclose([bar.get_x() + bar.get_width() for bar in bars], evidence.plausibility[0])
    names = ax.get_yticklabels()
    assert [name.get_text() for name in names] == [rf"class {k} <\$&>" for k in range(3)]
    bold = [name.get_fontweight() == "bold" for name in names]
    assert bold == evidence.decide("interval_dominance")[0].tolist()
    assert {text.get_text() for text in ax.get_legend().get_texts()} >= {
        "probability",
        "still possible",
    }


def test_three_looks() -> None:
    """A class may be neither decided on nor dominated, where one class must be chosen."""
    display = IntervalDisplay(
        np.array([0.3, 0.2, 0.0]),
        np.array([0.8, 0.7, 0.1]),
        np.array([0.5, 0.44, 0.06]),
        np.array([0.53, 0.44, 0.03]),
        chosen=np.array([True, False, False]),
        classes=["a", "b", "c"],
    ).plot(legend=False)
    assert display.ax_.get_legend() is None
    assert display.dominated.tolist() == [[False, False, True]]
    legend = [text.get_text() for text in display.plot(pignistic=True).ax_.get_legend().get_texts()]
    assert legend[:3] == ["decided", "possible, not decided", "ruled out"]
    assert legend[3:] == ["probability", "pignistic", "largest belief"]
    pooled = IntervalDisplay([[0.3, 0.2, 0.2]], [[0.8, 0.7, 0.4]], [[0.4] * 3], [[0.3] * 3])
    pooled.plot(top=2)  # the last bar is for two classes, both possible
    legend = [text.get_text() for text in pooled.ax_.get_legend().get_texts()]
    assert legend == ["still possible", "some still possible", "probability", "largest belief"]
    assert pooled.ax_.get_yticklabels()[-1].get_text() == "the other 2 (2 still possible)"
    assert len({bar.get_facecolor() for bar in _bars(display)}) == 3


def test_several_instances(make: Make) -> None:
    display = IntervalDisplay.from_evidence(make(3), names=["Ann", "Ben", "Cyd"]).plot()
    assert {"Ann", "Ben", "Cyd"} <= {text.get_text() for text in display.ax_.texts}
    assert len(display.ax_.get_yticks()) == 9
    with pytest.raises(ValueError, match="names must hold 3 names of instances; got 1"):
        IntervalDisplay.from_evidence(make(3), names=["Ann"])
    with pytest.raises(ValueError, match="At most 24 instances fit into one picture; got 30"):
        IntervalDisplay.from_evidence(make(30))


def test_many_classes(make: Make) -> None:
    evidence = make(1, 3, 100)
    display = IntervalDisplay.from_evidence(evidence).plot(top=4)
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert len(names) == 4
    assert names[-1].startswith("the other 97")
    order = np.argsort(-evidence.plausibility[0])
    rest = _bars(display)[-1]  # spans all the others
    assert_allclose(rest.get_x(), evidence.belief[0, order[3:]].min())
    assert_allclose(rest.get_x() + rest.get_width(), evidence.plausibility[0, order[3]])
    with pytest.raises(ValueError, match="top must be at least 2; got 1"):
        display.plot(top=1)


@pytest.mark.parametrize("classes", [2, 3, 10, 100, 1000])
@pytest.mark.parametrize("components", [1, 30, 1000])
def test_any_size(
    make: Make, drawn_well: Callable[..., None], classes: int, components: int
) -> None:
    if classes * components > 10**5:
        components = 30
    evidence = make(2, components, classes)
    display = IntervalDisplay.from_evidence(evidence).plot()
    drawn_well(display)
    _bars_are_the_intervals(display, evidence)


def _bars_are_the_intervals(display: IntervalDisplay, evidence: shafer.Evidence) -> None:
    """Each instance's classes in their order, or the nine most plausible and all others."""
    bars = display.ax_.patches
    bars = [bar for bar in bars if bar.get_height() < 0.9]  # not the shade of decided classes
    expected = []
    for belief, plausibility in zip(evidence.belief, evidence.plausibility, strict=True):
        order = np.arange(len(belief))
        if len(belief) > 10:
            order = np.argsort(-plausibility, kind="stable")
            rest = order[9:]
            order = order[:9]
        expected += [(belief[k], plausibility[k]) for k in order]
        if len(belief) > 10:
            expected.append((belief[rest].min(), plausibility[rest].max()))
    found = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars]
    assert_allclose(found, expected, atol=1e-12)
    low, high = display.ax_.get_xlim()
    assert low <= 0.0
    assert max(end for _, end in expected) <= high


@pytest.mark.parametrize("size", [0.0, 1e4])
def test_hostile_weights(drawn_well: Callable[..., None], size: float) -> None:
    weights = size * np.array([[[1.0, -1.0, 0.0], [1.0, 0.0, -1.0]]])
    evidence = shafer.Evidence.from_weights(weights)
    display = IntervalDisplay.from_evidence(evidence).plot()
    drawn_well(display)
    _bars_are_the_intervals(display, evidence)
    # Nothing is known, or all is: no class is dominated, or all but the first.
    assert display.dominated.tolist() == [[False, size > 0, size > 0]]


def test_a_probability_below_belief_is_marked(drawn_well: Callable[..., None]) -> None:
    """Much mass on sets of the other classes makes the sum of the plausibilities large."""
    weights = [[[1.0, 0.0, 0.0, 0.0, 0.0]], [[0.2, 0.0, 0.0, 0.0, -0.2]]]
    evidence = shafer.Evidence.from_weights(weights, classes=list("abcde"))
    assert evidence.probability[0, 0] < evidence.belief[0, 0]
    display = IntervalDisplay.from_evidence(evidence).plot()
    drawn_well(display)
    assert display.below_belief.tolist() == (evidence.probability < evidence.belief - 5e-4).tolist()
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names[:5] == ["a *", "b", "c", "d", "e"]
    note = display.ax_.get_xlabel()
    assert "* The probability is the normalised plausibility." in note
    assert "below belief, but never above plausibility" in note
    joined = [line.get_xdata() for line in display.ax_.lines if np.ptp(line.get_ydata()) == 0]
    joined = [x for x in joined if len(x) == 2]
    assert_allclose(joined[0], [evidence.probability[0, 0], evidence.belief[0, 0]])
    plain = IntervalDisplay.from_evidence(evidence[1]).plot()
    assert not plain.below_belief.any()
    assert plain.ax_.get_xlabel() == (
        "bar: belief to plausibility, not a confidence interval\n"
        "width of the bar = mass on sets of this class and others"
    )
    two = IntervalDisplay.from_evidence(Evidence.from_weights([[[0.3, -0.3]]])).plot()
    assert two.ax_.get_xlabel().endswith("\nwidth of the bar = ignorance")


@given(st.integers(2, 6), st.integers(1, 4), st.integers(0, 2**32 - 1), st.floats(0.01, 30.0))
def test_what_the_note_states(classes: int, components: int, seed: int, size: float) -> None:
    """Never above plausibility; with two classes of a model never below belief."""
    weights = size * np.random.default_rng(seed).normal(size=(20, components, classes))
    weights -= weights.mean(axis=2, keepdims=True)
    evidence = shafer.Evidence.from_weights(weights)
    assert (evidence.probability <= evidence.plausibility + 1e-12).all()
    if classes == 2:
        assert (evidence.probability >= evidence.belief - 1e-12).all()


# Mass display.


def test_masses_are_the_evidences(make: Make, kind: Callable[[Any], Any]) -> None:
    evidence = make(classes=5)
    display = MassDisplay.from_evidence(kind(evidence), 2, top=6)
    assert len(display.sets) == 6
    for members, mass in zip(display.sets, display.masses, strict=True):
        assert_allclose(mass, evidence[2].mass_of(members)[0])
    assert (np.diff(display.masses) <= 0).all()
    assert_allclose(display.rest, 1.0 - np.sort(evidence[2].masses()[0])[-6:].sum())
    display.plot(Figure().subplots())


def test_few_classes_are_named() -> None:
    weights = np.array([[[0.5, -0.5]]])
    evidence = shafer.Evidence.from_weights(weights, classes=["no", "yes"])
    ax = Figure().subplots()
    display = MassDisplay.from_evidence(evidence)
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert [text.get_text() for text in ax.get_yticklabels()] == ["{no}", "Θ (ignorance)"]
    assert_allclose([bar.get_width() for bar in ax.patches], display.masses)
    assert [text.get_text() for text in ax.texts] == [f"{mass:.2f}" for mass in display.masses]


def test_sides_of_the_evidence_are_drawn(make: Make) -> None:
    evidence = make(classes=4)[:1]
    drawn = MassDisplay.from_evidence(evidence.negative, top=16).plot(Figure().subplots())
    against = np.flatnonzero(evidence.weights_against[0] > 0)
    denied = {evidence.classes[k] for k in against}
    assert all(set(evidence.classes) - members <= denied for members in drawn.sets)
    drawn = MassDisplay.from_evidence(evidence.positive, top=16).plot(Figure().subplots())
    assert sorted({len(members) for members in drawn.sets}) == [1, 4]


def test_other_sets_have_a_bar(make: Make) -> None:
    display = MassDisplay.from_evidence(make(), top=2).plot()
    assert [text.get_text() for text in display.ax_.get_yticklabels()][-1] == "other sets"
    assert_allclose(display.ax_.patches[-1].get_width(), display.rest)


def test_dots_say_which_classes() -> None:
    classes = list("abcde")
    sets = [{"a"}, {"b", "d"}, set(classes)]
    display = MassDisplay(sets, np.array([0.5, 0.3, 0.2]), np.array(classes)).plot()
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == classes
    heights = dict(zip(display.ax_.get_yticks(), classes, strict=True))
    full = [
        line for line in display.ax_.lines if line.get_marker() == "o" and not line.get_alpha() < 1
    ]
    dots = {
        (int(x), heights[y])
        for line in full
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    }
    assert dots == {(s, c) for s, members in enumerate(sets) for c in members}
    colors = [bar.get_facecolor() for bar in display.ax_.patches[:3]]
    assert len(set(colors)) == 3  # one class, several, all of them


def test_many_classes_share_a_line() -> None:
    classes = np.arange(100)
    sets = [{3}, {3, 7}, set(range(100)) - {3}]
    display = MassDisplay(sets, np.array([0.6, 0.2, 0.2]), classes).plot(top=3)
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names[-1] == "the other 98"
    assert "7" in names
    styles = {line.get_fillstyle() for line in display.ax_.lines if len(line.get_xdata())}
    assert "bottom" in styles or len(names) == 3
    with pytest.raises(ValueError, match="top must be at least 2; got 1"):
        display.plot(top=1)


@pytest.mark.parametrize("classes", [2, 3, 4, 10, 100, 1000])
@pytest.mark.parametrize("top", [1, 10, 25])
def test_any_size_of_mass_display(
    make: Make, drawn_well: Callable[..., None], classes: int, top: int
) -> None:
    display = MassDisplay.from_evidence(make(1, 3, classes), top=top).plot()
    drawn_well(display)
    assert_allclose(_mass_bars(display)[: len(display.sets)], display.masses)
    assert_allclose(_mass_bars(display).sum(), 1.0, atol=0.001)  # a bar for all other sets together
    assert 1 <= len(display.sets) <= top


def _mass_bars(display: MassDisplay) -> np.ndarray:
    """Return the lengths of the bars, which lie where classes are few and else stand."""
    lying = len(display.classes) <= 3
    bars = [patch for patch in display.ax_.patches if abs(_breadth(patch, lying) - 0.67) < 0.02]
    return np.array([bar.get_width() if lying else bar.get_height() for bar in bars])


def _breadth(patch: Any, lying: bool) -> float:
    return float(patch.get_height() if lying else patch.get_width())


@pytest.mark.parametrize("classes", [3, 6])
@pytest.mark.parametrize("size", [0.0, 1e4])
def test_hostile_weights_of_mass_display(
    drawn_well: Callable[..., None], classes: int, size: float
) -> None:
    weights = size * np.eye(classes)[None]
    evidence = shafer.Evidence.from_weights(weights)
    display = MassDisplay.from_evidence(evidence).plot()
    drawn_well(display)
    assert_allclose(_mass_bars(display), display.masses)
    for members, mass in zip(display.sets, display.masses, strict=True):
        assert_allclose(mass, evidence.mass_of(members)[0])
    assert_allclose(display.masses.sum(), 1.0)
    assert (display.names == ("Θ",)) == (size == 0.0)


def test_wrong_use() -> None:
    with pytest.raises(ValueError, match=r"each of 1 sets, at least one; got shape \(2,\)"):
        MassDisplay([{0}], np.array([0.5, 0.5]), np.arange(2))
    with pytest.raises(ValueError, match="top must be a positive integer; got 0"):
        MassDisplay.from_evidence(shafer.Evidence.from_weights(np.ones((1, 1, 2))), top=0)


# Unit display.


def test_masses_are_the_units_own() -> None:
    random = np.random.default_rng(0)
    pool = least_commitment(random.normal(size=(3, 4)), random.normal(size=3), np.ones(4))
    grid = np.linspace(np.zeros(4), np.full(4, 3.0), 31)
    evidence = pool(grid)
    sets = [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]]
    display = UnitDisplay.from_evidence(evidence, 2, grid[:, 2], sets=sets)
    own = evidence.components
    for position, members in enumerate(sets):
        assert_allclose(display.masses[:, position], own.mass_of(members)[:, 2], atol=1e-12)
    assert display.sets[-1] == "Θ"


def test_picture_of_unit_display() -> None:
    pool = least_commitment(np.array([[1.0], [-1.0], [0.0]]), np.zeros(3), [0.5], names=["unit 7"])
    outputs = np.linspace(0.0, 2.0, 11)
    instances = {"a": np.array([0.0, 0.1]), "b": np.array([1.0]), "c": np.array([2.0, 1.9])}
    ax = Figure().subplots()
    display = UnitDisplay.from_evidence(
        pool(outputs[:, None]), "unit 7", outputs, instances=instances
    ).plot(ax)
    assert display.ax_ is ax
    assert ax.get_xlabel() == "output of unit 7"
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    sets = [name.replace("Θ", "Θ (ignorance)") for name in display.sets]
    assert legend == [*sets, "instances: a", "instances: b", "instances: c"]
    assert [len(line.get_xdata()) for line in ax.lines[-3:]] == [2, 1, 2]
    assert ax.get_ylim()[0] < -0.1  # room for the strips


def test_any_number_of_classes(pool: LinearPool) -> None:
    outputs = np.linspace(0.0, 2.0, 21)
    display = UnitDisplay.from_evidence(pool(np.column_stack([outputs] * 3)), 0, outputs)
    display.plot(legend=False).figure_.canvas.draw()
    assert display.ax_.get_legend() is None


def test_few_sets_are_pooled() -> None:
    random = np.random.default_rng(3)
    pool = least_commitment(random.normal(size=(6, 1)), random.normal(size=6))
    outputs = np.linspace(-2.0, 2.0, 21)
    display = UnitDisplay.from_evidence(pool(outputs[:, None]), 0, outputs, top=3)
    assert len(display.sets) == 4
    assert display.sets[-1] == "other sets"
    assert_allclose(display.masses.sum(axis=1), 1.0)


@pytest.mark.parametrize("outputs", [[0.0], [[0.0, 1.0]]])
def test_wrong_outputs(outputs: list[float]) -> None:
    pool = least_commitment(np.eye(3), np.zeros(3))
    with pytest.raises(ValueError, match="values must have"):
        UnitDisplay.from_evidence(pool(np.zeros((2, 3))), 0, outputs)


# Source conflict display.


def sources(n_sources: int = 3) -> dict[str, Evidence]:
    random = np.random.default_rng(0)
    return {
        f"source {s} <$&>": Evidence.from_weights(random.normal(size=(5, 2, 4)))
        for s in range(n_sources)
    }


def test_degrees_are_those_measured() -> None:
    conflict = conflict_between(sources())
    mean = SourceConflictDisplay.from_evidences(sources())
    assert_allclose(mean.degrees, conflict.degrees.mean(axis=0))
    assert mean.total == pytest.approx(conflict.total.mean())
    one = SourceConflictDisplay.from_conflict(conflict, row=-1)
    assert_allclose(one.degrees, conflict.degrees[4])
    assert one.what == "instance 4"
    tempered = SourceConflictDisplay.from_evidences(sources(), tempering=[0.0, 1.0, 1.0])
    assert_allclose(tempered.degrees[0], 0.0, atol=1e-12)
    with pytest.raises(ValueError, match="row must be a whole number from 0 to 4; got 5"):
        SourceConflictDisplay.from_conflict(conflict, row=5)
    with pytest.raises(ValueError, match="row must be a whole number from 0 to 4; got 'last'"):
        SourceConflictDisplay.from_conflict(conflict, row="last")  # type: ignore[arg-type]


def test_picture_of_source_conflict_display() -> None:
    ax = Figure().subplots()
    display = SourceConflictDisplay.from_evidences(sources(), 2).plot(ax, colorbar=False)
    assert display.ax_ is ax
    written = [text.get_text() for text in ax.texts]
    assert written[:2] == ["–", f"{display.degrees[0, 1]:.2f}"]
    assert len(written) == 9
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        rf"source {s} <\$&>" for s in range(3)
    ]
    assert ax.get_title() == f"conflict of all together: {display.total:.2f}; instance 2"
    assert np.isnan(np.asarray(ax.images[0].get_array().filled(np.nan)).diagonal()).all()


def test_many_sources_on_a_dark_ground() -> None:
    with pyplot.style.context("dark_background"):
        display = SourceConflictDisplay.from_evidences(sources(20)).plot()
        display.figure_.canvas.draw()
    assert not display.ax_.texts
    assert "mean of 5 instances" in display.ax_.get_title()
    assert SourceConflictDisplay(np.zeros((2, 2)), "ab").plot().ax_.get_title() == ""
