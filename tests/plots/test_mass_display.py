from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

import shafer
from shafer.plots import MassDisplay

Make = Callable[..., shafer.Evidence]


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
    display = MassDisplay(sets, np.array([0.6, 0.2, 0.2]), classes).plot(max_classes=3)
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names[-1] == "the other 98"
    assert "7" in names
    styles = {line.get_fillstyle() for line in display.ax_.lines if len(line.get_xdata())}
    assert "bottom" in styles or len(names) == 3
    with pytest.raises(ValueError, match="max_classes must be at least 2; got 1"):
        display.plot(max_classes=1)


@pytest.mark.parametrize("classes", [2, 3, 4, 10, 100, 1000])
@pytest.mark.parametrize("top", [1, 10, 25])
def test_any_size(make: Make, drawn_well: Callable[..., None], classes: int, top: int) -> None:
    display = MassDisplay.from_evidence(make(1, 3, classes), top=top).plot()
    drawn_well(display)
    assert_allclose(_bars(display)[: len(display.sets)], display.masses)
    assert_allclose(_bars(display).sum(), 1.0, atol=0.001)  # a bar for all other sets together
    assert 1 <= len(display.sets) <= top


def _bars(display: MassDisplay) -> np.ndarray:
    """Return the lengths of the bars, which lie where classes are few and else stand."""
    lying = len(display.classes) <= 3
    bars = [patch for patch in display.ax_.patches if abs(_breadth(patch, lying) - 0.67) < 0.02]
    return np.array([bar.get_width() if lying else bar.get_height() for bar in bars])


def _breadth(patch: Any, lying: bool) -> float:
    return float(patch.get_height() if lying else patch.get_width())


@pytest.mark.parametrize("classes", [3, 6])
@pytest.mark.parametrize("size", [0.0, 1e4])
def test_hostile_weights(drawn_well: Callable[..., None], classes: int, size: float) -> None:
    weights = size * np.eye(classes)[None]
    evidence = shafer.Evidence.from_weights(weights)
    display = MassDisplay.from_evidence(evidence).plot()
    drawn_well(display)
    assert_allclose(_bars(display), display.masses)
    for members, mass in zip(display.sets, display.masses, strict=True):
        assert_allclose(mass, evidence.mass_of(members)[0])
    assert_allclose(display.masses.sum(), 1.0)
    assert (display.names == ("Θ",)) == (size == 0.0)


def test_wrong_use() -> None:
    with pytest.raises(ValueError, match=r"each of 1 sets, at least one; got shape \(2,\)"):
        MassDisplay([{0}], np.array([0.5, 0.5]), np.arange(2))
    with pytest.raises(ValueError, match="top must be a positive integer; got 0"):
        MassDisplay.from_evidence(shafer.Evidence.from_weights(np.ones((1, 1, 2))), top=0)
