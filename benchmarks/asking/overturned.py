"""Question 2: would the missing inputs overturn the decision?

Half of the inputs of each test row, at random, are hidden and filled conditionally. The event is
that the complete row gets another class. Scores are compared by AUROC over the rows of all splits.

*Routing*: the hidden inputs of 20 % of the rows may be measured, then 10 % go to a person who is
always right. The person gets the rows with the largest entropy. The rows to measure are chosen by
the recipe or by entropy; the figure is the accuracy of everything.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import entr, softmax

from asking.knowledge import Knowledge, LinearGaussian
from asking.next_input import hide
from asking.scores import auroc, calibration_error, enough
from asking.trial import Trial

MEASURED = 0.2
TO_A_PERSON = 0.1


def collect(trial: Trial, recipes: Any) -> dict[str, Any]:
    """Return the event and every score, (n,) each, and the accuracies of routing."""
    model = LinearGaussian.of(trial.model, trial.X_train)
    x = trial.model[0].transform(trial.X)
    gaps = hide(x.shape, 0.5, trial.rng())
    gappy = np.where(gaps, np.nan, trial.X)
    known = Knowledge.of(model, np.where(gaps, np.nan, x))
    complete = model.logits(x)
    p = known.probability
    ev = recipes.evidence(gappy)
    scores = {
        "overturn": recipes.overturn(gappy),
        "1 − max-softmax": 1.0 - p.max(axis=1),
        "entropy": entr(p).sum(axis=1),
        "ignorance": ev.ignorance,
        "conflict": ev.weight_of_conflict,
    }
    routed = {
        name: _routed(trial.y, p, softmax(complete, axis=1), scores[name])
        for name in ("overturn", "entropy")
    }
    return {"event": known.logits.argmax(axis=1) != complete.argmax(axis=1), **scores} | {
        f"routing: {name}": value for name, value in routed.items()
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
    pooled = {
        name: np.concatenate([part[name] for part in parts])
        for name in parts[0]
        if not name.startswith("routing")
    }
    event = pooled.pop("event")
    result["share of events"] = float(event.mean())
    if enough(event):
        result |= {f"auroc: {name}": auroc(score, event) for name, score in pooled.items()}
        result["calibration error"] = calibration_error(pooled["overturn"], event)
    return result
