"""Populations whose error above any threshold is known, and calibration sets drawn from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from datasets import load
from shafer.deferral.prediction import sure_answers

Array = NDArray[Any]
LARGE = 400_000  # rows that stand for a simulated population


@dataclass(frozen=True)
class Population:
    """Rows with a score, a chance of error, and a group."""

    name: str
    scores: Array
    chance: Array  # of an error: 0 or 1 for real rows
    groups: Array
    real: bool

    def true_error(self, threshold: float, group: Any = None) -> tuple[float, float]:
        """Return the error among rows above the threshold, and their share."""
        own = slice(None) if group is None else self.groups == group
        above = self.scores[own] > threshold
        chance = self.chance[own][above]
        return (float(chance.mean()) if len(chance) else 0.0), float(above.mean())

    def draw(self, n: int, random: np.random.Generator, *, replace: bool = True) -> Array:
        """Return the positions of n rows."""
        return random.choice(len(self.scores), n, replace=replace)

    def wrong(self, rows: Array, random: np.random.Generator) -> Array:
        """Return which rows are answered wrongly."""
        return random.random(len(rows)) < self.chance[rows]


def real_population(name: str, column: str) -> Population:
    """Train a model on a part of the rows; the others are the population.

    The groups are the quarters of a column of the data.
    """
    data = load(name, most_rows=10**9)
    train, rest = train_test_split(
        np.arange(len(data.y)), train_size=0.25, stratify=data.y, random_state=0
    )
    trees = name == "magic"  # too hard for a linear model
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    model = HistGradientBoostingClassifier(random_state=0) if trees else linear
    model.fit(data.X[train], data.y[train])
    moderate = None if trees else "laplace"
    explainer = shafer.Explainer(model, data.X[train], moderate=moderate)
    answers = sure_answers(explainer.observe(data.X[rest]).bet)
    values = data.X[rest][:, data.columns.index(column)]
    groups = np.searchsorted(np.quantile(values, [0.25, 0.5, 0.75]), values)
    wrong = answers.positions != data.y[rest]
    return Population(name, answers.scores, wrong.astype(float), groups, real=True)


def simulated(name: str = "simulated") -> Population:
    """Return a model that is too sure: the log-odds it states are 1.5 times the true ones.

    In ``"noise at the top"`` one in twelve of the surest 5 % is wrong, so that the error does not
    fall all the way as the threshold rises. In ``"flat"`` 5.1 % are wrong, whatever the score: no
    threshold keeps a promise of 5 %, and each almost does.
    """
    random = np.random.default_rng(7)
    groups = random.integers(2, size=LARGE)
    true = np.abs(random.normal(0.0, np.where(groups, 3.5, 2.5)))
    chance = expit(-true)
    if name == "flat":
        chance = np.full(LARGE, 0.051)
    if name == "noise at the top":
        chance = np.where(true > np.quantile(true, 0.95), 1 / 12, 0.6 * chance)
    return Population(name, 1.5 * true, chance, groups, real=False)
