from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from shafer.evidence import LinearPool, least_commitment
from shafer.plots import UnitDisplay


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


def test_picture() -> None:
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
