"""Measure what a monitor notices, what it names, and how often it errs.

(a) *Simulated batches*: linear models with 10 and 30 correlated Gaussian features (all pairwise
    correlations 0.3), 2,000 reference rows, batches of 500 rows. One feature, another in each
    trial, is shifted by 1 standard deviation, or none is: 500 trials, five for each of 100
    references. Shifts of 0.25 and 0.5 have 100 trials. Peers on the same batches, from the raw
    features: the two-sample KS test with Bonferroni's correction, and the rules PSI > 0.1 and
    PSI > 0.25 for any feature, with ten bins. The false alarms again for batches of 100 rows.
(b) *Simulated streams*: 2,000 streams of 10,000 rows in which nothing changes, with ten features
    and the row's typicality, and 100 streams in which one feature is shifted after 5,000 rows. They
    use the ranks and bets of ``MonitorStream`` for all streams at once; 20 streams of 10,000 rows
    run through ``Monitor.watch`` itself.
(c) *Real data*: German credit, and six KEEL data sets with at least 1,400 rows. A third of the rows
    trains a logistic regression, a third is the reference, and batches of 200 come from the rest;
    20 random divisions. The largest numerical component (by the spread of its weights) is shifted
    by one standard deviation of its column, then the smallest one: a shift that hardly matters. The
    monitor's number of decisions moved is compared with the true number: the rows whose most
    probable class the shift changed. Gradual drift: eight batches of rows drawn with chances that
    grow with the strong column, exp(λz) for λ = 0, 1/7, …, 1; the table has the mean shift of the
    first batch in which the component is named.

``--quick`` makes the study smaller.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from machine import describe, record, table
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

import shafer
from datasets import load
from shafer.monitor.stream import (
    N_BINS,
    bet,
    bins_of,
    first_capital,
    log_martingale,
    ranked,
    stream_splits,
)

ALPHA, N_REFERENCE, N_BATCH, CORRELATION = 0.05, 2000, 500, 0.3
SHIFTS = (0.0, 0.25, 0.5, 1.0)  # the two in the middle in every fifth trial
REAL = ("contraceptive", "german", "magic", "phoneme", "segment", "spambase", "satimage")


# -- (a) simulated batches ----------------------------------------------------------------------


def drawn(n: int, n_features: int, random: np.random.Generator) -> Any:
    """Draw rows of equally correlated features."""
    common = random.normal(size=(n, 1)) * np.sqrt(CORRELATION)
    return common + random.normal(size=(n, n_features)) * np.sqrt(1.0 - CORRELATION)


def stability(reference: Any, batch: Any) -> Any:
    """Return the PSI of each column, with ten bins."""
    found = []
    for usual, new in zip(reference.T, batch.T, strict=True):
        splits = np.quantile(usual, np.arange(1, 10) / 10)
        e, a = (np.bincount(np.digitize(x, splits), minlength=10) / len(x) for x in (usual, new))
        a = np.maximum(a, 0.5 / len(new))
        found.append(float(((a - e) * np.log(a / e)).sum()))
    return np.array(found)


def peers(reference: Any, batch: Any) -> dict[str, Any]:
    """Return which columns each rule names."""
    p = np.array(
        [
            stats.ks_2samp(a, b, method="asymp").pvalue
            for a, b in zip(reference.T, batch.T, strict=True)
        ]
    )
    psi = stability(reference, batch)
    return {
        "KS, Bonferroni": p <= ALPHA / len(p),
        "PSI > 0.1": psi > 0.1,
        "PSI > 0.25": psi > 0.25,
    }


def simulated(n_features: int, n_references: int) -> list[dict[str, Any]]:
    """Count alarms, and how often the shifted feature is named, and others."""
    random = np.random.default_rng(n_features)
    names = [f"x{g}" for g in range(n_features)]
    counts: dict[tuple[str, float], list[Any]] = {}
    for k in tqdm(range(n_references), desc=f"{n_features} features"):
        coef = random.normal(scale=0.5, size=n_features)
        reference = drawn(N_REFERENCE, n_features, random)
        explainer = shafer.Explainer((coef, 0.0), reference[:500], names=names)
        monitor = shafer.Monitor.fit(explainer, reference, seed=k)
        for trial in range(5):
            g = (5 * k + trial) % n_features
            for shift in SHIFTS if trial == 0 else SHIFTS[::3]:
                batch = drawn(N_BATCH, n_features, random)
                batch[:, g] += shift
                report = monitor.check(batch)
                ours = np.array([name in report.moved for name in names])
                rules = {"shafer": ours, **peers(reference, batch)}
                for rule, named in rules.items():
                    alarm = report.alarm if rule == "shafer" else bool(named.any())
                    others = int(np.delete(named, g).any()) if shift else 0
                    entry = (alarm, bool(named[g]), others)
                    counts.setdefault((rule, shift), []).append(entry)
    rows = []
    for rule in ("shafer", "KS, Bonferroni", "PSI > 0.1", "PSI > 0.25"):
        row: dict[str, Any] = {"study": "batches", "features": n_features, "rule": rule}
        row["trials"] = len(counts[rule, 0.0])
        row["false alarms"] = round(float(np.mean([c[0] for c in counts[rule, 0.0]])), 3)
        for shift in SHIFTS[1:]:
            named = np.mean([c[1] for c in counts[rule, shift]])
            row[f"named, {shift:g} SD"] = round(float(named), 3)
        row["others named, 1 SD"] = round(float(np.mean([c[2] for c in counts[rule, 1.0]])), 3)
        rows.append(row)
    return rows


def small_batches(n_features: int = 10, n_trials: int = 200) -> list[dict[str, Any]]:
    """Count false alarms in batches of 100 rows, where PSI is large by chance alone."""
    random = np.random.default_rng(100)
    alarms: dict[str, list[bool]] = {}
    for k in tqdm(range(n_trials), desc="small batches"):
        reference = drawn(N_REFERENCE, n_features, random)
        explainer = shafer.Explainer((random.normal(size=n_features), 0.0), reference[:500])
        batch = drawn(100, n_features, random)
        report = shafer.Monitor.fit(explainer, reference, seed=k).check(batch)
        rules = {rule: bool(named.any()) for rule, named in peers(reference, batch).items()}
        for rule, alarm in ({"shafer": report.alarm} | rules).items():
            alarms.setdefault(rule, []).append(alarm)
    return [
        {
            "study": "batches of 100",
            "features": n_features,
            "rule": rule,
            "trials": n_trials,
            "false alarms": round(float(np.mean(found)), 3),
        }
        for rule, found in alarms.items()
    ]


# -- (b) simulated streams ----------------------------------------------------------------------


def streams(n_streams: int, n_rows: int, change_at: int | None, shift: float) -> Any:
    """Return the row of the first alarm in each stream, −1 if there was none."""
    n_features = 10
    random = np.random.default_rng(n_streams + n_rows)
    n_items = n_features + 1

    def scores(n: int, moved: float = 0.0) -> Any:
        X = np.stack([drawn(n, n_features, random) for _ in range(n_streams)], axis=1)
        X[:, :, 0] += moved
        atypical = (X**2).sum(axis=2, keepdims=True)
        return np.concatenate([X, -atypical], axis=2).reshape(n, -1)

    splits = stream_splits(scores(1000), np.zeros(n_streams * n_items))
    counts = np.stack([np.bincount(c, minlength=N_BINS) for c in bins_of(scores(1000), splits).T])
    shares, log_capital = first_capital(n_streams * n_items)
    threshold = np.log(n_items / ALPHA)
    first = np.full(n_streams, -1)
    for start in tqdm(range(0, n_rows, 100), desc="streams"):
        moved = shift if change_at is not None and start >= change_at else 0.0
        for row, places in enumerate(bins_of(scores(100, moved), splits)):
            p, counts = ranked(counts, places, 1.0 - random.random(len(places)))
            shares, log_capital = bet(shares, log_capital, p)
            logs = log_martingale(log_capital).reshape(n_streams, n_items)
            reached = (first < 0) & (logs.max(axis=1) >= threshold)
            first[reached] = start + row
    return first


def stream_rows(quick: bool) -> list[dict[str, Any]]:
    """Measure false alarms over the whole stream, and how long a change takes to be found."""
    n_rows, change = (2000, 1000) if quick else (10_000, 5000)
    quiet = streams(50 if quick else 2000, n_rows, None, 0.0)
    rows = [_stream_row("nothing changes", quiet, n_rows, None)]
    for shift in (0.25, 0.5, 1.0):
        found = streams(20 if quick else 100, n_rows, change, shift)
        rows.append(_stream_row(f"{shift:g} SD after {change:,} rows", found, n_rows, change))
    random = np.random.default_rng(0)
    alarms = []
    for k in tqdm(range(3 if quick else 20), desc="Monitor.watch"):
        reference = drawn(N_REFERENCE, 10, random)
        explainer = shafer.Explainer((random.normal(size=10), 0.0), reference)
        stream = shafer.Monitor.fit(explainer, reference, seed=k).watch()
        stream.update(drawn(n_rows, 10, random))
        alarms.append(-1 if stream.alarm_row is None else stream.alarm_row)
    rows.append(_stream_row("nothing changes, Monitor.watch", np.array(alarms), n_rows, None))
    return rows


def _stream_row(what: str, first: Any, n_rows: int, change: int | None) -> dict[str, Any]:
    before = first >= 0 if change is None else (first >= 0) & (first < change)
    row: dict[str, Any] = {"study": "streams", "stream": what, "rows": n_rows}
    row |= {"streams": len(first), "false alarms": round(float(before.mean()), 3)}
    row["found"] = row["rows until found (median)"] = row["90 %"] = ""
    if change is not None:
        found = first >= change
        delays = first[found] - change + 1
        row["found"] = round(float(found.sum() / (~before).sum()), 3)
        if len(delays):
            row["rows until found (median)"] = int(np.median(delays))
            row["90 %"] = int(np.quantile(delays, 0.9))
    return row


# -- (c) real data ------------------------------------------------------------------------------


def real(name: str, n_divisions: int) -> dict[str, Any]:
    """Shift columns of a data set, and compare the decisions moved with the truth."""
    data = load(name)
    random = np.random.default_rng(0)
    found: dict[str, list[Any]] = {key: [] for key in _MEASURED}
    numeric = np.flatnonzero(~data.categorical)
    for k in range(n_divisions):
        train, reference, rest = np.array_split(random.permutation(len(data.X)), 3)
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
        model.fit(data.X[train], data.y[train])
        explainer = shafer.Explainer(model, data.X[train], names=data.columns, prior="own")
        monitor = shafer.Monitor.fit(explainer, data.X[reference], seed=k)
        usual = data.X[rest[:200]]
        found["alarm"].append(monitor.check(usual).alarm)
        spread = explainer(data.X[reference]).weights.std(axis=0).max(axis=1)
        order = numeric[np.argsort(spread[numeric])]
        for what, g in (("strong", order[-1]), ("weak", order[0])):
            shifted = usual.copy()
            shifted[:, g] += data.X[reference][:, g].std()
            report = monitor.check(shifted)
            truth = int((model.predict(shifted) != model.predict(usual)).sum())
            found[f"{what} named"].append(data.columns[g] in report.moved)
            found[f"{what} true"].append(truth)
            found[f"{what} told"].append(report.component_decisions.get(data.columns[g], 0))
        found["first"].append(_first_alarm(monitor, data.X[rest], int(order[-1]), random))
    mean = {key: float(np.mean(values)) for key, values in found.items() if key != "first"}
    caught = [step for step in found["first"] if step is not None]
    return {
        "study": "real",
        "data": name,
        "columns": data.X.shape[1],
        "classes": data.n_classes,
        "false alarms": round(mean["alarm"], 2),
        "strong named": round(mean["strong named"], 2),
        "decisions moved (true)": round(mean["strong true"], 1),
        "decisions moved (told)": round(mean["strong told"], 1),
        "weak named": round(mean["weak named"], 2),
        "weak: moved (true)": round(mean["weak true"], 1),
        "weak: moved (told)": round(mean["weak told"], 1),
        "drift found at SD": round(float(np.mean(caught)), 2) if caught else "",
    }


_MEASURED = (
    *("alarm", "first", "strong named", "strong true", "strong told"),
    *("weak named", "weak true", "weak told"),
)


def _first_alarm(
    monitor: shafer.Monitor, X: Any, g: int, random: np.random.Generator
) -> float | None:
    """Return the shift of a gradual drift, in SD, at which the component is named."""
    name, z = monitor.component_names[g], (X[:, g] - X[:, g].mean()) / X[:, g].std()
    for step in range(8):
        chance = np.exp(np.clip(step / 7.0 * z, -20.0, 20.0))
        rows = random.choice(len(X), 200, p=chance / chance.sum())
        if name in monitor.check(X[rows]).moved:
            return float(z[rows].mean())
    return None


def main() -> None:
    """Run all studies, print tables, and save them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    rows = []
    for n_features in (10, 30):
        rows += simulated(n_features, 4 if quick else 100)
    print(table([row for row in rows if row["study"] == "batches"]))
    rows += small_batches(n_trials=5 if quick else 200)
    print(table([row for row in rows if row["study"] == "batches of 100"]))
    rows += stream_rows(quick)
    print(table([row for row in rows if row["study"] == "streams"]))
    rows += [real(name, 3 if quick else 20) for name in tqdm(REAL[:2] if quick else REAL)]
    print(table([row for row in rows if row["study"] == "real"]))
    if not quick:
        record("monitoring", describe(), rows)


if __name__ == "__main__":
    main()
