from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.testing import assert_allclose

from shafer.metrics import set_confusion_matrix
from shafer.plots import SetConfusionDisplay
from shafer.plots.set_confusion_display import PooledTable, pooled_table

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
def test_any_number_of_classes(n_classes: int, style: str) -> None:
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
    display = SetConfusionDisplay.from_predictions([0, 1, 2], y_set, labels=range(30)).plot(
        max_sets=4
    )
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
        max_sets=3, max_classes=2
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
    with pytest.raises(ValueError, match="max_classes must be at least 2; got 1"):
        SetConfusionDisplay.from_predictions(Y_TRUE, Y_SET, labels=LABELS).plot(max_classes=1)
