"""The curves of errors against imprecision and coverage, and the calibration of intervals."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

import shafer
from shafer import metrics
from shafer.plots import ErrorImprecisionDisplay, IntervalCalibrationDisplay, RiskCoverageDisplay


def _case(n_classes: int, n: int = 200) -> tuple[np.ndarray, shafer.Evidence]:
    random = np.random.default_rng(n_classes)
    y_true = random.integers(n_classes, size=n)
    weights = random.normal(size=(n, 3, n_classes))
    weights[np.arange(n), :, y_true] += 1.0
    return y_true, shafer.Evidence.from_weights(weights - weights.mean(axis=-1, keepdims=True))


def _legend(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_error_and_imprecision() -> None:
    y_true, ev = _case(3)
    y_set = ev.decide("interval_dominance")
    ax = Figure().subplots()
    display = ErrorImprecisionDisplay.from_predictions(
        y_true, ev.probability, name="p $", rules={"ID": y_set}
    )
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.get_figure()
    assert not pyplot.get_fignums()
    curve = metrics.error_imprecision_curve(y_true, ev.probability)
    assert_allclose(ax.lines[0].get_xdata(), curve.imprecision)
    assert_allclose(ax.lines[0].get_ydata(), curve.error)
    assert display.area == metrics.error_imprecision_area(y_true, ev.probability)
    assert ax.lines[1].get_xdata()[0] == metrics.mean_imprecision(y_set)
    assert ax.lines[1].get_ydata()[0] == metrics.set_error_rate(y_true, y_set)
    again = ErrorImprecisionDisplay.from_predictions(y_true, ev.belief, name="belief").plot(ax)
    assert _legend(ax) == [
        rf"p \$ (area {display.area:.3f})",
        "ID",
        f"belief (area {again.area:.3f})",
    ]
    styles = {(line.get_linestyle(), line.get_color()) for line in ax.lines}
    assert len(styles) == 3


def test_risk_and_coverage() -> None:
    y_true, ev = _case(3)
    predicted, confidence = ev.probability.argmax(axis=1), ev.probability.max(axis=1)
    display = RiskCoverageDisplay.from_predictions(y_true, predicted, confidence).plot()
    assert display.area == metrics.risk_coverage_area(y_true, predicted, confidence)
    assert display.excess == metrics.excess_risk_coverage_area(y_true, predicted, confidence)
    curve = metrics.risk_coverage_curve(y_true, predicted, confidence)
    assert_allclose(display.ax_.lines[1].get_xdata()[1:], curve.coverage)
    assert_allclose(display.ax_.lines[1].get_ydata()[1:], curve.risk)
    assert display.ax_.get_ylim()[1] > curve.risk[-1]
    other = RiskCoverageDisplay.from_predictions(
        y_true, predicted, -np.asarray(ev.ignorance), name="ignorance"
    ).plot(display.ax_)
    assert _legend(other.ax_) == [
        f"area {display.area:.3f}, excess {display.excess:.3f}",
        f"ignorance (area {other.area:.3f}, excess {other.excess:.3f})",
    ]


def test_the_first_rows_do_not_set_the_scale() -> None:
    wrong = np.zeros(100, dtype=int)
    wrong[0] = 1  # the most confident row is an error
    display = RiskCoverageDisplay.from_predictions(np.zeros(100), wrong, -np.arange(100)).plot()
    assert display.risk[0] == 1.0
    assert display.ax_.get_ylim()[1] == pytest.approx(1.15 * 0.2)


def test_interval_calibration() -> None:
    y_true, ev = _case(3)
    display = IntervalCalibrationDisplay.from_predictions(
        y_true, ev.belief, ev.plausibility, n_bins=5, name="ev"
    ).plot()
    found = metrics.interval_calibration(y_true, ev.belief, ev.plausibility, n_bins=5)
    bars = display.ax_.collections[0].get_segments()
    assert_allclose([bar[:, 1] for bar in bars], np.stack([found.belief, found.plausibility], 1))
    title = f"ev: {found.inside.sum()} of 5 inside, mean width {found.mean_width:.3f}"
    assert display.ax_.get_title() == title
    marks = {line.get_marker(): len(line.get_xdata()) for line in display.ax_.lines}
    assert marks.get("o", 0) == found.inside.sum()
    assert marks.get("X", 0) == (~found.inside).sum()
    every = IntervalCalibrationDisplay.from_predictions(
        y_true, ev.belief, ev.plausibility, events="every"
    ).plot(legend=False)
    assert every.ax_.get_ylabel() == "frequency"
    assert every.ax_.get_legend() is None


@pytest.mark.parametrize("n_classes", [2, 10, 100])
@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_any_number_of_classes(n_classes: int, style: str) -> None:
    y_true, ev = _case(n_classes)
    best = ev.probability.argmax(axis=1)
    with pyplot.style.context(style):
        for display in (
            ErrorImprecisionDisplay.from_predictions(y_true, ev.probability, labels=ev.classes),
            RiskCoverageDisplay.from_predictions(y_true, best, ev.probability.max(axis=1)),
            IntervalCalibrationDisplay.from_predictions(
                y_true, ev.belief, ev.plausibility, labels=ev.classes
            ),
        ):
            display.plot().figure_.canvas.draw()


def test_perfect_decisions_and_a_single_row() -> None:
    for n in (1, 20):
        y_true = np.arange(n) % 3
        p = np.where(np.eye(3)[y_true], 0.8, 0.1)
        display = ErrorImprecisionDisplay.from_predictions(
            y_true, p, labels=[0, 1, 2], rules={"crisp": p > 0.5}
        ).plot(legend=False)
        assert (display.area, display.rules["crisp"]) == (0.0, (0.0, 0.0))
        assert display.ax_.get_xlim()[1] > 1.0
        assert RiskCoverageDisplay.from_predictions(y_true, y_true, p[:, 0]).plot().area == 0.0
        calibration = IntervalCalibrationDisplay.from_predictions(y_true, p, p, labels=[0, 1, 2])
        calibration.plot().figure_.canvas.draw()
