"""Compare ignorance with scores that need no evidence, on real data.

Every data set is split at random into 40 % training, 20 % calibration and 40 % test rows, several
times; figures are means over the splits, then over the data sets. The model is a logistic
regression on standardised columns (for log loss also a small network), read as one component.

(a) *Training size*: the mean ignorance of the test rows after training on 5, 20, 50 and 100 % of
    the training rows (nested; at least two rows for each class and ten in all). It falls if it is
    smaller at 100 % than at 5 % and its rank correlation with the size is negative; strictly, if
    every step is downwards.
(b) *Novelty*: how well a score separates test from out-of-distribution rows (AUROC): noise with
    three times the spread of each column; test rows whose columns are shuffled, each by itself
    (nominal columns in one piece); and rows of a class that was left out of training and
    calibration (data sets of three classes or more; up to five classes in turn).
(c) *Log loss* of the probabilities: plain, tempered, moderated by Laplace's approximation.
(d) *Missing inputs*: log loss when half of the columns of each test row are missing.
(e) *Errors*: how well a score separates wrong predictions from right ones (AUROC).
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from machine import describe, record, table
from scipy.special import log_softmax, softmax
from scipy.stats import spearmanr
from sklearn.covariance import ledoit_wolf
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

import shafer
from datasets import Dataset, load, names
from shafer.evidence import WeightProfile

SIZES = (0.05, 0.2, 0.5, 1.0)
MOST_HELD_OUT = 5
Score = Callable[[Any], Any]


def logistic() -> Any:
    """Return an untrained logistic regression on standardised columns."""
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def network() -> Any:
    """Return an untrained small network on standardised columns."""
    return make_pipeline(
        StandardScaler(),
        MLPClassifier((32,), alpha=1.0, max_iter=300, early_stopping=False, random_state=0),
    )


class Reading:
    """Evidence of a trained model as one component: plain, tempered, moderated, discounted.

    ``background`` are its training rows; the calibration rows set the factors on the weights.
    """

    def __init__(self, model: Any, background: Any, rows: Any, labels: Any) -> None:
        self._explainers = {"plain": shafer.Explainer(model, background, "one")}
        for kind in ("tempered", "laplace", "laplace+discount"):
            moderate = None if kind == "tempered" else kind
            explainer = shafer.Explainer(model, background, "one", moderate=moderate)
            self._explainers[kind] = explainer.temper(rows, labels)

    def logits(self, X: Any, kind: str) -> Any:
        """Return the logits of the betting probabilities, (n, K)."""
        return self._explainers[kind].observe(X).bet.logits

    def belief(self, X: Any, kind: str) -> Any:
        """Return the beliefs before any discount, (n, K)."""
        return self._explainers[kind].observe(X).bet.belief

    def ignorance(self, X: Any, kind: str) -> Any:
        """Return m(Θ), (n,), after discounting if there is any."""
        return self._explainers[kind](X).ignorance


def splits(data: Dataset, n_splits: int) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Return training, calibration and test rows, and a random generator for the rest."""
    n = len(data.y)
    for seed in range(n_splits):
        rng = np.random.default_rng(seed)
        order = rng.permutation(n)
        first = [np.flatnonzero(data.y[order] == k)[0] for k in range(data.n_classes)]
        order = np.concatenate([order[first], np.delete(order, first)])  # every class is trained
        yield order[: int(0.4 * n)], order[int(0.4 * n) : int(0.6 * n)], order[int(0.6 * n) :], rng


def log_loss(logits: Any, y: Any) -> float:
    """Return the mean log loss of centred or other logits."""
    return float(-log_softmax(logits, axis=1)[np.arange(len(y)), y].mean())


def auroc(ordinary: Any, strange: Any) -> float:
    """Return how often an out-of-distribution row has the larger score."""
    labels = np.r_[np.zeros(len(ordinary)), np.ones(len(strange))]
    return float(roc_auc_score(labels, np.r_[ordinary, strange]))


def average(rows: list[dict[str, float]]) -> dict[str, float]:
    """Average the columns of several rows."""
    return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}


# -- (a) ----------------------------------------------------------------------------------------


def sizes(data: Dataset, train: Any, calibrate: Any, test: Any) -> dict[str, float]:
    """Return the mean ignorance after training on each share of the rows, by kind of evidence."""
    pairs = np.concatenate(
        [train[data.y[train] == k][:2] for k in range(data.n_classes)]
    )  # first, so that no class is lost
    order = np.concatenate([pairs, train[~np.isin(train, pairs)]])
    result = {}
    for share in SIZES:
        rows = order[: max(round(share * len(train)), len(pairs), 10)]
        model = logistic().fit(data.X[rows], data.y[rows])
        reading = Reading(model, data.X[rows], data.X[calibrate], data.y[calibrate])
        for kind in ("plain", "laplace", "laplace+discount"):
            result[f"{kind} {share:.0%}"] = float(reading.ignorance(data.X[test], kind).mean())
    return result


def trend(rows: list[dict[str, float]], kind: str) -> dict[str, Any]:
    """Summarise (a) over the data sets."""
    curves = np.array([[row[f"{kind} {share:.0%}"] for share in SIZES] for row in rows])
    falls = [c[0] > c[-1] and spearmanr(SIZES, c).statistic < 0 for c in curves]
    strictly = (np.diff(curves, axis=1) < 0).all(axis=1)
    means = {
        f"{share:.0%}": f"{m:.3f}" for share, m in zip(SIZES, curves.mean(axis=0), strict=True)
    }
    return {
        "ignorance": kind,
        **means,
        "falls": f"{np.mean(falls):.2f}",
        "strictly": f"{strictly.mean():.2f}",
    }


# -- (b) and (e) --------------------------------------------------------------------------------


def scores(model: Any, reading: Reading, background: Any) -> dict[str, Score]:
    """Return all scores: large means out-of-distribution."""
    scaler, head = model[0], model[-1]
    Z = scaler.transform(background)
    neighbours = NearestNeighbors(n_neighbors=min(5, len(Z))).fit(Z)
    precision = np.linalg.pinv(ledoit_wolf(Z)[0])
    explainer = shafer.Explainer(head, Z)
    profile = WeightProfile.fit(explainer(Z))

    def far(X: Any) -> Any:
        z = scaler.transform(X) - Z.mean(axis=0)
        return ((z @ precision) * z).sum(axis=1)

    return {
        "ignorance, per feature": lambda X: explainer(scaler.transform(X)).ignorance,
        "ignorance": lambda X: reading.ignorance(X, "plain"),
        "ignorance, laplace": lambda X: reading.ignorance(X, "laplace"),
        "ignorance, laplace+discount": lambda X: reading.ignorance(X, "laplace+discount"),
        "1 − typicality": lambda X: 1.0 - profile.typicality(explainer(scaler.transform(X))),
        "kNN distance": lambda X: neighbours.kneighbors(scaler.transform(X))[0].mean(axis=1),
        "Mahalanobis distance": far,
        "1 − max-softmax": lambda X: 1.0 - softmax(reading.logits(X, "tempered"), axis=1).max(1),
    }


def strange_rows(data: Dataset, train: Any, test: Any, rng: Any) -> dict[str, Any]:
    """Return out-of-distribution rows, by kind."""
    mean, spread = data.X[train].mean(axis=0), data.X[train].std(axis=0)
    noise = mean + 3 * np.where(spread > 0, spread, 1.0) * rng.normal(size=data.X[test].shape)
    shuffled = data.X[test].copy()
    for j in np.unique(data.source):
        columns = data.source == j
        shuffled[:, columns] = data.X[rng.permutation(test)][:, columns]
    return {"noise": noise, "shuffled columns": shuffled}


def novelty(data: Dataset, found: dict[str, Score], test: Any, strange: Any) -> dict[str, float]:
    """Return the AUROC of every score for out-of-distribution rows."""
    return {
        f"{score}: {kind}": auroc(function(data.X[test]), function(rows))
        for score, function in found.items()
        for kind, rows in strange.items()
    }


def held_out(data: Dataset, train: Any, calibrate: Any, test: Any) -> dict[str, float]:
    """Return the AUROC of every score for rows of a class left out, averaged over classes."""
    if data.n_classes < 3:
        return {}
    rows = []
    for k in range(min(data.n_classes, MOST_HELD_OUT)):
        known = [part[data.y[part] != k] for part in (train, calibrate, test)]
        labels = [np.where(data.y[part] > k, data.y[part] - 1, data.y[part]) for part in known]
        model = logistic().fit(data.X[known[0]], labels[0])
        reading = Reading(model, data.X[known[0]], data.X[known[1]], labels[1])
        found = scores(model, reading, data.X[known[0]])
        rows.append(novelty(data, found, known[2], {"class left out": data.X[data.y == k]}))
    return average(rows)


def errors(data: Dataset, reading: Reading, found: dict[str, Score], test: Any) -> dict[str, float]:
    """Return the AUROC of every score for wrong predictions."""
    X, y = data.X[test], data.y[test]
    wrong = reading.logits(X, "plain").argmax(axis=1) != y
    if not 0 < wrong.sum() < len(y):
        return {}
    values = {name: function(X) for name, function in found.items()}
    values["1 − max-belief, laplace"] = 1.0 - reading.belief(X, "laplace").max(axis=1)
    return {f"{name}: errors": auroc(v[~wrong], v[wrong]) for name, v in values.items()}


# -- (c) and (d) --------------------------------------------------------------------------------


def losses(reading: Reading, X: Any, y: Any, model: str) -> dict[str, float]:
    """Return the log loss of each kind of probabilities."""
    kinds = ("plain", "tempered", "laplace")
    return {f"{model}: {kind}": log_loss(reading.logits(X, kind), y) for kind in kinds}


def missing(data: Dataset, model: Any, train: Any, test: Any, rng: Any) -> dict[str, float]:
    """Return the log loss with half of the columns missing in each row, at random."""
    X, y = data.X[test], data.y[test]
    chance = rng.random((len(X), data.source.max() + 1))
    present = np.unique(data.source)
    order = chance[:, present].argsort(axis=1).argsort(axis=1)
    out = np.zeros(chance.shape, dtype=bool)
    out[:, present] = order < -(-len(present) // 2)
    gaps = out[:, data.source]
    gappy = np.where(gaps, np.nan, X)
    filled = np.where(gaps, data.X[train].mean(axis=0), X)
    by_kind = {
        how: shafer.Explainer(model, data.X[train], missing=how)(gappy)
        for how in ("vacuous", "conditional")
    }
    observed = by_kind["vacuous"].weights * ~gaps[:, :, None]
    return {
        "mean imputation": log_loss(model.predict_log_proba(filled), y),
        "vacuous, without the prior": log_loss(observed.sum(axis=1), y),
        "vacuous": log_loss(by_kind["vacuous"].logits, y),
        "conditional": log_loss(by_kind["conditional"].logits, y),
    }


# -- all together -------------------------------------------------------------------------------


def measure(data: Dataset, n_splits: int) -> dict[str, Any]:
    """Measure everything on one data set."""
    rows: list[dict[str, float]] = []
    wrongs: list[dict[str, float]] = []
    for seed, (train, calibrate, test, rng) in enumerate(splits(data, n_splits)):
        model = logistic().fit(data.X[train], data.y[train])
        reading = Reading(model, data.X[train], data.X[calibrate], data.y[calibrate])
        found = scores(model, reading, data.X[train])
        row = {
            **sizes(data, train, calibrate, test),
            **novelty(data, found, test, strange_rows(data, train, test, rng)),
            **held_out(data, train, calibrate, test),
            **losses(reading, data.X[test], data.y[test], "logistic"),
            **missing(data, model, train, test, rng),
        }
        if seed < max(1, n_splits // 2):  # networks take the most time
            net = network().fit(data.X[train], data.y[train])
            reading_net = Reading(net, data.X[train], data.X[calibrate], data.y[calibrate])
            row |= losses(reading_net, data.X[test], data.y[test], "network")
        rows.append(row)
        wrongs.append(errors(data, reading, found, test))
    keys = dict.fromkeys(key for row in [*rows, *wrongs] for key in row)
    everything = [*rows, *wrongs]
    means = {key: np.mean([row[key] for row in everything if key in row]) for key in keys}
    n, n_columns = data.X.shape
    size = {"data": data.name, "n": n, "J": n_columns, "K": data.n_classes}
    return {**size, **{key: round(float(value), 5) for key, value in means.items()}}


def mean_of(rows: list[dict[str, Any]], key: str) -> str:
    """Return the mean over the data sets that have a figure."""
    values = [row[key] for row in rows if key in row]
    return f"{np.mean(values):.3f}" if values else "-"


def novelty_table(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Summarise (b) and (e)."""
    kinds = ("noise", "shuffled columns", "class left out", "errors")
    named = dict.fromkeys(
        key.rpartition(": ")[0] for row in rows for key in row if ": errors" in key
    )
    return [
        {"score (AUROC)": name, **{kind: mean_of(rows, f"{name}: {kind}") for kind in kinds}}
        for name in named
    ]


def loss_table(rows: list[dict[str, Any]], model: str) -> dict[str, Any]:
    """Summarise (c) for one model."""
    tempered = np.array([row[f"{model}: tempered"] for row in rows])
    moderated = np.array([row[f"{model}: laplace"] for row in rows])
    return {
        "model": model,
        **{kind: mean_of(rows, f"{model}: {kind}") for kind in ("plain", "tempered", "laplace")},
        "laplace − tempered": f"{(moderated - tempered).mean():+.4f}",
        "no worse": f"{(moderated <= tempered + 1e-6).mean():.2f}",
    }


def report(rows: list[dict[str, Any]]) -> None:
    """Print the tables."""
    print(f"\n{len(rows)} data sets, {sum(row['K'] > 2 for row in rows)} with 3 classes or more")
    print("\n(a) Mean ignorance by training size; share of data sets where it falls\n")
    print(table([trend(rows, kind) for kind in ("plain", "laplace", "laplace+discount")]))
    print("\n(b), (e) Novelty and error detection\n")
    print(table(novelty_table(rows)))
    print("\n(c) Log loss; share of data sets where moderation is no worse than tempering\n")
    print(table([loss_table(rows, model) for model in ("logistic", "network")]))
    print("\n(d) Log loss with half of the columns missing\n")
    ways = ("mean imputation", "vacuous, without the prior", "vacuous", "conditional")
    print(table([{way: mean_of(rows, way) for way in ways}]))


def main() -> None:
    """Print the tables and save all figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--splits", type=int, default=5, help="random splits of each data set")
    parser.add_argument("--data", nargs="*", default=names(), help="data sets, all by default")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # solvers that stop early
    machine = describe()
    print(*(f"{key}: {value}" for key, value in machine.items()), sep=", ")
    rows = [measure(load(name), options.splits) for name in tqdm(options.data)]
    report(rows)
    if options.data == names():
        record("ignorance", machine, rows)


if __name__ == "__main__":
    main()
