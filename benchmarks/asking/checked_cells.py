"""Question 4: which cells are worth checking.

5 % of the cells of the test rows are wrong. The cells of all rows are ranked by a score. As many
are checked as a quarter of the number of wrong cells; wrong ones get their true value back. The
figure is the share of overturned decisions (the class differs from that of the true row) that are
the true row's class again, over all splits.

*Top 1*: in rows with a wrong cell, how often the cell with the largest score is wrong.

Scores: the stake of the recipe; the surprise (conditional z-score); the absolute weight of
evidence, which is the absolute SHAP value, largest over classes; the absolute z-score; the weight
of conflict of the component with the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from asking.knowledge import LinearGaussian
from asking.scores import FEWEST_EVENTS
from asking.trial import Trial
from asking.wrong_cells import KINDS, with_errors

SHARE = 0.05
BUDGET = 0.25


def collect(trial: Trial, recipes: Any) -> dict[str, int]:
    """Count overturned and repaired decisions, by kind of error and score."""
    counts: dict[str, int] = {}
    model = LinearGaussian.of(trial.model, trial.X_train)
    scaler = trial.model[0]
    truth = model.logits(scaler.transform(trial.X)).argmax(axis=1)
    for kind in KINDS:
        bad, wrong = with_errors(trial.X, scaler.scale_, kind, SHARE, trial.rng())
        overturned = model.logits(scaler.transform(bad)).argmax(axis=1) != truth
        counts[f"{kind}, overturned"] = int(overturned.sum())
        hit = wrong.any(axis=1)
        counts[f"{kind}, rows"] = int(hit.sum())
        for name, score in _scores(trial, model, recipes, bad, kind == "mixed").items():
            order = np.argsort(-score, axis=None, kind="stable")
            checked = np.zeros(wrong.shape, dtype=bool)
            checked.flat[order[: round(BUDGET * wrong.sum())]] = True
            mended = np.where(checked, trial.X, bad)
            again = model.logits(scaler.transform(mended)).argmax(axis=1) == truth
            counts[f"{kind}, repaired: {name}"] = int((overturned & again).sum())
            found = wrong[np.arange(len(wrong)), score.argmax(axis=1)]
            counts[f"{kind}, top 1: {name}"] = int((found & hit).sum())
    return counts


def _scores(
    trial: Trial, model: LinearGaussian, recipes: Any, bad: Any, with_conflict: bool
) -> dict[str, Any]:
    x = trial.model[0].transform(bad)
    surprise, stake = recipes.cells(bad)
    scores = {
        "stake": stake,
        "surprise": surprise,
        "weight": np.abs(x[:, :, None] * model.beta).max(axis=2),
        "z-score": np.abs(x),
    }
    if with_conflict:
        scores["conflict"] = _conflict_with_the_rest(recipes.evidence(bad))
    return scores


def _conflict_with_the_rest(ev: Any) -> Any:
    """Return the weight of conflict that each component adds to that of itself and the rest."""
    alone = ev.components.weight_of_conflict
    rest = np.stack([ev.without([g]).weight_of_conflict for g in ev.component_names], axis=1)
    return ev.weight_of_conflict[:, None] - rest - alone


def summarise(parts: list[dict[str, int]]) -> dict[str, float]:
    """Add up the splits."""
    total = {name: sum(part[name] for part in parts) for name in parts[0]}
    result: dict[str, float] = {}
    for name, count in total.items():
        kind, _, what = name.partition(", ")
        if what.startswith("repaired") and total[f"{kind}, overturned"] >= FEWEST_EVENTS:
            result[name] = count / total[f"{kind}, overturned"]
        elif what.startswith("top 1") and total[f"{kind}, rows"] >= FEWEST_EVENTS:
            result[name] = count / total[f"{kind}, rows"]
    return result
