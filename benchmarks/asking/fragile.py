"""Question 3: would the decision stand if each input were lost with chance 0.2?

Losses are drawn at random for every complete test row; the event is that the class changes. A lost
input is replaced

- *mean*: by its mean (logistic regression);
- *conditional*: by its expectation given the inputs that are left (logistic regression);
- *naive Bayes, mean*: its contribution to the logits by the mean contribution over the training
  rows;
- *naive Bayes, dropped*: its contribution by zero, as naive Bayes does without an input.

Scores are compared by AUROC over all rows and draws of all splits. Even the true chance of a fall
cannot tell which draw it happens in: *frequency in other draws*, over 200 more of them, is what can
be reached.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from asking.knowledge import Knowledge, LinearGaussian
from asking.scores import auroc, calibration_error, enough
from asking.trial import Trial

CHANCE = 0.2
DRAWS = 20
OTHER_DRAWS = 200


def collect(trial: Trial, recipes: Any) -> dict[str, Any]:
    """Return the number of falls and every score, (n,) each, by kind of loss."""
    model = LinearGaussian.of(trial.model, trial.X_train)
    x = trial.model[0].transform(trial.X)
    z = model.logits(x)
    ev = recipes.evidence(trial.X)
    plain = {
        "1 − max-softmax": 1.0 - softmax(z, axis=1).max(axis=1),
        "ignorance": ev.ignorance,
        "conflict": ev.weight_of_conflict,
    }
    filled = _filled(trial, model, x) != z.argmax(axis=1)
    return {
        "mean": {
            **_falls(trial, z, x[:, :, None] * model.beta),
            "fragility": recipes.fragility(trial.X, CHANCE, "mean"),
            **plain,
        },
        "conditional": {
            "falls": filled.sum(axis=0),
            "fragility": recipes.fragility(trial.X, CHANCE, "conditional"),
            **plain,
        },
        **_naive_bayes(trial, recipes),
    }


def _falls(trial: Trial, z: Any, parts: Any) -> dict[str, Any]:
    """Count the draws in which the loss of parts (n, G, K) changes the class."""
    rng = trial.rng()

    def changes() -> Any:
        lost = rng.random(parts.shape[:2]) < CHANCE
        left = z - np.einsum("ng,ngk->nk", lost, parts)
        return left.argmax(axis=1) != z.argmax(axis=1)

    return {
        "falls": sum(changes().astype(int) for _ in range(DRAWS)),
        "frequency in other draws": sum(changes() / OTHER_DRAWS for _ in range(OTHER_DRAWS)),
    }


def _filled(trial: Trial, model: LinearGaussian, x: Any) -> Any:
    """Return the classes after each draw, with lost inputs filled conditionally, (draws, n)."""
    rng = trial.rng()
    classes = []
    for _ in range(DRAWS):
        lost = rng.random(x.shape) < CHANCE
        known = Knowledge.of(model, np.where(lost, np.nan, x))
        classes.append(known.logits.argmax(axis=1))
    return np.array(classes)


def _naive_bayes(trial: Trial, recipes: Any) -> dict[str, Any]:
    bayes = make_pipeline(StandardScaler(), GaussianNB()).fit(trial.X_train, trial.y_train)
    ev, fragility = recipes.of_model(bayes, trial.X_train, trial.X, CHANCE)
    terms = _terms(bayes, trial.X)
    z = terms.sum(axis=1) + np.log(bayes[-1].class_prior_)
    parts = {
        "naive Bayes, mean": terms - _terms(bayes, trial.X_train).mean(axis=0),
        "naive Bayes, dropped": terms,
    }
    return {
        kind: {
            **_falls(trial, z, part),
            "fragility": fragility,
            "1 − max-softmax": 1.0 - softmax(z, axis=1).max(axis=1),
            "ignorance": ev.ignorance,
            "conflict": ev.weight_of_conflict,
        }
        for kind, part in parts.items()
    }


def _terms(bayes: Any, X: Any) -> Any:
    """Return the log density of every input under every class, (n, J, K)."""
    x, head = bayes[0].transform(X), bayes[-1]
    squares = (x[:, :, None] - head.theta_.T) ** 2 / head.var_.T
    return -0.5 * (squares + np.log(2.0 * np.pi * head.var_.T))


def summarise(parts: list[dict[str, Any]]) -> dict[str, float]:
    """Pool the rows and draws of all splits."""
    result: dict[str, float] = {}
    for kind in parts[0]:
        pooled = {
            name: np.concatenate([part[kind][name] for part in parts]) for name in parts[0][kind]
        }
        falls = pooled.pop("falls")
        result[f"{kind}, share of events"] = float(falls.mean() / DRAWS)
        if enough(falls, DRAWS):
            error = calibration_error(pooled["fragility"], falls, DRAWS)
            result[f"{kind}, calibration error"] = error
            for name, score in pooled.items():
                result[f"{kind}, auroc: {name}"] = auroc(score, falls, DRAWS)
    return result
