"""What ignorance and conflict are not good for: four uses, each beside a score without evidence.

Components are the inputs, as in the paper.

- *learning*: active learning. From two labelled rows of each class and ten in all, the ten training
  rows with the largest score are labelled, ten times. Figure: mean accuracy after each round.
  Margin sampling takes the smallest difference between the two largest probabilities.
- *routing*: half of the inputs are hidden; 20 % of the rows may be measured, then 10 % go to a
  person who is always right, as in ``overturned``. "Ignorance, conflict" measures the rows with the
  largest ignorance, and gives the person those with the largest conflict.
- *labels*: 10 % of the training labels are wrong. Average precision with which they are found by
  cross-validated scores of the rows. Self-confidence is the probability of the given label.
- *errors*: rank correlation of a wrong prediction with ignorance and conflict, after the largest
  probability is taken out of both (partial Spearman correlation).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import entr
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold

import shafer
from asking.gaps import hide
from asking.overturned import MEASURED, TO_A_PERSON
from asking.scores import accuracy
from asking.trial import Trial, logistic

FIRST_LABELLED = 10
EACH_ROUND = 10
ROUNDS = 10
WRONG_LABELS = 0.1


def measure(trial: Trial, recipes: Any) -> dict[str, float]:
    """Return the figures of one split."""
    return {
        **_learning(trial),
        **_routing(trial, recipes),
        **_labels(trial),
        **_errors(trial, recipes),
    }


# -- active learning ----------------------------------------------------------------------------


def _learning(trial: Trial) -> dict[str, float]:
    rng = trial.rng()
    scores = {
        "margin": lambda ev: -_margin(ev.probability),
        "conflict": lambda ev: ev.weight_of_conflict,
        "ignorance": lambda ev: ev.ignorance,
        "random": lambda ev: rng.random(len(ev)),
    }
    return {f"learning: {name}": _learnt(trial, score) for name, score in scores.items()}


def _margin(p: Any) -> Any:
    two = np.sort(p, axis=1)[:, -2:]
    return two[:, 1] - two[:, 0]


def _learnt(trial: Trial, score: Any) -> float:
    X, y = trial.X_train, trial.y_train
    order = trial.rng().permutation(len(y))
    first = [order[y[order] == k][:2] for k in np.unique(y)]
    pairs = np.concatenate(first)
    rest = order[~np.isin(order, pairs)]
    labelled = np.concatenate([pairs, rest[: max(0, FIRST_LABELLED - len(pairs))]])
    hits = []
    for _ in range(ROUNDS):
        model = logistic().fit(X[labelled], y[labelled])
        hits.append(accuracy(model.predict_proba(trial.X), trial.y))
        left = np.setdiff1d(np.arange(len(y)), labelled)
        if not len(left):
            break
        values = score(shafer.Explainer(model, X[labelled], prior="shared")(X[left]))
        labelled = np.r_[labelled, left[np.argsort(-values, kind="stable")[:EACH_ROUND]]]
    return float(np.mean(hits))


# -- routing ------------------------------------------------------------------------------------


def _routing(trial: Trial, recipes: Any) -> dict[str, float]:
    gappy = np.where(hide(trial.X.shape, 0.5, trial.rng()), np.nan, trial.X)

    def entropy(ev: Any) -> Any:
        return entr(ev.probability).sum(axis=1)

    def ignorance(ev: Any) -> Any:
        return ev.ignorance

    def conflict(ev: Any) -> Any:
        return ev.weight_of_conflict

    return {
        "routing: entropy": _routed(trial, recipes, gappy, entropy, entropy),
        "routing: ignorance, conflict": _routed(trial, recipes, gappy, ignorance, conflict),
    }


def _routed(trial: Trial, recipes: Any, gappy: Any, to_measure: Any, to_person: Any) -> float:
    n = len(trial.y)
    measured = np.argsort(-to_measure(recipes.evidence(gappy)), kind="stable")
    mended = gappy.copy()
    chosen = measured[: round(MEASURED * n)]
    mended[chosen] = trial.X[chosen]
    ev = recipes.evidence(mended)
    right = ev.probability.argmax(axis=1) == trial.y
    right[np.argsort(-to_person(ev), kind="stable")[: round(TO_A_PERSON * n)]] = True
    return float(right.mean())


# -- wrong labels and errors --------------------------------------------------------------------


def _labels(trial: Trial) -> dict[str, float]:
    rng = trial.rng()
    X, y = trial.X_train, trial.y_train
    K = int(y.max()) + 1
    wrong = rng.random(len(y)) < WRONG_LABELS
    given = np.where(wrong, (y + rng.integers(1, K, size=len(y))) % K, y)
    if not wrong.any():
        return {}
    scores = {name: np.empty(len(y)) for name in ("self-confidence", "conflict", "ignorance")}
    for train, test in StratifiedKFold(5, shuffle=True, random_state=trial.seed).split(X, given):
        model = logistic().fit(X[train], given[train])
        ev = shafer.Explainer(model, X[train], prior="shared")(X[test])
        own = ev.probability[np.arange(len(test)), np.searchsorted(model.classes_, given[test])]
        scores["self-confidence"][test] = -own
        scores["conflict"][test] = ev.weight_of_conflict
        scores["ignorance"][test] = ev.ignorance
    return {
        f"labels: {name}": float(average_precision_score(wrong, score))
        for name, score in scores.items()
    }


def _errors(trial: Trial, recipes: Any) -> dict[str, float]:
    ev = recipes.evidence(trial.X)
    wrong = ev.probability.argmax(axis=1) != trial.y
    if not 2 <= wrong.sum() <= len(wrong) - 2:
        return {}
    largest = ev.probability.max(axis=1)
    return {
        "errors: conflict": _partial(wrong, ev.weight_of_conflict, largest),
        "errors: ignorance": _partial(wrong, ev.ignorance, largest),
    }


def _partial(a: Any, b: Any, given: Any) -> float:
    """Return the partial rank correlation of a and b given a third."""
    ab, ac, bc = (
        np.corrcoef(rankdata(x), rankdata(y))[0, 1] for x, y in ((a, b), (a, given), (b, given))
    )
    left = np.sqrt(max((1.0 - ac**2) * (1.0 - bc**2), 0.0))
    return float((ab - ac * bc) / left) if left > 1e-9 else 0.0
