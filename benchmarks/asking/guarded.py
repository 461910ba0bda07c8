"""Question 5: does the guard protect the answer against wrong inputs.

5 % of the cells of the test rows are wrong, or none. Log loss and accuracy of

- *plain*: the model;
- *winsorised*: the model, after new values are clipped to the 2.5 % and 97.5 % quantiles of the
  training rows; *trained winsorised*: the same with a model that was trained on clipped rows;
- *guarded*: the recipe.

The alarm is compared with the rows that have a wrong cell by AUROC. *2 % wrong in training*: wrong
cells of the mixed kind also in the training rows, before everything else; then the Gaussian of the
recipe may be fitted to clipped rows (*guarded, clipped background*).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from asking.scores import accuracy, auroc, enough, log_loss
from asking.trial import Trial, logistic
from asking.wrong_cells import KINDS, with_errors

SHARE = 0.05
SHARE_IN_TRAINING = 0.02
CLIPPED = 0.025


def collect(trial: Trial, recipes_of: Any) -> dict[str, Any]:
    """Return losses and accuracies, and the alarms with their events."""
    result: dict[str, Any] = {}
    recipes = recipes_of(trial.model, trial.X_train)
    spread = trial.model[0].scale_
    for kind in ("none", *KINDS):
        bad, wrong = trial.X, np.zeros(trial.X.shape, dtype=bool)
        if kind != "none":
            bad, wrong = with_errors(trial.X, spread, kind, SHARE, trial.rng())
        answers, alarm = _answers(trial, recipes, bad)
        result |= _merits(kind, answers, trial.y)
        if kind == "none":
            changed = answers["guarded"].argmax(axis=1) != answers["plain"].argmax(axis=1)
            result["none, decisions changed"] = float(changed.mean())
        else:
            result[f"{kind}, alarm"] = (alarm, wrong.any(axis=1))
    return result | _with_errors_in_training(trial, recipes_of)


def _answers(trial: Trial, recipes: Any, bad: Any) -> tuple[dict[str, Any], Any]:
    low, high = np.quantile(trial.X_train, [CLIPPED, 1.0 - CLIPPED], axis=0)
    clipped = logistic().fit(np.clip(trial.X_train, low, high), trial.y_train)
    guarded, alarm = recipes.guard(bad)
    return {
        "plain": trial.model.predict_proba(bad),
        "winsorised": trial.model.predict_proba(np.clip(bad, low, high)),
        "trained winsorised": clipped.predict_proba(np.clip(bad, low, high)),
        "guarded": guarded,
    }, alarm


def _merits(kind: str, answers: dict[str, Any], y: Any) -> dict[str, float]:
    return {
        f"{kind}, {what}: {name}": merit(p, y)
        for name, p in answers.items()
        for what, merit in (("loss", log_loss), ("accuracy", accuracy))
    }


def _with_errors_in_training(trial: Trial, recipes_of: Any) -> dict[str, float]:
    rng = trial.rng()
    spread = trial.model[0].scale_
    X_train, _ = with_errors(trial.X_train, spread, "mixed", SHARE_IN_TRAINING, rng)
    model = logistic().fit(X_train, trial.y_train)
    bad, _ = with_errors(trial.X, spread, "mixed", SHARE, rng)
    trial = replace(trial, model=model, X_train=X_train)
    answers, _ = _answers(trial, recipes_of(model, X_train), bad)
    low, high = np.quantile(X_train, [CLIPPED, 1.0 - CLIPPED], axis=0)
    clipped = recipes_of(model, np.clip(X_train, low, high))
    answers["guarded, clipped background"] = clipped.guard(bad)[0]
    return _merits("2 % wrong in training", answers, trial.y)


def summarise(parts: list[dict[str, Any]]) -> dict[str, float]:
    """Average the splits, and pool their alarms."""
    result: dict[str, float] = {}
    for name in parts[0]:
        values = [part[name] for part in parts]
        if not name.endswith("alarm"):
            result[name] = float(np.mean(values))
            continue
        alarm, event = (np.concatenate(part) for part in zip(*values, strict=True))
        if enough(event):
            result[f"{name} auroc"] = auroc(alarm, event)
    return result
