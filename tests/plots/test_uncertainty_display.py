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
from shafer.plots import UncertaintyDisplay
from shafer.plots.uncertainty_display import isoprobability, within_bounds

Make = Callable[..., shafer.Evidence]


def test_coordinates_and_colours(make: Make, kind: Callable[[Any], Any]) -> None:
    evidence = make(30)
    y_true = evidence.classes[np.arange(30) % 3]
    display = UncertaintyDisplay.from_evidence(kind(evidence), y_true)
    assert_allclose(display.ignorance, evidence.ignorance)
    assert_allclose(display.conflict, evidence.conflict)
    assert_allclose(display.disagreement, evidence.disagreement)
    assert_array_equal(display.right, evidence.classes[evidence.logits.argmax(axis=1)] == y_true)
    assert_array_equal(display.set_sizes, evidence.decide("interval_dominance").sum(axis=1))
    ax = Figure().subplots()
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.get_figure()
    words = {text.get_text().strip("↖↙↘ ") for text in ax.texts}
    assert {"lacking", "disagreeing", "decisive"} <= words
    drawn = np.concatenate([np.asarray(p.get_offsets()) for p in ax.collections])
    assert_allclose(np.sort(drawn[:, 1]), np.sort(evidence.disagreement))
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == [f"right ({display.right.sum()})", f"wrong ({(~display.right).sum()})"]


def test_set_sizes(make: Make) -> None:
    evidence = make(200, 3, 10).tempered(0.3)
    display = UncertaintyDisplay.from_evidence(evidence).plot()
    found = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    sizes = np.unique(display.set_sizes)
    assert len(found) == min(4, len(sizes))
    assert display.ax_.get_legend().get_title().get_text() == "classes decided on"
    drawn = sum(len(points.get_offsets()) for points in display.ax_.collections)
    assert drawn == 200
    assert len({len(p.get_paths()[0].vertices) for p in display.ax_.collections}) > 1  # markers


@given(
    st.floats(0.0, 20.0, allow_subnormal=False),
    st.floats(0.0, 20.0, allow_subnormal=False),
)
def test_lines_of_equal_probability(first: float, second: float) -> None:
    """Evidence of weight a for one class and b for the other lies on the line of its odds."""
    weights = np.array([[[first / 2, -first / 2], [-second / 2, second / 2]]])
    evidence = shafer.Evidence.from_weights(weights)
    probability = 1.0 / (1.0 + np.exp(-abs(first - second)))
    log_ignorance, weight = isoprobability(probability, np.array([min(first, second)]))
    assert_allclose(np.log(evidence.ignorance), log_ignorance, rtol=1e-6, atol=1e-9)
    assert_allclose(evidence.weight_of_conflict, weight, rtol=1e-6, atol=1e-9)
    assert within_bounds(evidence.ignorance, evidence.weight_of_conflict)


def test_lines_are_for_two_classes(make: Make) -> None:
    two = UncertaintyDisplay.from_evidence(make(10, 3, 2)).plot()
    three = UncertaintyDisplay.from_evidence(make(10, 3, 3)).plot()
    assert len(two.ax_.lines) == 5
    assert len(three.ax_.lines) == 0
    # Discounted evidence can be lacking and conflicting at once: the lines would be wrong.
    beyond = UncertaintyDisplay(np.array([0.9]), np.array([0.5]), n_classes=2).plot()
    assert len(beyond.ax_.lines) == 0


def test_a_single_component_does_not_disagree() -> None:
    """With three classes one component has conflict by itself; it cannot contradict itself."""
    weights = [[[1.5, 1.0, -2.5]], [[0.2, -0.1, -0.1]]]
    evidence = shafer.Evidence.from_weights(weights)
    display = UncertaintyDisplay.from_evidence(evidence).plot(scale="linear")
    assert display.conflict[0] > 0.3
    assert_allclose(_points(display)[:, 1], 0.0)


def test_combined_evidence_keeps_its_conflict() -> None:
    first = shafer.Evidence.from_weights([[[1.0, -1.0]], [[0.5, -0.5]]])
    second = shafer.Evidence.from_weights([[[-2.0, 2.0]], [[0.5, -0.5]]])
    mixed = shafer.combine({"a": first, "b": second}, reliability={"b": 0.5})
    display = UncertaintyDisplay.from_evidence(mixed).plot(scale="linear")
    assert display.disagreement is None
    assert display.ax_.get_ylabel().startswith("conflict: ")
    assert_allclose(np.sort(_points(display)[:, 1]), np.sort(mixed.conflict))
    assert "conflicting" in {text.get_text().strip("↖↙↘ ") for text in display.ax_.texts}


def test_no_lines_where_components_of_two_classes_have_conflict() -> None:
    """Weights from elsewhere may support both classes: the lines hold for the conflict."""
    weights = np.abs(np.random.default_rng(0).normal(size=(5, 2, 2)))
    evidence = shafer.Evidence.from_weights(weights)
    assert (evidence.disagreement < evidence.conflict - 0.01).any()
    assert len(UncertaintyDisplay.from_evidence(evidence).plot().ax_.lines) == 0


def test_crowded_points_are_moved_apart(make: Make) -> None:
    evidence = make(50, 1000, 2).tempered(20.0)
    display = UncertaintyDisplay.from_evidence(evidence).plot()
    assert "logarithmic" in display.ax_.get_xlabel()
    assert "weight of disagreement" in display.ax_.get_ylabel()
    points = np.concatenate([p.get_offsets() for p in display.ax_.collections])
    assert_allclose(np.sort(points[:, 0]), np.sort(np.log10(evidence.ignorance)))
    assert_allclose(np.sort(points[:, 1]), np.sort(evidence.weight_of_conflict))
    name = "ignorance: lack of evidence"
    assert display.plot(scale="linear").ax_.get_xlabel() == name
    assert UncertaintyDisplay.from_evidence(make(50, 3, 2)).plot().ax_.get_xlabel() == name


def test_ignorance_that_underflows() -> None:
    """With weights a and b for the two classes, ln m(Θ) = −a − b − ln(e⁻ᵃ + e⁻ᵇ − e⁻ᵃ⁻ᵇ)."""
    weights = np.array([[[5000.0, -5000.0], [-4000.0, 4000.0]]])
    display = UncertaintyDisplay.from_evidence(shafer.Evidence.from_weights(weights))
    assert display.ignorance[0] == 0.0
    assert_allclose(display.log_ignorance, -10_000.0 - 8000.0 + 8000.0)
    display.plot().figure_.canvas.draw()


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("truth", [True, False])
def test_density(make: Make, scale: str, truth: bool) -> None:
    evidence = make(4500, 3, 2)
    y_true = evidence.classes[np.arange(4500) % 2] if truth else None
    display = UncertaintyDisplay.from_evidence(evidence, y_true).plot(scale=scale)
    assert display.ax_.get_legend() is None
    (cells,) = display.ax_.collections
    shares = np.asarray(cells.get_array())
    assert 1 < len(shares) < 1000
    assert (shares.min() >= 0.0) if truth else (shares.min() >= 1.0)
    few = UncertaintyDisplay.from_evidence(evidence[:50]).plot(density=True)
    assert few.ax_.get_legend() is None


@pytest.mark.parametrize("classes", [2, 3, 10, 100])
@pytest.mark.parametrize("components", [1, 30, 1000])
def test_any_size(
    make: Make, drawn_well: Callable[..., None], classes: int, components: int
) -> None:
    evidence = make(3, components, classes)
    display = UncertaintyDisplay.from_evidence(evidence).plot()
    drawn_well(display)
    assert_allclose(np.sort(_points(display)[:, 1]), np.sort(_heights(display, evidence)))
    _every_point_is_inside(display)


def _points(display: UncertaintyDisplay) -> np.ndarray:
    return np.concatenate([np.asarray(p.get_offsets()) for p in display.ax_.collections])


def _heights(display: UncertaintyDisplay, evidence: shafer.Evidence) -> np.ndarray:
    log = "weight" in display.ax_.get_ylabel()
    return evidence.weight_of_disagreement if log else evidence.disagreement


def _every_point_is_inside(display: UncertaintyDisplay) -> None:
    ax = display.ax_
    for values, (low, high) in zip(_points(display).T, (ax.get_xlim(), ax.get_ylim()), strict=True):
        assert low <= values.min()
        assert values.max() <= high


@pytest.mark.parametrize("truth", [True, False])
def test_small_values_are_seen(drawn_well: Callable[..., None], truth: bool) -> None:
    """Where all ignorance is below .13, the axis ends there and its name gives its end."""
    random = np.random.default_rng(0)
    weight = random.normal([1.6, 0.8, -0.1], [0.2, 0.3, 0.08], size=(100, 3))
    weights = np.stack([-weight, weight], axis=2)
    evidence = shafer.Evidence.from_weights(weights, classes=["no", "yes"])
    assert 0.01 < evidence.ignorance.max() < 0.13
    y_true = ["yes"] * 100 if truth else None
    display = UncertaintyDisplay.from_evidence(evidence, y_true).plot(scale="linear")
    drawn_well(display)
    left, right = display.ax_.get_xlim()
    assert evidence.ignorance.max() <= right < 2.6 * evidence.ignorance.max()
    end = f"(axis ends at {right / 1.02:g}, not 1)"
    assert display.ax_.get_xlabel() == f"ignorance: lack of evidence {end}"
    name = "disagreement: components contradict each other"
    assert display.ax_.get_ylabel() == name  # which is not small
    assert display.ax_.get_ylim()[1] > 1.0
    assert left < 0.0
    _every_point_is_inside(display)


@pytest.mark.parametrize(
    ("largest", "end"),
    [(0.13, 0.15), (0.2, 0.2), (0.21, 0.3), (0.249, 0.3), (0.25, 1.0), (0.9, 1.0), (0.0, 1.0),
     (0.04, 0.05), (1e-9, 1.0)],
)  # fmt: skip
def test_ends_of_the_axes(largest: float, end: float) -> None:
    values = np.array([0.0, largest])
    display = UncertaintyDisplay(values, values[::-1]).plot(scale="linear")
    for name, high in (
        (display.ax_.get_xlabel(), display.ax_.get_xlim()[1] / 1.02),
        (display.ax_.get_ylabel(), display.ax_.get_ylim()[1] / 1.085),
    ):
        assert_allclose(high, end)
        assert ("axis ends at" in name) == (end < 1.0)
    _every_point_is_inside(display)


@pytest.mark.parametrize("scale", ["auto", "linear", "log"])
@pytest.mark.parametrize("size", [0.0, 1.0, 1e4])
def test_hostile_weights(drawn_well: Callable[..., None], scale: str, size: float) -> None:
    weights = size * np.array([[[1.0, -1.0], [-1.0, 1.0]], [[1.0, -1.0], [1.0, -1.0]]])
    evidence = shafer.Evidence.from_weights(weights)
    for rows in (evidence, evidence[0]):
        display = UncertaintyDisplay.from_evidence(rows).plot(scale=scale)
        drawn_well(display)
        assert len(_points(display)) == len(rows)
        assert np.isfinite(_points(display)).all()
        _every_point_is_inside(display)
        if scale == "linear":
            order = np.argsort(display.set_sizes, kind="stable")
            assert_allclose(_points(display)[:, 0], rows.ignorance[order])
            assert_allclose(_points(display)[:, 1], rows.conflict[order])


def test_from_arrays_alone() -> None:
    display = UncertaintyDisplay(np.array([0.1, 0.9]), np.array([1.0, 0.0]))
    assert np.isfinite(display.weight_of_conflict).all()
    assert display.plot().ax_.get_legend() is None
    display.plot(density=True)


def test_wrong_use(make: Make) -> None:
    with pytest.raises(ValueError, match=r"each of the 5 rows of evidence; got shape \(1,\)"):
        UncertaintyDisplay.from_evidence(make(), ["class 1 <$&>"])
    with pytest.raises(ValueError, match="Unknown class label"):
        UncertaintyDisplay.from_evidence(make(), list("abcab"))
    with pytest.raises(ValueError, match="scale must be one of 'auto', .* got 'cubic'"):
        UncertaintyDisplay.from_evidence(make()).plot(scale="cubic")
