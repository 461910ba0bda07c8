from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.text import Annotation
from numpy.testing import assert_allclose

import shafer
from shafer.evidence import LinearPool
from shafer.plots import WaterfallDisplay

Make = Callable[..., shafer.Evidence]


def _row_names(display: WaterfallDisplay) -> list[str]:
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def test_two_classes_add_up_to_the_logit(binary: LinearPool) -> None:
    evidence = binary(np.array([[30.0, 12.0], [60.0, 6.0]]))
    display = WaterfallDisplay.from_evidence(evidence, 1)
    assert display.label == "yes"
    assert [step.name for step in display.steps()] == ["age", "ldl"]
    assert_allclose([step.weight for step in display.steps()], [0.06 * 10, -0.2])
    odds = evidence.probability[1, 1] / evidence.probability[1, 0]
    assert_allclose(display.logit, np.log(odds))
    assert_allclose(WaterfallDisplay.from_evidence(evidence, 1, class_="no").logit, -np.log(odds))


def test_more_classes(make: Make, kind: Callable[[Any], Any]) -> None:
    evidence = make()
    for row in range(len(evidence)):
        display = WaterfallDisplay.from_evidence(kind(evidence), row)
        decided = int(np.argmax(evidence.plausibility[row]))
        assert display.label == evidence.classes[decided]
        assert_allclose(display.logit, evidence.logits[row, decided])
        assert_allclose(display.ignorance, evidence.ignorance[row])
        assert_allclose(display.conflict, evidence.conflict[row])
        assert_allclose(display.probability, evidence.probability[row, decided])
        display.plot(Figure().subplots())


def test_picture(binary: LinearPool) -> None:
    ax = Figure().subplots()
    display = WaterfallDisplay.from_evidence(binary(np.array([[60.0, 6.0]])), features=[60.0, 6.0])
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.get_figure()
    assert not pyplot.get_fignums()  # nothing was opened beside the axes given
    assert _row_names(display) == ["age = 60", "ldl = 6", "all together"]
    bars = [patch.get_xy() for patch in ax.patches if isinstance(patch, Polygon)]
    for bar, (start, end) in zip(bars, [(0.0, 0.6), (0.6, 0.4), (0.0, 0.4)], strict=True):
        assert_allclose(bar[[0, 2], 0], [start, end], atol=1e-12)
    texts = {text.get_text() for text in ax.texts}
    assert {"+0.60", "−0.20", "+0.40", "ignorance", "conflict"} <= texts
    assert "yes" in ax.get_title(loc="left")
    low, high = ax.get_xlim()
    assert low < 0.0
    assert high > 0.6


def test_the_smallest_are_pooled(make: Make) -> None:
    evidence = make(components=52)
    display = WaterfallDisplay.from_evidence(evidence, max_components=12).plot()
    steps = display.steps()
    assert len(steps) == 12
    assert steps[-1].name == "the other 41"
    sizes = np.sort(np.abs(display.weights))[::-1]
    assert_allclose([abs(step.weight) for step in steps[:-1]], sizes[:11])
    assert_allclose(sum(step.weight for step in steps), display.logit)
    assert steps[-1].parts is not None
    assert_allclose(sum(steps[-1].parts), steps[-1].weight)
    assert len(_row_names(display)) == 13
    assert all(len(name) < 32 for name in _row_names(display))


def test_order_by_sign(make: Make) -> None:
    display = WaterfallDisplay.from_evidence(make(components=9))
    weights = [step.weight for step in display.steps("sign")]
    assert sorted(weights, key=lambda w: (w < 0, -abs(w))) == weights
    display.plot(order="sign")
    with pytest.raises(ValueError, match="order must be one of 'size', 'sign'; got 'name'"):
        display.plot(order="name")


def test_values_beside_names(binary: LinearPool) -> None:
    X = np.array([[30.0, 12.5], [60.0, 6.0]])
    evidence = binary(X)
    frame = pd.DataFrame({"ldl": X[:, 1], "job": ["nurse", "cook"]})
    cases: list[tuple[Any, list[str]]] = [
        (X, ["30", "12.5"]),
        (X[0], ["30", "12.5"]),
        ({"ldl": 12.5}, [None, "12.5"]),
        (frame, [None, "12.5"]),
        (["old", True], ["old", "True"]),
    ]
    for features, expected in cases:
        display = WaterfallDisplay.from_evidence(evidence, 0, features=features)
        assert list(display.values) == expected, features


@pytest.mark.parametrize("weights", [[0.0, 0.0], [1e4, -1e4], [1e-9, 0.0], [-3.0]])
def test_hostile_weights(drawn_well: Callable[..., None], weights: list[float]) -> None:
    display = WaterfallDisplay(np.array(weights)).plot()
    drawn_well(display)
    _bars_end_to_end(display)


def _bars_end_to_end(display: WaterfallDisplay) -> None:
    """Each bar starts where the one above ends, and the last goes from zero to the sum."""
    steps = [step.weight for step in display.steps()]
    ends = np.concatenate([[0.0], np.cumsum(steps)])
    low, high = display.ax_.get_xlim()
    assert low <= ends.min() <= ends.max() <= high
    scale = max(np.abs(ends).max(), 1.0)
    arrows = [patch for patch in display.ax_.patches if isinstance(patch, Polygon)]
    spans = [(p.get_xy()[:, 0].min(), p.get_xy()[:, 0].max()) for p in arrows]
    expected = [sorted(pair) for pair in pairwise(ends)]
    expected.append(sorted([0.0, display.logit]))
    assert_allclose(spans, expected, atol=1e-9 * scale)
    edges = display.ax_.get_window_extent()
    numbers = [text for text in display.ax_.texts if isinstance(text, Annotation)]
    assert len(numbers) == len(steps) + 1
    for number in numbers:  # beside its bar, and inside the axes
        box = number.get_window_extent()
        assert edges.x0 - 2 <= box.x0
        assert box.x1 <= edges.x1 + 2


@pytest.mark.parametrize("classes", [2, 3, 10, 100])
@pytest.mark.parametrize("components", [1, 2, 30, 1000])
def test_any_size(
    make: Make, drawn_well: Callable[..., None], classes: int, components: int
) -> None:
    display = WaterfallDisplay.from_evidence(make(1, components, classes)).plot()
    drawn_well(display)
    assert len(display.steps()) == min(components, 12)
    _bars_end_to_end(display)


def test_wrong_use(make: Make) -> None:
    evidence = make()
    with pytest.raises(ValueError, match="row must be a whole number from 0 to 4; got 5"):
        WaterfallDisplay.from_evidence(evidence, 5)
    with pytest.raises(ValueError, match=r"Unknown class label\(s\) \['maybe'\]"):
        WaterfallDisplay.from_evidence(evidence, class_="maybe")
    with pytest.raises(ValueError, match="class_ must be one class label"):
        WaterfallDisplay.from_evidence(evidence, class_=evidence.classes[:2].tolist())
    with pytest.raises(ValueError, match="max_components must be at least 1; got 0"):
        WaterfallDisplay.from_evidence(evidence, max_components=0)
    with pytest.raises(ValueError, match=r"each of the 4 components; got shape \(3,\)"):
        WaterfallDisplay.from_evidence(evidence, features=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="features must have 5 rows, as the evidence; got 2"):
        WaterfallDisplay.from_evidence(evidence, features=np.zeros((2, 4)))
    with pytest.raises(ValueError, match="evidence of single components"):
        WaterfallDisplay.from_evidence(evidence.components)
