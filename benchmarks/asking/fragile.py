"""Question 3: would the decision stand if each input were lost with chance 0.2.

Losses are drawn at random for every complete test row; the event is that the class changes. A lost
input is replaced

- *mean*: by its mean (logistic regression);
- *conditional*: by its expectation given the inputs that are left (logistic regression);
- *naive Bayes, mean*: its contribution to the logits by the mean contribution over the training
  rows;
- *naive Bayes, dropped*: its contribution by zero, as naive Bayes does without an input.

Scores are compared by AUROC over all rows of all splits, for these events:

- *one draw*: the decision falls in a single draw (20 of them for each row). Even the true chance of
  a fall cannot tell in which draw it happens, so *frequency in other draws*, over 200 more of them,
  is the most that can be reached.
- *at least 10 %*, *25 %*, *50 %*: the decision falls in so many of the 200 draws. (If it hangs on
  one input, it falls with a chance of exactly 20 %. A threshold there would split equal rows.)
  These events were added after a first run with *one draw* only.

For up to eight inputs, the library tries all combinations of losses. For more, it takes what is
lost as normal. *Product formula*: normal on all tables, with independent leads over the other
classes. *Fragility of dropped terms*: the product formula (all combinations for up to eight inputs)
with the whole contribution in place of its distance from the mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from asking import reference_recipes as reference
from asking.knowledge import LinearGaussian
from asking.scores import auroc, calibration_error, enough
from asking.trial import Trial

CHANCE = 0.2
DRAWS = 20
OTHER_DRAWS = 200
THRESHOLDS = (0.1, 0.25, 0.5)


def collect(trial: Trial, recipes: Any) -> dict[str, Any]:
    """Return the number of falls and every score, (n,) each, by kind of loss."""
    model = LinearGaussian.of(trial.model, trial.X_train)
    x = trial.model[0].transform(trial.X)
    z, beta = model.logits(x), model.beta
    r = reference.residuals(model, x)[0]
    ev = recipes.evidence(trial.X)
    plain = {
        "1 − max-softmax": 1.0 - softmax(z, axis=1).max(axis=1),
        "ignorance": ev.ignorance,
        "conflict": ev.weight_of_conflict,
    }
    return {
        "mean": {
            **_falls(trial, z, x.shape, lambda lost: z - (lost * x) @ beta),
            "fragility": recipes.fragility(trial.X, CHANCE, "mean"),
            "fragility, product formula": reference.normal_fragility(
                z, x[:, :, None] * beta, CHANCE
            ),
            **plain,
        },
        "conditional": {
            **_falls(trial, z, x.shape, lambda lost: model.logits(model.filled(x, lost))),
            "fragility": recipes.fragility(trial.X, CHANCE, "conditional"),
            "fragility, product formula": reference.normal_fragility(
                z, r[:, :, None] * beta, CHANCE
            ),
            **plain,
        },
        **_naive_bayes(trial, recipes),
    }


def _falls(trial: Trial, z: Any, shape: Any, left: Any) -> dict[str, Any]:
    """Count the draws in which the logits that are left give another class."""
    rng = trial.rng()

    def falls(draws: int) -> Any:
        return sum(
            left(rng.random(shape) < CHANCE).argmax(axis=1) != z.argmax(axis=1)
            for _ in range(draws)
        )

    return {"falls": falls(DRAWS) + 0, "frequency in other draws": falls(OTHER_DRAWS) / OTHER_DRAWS}


def _naive_bayes(trial: Trial, recipes: Any) -> dict[str, Any]:
    bayes = make_pipeline(StandardScaler(), GaussianNB()).fit(trial.X_train, trial.y_train)
    ev, fragility = recipes.of_model(bayes, trial.X_train, trial.X, CHANCE)
    terms = _terms(bayes, trial.X)
    z = terms.sum(axis=1) + np.log(bayes[-1].class_prior_)
    parts = {
        "naive Bayes, mean": terms - _terms(bayes, trial.X_train).mean(axis=0),
        "naive Bayes, dropped": terms,
    }
    dropped = reference.fragility(z, terms, CHANCE)
    normal = reference.normal_fragility(z, parts["naive Bayes, mean"], CHANCE)
    return {
        kind: {
            **_falls(trial, z, terms.shape[:2], _without(z, part)),
            "fragility": fragility,
            "fragility, product formula": normal,
            "fragility of dropped terms": dropped,
            "1 − max-softmax": 1.0 - softmax(z, axis=1).max(axis=1),
            "ignorance": ev.ignorance,
            "conflict": ev.weight_of_conflict,
        }
        for kind, part in parts.items()
    }


def _without(z: Any, parts: Any) -> Any:
    """Return a function to the logits without the lost parts (n, G, K)."""
    return lambda lost: z - np.einsum("ng,ngk->nk", lost, parts)


def _terms(bayes: Any, X: Any) -> Any:
    """Return the log density of every input under every class, (n, J, K)."""
    x, head = bayes[0].transform(X), bayes[-1]
    squares = (x[:, :, None] - head.theta_.T) ** 2 / head.var_.T
    return -0.5 * (squares + np.log(2.0 * np.pi * head.var_.T))


def summarise(parts: list[dict[str, Any]]) -> dict[str, float]:
    """Pool the rows of all splits."""
    result: dict[str, float] = {}
    for kind in parts[0]:
        pooled = {
            name: np.concatenate([part[kind][name] for part in parts]) for name in parts[0][kind]
        }
        falls = pooled.pop("falls")
        often = pooled["frequency in other draws"]
        result[f"{kind}, share of falls"] = float(often.mean())
        result[f"{kind}, calibration error"] = calibration_error(pooled["fragility"], often)
        events = {"one draw": (falls, DRAWS)}
        events |= {f"at least {t:.0%}": (often >= t, 1) for t in THRESHOLDS}
        for event, (happened, times) in events.items():
            if enough(happened, times):
                for name, score in pooled.items():
                    result[f"{kind}, {event}: {name}"] = auroc(score, happened, times)
    return result
