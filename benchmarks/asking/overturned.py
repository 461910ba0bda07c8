"""Question 2: would the missing inputs overturn the decision.

A quarter, half or three quarters of the inputs of each test row, at random, are hidden and filled
conditionally. The event is that the complete row gets another class. Scores are compared by AUROC
over the rows of all splits. Max-softmax and entropy are those of the moderated probabilities;
*filled* is the max-softmax of the filled row without moderation, which an imputer gives.

The *product formula* treats the leads of the chosen class over the others as independent; the
library does not. For two classes they are the same.

*If true*: the AUROC of the recipe if every row were overturned with the chance that the recipe
gives. It shows how much harder the event is to predict if more is hidden.

The first run had half hidden only; the other shares were added after it.

*Routing*: half of the inputs are hidden. Those of 20 % of the rows may be measured, then 10 % go to
a person who is always right. The person gets the rows with the largest entropy. The rows to measure
are chosen by the recipe or by entropy; the figure is the accuracy of everything.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import entr, softmax

from asking import reference_recipes as reference
from asking.gaps import hide
from asking.knowledge import Knowledge, LinearGaussian
from asking.scores import auroc, calibration_error, enough
from asking.trial import Trial

SHARES = {"quarter": 0.25, "half": 0.5, "three quarters": 0.75}
MEASURED = 0.2
TO_A_PERSON = 0.1


def collect(trial: Trial, recipes: Any) -> dict[str, Any]:
    """Return the event and every score, (n,) each, by share, and the accuracies of routing."""
    model = LinearGaussian.of(trial.model, trial.X_train)
    x = trial.model[0].transform(trial.X)
    complete = model.logits(x)
    result: dict[str, Any] = {}
    for share, hidden in SHARES.items():
        gaps = hide(x.shape, hidden, trial.rng())
        known = Knowledge.of(model, np.where(gaps, np.nan, x))
        event = known.logits.argmax(axis=1) != complete.argmax(axis=1)
        scores = _scores(known, recipes, np.where(gaps, np.nan, trial.X))
        result[share] = {"event": event, **scores}
        if share == "half":
            right = softmax(complete, axis=1)
            for name in ("overturn", "entropy"):
                result[f"routing: {name}"] = _routed(
                    trial.y, known.probability, right, scores[name]
                )
    return result


def _scores(known: Knowledge, recipes: Any, gappy: Any) -> dict[str, Any]:
    p = known.probability
    ev = recipes.evidence(gappy)
    return {
        "overturn": recipes.overturn(gappy),
        "product formula": reference.overturn(known),
        "1 − max-softmax": 1.0 - p.max(axis=1),
        "1 − max-softmax, filled": 1.0 - softmax(known.logits, axis=1).max(axis=1),
        "entropy": entr(p).sum(axis=1),
        "ignorance": ev.ignorance,
        "conflict": ev.weight_of_conflict,
    }


def _routed(y: Any, p: Any, complete: Any, score: Any) -> float:
    n = len(y)
    p = p.copy()
    measured = np.argsort(-score, kind="stable")[: round(MEASURED * n)]
    p[measured] = complete[measured]
    right = p.argmax(axis=1) == y
    right[np.argsort(-entr(p).sum(axis=1), kind="stable")[: round(TO_A_PERSON * n)]] = True
    return float(right.mean())


def summarise(parts: list[dict[str, Any]]) -> dict[str, float]:
    """Pool the rows of all splits."""
    result = {
        name: float(np.mean([part[name] for part in parts]))
        for name in parts[0]
        if name.startswith("routing")
    }
    for share in SHARES:
        pooled = {
            name: np.concatenate([part[share][name] for part in parts]) for name in parts[0][share]
        }
        event = pooled.pop("event")
        result[f"{share}, share of events"] = float(event.mean())
        if not enough(event):
            continue
        chance = pooled["overturn"]
        result[f"{share}, calibration error"] = calibration_error(chance, event)
        result[f"{share}, auroc: if true"] = auroc(chance, chance)
        for name, score in pooled.items():
            result[f"{share}, auroc: {name}"] = auroc(score, event)
    return result
