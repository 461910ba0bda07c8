"""Compare fusion of evidence with averaging, voting and stacking, on real data.

Four questions, each over the same data sets and train/test splits:

1. *Neighbours*: a moderated logistic regression and the nearest training rows, fused.
2. *Ensemble*: four different models that see the same columns.
3. *Views*: one moderated logistic regression for each of three random parts of the columns.
4. *Reliabilities*: the four models, with a learnt reliability for each source and class.

For the second and third, each source is also missing at random for 0, 20 and 50 % of the test
rows. All
methods share the same trained sources and the same five-fold predictions of training rows, so they
differ only in how they pool. Learnt factors and stacking use those held-out predictions; the other
methods need none. Figures are means over splits, then over data sets. u65 is measured on the sets
of largest expected u65 under each method's own probabilities.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from machine import RESULTS, describe, record, table
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from datasets import load
from shafer._checks.labels import log_prior
from shafer.decision import set_utility
from shafer.decision.class_rules import most_probable_set
from shafer.estimators.sources import (
    fit_source,
    learn_by_presence,
    learn_factors,
    out_of_fold,
)
from shafer.fusion import prior_evidence
from shafer.metrics import u65_score

DATA = [
    "australian",
    "bupa",
    "contraceptive",
    "german",
    "heart",
    "ionosphere",
    "mammographic",
    "phoneme",
    "pima",
    "saheart",
    "satimage",
    "segment",
    "sonar",
    "spambase",
    "vehicle",
    "vowel",
    "wdbc",
    "wine",
]
MOST_ROWS = 1500
SPLITS = 3
FOLDS = 5
MISSING = (0.0, 0.2, 0.5)
PULL = 10.0  # rows that draw the factors of the classes of a source to one
Table = NDArray[np.float64]


def logistic() -> Any:
    """Return a moderated logistic regression as one component."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    return shafer.EvidentialClassifier(model, groups="one", moderate="laplace")


class Panel:
    """Trained sources: their evidence for held-out training rows and for test rows."""

    def __init__(self, entries: list[tuple[str, Any, Any]], X: Table, y: Table, T: Table) -> None:
        self.names = [name for name, _, _ in entries]
        self.truth = y
        self.classes = np.unique(y)
        counts = np.bincount(y)
        self.prior = counts / counts.sum()
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
        splits = list(folds.split(X, y))
        self.held_out = np.stack(
            out_of_fold(entries, X, y, self.classes, splits, whole=True, with_prior=True)
        )
        self.test: dict[str, shafer.Evidence] = {}
        self.holds_prior = []
        for name, estimator, columns in entries:
            view = X if columns is None else X[:, columns]
            source = fit_source(estimator, view, y, whole=True)
            self.test[name] = source.evidence(T if columns is None else T[:, columns], whole=True)
            self.holds_prior.append(source.prior is not None)

    @property
    def held_out_logits(self) -> Table:
        """Logits of the sources for training rows, (S, n, K)."""
        return self.held_out[0] - self.held_out[1]

    @property
    def logits(self) -> Table:
        """Logits of the sources for test rows, (S, n, K)."""
        return np.stack([evidence.logits for evidence in self.test.values()])


def without_prior(panel: Panel) -> tuple[Table, Table]:
    """Remove the prior from the held-out weights of one-component sources."""
    logits = panel.held_out_logits
    c = log_prior(panel.prior, panel.classes.tolist())
    logits = logits - c * np.asarray(panel.holds_prior)[:, None, None]
    return np.clip(logits, 0, None), np.clip(-logits, 0, None)


# -- the methods: (panel, present (n, S)) -> probabilities (n, K) ----------------------------------


def factors_of(panel: Panel, present: Table, *, cautious: bool, apart: bool) -> Table:
    """Learn factors from held-out rows, for each set of available sources."""
    n_classes = len(panel.classes)
    start = log_prior(panel.prior, panel.classes.tolist()) if apart else np.zeros(n_classes)
    held = without_prior(panel) if apart else tuple(panel.held_out)
    learnt = learn_by_presence(*held, start, panel.truth, cautious=cautious)
    return learnt.for_rows(present > 0)


def dempster(panel: Panel, present: Table, *, learnt: bool, prior: str = "once") -> Table:
    """Add the weights, with the prior once or in each source, with or without learnt factors."""
    apart = prior == "once"
    factors = factors_of(panel, present, cautious=False, apart=apart) if learnt else present
    sources: dict[str, Any] = {}
    for (name, evidence), holds in zip(panel.test.items(), panel.holds_prior, strict=True):
        taken = apart and holds
        sources[name] = shafer.fusion.without_prior(evidence, panel.prior) if taken else evidence
    if apart:
        sources["base rate"] = prior_evidence(panel.prior, classes=panel.classes, n=len(present))
        factors = np.column_stack([factors, np.ones(len(present))])
    return shafer.combine(sources, tempering=factors).probability


def cautious(panel: Panel, present: Table, *, learnt: bool) -> Table:
    """Use the largest weight of all sources."""
    factors = factors_of(panel, present, cautious=True, apart=False) if learnt else present
    return shafer.combine(panel.test, "cautious", tempering=factors).probability


def by_class(panel: Panel, *, discount: bool, tempered: bool = True, alike: bool = False) -> Table:
    """Learn one number for each source and class, beside the one factor of each source.

    A contextual discount r leaves the plausibility 1 − r + r pl of a class; otherwise the weights
    of each class have a factor of their own. ``alike`` keeps one discount for each source.
    """
    held, test = without_prior(panel), panel.logits
    c = log_prior(panel.prior, panel.classes.tolist())
    test = test - c * np.asarray(panel.holds_prior)[:, None, None]
    whole = learn_factors(*held, c, panel.truth, cautious=False) if tempered else np.ones(len(test))
    scale = whole[:, None, None]
    sources = scale * (held[0] - held[1]), scale * test, c, panel.truth
    return contextual(*sources, alike) if discount else factors_by_class(*sources)


def contextual(held: Table, test: Table, c: Table, truth: Table, alike: bool) -> Table:
    """Learn the reliability of each source about each class from held-out rows."""
    pl, pl_test = plausibilities(held), plausibilities(test)
    return learnt_sum(
        lambda r: (np.log1p(r[:, None] * (pl - 1)), (pl - 1) / (1 + r[:, None] * (pl - 1))),
        lambda r: np.log1p(r[:, None] * (pl_test - 1)),
        np.full((len(held), 1 if alike else len(c)), 0.98), c, truth, 0.0, 0.9999,
    )  # fmt: skip


def factors_by_class(held: Table, test: Table, c: Table, truth: Table) -> Table:
    """Learn a factor on the weights of each source about each class."""
    return learnt_sum(
        lambda r: (r[:, None] * held, held),
        lambda r: r[:, None] * test,
        np.ones((len(held), len(c))), c, truth, PULL, 10.0,
    )  # fmt: skip


def plausibilities(logits: Table) -> Table:
    """Return the plausibilities of sources of one component, (S, n, K)."""
    return np.stack([shafer.Evidence.from_weights(z[:, None]).plausibility for z in logits])


def learnt_sum(
    terms: Callable[[Table], tuple[Table, Table]],
    terms_of_test: Callable[[Table], Table],
    start: Table, c: Table, truth: Table, pull: float, most: float,
) -> Table:  # fmt: skip
    """Fit one number for each source and class by log loss; return the test probabilities."""
    hot = np.eye(len(c))[truth]

    def loss(flat: Table) -> tuple[float, Table]:
        logits, slopes = terms(flat.reshape(start.shape))
        logs = log_softmax(c + logits.sum(axis=0), axis=1)
        change = flat - start.ravel()
        value = -(logs * hot).sum() + pull * (change**2).sum()
        slope = np.einsum("snk,nk->sk", slopes, np.exp(logs) - hot)
        slope = slope if start.shape == slope.shape else slope.sum(axis=1)
        return float(value / len(hot)), (slope.ravel() + 2 * pull * change) / len(hot)

    bounds = [(0.0, most)] * start.size
    found = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", bounds=bounds)
    return softmax(c + terms_of_test(found.x.reshape(start.shape)).sum(axis=0), axis=1)


def average(panel: Panel, present: Table) -> Table:
    """Average the probabilities of the available sources."""
    p = softmax(panel.logits, axis=2)
    weight = present.T[:, :, None]
    total = (weight * p).sum(axis=0)
    some = weight.sum(axis=0)
    return np.where(some > 0, total / np.maximum(some, 1), panel.prior)


def geometric(panel: Panel, present: Table) -> Table:
    """Average the logits of the available sources: the plain log-linear pool."""
    weight = present.T[:, :, None]
    some = weight.sum(axis=0)
    logits = (weight * panel.logits).sum(axis=0) / np.maximum(some, 1)
    return np.where(some > 0, softmax(logits, axis=1), panel.prior)


def majority(panel: Panel, present: Table) -> Table:
    """Count votes; the prior adds one vote, split over classes, so no probability is zero."""
    votes = np.eye(len(panel.classes))[panel.logits.argmax(axis=2)]
    counts = (present.T[:, :, None] * votes).sum(axis=0) + panel.prior
    return counts / counts.sum(axis=1, keepdims=True)


def _stacked(held: Table, truth: Table, test: Table) -> Table:
    wide = [np.concatenate(list(a), axis=1) for a in (held, test)]
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    return np.asarray(model.fit(wide[0], truth).predict_proba(wide[1]))


def stacking(panel: Panel, present: Table) -> Table:
    """Train a logistic regression on held-out logits; a missing source has its mean logits."""
    held = log_softmax(panel.held_out_logits, axis=2)
    test = log_softmax(panel.logits, axis=2)
    test = np.where(present.T[:, :, None] > 0, test, held.mean(axis=1, keepdims=True))
    return _stacked(held, panel.truth, test)


def stacking_each(panel: Panel, present: Table) -> Table:
    """Train one logistic regression for each set of available sources."""
    held = log_softmax(panel.held_out_logits, axis=2)
    test = log_softmax(panel.logits, axis=2)
    result = np.tile(panel.prior, (len(present), 1))
    patterns, where = np.unique(present, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns > 0):
        rows = where.reshape(-1) == number
        if pattern.any():
            result[rows] = _stacked(held[pattern], panel.truth, test[pattern][:, rows])
    return result


METHODS: dict[str, Callable[[Panel, Table], Table]] = {
    "average": average,
    "log-linear mean": geometric,
    "majority vote": majority,
    "stacking": stacking,
    "stacking, one for each set of sources": stacking_each,
    "Dempster, prior in each": lambda p, m: dempster(p, m, learnt=False, prior="each"),
    "Dempster": lambda p, m: dempster(p, m, learnt=False),
    "Dempster, learnt": lambda p, m: dempster(p, m, learnt=True),
    "cautious": lambda p, m: cautious(p, m, learnt=False),
    "cautious, learnt": lambda p, m: cautious(p, m, learnt=True),
}


def scores(probability: Table, truth: Table) -> Table:
    """Return accuracy, log loss and u65."""
    n, n_classes = probability.shape
    chosen = np.clip(probability[np.arange(n), truth], 1e-15, 1.0)
    sets = most_probable_set(probability, set_utility(n_classes, "u65"))
    return np.array(
        [
            np.mean(probability.argmax(axis=1) == truth),
            -np.log(chosen).mean(),
            u65_score(truth, sets, labels=np.arange(n_classes)),
        ]
    )


# -- the three questions ---------------------------------------------------------------------------


def neighbours(X: Table, y: Table, T: Table, t: Table, seed: int) -> dict[str, Table]:
    """Score a moderated logistic regression, the nearest neighbours, and both."""
    del seed
    entries = [("logistic", logistic(), None), ("neighbours", shafer.NeighbourEvidence(), None)]
    panel = Panel(entries, X, y, T)
    everyone = np.ones((len(t), 2))
    plain = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)).fit(X, y)
    beside = shafer.NeighbourEvidence().fit(X, y, beside=panel.held_out_logits[0])
    fused = shafer.combine(
        {"logistic": panel.test["logistic"], "neighbours": beside.evidence(T)}
    ).probability
    probabilities = {
        "logistic regression": plain.predict_proba(T),
        "moderated logistic regression": softmax(panel.logits[0], axis=1),
        "neighbours alone": softmax(panel.logits[1], axis=1),
        "Dempster, neighbours tuned beside the model": fused,
        "log-linear pool, weight tuned": log_linear(panel),
        **{name: METHODS[name](panel, everyone) for name in ("Dempster", "Dempster, learnt",
           "cautious", "cautious, learnt", "average", "log-linear mean", "stacking")},
    }  # fmt: skip
    return {name: scores(p, t) for name, p in probabilities.items()}


def log_linear(panel: Panel) -> Table:
    """Pool two sources' log probabilities with weights λ and 1 − λ, tuned on held-out rows."""
    held, test = log_softmax(panel.held_out_logits, axis=2), log_softmax(panel.logits, axis=2)
    rows = np.arange(len(panel.truth))

    def loss(share: float) -> float:
        logs = log_softmax((1 - share) * held[0] + share * held[1], axis=1)
        return float(-logs[rows, panel.truth].mean())

    best = min(np.linspace(0, 1, 41), key=loss)
    return softmax((1 - best) * test[0] + best * test[1], axis=1)


def with_missing(panel: Panel, t: Table, seed: int) -> dict[str, Table]:
    """Score every method with sources missing at random."""
    result = {}
    for share in MISSING:
        random = np.random.default_rng(seed)
        present = (random.random((len(t), len(panel.names))) >= share).astype(float)
        for name, method in METHODS.items():
            result[f"{name}|{share:.0%}"] = scores(method(panel, present), t)
    return result


def four_models() -> list[tuple[str, Any, None]]:
    """Return four different models of the same columns."""
    return [
        ("logistic", logistic(), None),
        ("bayes", GaussianNB(var_smoothing=1e-6), None),
        ("forest", RandomForestClassifier(100, random_state=0, n_jobs=1), None),
        ("neighbours", shafer.NeighbourEvidence(), None),
    ]


def ensemble(X: Table, y: Table, T: Table, t: Table, seed: int) -> dict[str, Table]:
    """Score every method on four different models of the same columns."""
    panel = Panel(four_models(), X, y, T)
    result = with_missing(panel, t, seed)
    alone = softmax(panel.logits, axis=2)
    result["best source|0%"] = min((scores(p, t) for p in alone), key=lambda s: s[1])
    return result


def reliabilities(X: Table, y: Table, T: Table, t: Table, seed: int) -> dict[str, Table]:
    """Score what a reliability of each source about each class adds, for four models."""
    del seed
    panel = Panel(four_models(), X, y, T)
    everyone = np.ones((len(t), len(panel.names)))
    known = ("average", "stacking", "Dempster, learnt")
    probabilities = {
        **{name: METHODS[name](panel, everyone) for name in known},
        "Dempster, learnt, a factor for each class": by_class(panel, discount=False),
        "Dempster, learnt, contextual discount": by_class(panel, discount=True),
        "Dempster, learnt, one discount": by_class(panel, discount=True, alike=True),
        "contextual discount alone": by_class(panel, discount=True, tempered=False),
    }
    return {name: scores(p, t) for name, p in probabilities.items()}


def views(X: Table, y: Table, T: Table, t: Table, seed: int) -> dict[str, Table]:
    """Score every method on three views, random parts of the columns."""
    order = np.random.default_rng(seed).permutation(X.shape[1])
    parts = np.array_split(order, 3)
    entries = [(f"view {v}", logistic(), np.sort(part)) for v, part in enumerate(parts)]
    panel = Panel(entries, X, y, T)
    result = with_missing(panel, t, seed)
    whole = logistic().fit(X, y).predict_proba(T)
    result["one model of all columns|0%"] = scores(whole, t)
    return result


QUESTIONS = {
    "neighbours": neighbours,
    "ensemble": ensemble,
    "views": views,
    "reliabilities": reliabilities,
}
UNBROKEN = ("neighbours", "reliabilities")  # questions without missing sources


def run(
    names: list[str], splits: int, questions: list[str], first: int = 0
) -> dict[str, dict[str, dict[str, Table]]]:
    """Return question -> data set -> method -> mean scores."""
    results: dict[str, dict[str, dict[str, Table]]] = {question: {} for question in questions}
    start = time.perf_counter()
    for name in names:
        data = load(name, MOST_ROWS)
        X = data.X
        for question in questions:
            ask, rounds = QUESTIONS[question], []
            for seed in range(first, first + splits):
                X_train, X_test, y, t = train_test_split(
                    X, data.y, test_size=0.5, random_state=seed, stratify=data.y
                )
                rounds.append(ask(X_train, y, X_test, t, seed))
            results[question][name] = {
                method: np.mean([r[method] for r in rounds], axis=0) for method in rounds[0]
            }
        print(f"{time.perf_counter() - start:6.0f} s  {name}", flush=True)
    return results


def rows_of(by_data: dict[str, dict[str, Table]], missing: str | None) -> list[dict[str, Any]]:
    """Average over data sets, and count on how many each method has the smallest log loss."""
    methods = list(next(iter(by_data.values())))
    if missing is not None:
        methods = [method for method in methods if method.endswith(f"|{missing}")]
    losses = np.array([[data[method][1] for method in methods] for data in by_data.values()])
    wins = np.bincount(losses.argmin(axis=1), minlength=len(methods))
    ranks = (losses.argsort(axis=1).argsort(axis=1) + 1).mean(axis=0)
    rows = []
    for m, method in enumerate(methods):
        accuracy, loss, u65 = np.mean([data[method] for data in by_data.values()], axis=0)
        rows.append(
            {
                "method": method.split("|")[0],
                "accuracy": f"{accuracy:.3f}",
                "log loss": f"{loss:.3f}",
                "u65": f"{u65:.3f}",
                "mean rank": f"{ranks[m]:.1f}",
                "first": f"{wins[m]}/{len(by_data)}",
            }
        )
    return rows


def main() -> None:
    """Print the tables and save them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="*", default=DATA)
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--questions", nargs="*", choices=QUESTIONS, default=list(QUESTIONS))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # solvers that stop early
    machine = describe()
    results = run(arguments.data, arguments.splits, arguments.questions)
    kept: list[dict[str, Any]] = []
    for question, by_data in results.items():
        for missing in [None] if question in UNBROKEN else [f"{m:.0%}" for m in MISSING]:
            rows = rows_of(by_data, missing)
            title = question if missing is None else f"{question}, {missing} of sources missing"
            print(f"\n{title}\n\n{table(rows)}", flush=True)
            kept += [{"question": title, **row} for row in rows]
        kept += [
            {
                "question": question,
                "data": data,
                "log loss": {method: round(float(s[1]), 4) for method, s in methods.items()},
            }
            for data, methods in by_data.items()
        ]
    if arguments.data == DATA:
        others = json.loads((RESULTS / "fusion.json").read_text())["rows"]
        kept = [r for r in others if r["question"].split(",")[0] not in results] + kept
        record("fusion", machine, kept)


if __name__ == "__main__":
    main()
