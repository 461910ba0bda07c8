"""The largest difference between library and reference recipes, relative to max(1, ·)."""

from __future__ import annotations

from typing import Any

import numpy as np

from asking import reference_recipes as reference
from asking.gaps import hide
from asking.knowledge import Knowledge, LinearGaussian
from asking.trial import Trial
from asking.wrong_cells import with_errors


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
        "overturn": (recipes.overturn(gappy), reference.overturn(known)),
        "fragility, mean": (
            recipes.fragility(trial.X, 0.2, "mean"),
            reference.fragility(z, x[:, :, None] * beta, 0.2),
        ),
        "fragility, conditional": (
            recipes.fragility(trial.X, 0.2, "conditional"),
            reference.fragility(z, residual[:, :, None] * beta, 0.2),
        ),
        "surprise": (surprise, expected_surprise),
        "stake": (stake, expected_stake),
        "guarded probability": (guarded, expected_guarded),
        "alarm": (alarm, expected_alarm),
    }
    return {
        name: float(np.max(np.abs(ours - theirs) / np.maximum(1.0, np.abs(theirs))))
        for name, (ours, theirs) in pairs.items()
    }
