from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

import shafer
from shafer.plots import IntervalDisplay

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
    pooled.plot(max_classes=2)  # the last bar is for two classes, both possible
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
    display = IntervalDisplay.from_evidence(evidence).plot(max_classes=4)
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert len(names) == 4
    assert names[-1].startswith("the other 97")
    order = np.argsort(-evidence.plausibility[0])
    rest = _bars(display)[-1]  # spans all the others
    assert_allclose(rest.get_x(), evidence.belief[0, order[3:]].min())
    assert_allclose(rest.get_x() + rest.get_width(), evidence.plausibility[0, order[3]])
    with pytest.raises(ValueError, match="max_classes must be at least 2; got 1"):
        display.plot(max_classes=1)


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
        "bar: belief to plausibility, not a confidence interval\nwidth of the bar = ignorance"
    )


@given(st.integers(2, 6), st.integers(1, 4), st.integers(0, 2**32 - 1), st.floats(0.01, 30.0))
def test_what_the_note_states(classes: int, components: int, seed: int, size: float) -> None:
    """Never above plausibility; with two classes of a model never below belief."""
    weights = size * np.random.default_rng(seed).normal(size=(20, components, classes))
    weights -= weights.mean(axis=2, keepdims=True)
    evidence = shafer.Evidence.from_weights(weights)
    assert (evidence.probability <= evidence.plausibility + 1e-12).all()
    if classes == 2:
        assert (evidence.probability >= evidence.belief - 1e-12).all()
