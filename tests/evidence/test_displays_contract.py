"""Every Display over all types of evidence."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from numpy.testing import assert_allclose, assert_array_equal

from evidence_types import every_type, made
from shafer.decision import RULES
from shafer.plots import (
    DependenceDisplay,
    IntervalDisplay,
    MassDisplay,
    RegionDisplay,
    SetConfusionDisplay,
    SummaryDisplay,
    UncertaintyDisplay,
    UnitDisplay,
    WaterfallDisplay,
)

matplotlib.use("agg")


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    pyplot.close("all")


@every_type
def test_displays_without_weights(kind: str) -> None:
    ev = made(kind).evidence
    y = ev.classes[ev.decide("plausibility").argmax(axis=1)]
    interval = IntervalDisplay.from_evidence(ev[:3]).plot()
    assert_allclose(interval.belief, ev[:3].belief)
    mass = MassDisplay.from_evidence(ev, 2).plot()
    assert_allclose(mass.masses, [entry.mass for entry in ev[2].focal_sets(10)[0]])
    uncertainty = UncertaintyDisplay.from_evidence(ev, y_true=y).plot()
    assert_allclose(uncertainty.ignorance, ev.ignorance)
    assert uncertainty.right is not None
    assert uncertainty.right.all()
    confusion = SetConfusionDisplay.from_predictions(y, ev.decide(), labels=ev.classes).plot()
    assert confusion.counts.sum() == 6
    for response in ("belief", "plausibility", "mass", "probability", "ignorance", "conflict"):
        region = RegionDisplay.from_evidence(ev, [0.0, 1.0, 2.0], [0.0, 1.0], response)
        assert region.response.shape == (2, 3)
    for rule in RULES:
        drawn = RegionDisplay.from_evidence(ev, [0.0, 1.0, 2.0], [0.0, 1.0], "decision", rule=rule)
        assert_array_equal(drawn.chosen.reshape(6, 3), ev.decide(rule))
    drawn.plot()


@every_type
def test_displays_of_weights(kind: str) -> None:
    ev = made(kind).evidence
    values = np.arange(6.0)
    for draw in (
        lambda: WaterfallDisplay.from_evidence(ev, 1),
        lambda: SummaryDisplay.from_evidence(ev),
        lambda: DependenceDisplay.from_evidence(ev, 0, values),
        lambda: UnitDisplay.from_evidence(ev, 0, values),
    ):
        if kind in ("Evidence", "DiscountedEvidence"):
            draw().plot()
        else:
            with pytest.raises(ValueError, match=f"{kind} has no weights"):
                draw()


def test_the_waterfall_of_discounted_evidence_shows_the_bet() -> None:
    case = made("DiscountedEvidence")
    display = WaterfallDisplay.from_evidence(case.evidence, 0, class_=1)
    assert display.probability == pytest.approx(case.evidence.betting_probability[0, 1])
    assert display.ignorance == pytest.approx(case.evidence.ignorance[0])
