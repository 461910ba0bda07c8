from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot

import shafer
from shafer.plots import MonitorDisplay


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
    drawn = display(4, 3, quantities={"typicality": np.full(3, 0.5)}).plot(axes, max_components=2)
    assert drawn.ax_ is axes
    assert drawn.curves_ax_ is None
    assert len(axes.get_yticks()) == 2


def test_wrong_options() -> None:
    with pytest.raises(ValueError, match="quantities must be among"):
        display(2, 2, quantities={"typicality": np.ones(2)}).plot(quantities=["nonsense"])
    with pytest.raises(ValueError, match="max_components must be at least 1"):
        display(2, 2).plot(max_components=0)


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
