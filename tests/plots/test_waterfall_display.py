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
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.evidence import LinearPool
from shafer.plots import WaterfallDisplay
from shafer.plots.waterfall_display import WaterfallIntervals

Make = Callable[..., shafer.Evidence]


def _row_names(display: WaterfallDisplay) -> list[str]:
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def test_two_classes_add_up_to_the_logit(binary: LinearPool) -> None:
    evidence = binary(np.array([[30.0, 12.0], [60.0, 6.0]]))
    display = WaterfallDisplay.from_evidence(evidence, 1)
    assert display.class_ == "yes"
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
        second = int(np.argsort(evidence.plausibility[row])[-2])
        assert display.class_ == evidence.classes[decided]
        assert display.over == evidence.classes[second]
        odds = evidence.probability[row, decided] / evidence.probability[row, second]
        assert_allclose(display.logit, np.log(odds))
        assert_allclose(display.weights, evidence.contrast(display.class_, display.over)[row])
        assert_allclose(display.ignorance, evidence.ignorance[row])
        assert_allclose(display.disagreement, evidence.disagreement[row])
        assert_allclose(display.probability, evidence.probability[row, decided])
        assert_allclose(display.over_probability, evidence.probability[row, second])
        ax = Figure().subplots()
        display.plot(ax)
        assert ax.get_title(loc="left").startswith("Why class ")
        assert " rather than class " in ax.get_title(loc="left")
        assert "log-odds of class " in ax.get_xlabel()
        assert "+1 multiplies the odds by 2.7" in ax.get_xlabel()


def test_why_not_the_other_class(make: Make) -> None:
    evidence = make()
    best, second, worst = (
        evidence.classes[k] for k in np.argsort(-evidence.probability[0]).tolist()
    )
    display = WaterfallDisplay.from_evidence(evidence, class_=worst).plot()
    assert display.over == best  # the most probable other class
    assert "Evidence for" in display.ax_.get_title(loc="left")  # not why: it is not the answer
    display = WaterfallDisplay.from_evidence(evidence, class_=second, over=worst)
    assert_allclose(display.weights, evidence.contrast(second, worst)[0])
    with pytest.raises(ValueError, match="over must be another class .* for both"):
        WaterfallDisplay.from_evidence(evidence, class_=best, over=best)


def test_plain_weights_of_a_class(make: Make) -> None:
    evidence = make()
    display = WaterfallDisplay.from_evidence(evidence, units="weight").plot()
    k = int(np.argmax(evidence.logits[0]))
    assert_allclose(display.weights, evidence.weights[0, :, k])
    assert_allclose(display.logit, evidence.logits[0, k])
    assert display.over is None
    assert display.ax_.get_xlabel().startswith("weight of evidence for class")
    assert "not log-odds" in display.ax_.get_xlabel()
    assert "multiplies the odds" not in display.ax_.get_xlabel()
    with pytest.raises(ValueError, match=r"units='log_odds'; got over='class 1 <\$&>'"):
        WaterfallDisplay.from_evidence(evidence, units="weight", over="class 1 <$&>")
    with pytest.raises(ValueError, match="units must be 'log_odds' .* got 'weights'"):
        WaterfallDisplay.from_evidence(evidence, units="weights")


def test_half_the_log_odds_for_two_classes(binary: LinearPool) -> None:
    evidence = binary(np.array([[60.0, 6.0]]))
    whole = WaterfallDisplay.from_evidence(evidence)
    half = WaterfallDisplay.from_evidence(evidence, units="weight")
    assert_allclose(2.0 * half.weights, whole.weights)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_base_rate_is_drawn_apart(n_classes: int, drawn_well: Callable[..., None]) -> None:
    coef = np.array([[1.0, 0.5], [-0.4, 0.2], [0.1, -0.9]])[:n_classes]
    pool = shafer.least_commitment(
        coef, [2.0, 0.0, -1.0][:n_classes], [0.5, 1.0], names=["u", "v"], prior="own"
    )
    display = WaterfallDisplay.from_evidence(pool([[0.5, 3.0]]), class_=0, over=1).plot()
    assert display.names == ("u", "v")
    assert display.base_rate is not None
    assert_allclose(display.weights[0], 0.0, atol=1e-12)  # at its mean
    at_the_means = coef @ [0.5, 1.0] + [2.0, 0.0, -1.0][:n_classes]
    assert_allclose(display.base_rate, at_the_means[0] - at_the_means[1])
    p = np.exp(at_the_means) / np.exp(at_the_means).sum()
    assert_allclose(display.base_probability, p[:2])
    evidence = pool([[0.5, 3.0]])
    assert_allclose(display.logit, np.log(evidence.probability[0, 0] / evidence.probability[0, 1]))
    rows = _row_names(display)
    assert rows[0].startswith("all together\n")
    assert rows[-1].startswith("base rate (average log-odds)\n")
    assert f"{p[0]:.2f}" in rows[-1]
    assert rows[1:-1] == ["v", "u"]
    assert "share of the base rate" not in display.ax_.get_xlabel()
    drawn_well(display)
    _bars_end_to_end(display)


def test_combined_sources_have_base_rates_of_their_own() -> None:
    own = shafer.least_commitment([0.4, 0.1], -1.0, [2.0, 3.0], names=["a", "b"], prior="own")
    doctor = shafer.Evidence.from_statements(["for 1 with weight 0.5"], classes=[0, 1])
    both = shafer.combine({"model": own([[1.0, 2.0]]), "doctor": doctor})
    display = WaterfallDisplay.from_evidence(both).plot()
    assert "share of the base rate" not in display.ax_.get_xlabel()


def test_a_shared_base_rate_is_mentioned(binary: LinearPool) -> None:
    evidence = binary(np.array([[60.0, 6.0]]))
    assert np.abs(evidence.base_rate).max() < 1e-12  # cut-offs at the means: nothing to share
    assert "base rate" not in WaterfallDisplay.from_evidence(evidence).plot().ax_.get_xlabel()
    pool = shafer.least_commitment([0.5, 1.0], 3.0, names=["base rate", "v"])
    display = WaterfallDisplay.from_evidence(pool([[1.0, 1.0]])).plot()
    assert "each component includes a share of the base rate" in display.ax_.get_xlabel()
    assert display.base_rate is None  # a component of that name is not the base rate
    assert set(display.names) == {"base rate", "v"}


def test_classes_in_dispute_are_named() -> None:
    """All bars point one way, but the components contradict each other about other classes."""
    weights = [[[1.0, 1.5, -2.5], [1.0, -2.5, 1.5]]]
    evidence = shafer.Evidence.from_weights(weights, classes=["a", "b", "c"])
    display = WaterfallDisplay.from_evidence(evidence, units="weight").plot()
    assert display.class_ == "a"
    assert (display.weights > 0).all()
    assert display.disagreement is not None
    assert display.disagreement > 0.5
    texts = [text.get_text() for text in display.ax_.texts]
    assert any(text.endswith("disagree mostly about b and c") for text in texts)
    agreeing = shafer.Evidence.from_weights([[[1.0, 0.0, -1.0]]], classes=["a", "b", "c"])
    display = WaterfallDisplay.from_evidence(agreeing).plot()
    assert display.disagreement == 0.0
    texts = [text.get_text() for text in display.ax_.texts]
    assert not any("mostly about" in text for text in texts)


def test_picture(binary: LinearPool) -> None:
    ax = Figure().subplots()
    display = WaterfallDisplay.from_evidence(binary(np.array([[60.0, 6.0]])), features=[60.0, 6.0])
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.get_figure()
    assert not pyplot.get_fignums()  # nothing was opened beside the axes given
    assert _row_names(display) == ["all together\nprobability 0.60", "age = 60", "ldl = 6"]
    bars = [patch.get_xy() for patch in ax.patches if isinstance(patch, Polygon)]
    for bar, (start, end) in zip(bars, [(-0.2, 0.4), (0.0, -0.2), (0.0, 0.4)], strict=True):
        assert_allclose(bar[[0, 2], 0], [start, end], atol=1e-12)
    texts = {text.get_text() for text in ax.texts}
    assert {"+0.60", "−0.20", "+0.40", "for", "against"} <= texts
    assert {"multiplies the odds by 1.8", "divides the odds by 1.2"} <= texts
    total = f"−ln {display.probability:.2f}"
    shown = f"lack {display.lack:.2f} + contradiction {display.contradiction:.2f} = {total}"
    assert shown in texts
    ev = binary(np.array([[60.0, 6.0]]))
    assert_allclose([ev.odds_for[0], ev.odds_against[0]], np.exp([0.6, 0.2]))  # as it is drawn
    assert ax.get_xlabel() == "log-odds of yes over no\n+1 multiplies the odds by 2.7"
    assert "yes" in ax.get_title(loc="left")
    low, high = ax.get_xlim()
    assert low < -0.2
    assert high > 0.4


def test_the_smallest_are_pooled(make: Make) -> None:
    evidence = make(components=52)
    display = WaterfallDisplay.from_evidence(evidence, top=12).plot()
    steps = display.steps()
    assert len(steps) == 12
    assert steps[-1].name == "the other 41"
    sizes = np.sort(np.abs(display.weights))[::-1]
    assert_allclose([abs(step.weight) for step in steps[:-1]], sizes[:11])
    assert_allclose(sum(step.weight for step in steps), display.logit)
    assert steps[-1].parts is not None
    assert_allclose(sum(steps[-1].parts), steps[-1].weight)
    assert len(_row_names(display)) == 13
    longest = max(len(line) for name in _row_names(display) for line in name.split("\n"))
    assert longest < 44


def _with_errors(n_classes: int) -> tuple[shafer.Evidence, np.ndarray]:
    """Evidence of a model with error bars and many features, some of which are noise."""
    random = np.random.default_rng(n_classes)
    X = random.normal(size=(300, 8))
    effects = np.zeros((8, n_classes))
    effects[:3] = 2.0 * random.normal(size=(3, n_classes))
    y = (X @ effects + random.gumbel(size=(300, n_classes))).argmax(axis=1)
    model = LogisticRegression().fit(X, y)
    evidence = shafer.Explainer(model, X, prior="own", errors="laplace")(X)
    assert isinstance(evidence, shafer.Evidence)
    return evidence, X


@pytest.mark.parametrize("units", ["log_odds", "weight"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_error_bars(n_classes: int, units: str, drawn_well: Callable[..., None]) -> None:
    evidence, X = _with_errors(n_classes)
    display = WaterfallDisplay.from_evidence(evidence, 3, features=X, units=units, top=6, level=0.8)
    bars = display.intervals
    assert bars is not None
    one = evidence[3]
    steps = display.steps()
    pooled = [name for name in display.names if f"{name} = " not in str([s.name for s in steps])]
    together = one.grouped({"rest": pooled})
    where = together.component_names.index("rest")

    def ends(ev: shafer.Evidence) -> np.ndarray:
        if units == "weight":
            return np.stack(ev.weight_interval(0.8), axis=-1)[0, :, display.class_]
        return np.stack(ev.contrast_interval(display.class_, display.over, 0.8), axis=-1)[0]

    assert_allclose(bars.components, ends(one)[:-1])
    assert_allclose(bars.base_rate, ends(one)[-1])
    assert_allclose(bars.pooled, ends(together)[where])
    assert_allclose(bars.total, ends(one.grouped("one"))[0])
    assert_allclose(steps[-1].interval, bars.pooled)
    display.plot()
    drawn_well(display)
    _bars_end_to_end(display)
    _pale_if_not_told_from_zero(display)
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == [
        "80% interval of where the bar ends: error from the training sample",
        "pale: 80% interval includes no effect",
    ]


def _pale_if_not_told_from_zero(display: WaterfallDisplay) -> None:
    steps = display.steps()
    told = [s.interval is not None and s.interval[0] * s.interval[1] > 0 for s in steps]
    assert 0 < sum(told) < len(told)  # of both kinds
    arrows = [patch for patch in display.ax_.patches if isinstance(patch, Polygon)]
    for arrow, strong in zip(arrows[: len(steps)], told, strict=True):
        pale = min(arrow.get_facecolor()[:3]) > 0.5  # on white
        assert pale == (not strong)
    # An error bar for each step, the base rate and the sum: six corners each.
    drawn = [line.get_xdata() for line in display.ax_.lines if len(line.get_xdata()) == 6]
    widths = sorted(float(np.ptp(x)) for x in drawn)
    bars = display.intervals
    assert bars is not None
    ends = [*(step.interval for step in steps), bars.base_rate, bars.total]
    assert_allclose(widths, sorted(high - low for low, high in ends))


def test_missing_inputs_are_hatched(drawn_well: Callable[..., None]) -> None:
    """An error bar of the coefficient would not show what the missing value could change."""
    evidence, X = _with_errors(2)
    X = X.copy()  # the evidence shares the array
    X[3, [0, 6]] = np.nan
    display = WaterfallDisplay.from_evidence(evidence, 3, features=X).plot()
    drawn_well(display)
    gaps = {step.name for step in display.steps() if step.missing}
    assert gaps == {"x0 not measured", "x6 not measured"}
    for step in display.steps():
        assert (step.interval is None) == step.missing
    arrows = [patch for patch in display.ax_.patches if isinstance(patch, Polygon)]
    hatched = [bool(patch.get_hatch()) for patch in arrows[: len(display.steps())]]
    assert hatched == [step.missing for step in display.steps()]
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == [
        "90% interval of where the bar ends: error from the training sample",
        "pale: 90% interval includes no effect",
        "input missing: expected effect",
    ]
    without_bars = WaterfallDisplay([1.0, 2.0], values=["missing", "3"]).plot()
    legend = [text.get_text() for text in without_bars.ax_.get_legend().get_texts()]
    assert legend == ["input missing: expected effect"]


def test_without_errors_there_are_no_bars(make: Make) -> None:
    display = WaterfallDisplay.from_evidence(make()).plot()
    assert display.intervals is None
    assert display.ax_.get_legend() is None
    assert all(step.told_from_zero for step in display.steps())


def test_the_sum_is_seen_and_its_number_is_at_its_tip() -> None:
    bars = WaterfallIntervals(0.9, np.array([[0.5, 1.5], [-1.5, -0.499]]), None, None, (-3.0, 3.0))
    display = WaterfallDisplay([1.0, -1.001], intervals=bars).plot()
    texts = {text.get_text(): text for text in display.ax_.texts if isinstance(text, Annotation)}
    assert set(texts) == {"+1.00", "−1.00", "0.00"}  # without a sign
    assert_allclose(texts["0.00"].xy, [-0.001, 0.0], atol=1e-12)  # not at the end of the error bar
    thick = [line for line in display.ax_.lines if line.get_linewidth() == 4.0]
    assert [line.get_xdata()[0] for line in thick] == [display.logit]
    low, high = display.ax_.get_xlim()
    assert low < -3.05  # room beside the error bar
    assert high > 3.05
    longer = WaterfallDisplay([1.0, 1.0], intervals=bars).plot()
    assert not [line for line in longer.ax_.lines if line.get_linewidth() == 4.0]


def test_long_values_lose_their_end() -> None:
    values = ["1000 DM or more", "radio, television, " * 9]
    first, second = WaterfallDisplay([2.0, 1.0], ["savings", "purpose"], values=values).steps()
    assert first.name == "savings = 1000 DM or more"
    assert second.name == "purpose = radio, television, radio, telev…"


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
    """Each bar starts where the one below ends, the lowest at the base rate; then the sum."""
    steps = [step.weight for step in display.steps()]
    base = display.base_rate or 0.0
    ends = base + np.concatenate([[0.0], np.cumsum(steps[::-1])])
    low, high = display.ax_.get_xlim()
    assert low <= min(ends.min(), 0.0) <= max(ends.max(), 0.0) <= high
    scale = max(np.abs(ends).max(), 1.0)
    arrows = [patch for patch in display.ax_.patches if isinstance(patch, Polygon)]
    spans = [(p.get_xy()[:, 0].min(), p.get_xy()[:, 0].max()) for p in arrows]
    expected = [sorted(pair) for pair in pairwise(ends)][::-1]
    expected.append(sorted([0.0, display.logit]))
    if display.base_rate is not None:
        expected.append(sorted([0.0, display.base_rate]))
    assert_allclose(spans, expected, atol=1e-9 * scale)
    edges = display.ax_.get_window_extent()
    numbers = [text for text in display.ax_.texts if isinstance(text, Annotation)]
    assert len(numbers) == len(expected)
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
    with pytest.raises(ValueError, match="top must be at least 1; got 0"):
        WaterfallDisplay.from_evidence(evidence, top=0)
    with pytest.raises(ValueError, match=r"each of the 4 components; got shape \(3,\)"):
        WaterfallDisplay.from_evidence(evidence, features=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="features must have 5 rows, as the evidence; got 2"):
        WaterfallDisplay.from_evidence(evidence, features=np.zeros((2, 4)))
    with pytest.raises(ValueError, match="evidence of single components"):
        WaterfallDisplay.from_evidence(evidence.components)
