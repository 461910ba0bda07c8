"""Displays of metrics, deferral, confusion of sets and monitors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.testing import assert_allclose
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression

import shafer
from shafer import metrics
from shafer.metrics import set_confusion_matrix
from shafer.plots import (
    DeferralDisplay,
    ErrorImprecisionDisplay,
    IntervalCalibrationDisplay,
    MonitorDisplay,
    RiskCoverageDisplay,
    SetConfusionDisplay,
)
from shafer.plots.set_confusion_display import PooledTable, pooled_table

# The curves of errors against imprecision and coverage, and the calibration of intervals.


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


# The error among decided rows, with its bound.


RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(900, 3))
SITE = np.where(RANDOM.random(900) < 0.3, "a $", "b")
Y = np.where(RANDOM.random(900) < 1 / (1 + np.exp(-3 * X[:, 0])), "sick", "well")
FRAME = pd.DataFrame(X, columns=["p", "q", "r"]).assign(site=SITE)
LOSS = {"sick": {"sick": 1.0, "well": 2.0}, "well": {"sick": 4.0, "well": 1.0}}


@pytest.fixture
def explainer() -> shafer.Explainer:
    model = LogisticRegression().fit(X[:300], Y[:300])
    return shafer.Explainer(model, X[:300], names=["p", "q", "r"])


def test_the_curve_is_what_it_says(explainer: shafer.Explainer) -> None:
    explainer.control_error(X[300:600], Y[300:600], 0.1)
    found = explainer.predict_or_defer(X[600:])
    ax = Figure().subplots()
    display = DeferralDisplay.from_explainer(explainer, X[600:], Y[600:])
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert not pyplot.get_fignums()
    curve = display.curves[0]
    wrong = (found.labels != Y[600:])[np.argsort(-found.scores)]
    assert_allclose(curve.share, np.arange(1, 301) / 300)
    assert_allclose(curve.risk, np.cumsum(wrong) / np.arange(1, 301))
    k, n = int(wrong[:200].sum()), 200
    exact = binomtest(k, n).proportion_ci(0.8, method="exact").high  # one-sided 90 %
    assert curve.bound[199] == pytest.approx(exact)
    assert curve.chosen == pytest.approx(found.share_decided)
    assert curve.chosen_risk == pytest.approx(
        (found.labels != Y[600:])[~found.deferred].mean(), abs=1e-9
    )
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == [
        "error on these rows",
        "upper bound (90 %) if no threshold was searched",
        "promised: at most 10 % (confidence 90 %)",
    ]
    share = round(100 * found.share_decided)
    assert ax.texts[0].get_text() == f"{share} % decided, {100 - share} % deferred"


@pytest.mark.filterwarnings("ignore:No threshold keeps")
def test_a_panel_for_each_group(explainer: shafer.Explainer, drawn_well: Any) -> None:
    explainer.control_error(X[300:600], Y[300:600], 0.1, by=SITE[300:600])
    display = DeferralDisplay.from_explainer(explainer, X[600:], Y[600:], by=SITE[600:]).plot()
    assert [ax.get_title() for ax in display.axes_] == [r"a \$", "b"]
    drawn_well(display)
    together = DeferralDisplay.from_explainer(explainer, X[600:], Y[600:], by=SITE[600:])
    together.plot(Figure().subplots())
    assert len(together.axes_) == 1
    assert len(together.ax_.get_legend().get_texts()) == 4


@pytest.mark.parametrize(
    ("promise", "words"),
    [
        ({"false_negative_rate": 0.1, "class_": "sick"}, "share of the class that is missed"),
        ({"mean_loss": 1.4, "loss": LOSS}, "mean loss of decided rows"),
    ],
)
def test_other_promises(explainer: shafer.Explainer, promise: dict[str, Any], words: str) -> None:
    explainer.control_error(X[300:600], Y[300:600], **promise)
    display = DeferralDisplay.from_explainer(explainer, X[600:], Y[600:]).plot()
    assert display.ax_.get_ylabel() == words
    curve, found = display.curves[0], explainer.predict_or_defer(X[600:])
    decided, sick = ~found.deferred, Y[600:] == "sick"
    if "loss" in promise:
        pairs = zip(found.labels[decided], Y[600:][decided], strict=True)
        seen = np.mean([LOSS[a][k] for a, k in pairs])
        assert curve.bound[-1] > curve.risk[-1] > 1.0
    else:
        seen = (decided & (found.labels == "well"))[sick].mean()
    assert curve.chosen_risk == pytest.approx(seen, abs=1e-9)
    low, high = display.ax_.get_ylim()
    assert low < curve.risk.min() <= curve.risk.max() < high


def test_predictions_of_any_model() -> None:
    y, answers = ["x", "y", "x", "y", "x"], ["x", "y", "y", "y", "x"]
    score = [0.9, 0.8, 0.6, 0.6, 0.5]
    display = DeferralDisplay.from_predictions(y, answers, score, threshold=0.6).plot()
    assert display.curves[0].share.tolist() == [0.2, 0.4, 0.8, 1.0]  # ties together
    assert display.curves[0].chosen == 0.4
    by_group = DeferralDisplay.from_predictions(y, answers, score, by=[1, 1, 2, 2, 2])
    assert [curve.name for curve in by_group.curves] == ["1", "2"]
    nothing = DeferralDisplay.from_predictions(y, answers, score, threshold=2.0).plot()
    assert nothing.ax_.texts[0].get_text() == "all deferred"
    with pytest.raises(ValueError, match="needs rows to draw; got none"):
        DeferralDisplay.from_predictions([], [], [], labels=["x", "y"])
    with pytest.raises(ValueError, match="Unknown class label"):
        DeferralDisplay.from_predictions(y, answers, score, labels=["x", "z"])


def _compared(style: str) -> Any:
    """Compare the returned figure with the one under ``baseline``, as in ``test_images.py``."""
    return pytest.mark.mpl_image_compare(
        baseline_dir="baseline",
        style=style,
        backend="agg",
        tolerance=1,
        savefig_kwargs={"dpi": 60, "metadata": {"Software": None}},
    )


def _waves(groups: bool) -> DeferralDisplay:
    n = np.arange(400)
    score = 0.5 + 0.5 * ((n * 0.6180339887498949) % 1.0)
    wrong = (n * 0.7548776662466927) % 1.0 > score + 0.12 * np.sin(n)
    names = np.where(n % 3, "a long name of a site", "north") if groups else None
    return DeferralDisplay.from_predictions(
        np.zeros(400, dtype=int), wrong.astype(int), score, error=0.1, threshold=0.8, by=names
    )


@_compared("default")
def test_deferral() -> Figure:
    return _waves(groups=False).plot().figure_


@_compared("dark_background")
def test_deferral_groups_on_dark() -> Figure:
    return _waves(groups=True).plot().figure_


# Set confusion display.


Y_SET = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 0], [1, 1, 1]], dtype=bool)
Y_TRUE = ["a", "c", "b", "c", "b"]
LABELS = ["a", "b", "c"]


def _written(display: SetConfusionDisplay) -> dict[tuple[float, float], Text]:
    return {text.get_position(): text for text in display.ax_.texts}


def test_the_table_as_it_is_drawn() -> None:
    ax = Figure().subplots()
    display = SetConfusionDisplay.from_predictions(Y_TRUE, Y_SET, labels=LABELS)
    assert_allclose(display.table, set_confusion_matrix(Y_TRUE, Y_SET, labels=LABELS))
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.get_figure()
    assert not pyplot.get_fignums()  # nothing was opened beside the axes given
    rows = [label.get_text() for label in ax.get_yticklabels()]
    assert rows == ["{a}", "{b}", "{c}", "{a, b}", "{b, c}", "Θ", "∅", "all"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b", "c", "all"]
    assert ax.get_ylabel() == "decided set (% of all rows)"
    cells = _written(display)
    assert cells[0, 0].get_text() == "20.0"
    assert cells[1, 0].get_text() == "·"
    # Told apart without colour: bold where the set holds the true class.
    assert cells[0, 0].get_fontweight() == cells[1, 5].get_fontweight() == "bold"
    assert cells[2, 3].get_fontweight() == cells[2, 6].get_fontweight() == "normal"
    assert cells[3.25, 7.25].get_text() == "100.0"
    assert cells[2, 7.25].get_text() == "40.0"


@pytest.mark.parametrize(
    ("options", "corner", "unit"),
    [
        (dict(normalize=None), "1", "rows"),
        (dict(normalize=None, sample_weight=[1, 2, 3, 4, 5.0]), "1.0", "weight of rows"),
        (dict(normalize="true"), "100.0", "% of the true class"),
        (dict(normalize="pred"), "100.0", "% of the decided set"),
    ],
)
def test_other_units(options: dict[str, Any], corner: str, unit: str) -> None:
    display = SetConfusionDisplay.from_predictions(Y_TRUE, Y_SET, labels=LABELS, **options).plot()
    assert_allclose(display.table, set_confusion_matrix(Y_TRUE, Y_SET, labels=LABELS, **options))
    assert _written(display)[0, 0].get_text() == corner
    assert display.ax_.get_ylabel() == f"decided set ({unit})"
    has_totals = display.ax_.get_yticklabels()[-1].get_text() == "all"
    assert has_totals == (options["normalize"] is None)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 100])
@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_any_number_of_classes_of_set_confusion_display(n_classes: int, style: str) -> None:
    random = np.random.default_rng(n_classes)
    y_true = random.integers(n_classes, size=400)
    y_set = random.random((400, n_classes)) < 1.5 / n_classes
    y_set[np.arange(400), y_true] |= random.random(400) < 0.8
    labels = [f"class {k} <$&>" for k in range(n_classes)]
    with pyplot.style.context(style):
        names = np.array(labels)[y_true]
        display = SetConfusionDisplay.from_predictions(names, y_set, labels=labels).plot()
        display.figure_.canvas.draw()
    assert len(display.ax_.get_yticks()) <= 17
    assert len(display.ax_.get_xticks()) <= 17
    edge = display.figure_.bbox
    for label in (*display.ax_.get_yticklabels(), *display.ax_.get_xticklabels()):
        assert label.get_window_extent().x0 >= edge.x0  # no name is cut off
        assert label.get_window_extent().y1 <= edge.y1
        assert len(label.get_text()) <= 28


def _pooled(normalize: str | None, most: tuple[int, int]) -> PooledTable:
    display = SetConfusionDisplay.from_predictions(Y_TRUE, Y_SET, labels=LABELS)
    return pooled_table(display.counts, display.sets, display.classes, normalize, most)


def test_pooling_keeps_every_row() -> None:
    for most in ((2, 2), (3, 3), (4, 2), (7, 3)):
        counts = _pooled(None, most)
        assert counts.values.sum() == 5
        assert (counts.held * counts.values).sum() == pytest.approx(3)  # a; b of {b, c}, Θ
        assert_allclose(_pooled("all", most).values, 20.0 * counts.values)
        of_class = _pooled("true", most).values.sum(axis=0)
        assert_allclose(of_class, 100.0)
        of_set = _pooled("pred", most).values.sum(axis=1)
        assert_allclose(of_set[counts.values.sum(axis=1) > 0], 100.0)
    counts = _pooled(None, (3, 2))
    assert counts.sets == ("{a}", "{a, b}", "3 other sets")
    assert counts.classes == ("a", "2 other classes")
    assert_allclose(counts.values, [[1, 0], [0, 1], [0, 3]])
    assert_allclose(counts.held, [[1, 0], [0, 0], [0, 2 / 3]])
    assert counts.kept == (2, 1)
    assert counts.largest == 1.0


def test_sets_never_decided_are_no_other_sets() -> None:
    y_set = np.eye(30, dtype=bool)[:3]
    display = SetConfusionDisplay.from_predictions([0, 1, 2], y_set, labels=range(30)).plot(top=4)
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == [
        "{0}",
        "{1}",
        "{2}",
        "all",
    ]
    lonely = SetConfusionDisplay.from_predictions([29], y_set[:1], labels=range(30)).plot()
    assert len(lonely.ax_.texts) > 0


def test_a_divided_cell() -> None:
    display = SetConfusionDisplay.from_predictions(Y_TRUE, Y_SET, labels=LABELS).plot(
        top=3, top_classes=2
    )
    widths = sorted(patch.get_width() for patch in display.ax_.patches if patch.get_fill())
    assert_allclose(widths, [1 / 3, 2 / 3, 1, 1])


def test_numbers_that_do_not_fit_are_left_out() -> None:
    small = Figure(figsize=(0.8, 0.6)).subplots()
    display = SetConfusionDisplay.from_predictions(Y_TRUE, Y_SET, labels=LABELS).plot(small)
    assert not display.ax_.texts
    assert display.ax_.patches


def test_wrong_use() -> None:
    with pytest.raises(ValueError, match="normalize must be one of .* got 'rows'"):
        SetConfusionDisplay.from_predictions(Y_TRUE, Y_SET, labels=LABELS, normalize="rows")
    with pytest.raises(ValueError, match="top_classes must be at least 2; got 1"):
        SetConfusionDisplay.from_predictions(Y_TRUE, Y_SET, labels=LABELS).plot(top_classes=1)


# Monitor display.


def display(n_components: int, n_batches: int, **options: Any) -> MonitorDisplay:
    random = np.random.default_rng(0)
    shifts = random.normal(size=(n_components, n_batches))
    moved = np.abs(shifts) > 1.5
    return MonitorDisplay(
        shifts,
        [f"a_component__with_a_$long$_name_{g}" for g in range(n_components)],
        [f"2025-{t + 1:02d}" for t in range(n_batches)],
        moved=moved,
        alarms=moved.any(axis=0),
        unit="shift, log-odds of $1$ over 0",
        **options,
    )


@pytest.mark.parametrize(("n_components", "n_batches"), [(1, 1), (3, 2), (30, 12), (60, 40)])
@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_all_sizes(
    n_components: int, n_batches: int, style: str, drawn_well: Callable[..., None]
) -> None:
    lines = {"typicality": np.full(n_batches, 0.5), "log loss": np.full(n_batches, 2.0)}
    with pyplot.style.context(style):
        drawn = display(n_components, n_batches, quantities=lines).plot()
        drawn_well(drawn)
    assert len(drawn.ax_.get_yticks()) == min(n_components, 20)


def test_a_long_unit_has_two_lines() -> None:
    drawn = display(4, 3)
    drawn.unit = "shift, log-odds: + for healthy, − for disease"
    bar = drawn.plot().figure_.axes[-1]
    assert bar.get_ylabel() == "shift, log-odds: + for healthy, − for\ndisease"


def test_on_given_axes() -> None:
    axes = pyplot.subplots()[1]
    drawn = display(4, 3, quantities={"typicality": np.full(3, 0.5)}).plot(axes, top=2)
    assert drawn.ax_ is axes
    assert drawn.curves_ax_ is None
    assert len(axes.get_yticks()) == 2


def test_wrong_options() -> None:
    with pytest.raises(ValueError, match="quantities must be among"):
        display(2, 2, quantities={"typicality": np.ones(2)}).plot(quantities=["nonsense"])
    with pytest.raises(ValueError, match="top must be at least 1"):
        display(2, 2).plot(top=0)


def test_from_reports_and_streams() -> None:
    random = np.random.default_rng(1)
    explainer = shafer.Explainer(([1.0, -1.0, 0.5], 0.0), np.eye(3), names=["a", "b", "c"])
    monitor = shafer.Monitor.fit(explainer, random.normal(size=(300, 3)))
    batches = [random.normal(size=(100, 3)) + np.array([0.0, shift, 0.0]) for shift in (0, 1, 2)]
    reports = [monitor.check(batch) for batch in batches]
    drawn = monitor.display(reports, ["jan", "feb", "mar"]).plot()
    assert drawn.component_names[0] == "b"  # what moved comes first
    assert drawn.alarms.tolist() == [False, True, True]
    assert drawn.moved[0].tolist() == [False, True, True]
    assert drawn.curves_ax_ is not None
    assert reports[1].plot().batch_names == ("1",)
    with pytest.raises(ValueError, match="names must hold 3 names; got 1"):
        monitor.display(reports, ["jan"])
    with pytest.raises(ValueError, match="at least one MonitorReport"):
        monitor.display([])
    other = shafer.Explainer(([1.0], 0.0), np.eye(1))
    alone = shafer.Monitor.fit(other, random.normal(size=(100, 1))).check(np.ones((20, 1)))
    with pytest.raises(ValueError, match="must come from one monitor"):
        monitor.display([*reports, alone])
    stream = monitor.watch()
    for batch in batches:
        stream.update(batch)
    drawn = stream.display().plot()
    assert drawn.component_names[0] == "b"
    assert drawn.batch_names == ("100", "200", "300")
    assert drawn.moved[0].tolist() == [False, True, True]
