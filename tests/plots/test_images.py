"""Every Display, held steady: pictures are compared with those under ``baseline``.

They are compared when pytest runs with ``--mpl``. After a change that is meant, draw them again
with ``pytest tests/plots/test_images.py --mpl-generate-path=tests/plots/baseline`` and look at
each one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

import shafer
from shafer.datasets import load_fashion, load_heart
from shafer.evidence import Evidence, LinearPool
from shafer.plots import (
    DependenceDisplay,
    ErrorImprecisionDisplay,
    EvidenceMapDisplay,
    IntervalCalibrationDisplay,
    IntervalDisplay,
    MassDisplay,
    MonitorDisplay,
    RegionDisplay,
    RiskCoverageDisplay,
    SetConfusionDisplay,
    SourceConflictDisplay,
    SummaryDisplay,
    TextDisplay,
    UncertaintyDisplay,
    UnitDisplay,
    WaterfallDisplay,
)
from shafer.plots.waterfall_display import WaterfallIntervals


def _compared(style: str = "default", dpi: int = 60) -> Any:
    """Compare the returned figure, drawn small and without a stamp of the software."""
    return pytest.mark.mpl_image_compare(
        baseline_dir="baseline",
        style=style,
        backend="agg",
        tolerance=1,
        savefig_kwargs={"dpi": dpi, "metadata": {"Software": None}},
    )


def _weights(n: int, components: int, classes: int, size: float = 1.0) -> Evidence:
    """Waves instead of random numbers: the same on every machine."""
    n_, g, k = np.ogrid[:n, :components, :classes]
    waves = np.sin(1.7 * n_ + 0.9 * g * (1 + k) + 2.1 * k) * np.cos(0.37 * n_ * (g + 1))
    weights = size * waves / (1.0 + 0.15 * g)
    return Evidence.from_weights(
        weights - weights.mean(axis=2, keepdims=True),
        classes=[f"class {k}" for k in range(classes)],
        names=[
            f"component {g}" if g % 3 else f"a_long__name_of_component_{g}"
            for g in range(components)
        ],
    )


@pytest.fixture(scope="module")
def heart() -> tuple[LinearPool, np.ndarray, np.ndarray]:
    """The paper's model of heart disease: age and LDL, with fixed coefficients."""
    data = load_heart()
    X = data.data[:, [8, 2]]
    pool = shafer.least_commitment(
        [0.061, 0.17],
        -4.2,
        X.mean(axis=0),
        classes=["no disease", "disease"],
        names=["age", "ldl"],
    )
    return pool, X, np.array(["no disease", "disease"])[data.target]


Heart = tuple[LinearPool, np.ndarray, np.ndarray]


@_compared()
def test_waterfall(heart: Heart) -> Figure:
    pool, X, _ = heart
    return WaterfallDisplay.from_evidence(pool(X), 2, features=X).plot().figure_


@_compared("dark_background")
def test_waterfall_of_many() -> Figure:
    return WaterfallDisplay.from_evidence(_weights(1, 52, 10)).plot().figure_


@_compared()
def test_waterfall_by_sign() -> Figure:
    axes = pyplot.subplots(figsize=(6.4, 3.6))[1]  # without room made for labels
    display = WaterfallDisplay.from_evidence(_weights(1, 30, 3), top=8)
    return display.plot(axes, order="sign").figure_


@_compared()
def test_waterfall_with_error_bars() -> Figure:
    weights = np.array([1.4, -0.9, 0.5, -0.3, 0.1, -0.05, 0.02])
    half = np.array([0.5, 0.6, 0.7, 0.1, 0.3, 0.02, 0.0])
    bars = WaterfallIntervals(
        0.9,
        np.stack([weights - half, weights + half], axis=1),
        base_rate=(-1.1, -0.7),
        pooled=(-0.08, 0.02),
        total=(-1.0, 0.5),
    )
    display = WaterfallDisplay(
        weights,
        [f"feature {g}" for g in range(7)],
        class_="disease",
        over="healthy",
        base_rate=-0.9,
        probability=0.44,
        base_probability=(0.29, 0.71),
        ignorance=0.1,
        disagreement=0.6,
        intervals=bars,
        values=["11.89", "missing", None, "yes", "3", "0.1", "0.2"],
        top=6,
    )
    return display.plot().figure_


@_compared("dark_background")
def test_waterfall_with_base_rate() -> Figure:
    pool = shafer.least_commitment(
        [[1.0, 0.5, -0.2], [-0.4, 0.2, 0.6], [0.1, -0.9, 0.1]],
        [2.0, 0.0, -1.0],
        [0.5, 1.0, 0.0],
        classes=["setosa", "versicolor", "virginica"],
        prior="own",
    )
    return WaterfallDisplay.from_evidence(pool([[-1.0, 3.0, 0.0]])).plot().figure_


@_compared()
def test_intervals() -> Figure:
    return IntervalDisplay.from_evidence(_weights(3, 2, 3)).plot().figure_


@_compared()
def test_intervals_below_belief() -> Figure:
    weights = [[[1.0, 0.0, 0.0, 0.0, 0.0]], [[0.6, 0.5, 0.0, -0.4, -0.7]]]
    evidence = Evidence.from_weights(weights, classes=list("abcde"))
    return IntervalDisplay.from_evidence(evidence, names=["one", "two"]).plot().figure_


@_compared("dark_background")
def test_intervals_of_many_classes() -> Figure:
    evidence = _weights(2, 3, 100, 0.4)
    return IntervalDisplay.from_evidence(evidence, rule="belief").plot(top=7).figure_


@_compared()
def test_masses() -> Figure:
    return MassDisplay.from_evidence(_weights(1, 2, 3)).plot().figure_


@_compared()
def test_masses_with_dots() -> Figure:
    return MassDisplay.from_evidence(_weights(1, 3, 10, 0.6)).plot(top=8).figure_


@_compared()
def test_summary(heart: Heart) -> Figure:
    pool, X, _ = heart
    return SummaryDisplay.from_evidence(pool(X), features=X).plot().figure_


@_compared()
def test_summary_with_error_bars() -> Figure:
    weights = _weights(80, 4, 2).weights[:, :, 1:]
    half = np.abs(weights) * np.array([0.3, 0.7, 1.2, 0.9])[:, None] + 0.1
    ends = {"lower": weights - half, "upper": weights + half}
    display = SummaryDisplay(weights, ["yes"], units="log_odds", over="no", **ends)
    return display.plot().figure_


@_compared("dark_background", dpi=50)
def test_summary_of_classes() -> Figure:
    return SummaryDisplay.from_evidence(_weights(60, 20, 3)).plot(top=6).figure_


@_compared()
def test_uncertainty(heart: Heart) -> Figure:
    pool, X, y = heart
    return UncertaintyDisplay.from_evidence(pool(X), y).plot().figure_


@_compared("dark_background")
def test_uncertainty_by_sets() -> Figure:
    return UncertaintyDisplay.from_evidence(_weights(200, 3, 4, 0.5)).plot().figure_


@_compared()
def test_uncertainty_of_many_components() -> Figure:
    return UncertaintyDisplay.from_evidence(_weights(200, 60, 2)).plot().figure_


@_compared(dpi=50)
def test_uncertainty_density() -> Figure:
    evidence = _weights(3000, 3, 2)
    y = evidence.classes[(np.arange(3000) % 7 < 3).astype(int)]
    return UncertaintyDisplay.from_evidence(evidence, y).plot(density=True).figure_


@_compared()
def test_dependence(heart: Heart) -> Figure:
    pool, X, y = heart
    ages = np.linspace(15.0, 65.0, 101)
    evidence = pool(np.column_stack([ages, np.full(101, 4.0)]))
    instances = {name: X[y == name, 0] for name in ("no disease", "disease")}
    return (
        DependenceDisplay.from_evidence(evidence, "age", ages, instances=instances).plot().figure_
    )


@_compared("dark_background")
def test_dependence_of_masses() -> Figure:
    values = np.linspace(-3.0, 3.0, 121)
    pool = shafer.least_commitment(
        np.array([[1.0], [-0.7], [0.4], [0.1]]), np.array([0.3, 0, 0, -0.3])
    )
    display = DependenceDisplay.from_evidence(pool(values[:, None]), 0, values)
    return display.plot(kind="masses").figure_


@_compared()
def test_regions(heart: Heart) -> Figure:
    pool, X, _ = heart
    return RegionDisplay.from_explainer(pool, X, "decision", grid_resolution=80).plot().figure_


@_compared(dpi=40)
def test_region_of_ignorance(heart: Heart) -> Figure:
    pool, X, _ = heart
    return RegionDisplay.from_explainer(pool, X, "ignorance", grid_resolution=80).plot().figure_


def _boot() -> np.ndarray:
    return load_fashion().images[0]


@_compared()
def test_evidence_map() -> Figure:
    display = EvidenceMapDisplay.from_evidence(_weights(1, 49, 3, 0.4), 0, _boot(), shape=(7, 7))
    return display.plot(grid=True).figure_


@_compared("dark_background")
def test_evidence_map_of_all_kinds() -> Figure:
    kinds = ("evidence", "ignorance", "disagreement")
    evidence = _weights(1, 49, 10, 0.4)
    display = EvidenceMapDisplay.from_evidence(evidence, 0, _boot(), show=kinds, shape=(7, 7))
    return display.plot(smooth=True).figure_


@_compared()
def test_evidence_map_of_regions() -> Figure:
    boot = _boot()
    regions = np.where(boot > 0, 1 + (np.arange(28) // 7)[:, None], 0)
    evidence = _weights(1, 5, 10)
    classes = evidence.classes[:6]
    return (
        EvidenceMapDisplay.from_evidence(evidence, 0, boot, classes=classes, regions=regions)
        .plot()
        .figure_
    )


@_compared()
def test_unit() -> Figure:
    outputs = np.linspace(0.0, 2.0, 81)
    pool = shafer.least_commitment(np.array([[1.5], [-1.0], [0.2]]), np.zeros(3), [0.6])
    instances = {"a": np.linspace(0.0, 0.5, 20), "b": np.linspace(0.3, 1.9, 20)}
    display = UnitDisplay.from_evidence(pool(outputs[:, None]), 0, outputs, instances=instances)
    return display.plot().figure_


def _predictions() -> tuple[np.ndarray, Evidence]:
    """True classes that the evidence mostly points to, and the evidence."""
    evidence = _weights(60, 3, 3, 1.5)
    best = evidence.logits.argmax(axis=1)
    return np.where(np.arange(60) % 5 == 0, (best + 1) % 3, best), evidence


@_compared()
def test_set_confusion() -> Figure:
    truth, evidence = _predictions()
    sets = evidence.decide("utility_set", tolerance="u80")
    return SetConfusionDisplay.from_predictions(truth, sets).plot().figure_


@_compared("dark_background")
def test_error_imprecision() -> Figure:
    truth, evidence = _predictions()
    rules = {"interval dominance": evidence.decide("interval_dominance")}
    display = ErrorImprecisionDisplay.from_predictions(truth, evidence.probability, rules=rules)
    return display.plot().figure_


@_compared()
def test_risk_coverage() -> Figure:
    truth, evidence = _predictions()
    p = evidence.probability
    display = RiskCoverageDisplay.from_predictions(truth, p.argmax(axis=1), p.max(axis=1))
    return display.plot().figure_


@_compared()
def test_interval_calibration() -> Figure:
    truth, evidence = _predictions()
    ends = evidence.grouped("one")
    display = IntervalCalibrationDisplay.from_predictions(
        truth, ends.belief, ends.plausibility, n_bins=5
    )
    return display.plot().figure_


@pytest.mark.parametrize(
    "style",
    [
        pytest.param("light", marks=_compared()),
        pytest.param("dark", marks=_compared("dark_background")),
    ],
)
def test_source_conflict(style: str) -> Figure:
    sources = {
        "sensor": _weights(1, 2, 3, 4.0),
        "model": _weights(1, 5, 3),
        "expert": _weights(1, 1, 3),
    }
    return SourceConflictDisplay.from_evidences(sources, 0).plot().figure_


def _monitored(n_batches: int) -> MonitorDisplay:
    g, t = np.ogrid[:7, :n_batches]
    shifts = np.sin(2.1 * g + 0.9 * t) * 0.05 + (g == 0) * np.maximum(t - 4, 0) * 0.11
    shifts = shifts - (g == 1) * (t > 7) * 0.3
    moved = np.abs(shifts) > 0.2
    months = np.arange(n_batches)
    return MonitorDisplay(
        shifts,
        ["age", "income_of_the_household_in_euros", *(f"feature {k}" for k in range(2, 7))],
        [f"2025-{month + 1:02d}" for month in months],
        moved=moved,
        alarms=moved.any(axis=0),
        quantities={
            "decisions moved": np.maximum(months - 5, 0) * 0.03,
            "typicality": 0.5 - 0.01 * months,
            "disagreement": 0.3 + 0.02 * np.sin(months),
        },
        unit="shift, log-odds of yes over no",
    )


@_compared()
def test_monitor() -> Figure:
    return _monitored(12).plot().figure_


@_compared("dark_background")
def test_monitor_of_many_batches() -> Figure:
    return _monitored(30).plot(top=4).figure_


def _marked_text() -> TextDisplay:
    text = "Landed <b>safely</b>, 2 gulls\nin #1 engine: $5 café — shut down & towed."
    words = ["Landed", "safely", "gulls", "engine", "café", "shut", "down"]
    spans = [(text.index(word), text.index(word) + len(word)) for word in words]
    silent = [(text.index(word), text.index(word) + len(word)) for word in ("in", "towed")]
    return TextDisplay(
        text,
        spans,
        [-1.2, -0.4, 0.02, 0.7, 0.1, 1.4, 0.9],
        silent=silent,
        class_="engine shut down",
        over="precautionary landing",
        base_rate=-1.6,
        absent=0.31,
        n_absent=900,
        probability=0.66,
        over_probability=0.3,
    )


@_compared()
def test_text() -> Figure:
    return _marked_text().plot(width=48).figure_


@_compared("dark_background")
def test_text_on_dark() -> Figure:
    return _marked_text().plot(width=48).figure_
