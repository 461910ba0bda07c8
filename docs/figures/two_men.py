"""Draw the picture of the first page: two men with the same probability, and their evidence.

Run ``python docs/figures/two_men.py``, and look at the pictures, for light and dark pages, wide
and narrow.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression

import shafer

FIGURES = Path(__file__).parent
MEN = [[50, 6.8], [25, 14.5]]
NAMES = (
    "50 years old, LDL 6.8\nNeither value tells much.",
    "25 years old, LDL 14.5\nYoung, but high cholesterol.",
)
FOR, AGAINST, OPEN = "#0072B2", "#D55E00", "#9a9a9a"
STYLES = {"": "default", "-dark": "dark_background"}


def two_men() -> shafer.Evidence:
    """Return the evidence about two men to whom a logistic regression gives 50 %."""
    heart = shafer.datasets.load_heart()
    X, y = heart.data[:, [8, 2]], heart.target_names[heart.target]
    model = LogisticRegression(C=1e9).fit(X, y)
    return shafer.Explainer(model, X, names=["age", "LDL"])(MEN)


def draw(evidence: shafer.Evidence, narrow: bool) -> Figure:
    """Draw one line, or for phones one column, for each man."""
    axes = _narrow_axes() if narrow else _wide_axes()
    for man in range(2):
        _probability(axes[man, 0], float(evidence.probability[man, 0]), NAMES[man])
        _weights(axes[man, 1], evidence.weights[man, :, 0], evidence.component_names)
        _masses(axes[man, 2], evidence, man)
    titles = ("what the model says", "weights of evidence", "what the evidence supports")
    for ax, title in zip(axes[0], titles, strict=True):
        ax.set_title(title, loc="left", weight="bold", pad=12)
    for ax in axes[:, 1] if narrow else axes[1:, 1]:
        ax.set_xlabel("← against disease      for disease →")
    return axes[0, 0].figure


def _wide_axes() -> Any:
    return pyplot.subplots(
        2, 3, figsize=(10, 3.4), width_ratios=(1, 1.15, 1.5), sharex="col", layout="constrained"
    )[1]


def _narrow_axes() -> Any:
    matplotlib.rcParams.update({"font.size": 7.5, "axes.titlesize": 9})
    return pyplot.subplots(3, 2, figsize=(4.3, 4.6), layout="constrained")[1].T


def _probability(ax: Axes, probability: float, name: str) -> None:
    ax.barh(0, 1, color="none", edgecolor=OPEN, height=0.5)
    ax.barh(0, probability, color=FOR, height=0.5)
    ax.text(0.5, 0.42, f"disease: {probability:.0%}", ha="center", va="bottom", weight="bold")
    ax.text(0.5, -0.42, name, ha="center", va="top")
    ax.set_xlim(0, 1)
    ax.set_ylim(-1.35, 0.85)
    ax.axis("off")


def _weights(ax: Axes, weights: Any, names: Any) -> None:
    for place, (weight, name) in enumerate(zip(weights, names, strict=True)):
        ax.barh(-place, weight, color=FOR if weight > 0 else AGAINST, height=0.5)
        side = 1 if weight > 0 else -1
        ax.text(
            weight + 0.06 * side,
            -place,
            f"{name} {weight:+.2f}".replace("-", "−"),
            ha="left" if side > 0 else "right",
            va="center",
        )
    ax.axvline(0, color=OPEN, linewidth=1)
    ax.set_xlim(-1.6, 1.6)
    ax.set_ylim(-2.5, 0.6)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)


def _masses(ax: Axes, evidence: shafer.Evidence, man: int) -> None:
    disease, healthy = (float(value) for value in evidence.belief[man])
    left_open, conflict = float(evidence.ignorance[man]), float(evidence.conflict[man])
    start = 0.0
    for share, colour, word in (
        (disease, FOR, "disease"),
        (left_open, OPEN, "open"),
        (healthy, AGAINST, "no disease"),
    ):
        ax.barh(0, share, left=start, color=colour, height=0.5)
        if share > 0.1:
            text = f"{word}\n{share:.0%}"
            ink = "white" if colour == FOR else "black"
            ax.text(start + share / 2, 0, text, ha="center", va="center", color=ink, size="small")
        start += share
    reason = "Weak reasons." if left_open > 0.2 else "Strong reasons that disagree."
    ax.text(0.5, 0.42, reason, ha="center", va="bottom", weight="bold")
    numbers = f"ignorance {left_open:.2f}, conflict {conflict:.2f}"
    ax.text(0.5, -0.42, numbers, ha="center", va="top")
    ax.set_xlim(0, 1)
    ax.set_ylim(-1.35, 0.85)
    ax.axis("off")


if __name__ == "__main__":
    matplotlib.use("agg")
    found = two_men()
    for suffix, style in STYLES.items():
        for narrow in (False, True):
            file = f"two-men{'-narrow' * narrow}{suffix}.png"
            with pyplot.style.context(style):
                draw(found, narrow).savefig(
                    FIGURES / file, dpi=150, transparent=True, metadata={"Software": None}
                )
            print(file)
