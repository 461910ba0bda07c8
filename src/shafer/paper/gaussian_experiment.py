"""The Gaussian experiment: small networks on three classes in the plane (§5.2).

One network is one draw, so the experiment is redone many times: each has its own training set, its
own initial weights and its own test set, as the paper's one network had.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._typing import FloatArray
from shafer.datasets.gaussian import gaussian_posterior, make_gaussian
from shafer.evidence.evidence import Evidence
from shafer.evidence.least_commitment import LinearPool, RunningMean, least_commitment
from shafer.paper.network import SIZES, Networks, one_thread, train_networks
from shafer.paper.printed_numbers import GAUSSIAN
from shafer.paper.set_tables import (
    missed,
    random_choice_error,
    set_table,
    share_of_size,
    wrong_singletons,
)

CLASSES = ("θ₁", "θ₂", "θ₃")
UNITS = tuple(f"unit {j}" for j in range(1, SIZES[2] + 1))
N_TRAIN = 900


class Sample(NamedTuple):
    """Points (n, 2) and their classes (n,), counted from 0."""

    X: FloatArray
    y: NDArray[np.int64]


class Plan(NamedTuple):
    """How large the experiment is."""

    networks: int
    checkpoints: tuple[int, ...]  # numbers of epochs at which all networks are looked at
    epochs: int  # the one of them that is reported
    n_test: int
    penalty: float


@final
@dataclass(frozen=True, eq=False)
class GaussianResult:
    """The results of S networks.

    Attributes
    ----------
    plan : Plan
    figures : dict of name to array of shape (S,)
        At the reported number of epochs, in per cent.
    by_epochs : dict of name to array of shape (E, S)
        The same at every checkpoint.
    mp, id : arrays of shape (S, 8, 3)
        Decided set (a bitmask) against true class, in per cent.
    typical : int
        The network nearest to the medians: the one to look at.
    sample : Sample
        Its training set.
    network : Networks
        Itself.
    """

    plan: Plan
    figures: dict[str, FloatArray]
    by_epochs: dict[str, FloatArray]
    mp: FloatArray
    id: FloatArray
    typical: int
    sample: Sample
    network: Networks

    def evidence(self, X: FloatArray) -> Evidence:
        """Return the evidence of the typical network at points of the plane."""
        return unit_pool(self.network, self.sample.X)(self.network.features(X))


def unit_pool(network: Networks, X_train: FloatArray) -> LinearPool:
    """Read one network as evidence: its components are the units of the last hidden layer."""
    means = RunningMean().partial_fit(network.features(X_train)).mean
    return least_commitment(*network.head(), means, classes=CLASSES, names=UNITS)


def draw_samples(count: int, n: int, seed: Sequence[int]) -> list[Sample]:
    """Draw independent samples of the same size."""
    seeds = np.random.SeedSequence(seed).generate_state(count)
    return [Sample(*make_gaussian(n, int(state))) for state in seeds]


class _Scores(NamedTuple):
    """One network on its test set."""

    figures: dict[str, float]
    mp: FloatArray
    id: FloatArray


def _scores(network: Networks, trained_on: Sample, test: Sample) -> _Scores:
    evidence = unit_pool(network, trained_on.X)(network.features(test.X))
    best = to_numpy(evidence.decide("plausibility"))
    kept = to_numpy(evidence.decide("interval_dominance"))
    bayes = gaussian_posterior(test.X).argmax(axis=1)
    rows = np.arange(len(bayes))
    wrong = ~best[rows, test.y]
    open_cases = kept.sum(axis=1) > 1
    differs = ~best[rows, bayes]
    mp, interval = set_table(best, test.y), set_table(kept, test.y)
    return _Scores(
        {
            "bayes_error": 100.0 * float(np.mean(bayes != test.y)),
            "mp_error": wrong_singletons(mp),
            "id_error": wrong_singletons(interval),
            "pairs": share_of_size(interval, 2),
            "triples": share_of_size(interval, 3),
            "id_missed": missed(interval),
            "random_choice_error": random_choice_error(interval),
            "mp_error_where_open": _share(wrong, open_cases),
            "bayes_in_set": 100.0 * float(np.mean(kept[rows, bayes])),
            "bayes_in_set_where_mp_differs": _share(kept[rows, bayes], differs),
        },
        mp,
        interval,
    )


def _share(true: NDArray[np.bool_], among: NDArray[np.bool_]) -> float:
    """Return how often something holds among some instances, in per cent; 0 if there are none."""
    return 100.0 * float(np.mean(true[among])) if among.any() else 0.0


def run_gaussian(
    plan: Plan,
    seed: int,
    progress: Callable[[range], Any] = iter,
) -> GaussianResult:
    """Train the networks and look at them at every checkpoint.

    Parameters
    ----------
    plan : Plan
    seed : int
        Seed of everything drawn.
    progress : function, optional
        Wraps the epochs for a progress bar.
    """
    training = draw_samples(plan.networks, N_TRAIN, (seed, 1))
    tests = draw_samples(plan.networks, plan.n_test, (seed, 2))
    X, y = (np.stack(part) for part in zip(*training, strict=True))
    penalty = np.full(plan.networks, plan.penalty)
    looked_at: list[list[_Scores]] = []
    with one_thread():
        for epochs, networks in train_networks(X, y, penalty, plan.checkpoints, seed, progress):
            looked_at.append(
                [_scores(networks[s], training[s], tests[s]) for s in range(plan.networks)]
            )
            if epochs == plan.epochs:
                reported, kept = looked_at[-1], networks
    figures = {name: np.array([s.figures[name] for s in reported]) for name in reported[0].figures}
    typical = _nearest_to_medians([figures[name] for name in GAUSSIAN if name != "bayes_error"])
    return GaussianResult(
        plan,
        figures,
        {
            name: np.array([[s.figures[name] for s in scores] for scores in looked_at])
            for name in figures
        },
        np.stack([s.mp for s in reported]),
        np.stack([s.id for s in reported]),
        typical,
        training[typical],
        kept[typical],
    )


def _nearest_to_medians(figures: list[FloatArray]) -> int:
    """Return the network whose figures lie nearest to the medians, in units of their spread."""
    distance = np.zeros(len(figures[0]))
    for values in figures:
        spread = max(float(np.ptp(np.percentile(values, (10, 90)))), 1e-9)
        distance += np.abs(values - np.median(values)) / spread
    return int(np.argmin(distance))
