"""Two sources for the tests of this folder."""

from __future__ import annotations

from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB


def two() -> list[Any]:
    return [("logistic", LogisticRegression(max_iter=2000)), ("bayes", GaussianNB())]
