"""Mean absolute log-odds by pair of classes, and the shortcuts from evidence to pictures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import shafer
from shafer import Evidence, plots
from shafer.plots import ImportanceDisplay

LABELS = ("setosa", "versicolor", "virginica")
FRAME, TARGET = load_iris(return_X_y=True, as_frame=True)
FRAME.index = pd.Index([f"flower {i}" for i in range(150)])


@pytest.fixture(scope="module")
def ev() -> Evidence:
    model = LogisticRegression(max_iter=500).fit(FRAME, np.array(LABELS)[TARGET])
    explainer = shafer.Explainer(model, FRAME, prior="own", errors="laplace")
    found = explainer(FRAME)
    assert isinstance(found, Evidence)
    return found


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    pyplot.close("all")


def test_the_means_are_of_the_contrasts_of_each_pair(ev: Evidence) -> None:
    table = ev.importance().to_frame()
    names = ["component", "class", "over", "n_rows", "mean_abs_log_odds", "lower", "upper"]
    assert list(table.columns) == names
    order = np.sort(np.argsort(-np.asarray(ev.logits), axis=1)[:, :2], axis=1)
    assert table["n_rows"].is_monotonic_decreasing
    for (first, second), part in table.groupby(["class", "over"]):
        pair = sorted(LABELS.index(label) for label in (first, second))
        rows = np.flatnonzero((order == pair).all(axis=1))
        assert set(part["n_rows"]) == {len(rows)}
        wanted = np.abs(ev[rows].contrast(first, second)).mean(axis=0)
        place = [ev.component_names.index(name) for name in part["component"]]
        assert_allclose(part["mean_abs_log_odds"], np.asarray(wanted)[place], rtol=1e-12)
        assert "base rate" not in set(part["component"])
    assert table.groupby(["class", "over"])["n_rows"].first().sum() == 150
    one = ev.importance(class_="setosa", over="virginica").to_frame("polars")
    assert set(one["over"]) == {"virginica"}
    assert set(one["n_rows"]) == {150}


def test_error_bars_of_a_linear_model_are_those_of_its_coefficients() -> None:
    """A mean |log-odds| is |beta| times the mean distance: its relative error is that of beta."""
    y = TARGET > 1
    model = LogisticRegression(max_iter=500).fit(FRAME, y)
    found = shafer.Explainer(model, FRAME, prior="own", errors="laplace")(FRAME)
    assert isinstance(found, Evidence)
    table = found.importance().to_frame().set_index("component")
    for g, name in enumerate(FRAME.columns):
        contrast = np.asarray(found.contrast(True, False))[:, g]
        std = np.asarray(found.contrast_std(True, False))[:, g]
        relative = (std / np.abs(contrast)).mean()
        mean = table.loc[name, "mean_abs_log_odds"]
        assert_allclose(table.loc[name, "upper"], mean * (1 + 1.6448536 * relative), rtol=1e-6)


def test_the_picture(ev: Evidence, drawn_well: Any) -> None:
    display = ev.importance().plot()
    drawn_well(display)
    assert len(display.axes_) == len(display.pairs) == 2
    titles = [axes.get_title() for axes in display.axes_]
    assert titles == ["virginica or versicolor, 90 rows", "versicolor or setosa, 60 rows"]
    few = ev.importance(class_="setosa").plot(top=2)
    assert [bar.get_width() > 0 for bar in few.axes_[0].patches] == [True, True]
    assert "2 smaller ones are not shown" in few.axes_[0].get_xlabel()
    given = pyplot.subplots()[1]
    assert ev.importance(class_="setosa", over="virginica").plot(given).ax_ is given


def test_what_cannot_be_compared(ev: Evidence) -> None:
    with pytest.raises(ValueError, match="importance needs at least one row"):
        ev[:0].importance()
    with pytest.raises(ValueError, match="besides the base rate"):
        ev.without(list(FRAME.columns)).importance()
    with pytest.raises(ValueError, match="top must be at least 1; got 0"):
        ev.importance().plot(top=0)
    with pytest.raises(ValueError, match="over needs class_"):
        ev.importance(over="setosa")


def test_shortcuts_know_the_values_of_the_inputs(ev: Evidence) -> None:
    waterfall = ev.of("flower 60").waterfall(class_="setosa", top=3)
    assert isinstance(waterfall, plots.WaterfallDisplay)
    assert (waterfall.class_, waterfall.top) == ("setosa", 3)
    assert waterfall.values == tuple(f"{v:g}" for v in FRAME.loc["flower 60"])
    assert ev.waterfall(60).values == waterfall.values
    summary = ev.summary(classes="setosa")
    assert_allclose(np.asarray(summary.values), FRAME.to_numpy())
    assert ev.summary(features=None).values is None
    plain = Evidence.from_weights(ev.weights)
    assert plain.waterfall(3).values == (None,) * 5
    assert plain.summary().values is None
    with pytest.raises(ValueError, match="row must be a whole number from 0 to 149; got 150"):
        ev.waterfall(150)


def test_rows_by_label(ev: Evidence) -> None:
    assert_allclose(ev.of("flower 7").probability, ev[[7]].probability)
    assert len(ev[[1, 2, 1]].of("flower 1")) == 2
    assert_allclose(ev.discounted(0.5).of("flower 7").belief, ev.discounted(0.5)[[7]].belief)
    assert ev.with_index(range(100, 250)).of(100).index.tolist() == [100]
    with pytest.raises(ValueError, match="No row has the label 'rose'; the first labels are 'flo"):
        ev.of("rose")
    with pytest.raises(ValueError, match="have no labels, so there is no 3. Take rows by position"):
        ev.with_index(None).of(3)


def test_every_display_draws_itself_in_a_notebook(ev: Evidence) -> None:
    for name in plots.__all__:
        assert hasattr(getattr(plots, name), "_repr_html_"), name
    for display in (ev.importance(), ev.waterfall(2), plots.IntervalDisplay.from_evidence(ev[:2])):
        page = display._repr_html_()
        assert page.startswith(f'<img alt="{type(display).__name__}"')
        assert page == display._repr_html_()  # again, as it is not kept
        assert pyplot.get_fignums() == []
        display.plot()
        assert display._repr_html_() == ""  # the notebook shows the figure itself
        pyplot.close("all")
    assert isinstance(ev.importance(), ImportanceDisplay)
