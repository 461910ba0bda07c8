from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

import shafer
from shafer.evidence import LinearPool
from shafer.plots import DependenceDisplay


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
        "log-odds of yes over no\nfrom age alone; +1 multiplies the odds by 2.7"
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
    assert display.ax_.get_ylabel() == "weight of evidence for a\nfrom x0 alone"
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


def test_wrong_use(binary: LinearPool) -> None:
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
