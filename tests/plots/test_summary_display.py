"""Summaries of many rows, and the dependence of weights on values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.evidence import LinearPool
from shafer.plots import DependenceDisplay, SummaryDisplay
from shafer.plots.summary_display import swarm_offsets

Make = Callable[..., shafer.Evidence]


def test_two_classes_need_one_panel(binary: LinearPool) -> None:
    X = np.column_stack([np.linspace(20, 80, 40), np.linspace(3, 12, 40)])
    ax = Figure().subplots()
    display = SummaryDisplay.from_evidence(binary(X), features=X)
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.axes_ == [ax]
    assert display.figure_ is ax.get_figure()
    assert not pyplot.get_fignums()
    assert display.classes == ("yes",)
    assert_allclose(display.weights[:, 0, 0], 0.06 * (X[:, 0] - 50.0), atol=1e-12)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["age", "ldl"]
    assert display.over == "no"
    assert ax.get_xlabel() == "log-odds of yes over no\n+1 multiplies the odds by 2.7"
    drawn = ax.collections[0].get_offsets()
    assert_allclose(drawn[:, 0], display.weights[:, 0, 0])
    assert (np.abs(drawn[:, 1]) < 0.5).all()  # inside its row
    shade = ax.collections[0].get_facecolors()[:, :3].sum(axis=1)
    assert shade[0] < shade[20] < shade[-1]  # from low to high, also in grey


def test_panels_for_more_classes(make: Make, kind: Callable[[Any], Any]) -> None:
    evidence = make(20)
    display = SummaryDisplay.from_evidence(kind(evidence)).plot(Figure().subplots())
    labels = evidence.classes.tolist()
    assert display.classes == tuple(labels)
    for row in range(20):
        for k in range(3):
            others = [c for c in range(3) if c != k]
            rival = max(others, key=lambda c: evidence.logits[row, c])
            expected = evidence.contrast(labels[k], labels[rival])[row]
            assert_allclose(display.weights[row, :, k], expected)
    assert len(display.axes_) == 3
    assert [ax.get_title() for ax in display.axes_] == [rf"class {k} <\$&>" for k in range(3)]
    assert "log-odds of the class over the most probable" in display.axes_[1].get_xlabel()
    plain = SummaryDisplay.from_evidence(kind(evidence), classes=labels[1], units="weight").plot()
    assert_allclose(plain.weights[:, :, 0], evidence.weights[:, :, 1])
    assert plain.ax_.get_xlabel() == r"weight of evidence for class 1 <\$&>"


def test_over_a_class_of_choice(make: Make) -> None:
    evidence = make(20, 4, 5)
    labels = evidence.classes.tolist()
    display = SummaryDisplay.from_evidence(evidence, over=labels[2]).plot()
    assert display.classes == (labels[0], labels[1], labels[3], labels[4])
    assert display.left_out == 0
    for panel, label in enumerate(display.classes):
        assert_allclose(display.weights[:, :, panel], evidence.contrast(label, labels[2]))
    assert r"over class 2 <\$&>" in display.axes_[1].get_xlabel()
    with pytest.raises(ValueError, match="over must be another class"):
        SummaryDisplay.from_evidence(evidence, classes=labels[:3], over=labels[2])
    with pytest.raises(ValueError, match="needs units='log_odds'"):
        SummaryDisplay.from_evidence(evidence, over=labels[2], units="weight")


def test_the_base_rate_is_not_a_feature() -> None:
    pool = shafer.least_commitment([0.5, 0.1], 9.0, [1.0, 1.0], names=["u", "v"], prior="own")
    X = np.array([[1.0, 3.0], [2.0, 1.0]])
    display = SummaryDisplay.from_evidence(pool(X), features=X).plot()
    assert display.names == ("u", "v")
    assert_allclose(display.weights[:, :, 0], [[0.0, 0.2], [0.5, 0.0]], atol=1e-12)
    assert display.ax_.get_xlabel().endswith("without the base rate")
    shared = shafer.least_commitment([0.5, 0.1], 9.0, [1.0, 1.0], names=["u", "v"])
    display = SummaryDisplay.from_evidence(shared(X)).plot()
    assert display.ax_.get_xlabel().endswith("each component includes a share of the base rate")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_error_bars(n_classes: int, drawn_well: Callable[..., None]) -> None:
    random = np.random.default_rng(n_classes)
    X = random.normal(size=(200, 4))
    effects = np.zeros((4, n_classes))
    effects[:2] = 2.0 * random.normal(size=(2, n_classes))
    y = (X @ effects + random.gumbel(size=(200, n_classes))).argmax(axis=1)
    evidence = shafer.Explainer(LogisticRegression().fit(X, y), X, prior="own", errors="laplace")(X)
    assert isinstance(evidence, shafer.Evidence)
    display = SummaryDisplay.from_evidence(evidence, level=0.8).plot()
    drawn_well(display)
    assert display.lower is not None
    assert display.upper is not None
    for panel, label in enumerate(display.classes):
        for row in (0, 7):
            rivals = evidence.logits[row].copy()
            rivals[label] = -np.inf
            ends = evidence.contrast_interval(label, int(rivals.argmax()), 0.8)
            assert_allclose(display.lower[row, :, panel], ends[0][row, :-1])
            assert_allclose(display.upper[row, :, panel], ends[1][row, :-1])
    order = np.argsort(-np.abs(display.weights).mean(axis=(0, 2)))
    kinds = set()
    for axes, panel in zip(display.axes_, range(n_classes), strict=False):
        for points, g in zip(axes.collections, order, strict=True):
            pale = points.get_facecolors()[:, :3].min(axis=1) > 0.5  # on white
            unclear = display.lower[:, g, panel] * display.upper[:, g, panel] <= 0
            assert_array_equal(pale, unclear)
            kinds |= set(unclear.tolist())
        bars = [line.get_xdata() for line in axes.lines if len(line.get_xdata()) == 6]
        assert len(bars) == 8  # two in each row
        low, high = axes.get_xlim()
        assert low < min(map(min, bars))
        assert high > max(map(max, bars))
    assert kinds == {True, False}
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend[0].startswith("80% interval of two points")


def test_few_of_many_classes_have_a_panel(make: Make) -> None:
    display = SummaryDisplay.from_evidence(make(20, 4, 100)).plot()
    assert len(display.axes_) == 4
    assert display.left_out == 96
    assert any("the other 96 classes" in ax.get_xlabel() for ax in display.axes_)


def test_the_weakest_are_pooled(make: Make) -> None:
    evidence = make(20, 52, 2)
    display = SummaryDisplay.from_evidence(evidence).plot(top=12)
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert len(names) == 12
    assert names[-1] == "the other 41"
    order = np.argsort(-np.abs(display.weights).mean(axis=(0, 2)))
    pooled = display.ax_.collections[-1].get_offsets()[:, 0]
    assert_allclose(pooled, display.weights[:, order[11:], 0].sum(axis=1))


def test_features_of_a_frame_are_matched_by_name(binary: LinearPool) -> None:
    X = np.array([[30.0, 12.5], [60.0, 6.0], [61.0, np.nan]])
    evidence = binary(np.nan_to_num(X))
    frame = pd.DataFrame({"ldl": X[:, 1], "job": ["nurse", "cook", "smith"]})
    display = SummaryDisplay.from_evidence(evidence, features=frame).plot()
    assert display.values is not None
    assert np.isnan(display.values[:, 0]).all()
    assert_allclose(display.values[:, 1], X[:, 1])
    with pytest.raises(ValueError, match=r"features must have shape \(3, 2\).* got \(2, 2\)"):
        SummaryDisplay.from_evidence(evidence, features=X[:2])


def test_swarm_keeps_points_apart() -> None:
    x = np.random.default_rng(0).normal(size=10_000)
    offsets = swarm_offsets(x, x.min(), x.max(), bins=100)
    binned = np.clip(((x - x.min()) / np.ptp(x) * 100).astype(int), 0, 99)
    assert len(set(zip(binned, offsets, strict=True))) == len(x)
    widest = np.bincount(binned).max()
    assert np.abs(offsets).max() == widest // 2
    assert_allclose(swarm_offsets(np.zeros(1), 0.0, 0.0), [0.0])


@pytest.mark.parametrize("classes", [2, 3, 10, 100])
@pytest.mark.parametrize("components", [1, 30, 1000])
def test_any_size(
    make: Make, drawn_well: Callable[..., None], classes: int, components: int
) -> None:
    evidence = make(3, components, classes)
    display = SummaryDisplay.from_evidence(evidence).plot()
    drawn_well(display)
    for panel, axes in enumerate(display.axes_):
        rows = [np.asarray(points.get_offsets()) for points in axes.collections]
        assert len(rows) == min(components, 12)
        assert all(len(row) == 3 for row in rows)
        # The last row adds the weights of all components that have no row of their own.
        total = np.sum([row[:, 0] for row in rows], axis=0)
        assert_allclose(total, display.weights[:, :, panel].sum(axis=1), atol=1e-9)
        for position, row in enumerate(rows):
            assert np.abs(row[:, 1] - position).max() < 0.5  # no point in another's row
        low, high = axes.get_xlim()
        assert low < min(row[:, 0].min() for row in rows)
        assert max(row[:, 0].max() for row in rows) < high


@pytest.mark.parametrize("size", [0.0, 1e4])
def test_hostile_weights(drawn_well: Callable[..., None], size: float) -> None:
    weights = size * np.array([[[-1.0, 1.0], [1.0, -1.0]]])
    evidence = shafer.Evidence.from_weights(weights)
    display = SummaryDisplay.from_evidence(evidence, features=np.zeros((1, 2))).plot()
    drawn_well(display)
    drawn = [float(points.get_offsets()[0, 0]) for points in display.ax_.collections]
    assert_allclose(drawn, [2.0 * size, -2.0 * size])
    low, high = display.ax_.get_xlim()
    assert low < -2.0 * size <= 2.0 * size < high


def test_wrong_use(make: Make) -> None:
    with pytest.raises(ValueError, match=r"weights must have shape \(n, G, 1\)"):
        SummaryDisplay(np.zeros((3, 2)), ["a"])
    with pytest.raises(ValueError, match="top must be at least 1; got 0"):
        SummaryDisplay.from_evidence(make()).plot(top=0)
    with pytest.raises(ValueError, match="Unknown class label"):
        SummaryDisplay.from_evidence(make(), classes="maybe")


# Dependence display.


def _over_age(pool: LinearPool, ages: np.ndarray) -> DependenceDisplay:
    evidence = pool(np.column_stack([ages, np.full(len(ages), 3.0)]))
    return DependenceDisplay.from_evidence(
        evidence, "age", ages, instances={"yes": np.array([60.0, 61.0]), "no": np.array([20.0])}
    )


def test_weights_masses_and_cutoff(binary: LinearPool) -> None:
    ages = np.linspace(20.0, 80.0, 61)
    display = _over_age(binary, ages[::-1])  # any order will do
    assert_allclose(display.values, ages)
    assert_allclose(display.weight_for("yes"), 0.06 * (ages - 50.0), atol=1e-12)
    assert_allclose(display.weight_for("no"), -display.weight_for("yes"))
    assert_allclose(display.cutoffs("yes"), [50.0])
    assert display.sets == ("{no}", "{yes}", "Θ")
    weight = display.weight_for("yes")
    assert_allclose(display.masses[:, 1], 1 - np.exp(-np.maximum(weight, 0)), atol=1e-12)
    assert_allclose(display.masses[:, 2], np.exp(-np.abs(weight)), atol=1e-12)


def test_weight_picture(binary: LinearPool) -> None:
    ax = Figure().subplots()
    ages = np.linspace(20.0, 80.0, 7)
    display = _over_age(binary, ages)
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.get_figure()
    assert not pyplot.get_fignums()  # nothing was opened beside the axes given
    curve = next(line for line in ax.lines if len(line.get_xdata()) == 7)
    assert_allclose(curve.get_ydata(), display.weight_for("yes"))
    assert ax.get_xlabel() == "age"
    assert ax.get_ylabel() == (
        "log-odds of yes over no\nadded by age; +1 multiplies the odds by 2.7"
    )
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["instances: yes", "instances: no"]
    both = _over_age(binary, ages).plot(classes=["no", "yes"])
    assert both.ax_.get_ylabel().startswith("log-odds of the class over the other class\n")
    assert any("50" in text.get_text() for text in ax.texts)


def test_masses_picture(binary: LinearPool) -> None:
    display = _over_age(binary, np.linspace(20.0, 80.0, 7)).plot(kind="masses")
    assert pyplot.get_fignums()  # new axes of its own
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["{no}", "{yes}", "Θ (ignorance)", "instances: yes", "instances: no"]
    styles = {line.get_linestyle() for line in display.ax_.get_legend().get_lines()}
    assert len(styles - {"None"}) == 3  # told apart without colour


@pytest.mark.parametrize("kind", ["weight", "masses"])
def test_any_number_of_classes(pool: LinearPool, kind: str) -> None:
    values = np.linspace(-3.0, 3.0, 41)
    evidence = pool(np.column_stack([values] * 3))
    display = DependenceDisplay.from_evidence(evidence, 1, values)
    assert_allclose(display.masses.sum(axis=1), 1.0)
    assert len(display.sets) <= 9
    display.plot(kind=kind)
    display.figure_.canvas.draw()


def test_other_kinds_of_evidence(make: Callable[..., Any], kind: Callable[[Any], Any]) -> None:
    evidence = make(6)
    expected = DependenceDisplay.from_evidence(evidence, 1, np.arange(6.0))
    display = DependenceDisplay.from_evidence(kind(evidence), 1, np.arange(6.0))
    assert_allclose(display.weights, expected.weights)
    assert_allclose(display.masses, expected.masses)


def test_one_class_of_several() -> None:
    weights = np.zeros((5, 1, 3))
    weights[:, 0, 0] = np.linspace(-1.0, 1.0, 5)
    evidence = shafer.Evidence.from_weights(weights, classes=["a", "b", "c"])
    display = DependenceDisplay.from_evidence(evidence, 0, np.arange(5.0)).plot(classes=["a"])
    assert display.ax_.get_ylabel() == "weight of evidence for a\nadded by x0"
    assert display.ax_.get_legend() is None
    assert_allclose(display.cutoffs("a"), [2.0])
    assert display.cutoffs("b").size == 0


def test_log_odds_over_a_class(make: Callable[..., Any]) -> None:
    evidence = make(6, 2, 4)
    labels = evidence.classes.tolist()
    display = DependenceDisplay.from_evidence(evidence, 1, np.arange(6.0)).plot(over=labels[2])
    curves = [line for line in display.ax_.lines if len(line.get_xdata()) == 6]
    for curve, label in zip(curves, [labels[0], labels[1], labels[3]], strict=True):
        expected = evidence.contrast(label, labels[2])[:, 1]
        assert_allclose(curve.get_ydata(), expected)
        assert_allclose(display.weight_for(label, labels[2]), expected)
    assert display.ax_.get_ylabel().startswith(r"log-odds of the class over class 2 <\$&>")
    crossings = np.flatnonzero(np.diff(np.sign(display.weight_for(labels[0], labels[2]))))
    assert len(display.cutoffs(labels[0], labels[2])) == len(crossings)
    with pytest.raises(ValueError, match="over must be another class"):
        display.plot(classes=labels, over=labels[2])


def test_weights_that_other_inputs_change_are_points() -> None:
    """As of trees: rows of one value have different weights, so no line may join them."""
    rng = np.random.default_rng(0)
    ages = np.repeat(np.arange(20.0, 60.0), 3)
    for other in (rng.normal(size=120), np.zeros(120)):
        w = 0.05 * (ages - 40.0) + other
        evidence = shafer.Evidence.from_weights(
            np.stack([-w, w], axis=1)[:, None, :], names=["age"]
        )
        display = DependenceDisplay.from_evidence(evidence, "age", ages).plot()
        assert display.curve == (not other.any())
        drawn = display.ax_.lines[1]  # after the zero
        assert (drawn.get_linestyle() == "-") == display.curve
        assert (drawn.get_marker() == "None") == display.curve
        assert "alone" not in display.ax_.get_ylabel()
        assert bool(display.ax_.texts) == display.curve  # no cut-off of points
        masses = DependenceDisplay.from_evidence(evidence, "age", ages).plot(kind="masses")
        assert all((line.get_marker() == "None") == display.curve for line in masses.ax_.lines[:3])
    jumps = np.where(rng.random(500) < 0.5, -1.0, 1.0)  # no value twice
    evidence = shafer.Evidence.from_weights(np.stack([-jumps, jumps], axis=1)[:, None, :])
    assert not DependenceDisplay.from_evidence(evidence, 0, np.arange(500.0)).curve


def test_categories_along_the_axis() -> None:
    values = np.array(["none", "some", "much", None] * 5, dtype=object)
    w = np.tile([-1.0, 0.2, 0.9, 0.0], 5)
    evidence = shafer.Evidence.from_weights(
        np.stack([-w, w], axis=1)[:, None, :], names=["savings"]
    )
    ordered = pd.Categorical(values, categories=["none", "some", "much", "unseen"], ordered=True)
    for given, order in [
        (values, ["missing", "much", "none", "some"]),
        (ordered, ["none", "some", "much", "missing"]),
    ]:
        display = DependenceDisplay.from_evidence(
            evidence, "savings", given, instances={"bad": given[:8]}
        ).plot()
        assert [text.get_text() for text in display.ax_.get_xticklabels()] == order
        x, y = display.ax_.lines[1].get_data()
        nearest = [order[round(place)] for place in x]
        expected = dict(zip(["none", "some", "much", "missing"], 2.0 * w[:4], strict=True))
        assert_allclose(y, [expected[name] for name in nearest])


@pytest.mark.parametrize("count", [8, 12, 22])
def test_long_names_of_categories_do_not_cross(count: int) -> None:
    values = np.array([f"a category of number {k}" for k in range(count)], dtype=object)
    w = np.linspace(-1.0, 1.0, count)
    evidence = shafer.Evidence.from_weights(
        np.stack([-w, w], axis=1)[:, None, :], names=["purpose"]
    )
    display = DependenceDisplay.from_evidence(evidence, "purpose", values).plot()
    display.figure_.canvas.draw()
    texts = display.ax_.get_xticklabels()
    ends = [text.get_transform().transform(text.get_position())[0] for text in texts]
    apart = np.diff(ends).min() * np.sin(np.deg2rad(texts[0].get_rotation()))
    assert all(text.get_ha() == "right" for text in texts)
    assert apart > texts[0].get_fontsize() * display.figure_.dpi / 72.0


def test_numbers_of_near_cut_offs_stand_below_each_other() -> None:
    x = np.linspace(0.0, 1.0, 200)
    w = np.sin(12.0 * x)
    evidence = shafer.Evidence.from_weights(np.stack([-w, w], axis=1)[:, None, :], names=["x"])
    display = DependenceDisplay.from_evidence(evidence, "x", x).plot()
    display.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in display.ax_.texts]
    assert len(boxes) >= 3
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_wrong_use_of_dependence_display(binary: LinearPool) -> None:
    evidence = binary(np.array([[50.0, 7.0]]))
    with pytest.raises(ValueError, match="Unknown component 'height'"):
        DependenceDisplay.from_evidence(evidence, "height", [1.0])
    with pytest.raises(ValueError, match=r"one value for each of the 1 rows .* got shape \(2,\)"):
        DependenceDisplay.from_evidence(evidence, "age", [1.0, 2.0])
    display = DependenceDisplay.from_evidence(evidence, "age", [50.0])
    with pytest.raises(ValueError, match="kind must be one of 'weight', 'masses'; got 'mass'"):
        display.plot(kind="mass")
    with pytest.raises(ValueError, match=r"Unknown class label\(s\) \['maybe'\]"):
        display.plot(classes=["maybe"])
