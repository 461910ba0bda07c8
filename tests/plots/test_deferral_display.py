"""The error among decided rows, with its bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.plots import DeferralDisplay

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(900, 3))
SITE = np.where(RANDOM.random(900) < 0.3, "a $", "b")
Y = np.where(RANDOM.random(900) < 1 / (1 + np.exp(-3 * X[:, 0])), "sick", "well")
FRAME = pd.DataFrame(X, columns=["p", "q", "r"]).assign(site=SITE)
LOSS = {"sick": {"sick": 1.0, "well": 2.0}, "well": {"sick": 4.0, "well": 1.0}}


@pytest.fixture
def explainer() -> shafer.Explainer:
    model = LogisticRegression().fit(X[:300], Y[:300])
    return shafer.Explainer(model, X[:300], names=["p", "q", "r"])


def test_the_curve_is_what_it_says(explainer: shafer.Explainer) -> None:
    explainer.control_error(X[300:600], Y[300:600], 0.1)
    found = explainer.predict_or_defer(X[600:])
    ax = Figure().subplots()
    display = DeferralDisplay.from_explainer(explainer, X[600:], Y[600:])
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert not pyplot.get_fignums()
    curve = display.curves[0]
    wrong = (found.labels != Y[600:])[np.argsort(-found.scores)]
    assert_allclose(curve.share, np.arange(1, 301) / 300)
    assert_allclose(curve.risk, np.cumsum(wrong) / np.arange(1, 301))
    k, n = int(wrong[:200].sum()), 200
    exact = binomtest(k, n).proportion_ci(0.8, method="exact").high  # one-sided 90 %
    assert curve.bound[199] == pytest.approx(exact)
    assert curve.chosen == pytest.approx(found.share_decided)
    assert curve.chosen_risk == pytest.approx(
        (found.labels != Y[600:])[~found.deferred].mean(), abs=1e-9
    )
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == [
        "error on these rows",
        "upper bound (90 %) if no threshold was searched",
        "promised: at most 10 % (confidence 90 %)",
    ]
    share = round(100 * found.share_decided)
    assert ax.texts[0].get_text() == f"{share} % decided, {100 - share} % deferred"


@pytest.mark.filterwarnings("ignore:No threshold keeps")
def test_a_panel_for_each_group(explainer: shafer.Explainer, drawn_well: Any) -> None:
    explainer.control_error(X[300:600], Y[300:600], 0.1, groups=SITE[300:600])
    display = DeferralDisplay.from_explainer(explainer, X[600:], Y[600:], groups=SITE[600:]).plot()
    assert [ax.get_title() for ax in display.axes_] == [r"a \$", "b"]
    drawn_well(display)
    together = DeferralDisplay.from_explainer(explainer, X[600:], Y[600:], groups=SITE[600:])
    together.plot(Figure().subplots())
    assert len(together.axes_) == 1
    assert len(together.ax_.get_legend().get_texts()) == 4


@pytest.mark.parametrize(
    ("promise", "words"),
    [
        ({"false_negative_rate": 0.1, "class_": "sick"}, "share of the class that is missed"),
        ({"mean_loss": 1.4, "loss": LOSS}, "mean loss of decided rows"),
    ],
)
def test_other_promises(explainer: shafer.Explainer, promise: dict[str, Any], words: str) -> None:
    explainer.control_error(X[300:600], Y[300:600], **promise)
    display = DeferralDisplay.from_explainer(explainer, X[600:], Y[600:]).plot()
    assert display.ax_.get_ylabel() == words
    curve, found = display.curves[0], explainer.predict_or_defer(X[600:])
    decided, sick = ~found.deferred, Y[600:] == "sick"
    if "loss" in promise:
        pairs = zip(found.labels[decided], Y[600:][decided], strict=True)
        seen = np.mean([LOSS[a][k] for a, k in pairs])
        assert curve.bound[-1] > curve.risk[-1] > 1.0
    else:
        seen = (decided & (found.labels == "well"))[sick].mean()
    assert curve.chosen_risk == pytest.approx(seen, abs=1e-9)
    low, high = display.ax_.get_ylim()
    assert low < curve.risk.min() <= curve.risk.max() < high


def test_predictions_of_any_model() -> None:
    y, answers = ["x", "y", "x", "y", "x"], ["x", "y", "y", "y", "x"]
    score = [0.9, 0.8, 0.6, 0.6, 0.5]
    display = DeferralDisplay.from_predictions(y, answers, score, threshold=0.6).plot()
    assert display.curves[0].share.tolist() == [0.2, 0.4, 0.8, 1.0]  # ties together
    assert display.curves[0].chosen == 0.4
    by_group = DeferralDisplay.from_predictions(y, answers, score, groups=[1, 1, 2, 2, 2])
    assert [curve.name for curve in by_group.curves] == ["1", "2"]
    nothing = DeferralDisplay.from_predictions(y, answers, score, threshold=2.0).plot()
    assert nothing.ax_.texts[0].get_text() == "all deferred"
    with pytest.raises(ValueError, match="needs rows to draw; got none"):
        DeferralDisplay.from_predictions([], [], [], labels=["x", "y"])
    with pytest.raises(ValueError, match="Unknown class label"):
        DeferralDisplay.from_predictions(y, answers, score, labels=["x", "z"])


def _compared(style: str) -> Any:
    """Compare the returned figure with the one under ``baseline``, as in ``test_images.py``."""
    return pytest.mark.mpl_image_compare(
        baseline_dir="baseline",
        style=style,
        backend="agg",
        tolerance=1,
        savefig_kwargs={"dpi": 60, "metadata": {"Software": None}},
    )


def _waves(groups: bool) -> DeferralDisplay:
    n = np.arange(400)
    score = 0.5 + 0.5 * ((n * 0.6180339887498949) % 1.0)
    wrong = (n * 0.7548776662466927) % 1.0 > score + 0.12 * np.sin(n)
    names = np.where(n % 3, "a long name of a site", "north") if groups else None
    return DeferralDisplay.from_predictions(
        np.zeros(400, dtype=int), wrong.astype(int), score, error=0.1, threshold=0.8, groups=names
    )


@_compared("default")
def test_deferral() -> Figure:
    return _waves(groups=False).plot().figure_


@_compared("dark_background")
def test_deferral_groups_on_dark() -> Figure:
    return _waves(groups=True).plot().figure_
