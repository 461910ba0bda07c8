"""The largest difference between library and reference recipes, relative to max(1, ·).

For more than two classes, the library's chances are compared with simulated ones: the mean
difference over 50 rows, with 4000 draws each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from asking import reference_recipes as reference
from asking.gaps import hide
from asking.knowledge import Knowledge, LinearGaussian
from asking.trial import Trial
from asking.wrong_cells import with_errors

SIMULATED, DRAWS = 50, 4000


def differences(trial: Trial, recipes: Any) -> dict[str, float]:
    """Return the largest difference of each answer on one split."""
    model = LinearGaussian.of(trial.model, trial.X_train)
    scale = trial.model[0].transform
    gappy = np.where(hide(trial.X.shape, 0.5, trial.rng()), np.nan, trial.X)
    bad, _ = with_errors(trial.X, trial.model[0].scale_, "mixed", 0.05, trial.rng())
    known = Knowledge.of(model, scale(gappy))
    x, x_bad = scale(trial.X), scale(bad)
    z, beta = model.logits(x), model.beta
    residual = reference.residuals(model, x)[0]
    surprise, stake = recipes.cells(bad)
    guarded, alarm = recipes.guard(bad)
    expected_surprise, expected_stake = reference.stakes(model, x_bad)
    expected_guarded, expected_alarm, _ = reference.guard(model, x_bad)
    pairs = {
        "probability": (recipes.evidence(gappy).probability, known.probability),
        "information": (recipes.best_input(gappy)[1], reference.information(known).max(axis=1)),
        "surprise": (surprise, expected_surprise),
        "stake": (stake, expected_stake),
        "guarded probability": (guarded, expected_guarded),
        "alarm": (alarm, expected_alarm),
    }
    if x.shape[1] <= reference.MOST_COMBINED:
        for fill, part in (("mean", x), ("conditional", residual)):
            ours = recipes.fragility(trial.X, 0.2, fill)
            pairs[f"fragility, {fill}"] = ours, reference.fragility(z, part[:, :, None] * beta, 0.2)
    if beta.shape[1] == 2:
        pairs["overturn"] = recipes.overturn(gappy), reference.overturn(known)
    found = {
        name: float(np.max(np.abs(ours - theirs) / np.maximum(1.0, np.abs(theirs))))
        for name, (ours, theirs) in pairs.items()
    }
    if beta.shape[1] > 2:
        found["overturn, simulated"] = _simulated(recipes.overturn(gappy[:SIMULATED]), known)
    return found


def _simulated(ours: Any, known: Knowledge) -> float:
    """Return the mean difference from simulated chances of the first rows."""
    rng = np.random.default_rng(0)
    gaps = []
    for i, chance in enumerate(ours):
        out = np.flatnonzero(known.unknown[i])
        covariance = known.covariance[i][np.ix_(out, out)]
        draws = rng.multivariate_normal(np.zeros(len(out)), covariance, size=DRAWS)
        moved = known.logits[i] + draws @ known.model.beta[out]
        gaps.append(abs((moved.argmax(axis=1) != known.logits[i].argmax()).mean() - chance))
    return float(np.mean(gaps))
