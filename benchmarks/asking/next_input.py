"""Question 1: which missing input to ask for next.

Inputs of the first 100 test rows are hidden, then asked for one at a time. After every answer the
moderated probabilities are compared with the true class. Figures are means over the steps: at most
20, and not the last one, after which all methods know everything.

- *half*: half of the inputs of each row, at random, are hidden. *nothing*: all are hidden.
- *batch*: half are hidden. A quarter of the hidden cells may be asked for, in ten rounds, at most
  one for each row and round; the method also chooses the rows.

Times are those of scoring the inputs of a row when the conditional covariances are known; "library"
is the whole answer of the library.

Methods: the information of the library; its second-order term; expected entropy reduction (nine
quadrature nodes); the static order of global importance, which is the mean absolute SHAP value; a
random order. In *batch*: most uncertain rows first (entropy), then the second-order term within the
row; and a plan of all measurements that is made before the first one (``next_measurements``).
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import entr, softmax

from asking.gaps import hide
from asking.knowledge import Knowledge, LinearGaussian, moderating
from asking.reference_recipes import NODES, entropy_reduction, second_order
from asking.scores import accuracy, log_loss
from asking.trial import Trial

MOST_ROWS = 100  # the rows are in random order; each needs a call of its own at every step
MOST_STEPS = 20
ROUNDS = 10


def measure(trial: Trial, recipes: Any) -> dict[str, float]:
    """Return log loss and accuracy of every method, and the time of two of them."""
    trial = replace(trial, X=trial.X[:MOST_ROWS], y=trial.y[:MOST_ROWS])
    model = LinearGaussian.of(trial.model, trial.X_train)
    x = trial.model[0].transform(trial.X)
    half = hide(x.shape, 0.5, trial.rng())
    result: dict[str, float] = {}
    for start, gaps in (("half", half), ("nothing", np.ones(x.shape, dtype=bool))):
        first = Knowledge.of(model, np.where(gaps, np.nan, x))
        for name, choose in _choices(trial, model, recipes).items():
            losses, hits = _ask(trial, first.copy(), x, choose)
            result |= {f"{start} loss: {name}": losses, f"{start} accuracy: {name}": hits}
    first = Knowledge.of(model, np.where(half, np.nan, x))
    for name, choose in _shared_choices(trial, recipes).items():
        losses, hits = _ask_batch(trial, first.copy(), x, choose)
        result |= {f"batch loss: {name}": losses, f"batch accuracy: {name}": hits}
    losses, hits = _follow(trial, first.copy(), x, recipes)
    result |= {"batch loss: plan": losses, "batch accuracy: plan": hits}
    return result | _times(trial, first, recipes)


def _gappy(trial: Trial, known: Knowledge) -> Any:
    return np.where(known.unknown, np.nan, trial.X)


def _choices(trial: Trial, model: LinearGaussian, recipes: Any) -> dict[str, Any]:
    x = trial.model[0].transform(trial.X_train)
    importance = np.abs(model.beta).sum(axis=1) * np.abs(x - x.mean(axis=0)).mean(axis=0)
    by_chance = trial.rng().random(trial.X.shape)

    def best(scores: Any, known: Knowledge) -> Any:
        return np.where(known.unknown, scores, -np.inf).argmax(axis=1)

    return {
        "information": lambda known: recipes.best_input(_gappy(trial, known))[0],
        "second order": lambda known: second_order(known).argmax(axis=1),
        "entropy reduction": lambda known: entropy_reduction(known).argmax(axis=1),
        "static order": lambda known: best(importance, known),
        "random order": lambda known: best(by_chance, known),
    }


def _ask(trial: Trial, known: Knowledge, x: Any, choose: Any) -> tuple[float, float]:
    rows = np.arange(len(x))
    steps = min(MOST_STEPS, max(1, int(known.unknown[0].sum()) - 1))
    losses, hits = [], []
    for _ in range(steps):
        chosen = choose(known)
        known.measure(rows, chosen, x[rows, chosen])
        p = known.probability
        losses.append(log_loss(p, trial.y))
        hits.append(accuracy(p, trial.y))
    return float(np.mean(losses)), float(np.mean(hits))


def _shared_choices(trial: Trial, recipes: Any) -> dict[str, Any]:
    """Return functions to (scores of the rows, chosen input of each row)."""

    def by_information(known: Knowledge) -> Any:
        best, nats = recipes.best_input(_gappy(trial, known))
        return nats, best

    def by_entropy_reduction(known: Knowledge) -> Any:
        scores = entropy_reduction(known)
        return scores.max(axis=1), scores.argmax(axis=1)

    def by_second_order(known: Knowledge) -> Any:
        scores = second_order(known)
        return scores.max(axis=1), scores.argmax(axis=1)

    def uncertain_first(known: Knowledge) -> Any:
        scores = second_order(known)
        entropy = entr(known.probability).sum(axis=1)
        return np.where(known.unknown.any(axis=1), entropy, -np.inf), scores.argmax(axis=1)

    return {
        "information": by_information,
        "second order": by_second_order,
        "entropy reduction": by_entropy_reduction,
        "most uncertain rows first": uncertain_first,
    }


def _ask_batch(trial: Trial, known: Knowledge, x: Any, choose: Any) -> tuple[float, float]:
    each = _round_size(known)
    losses, hits = [], []
    for _ in range(ROUNDS):
        scores, chosen = choose(known)
        rows = np.argsort(-scores, kind="stable")[:each]
        rows = rows[np.isfinite(scores[rows])]
        known.measure(rows, chosen[rows], x[rows, chosen[rows]])
        losses.append(log_loss(known.probability, trial.y))
        hits.append(accuracy(known.probability, trial.y))
    return float(np.mean(losses)), float(np.mean(hits))


def _follow(trial: Trial, known: Knowledge, x: Any, recipes: Any) -> tuple[float, float]:
    """Measure in the order of a plan; the figures are taken after as many cells as in a round."""
    each = _round_size(known)
    rows, inputs = recipes.plan(_gappy(trial, known), each * ROUNDS)
    losses, hits = [], []
    for start in range(0, each * ROUNDS, each):
        for i, j in zip(rows[start : start + each], inputs[start : start + each], strict=True):
            known.measure(np.array([i]), np.array([j]), x[[i], [j]])
        losses.append(log_loss(known.probability, trial.y))
        hits.append(accuracy(known.probability, trial.y))
    return float(np.mean(losses)), float(np.mean(hits))


def _round_size(known: Knowledge) -> int:
    return max(1, round(known.unknown.sum() / 4 / ROUNDS))


def _times(trial: Trial, known: Knowledge, recipes: Any) -> dict[str, float]:
    """Return microseconds per row: scoring alone, and the library's whole answer."""
    gappy = _gappy(trial, known)
    return {
        "time: second order": _time(lambda: second_order(known), len(gappy)),
        "time: entropy reduction": _time(lambda: entropy_reduction(known), len(gappy)),
        "time: entropy reduction, untuned": _time(lambda: _untuned(known), len(gappy)),
        "time: library": _time(lambda: recipes.best_input(gappy), len(gappy)),
    }


def _time(call: Any, n: int) -> float:
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return float(best / n * 1e6)


def _untuned(known: Knowledge) -> Any:
    """Compute expected entropy reduction as one writes it first, for its time."""
    t, weight = np.polynomial.hermite_e.hermegauss(NODES)
    variance = np.where(known.unknown, np.diagonal(known.covariance, axis1=1, axis2=2), 1.0)
    step = (known.covariance @ known.model.beta) / np.sqrt(variance)[:, :, None]
    kappa = moderating(np.maximum(known.variances[:, None, :] - step**2, 0.0))[:, :, None]
    after = sum(
        share * entr(softmax(kappa * (known.logits[:, None, :] + node * step), axis=2)).sum(axis=2)
        for node, share in zip(t, weight / weight.sum(), strict=True)
    )
    before = entr(known.probability).sum(axis=1)
    return np.where(known.unknown, before[:, None] - after, -np.inf)
