"""Compare the reasons for deferral with what was done to the rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from datasets import load

REASONS = [
    "nothing known",
    "unlike the training data",
    "components disagree",
    "fragile",
    "close call",
]


def changed_rows(X: Any, train: Any, random: np.random.Generator) -> dict[str, Any]:
    """Return the rows as they are, with inputs lost, moved away, and shuffled."""
    lost = np.where(random.random(X.shape) < 0.6, np.nan, X)
    far = 4.0 * train.std(axis=0) * random.choice([-1.0, 1.0], X.shape)
    moved = np.where(random.random(X.shape) < 0.3, X + far, X)
    return {"as they are": X, "60 % of inputs lost": lost, "30 % moved by 4 SD": moved}


def reason_rows(name: str, error: float) -> list[dict[str, Any]]:
    """Return the share of each reason among deferred rows, after each change."""
    data = load(name)
    train, rest, y_train, y_rest = train_test_split(
        data.X, data.y, train_size=0.4, random_state=0, stratify=data.y
    )
    held, new, y_held, _ = train_test_split(rest, y_rest, train_size=0.5, random_state=0)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)).fit(train, y_train)
    explainer = shafer.Explainer(model, train, missing="vacuous", moderate="laplace")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer.control_error(held, y_held, error=error)
    rows = []
    for change, X in changed_rows(new, train, np.random.default_rng(0)).items():
        found = explainer.predict_or_defer(X)
        counts, n = found.reason_counts, max(1, int(found.deferred.sum()))
        shares = {reason: round(100 * counts.get(reason, 0) / n) for reason in REASONS}
        deferred = round(100 * (1 - found.share_decided))
        rows.append({"data": name, "rows": change, "deferred": deferred, **shares})
    return rows
