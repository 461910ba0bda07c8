"""The comparison of a batch with the reference: each component, and the batch as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import BoolArray, FloatArray
from shafer.decision.policy import AnswerRule, answers
from shafer.evidence.table import label_texts
from shafer.monitor.reference import LabelFacts, ReferenceRows, RowFacts
from shafer.monitor.shift_tests import Shift, distribution_shift, rounding_tolerance, share_shift

NAN = float("nan")


@final
@dataclass(frozen=True)
class BatchCheck:
    """One quantity in the reference and in the batch.

    Attributes
    ----------
    kind : {"component", "batch"}
    name : str
    reference, batch : float
        Means, or shares of rows.
    class_, over : label or None
        For a component: the two classes that are compared.
    spread : float
        Standard deviation in the batch over that in the reference; NaN for shares.
    ks, ks_p, psi : float
        The statistic of Kolmogorov and Smirnov and its p-value, and the population stability
        index; NaN where they do not apply.
    p : float
        p-value of all tests of this quantity; NaN if there is nothing to compare with.

    See Also
    --------
    MonitorReport : Has one for each quantity.

    Examples
    --------
    >>> from shafer.monitor import BatchCheck
    >>> check = BatchCheck("batch", "ignorance", reference=0.1, batch=0.3, p=0.001)
    >>> check.name, check.p
    ('ignorance', 0.001)
    """

    kind: str
    name: str
    reference: float
    batch: float
    p: float
    class_: Any = None
    over: Any = None
    spread: float = NAN
    ks: float = NAN
    ks_p: float = NAN
    psi: float = NAN

    @property
    def shift(self) -> float:
        """Batch minus reference; for a component in units of evidence (log-odds)."""
        return self.batch - self.reference


def component_checks(
    reference: ReferenceRows,
    batch: RowFacts,
    names: list[str],
    classes: NDArray[Any],
    most_bins: int,
    asked: int = 1,
) -> list[BatchCheck]:
    """Compare the weights of each component, with two classes for the one that is ``asked``."""
    before, now = reference.facts.mean_weights, batch.mean_weights
    return [
        _component(reference, batch, g, name, classes, (before[g], now[g]), most_bins, asked)
        for g, name in enumerate(names)
    ]


def _component(
    reference: ReferenceRows,
    batch: RowFacts,
    g: int,
    name: str,
    classes: NDArray[Any],
    means: tuple[FloatArray, FloatArray],
    most_bins: int,
    asked: int,
) -> BatchCheck:
    axes = np.flatnonzero(reference.axes.used[g])
    scores, usual = batch.scores[:, g], reference.facts.scores[:, g]
    shifts = [
        distribution_shift(usual[:, r], scores[:, r], most_bins, float(reference.tolerance[g, r]))
        for r in axes
    ]
    strongest = min(shifts, key=lambda shift: (shift.p, -shift.ks))
    a, b = compared_pair(means[1] - means[0], asked)
    labels = classes.tolist()
    return BatchCheck(
        "component",
        name,
        float(means[0][a] - means[0][b]),
        float(means[1][a] - means[1][b]),
        min(1.0, len(shifts) * strongest.p),
        class_=labels[a],
        over=labels[b],
        spread=_spread(usual, scores),
        ks=strongest.ks,
        ks_p=strongest.ks_p,
        psi=strongest.psi,
    )


def compared_pair(change: FloatArray, asked: int = 1) -> tuple[int, int]:
    """Return the classes to compare: of two the one that is asked about, else the most moved."""
    if len(change) == 2:
        return asked, 1 - asked
    a, b = int(change.argmax()), int(change.argmin())
    return (a, b) if a != b else (1, 0)


def _spread(usual: FloatArray, scores: FloatArray) -> float:
    before, now = usual.std(axis=0), scores.std(axis=0)
    total = float(np.linalg.norm(before))
    return float(np.linalg.norm(now)) / total if total > 0.0 else NAN


def row_checks(
    reference: ReferenceRows,
    batch: RowFacts,
    typicality: FloatArray,
    classes: NDArray[Any],
    asked: int = 1,
) -> list[BatchCheck]:
    """Compare what is known of the rows without their classes."""
    usual = reference.facts
    checks = [
        _mean("ignorance", usual.log_ignorance, batch.log_ignorance, np.exp),
        _mean(
            "disagreement",
            usual.weight_of_disagreement,
            batch.weight_of_disagreement,
            lambda weight: -np.expm1(-weight),
        ),
        BatchCheck(
            "batch",
            "typicality",
            0.5,
            float(typicality.mean()),
            _values_shift(reference.fresh_typicality, batch.typicality).p,
        ),
        _share("unseen categories", usual.unseen, batch.unseen),
        _gaps(usual.gaps, batch.gaps),
    ]
    return checks + _class_shares(usual.probability, batch.probability, label_texts(classes), asked)


def label_checks(reference: LabelFacts | None, batch: LabelFacts) -> list[BatchCheck]:
    """Compare losses, hits and coverage; without a reference there is no test."""
    if reference is None:
        names = {"log loss": batch.log_loss, "Brier score": batch.brier, "accuracy": batch.correct}
        if batch.covered is not None:
            names["coverage"] = batch.covered
        return [BatchCheck("batch", k, NAN, float(v.mean()), NAN) for k, v in names.items()]
    checks = [
        _mean("log loss", reference.log_loss, batch.log_loss),
        _mean("Brier score", reference.brier, batch.brier),
        _share("accuracy", reference.correct, batch.correct),
    ]
    if batch.covered is not None and reference.covered is not None:
        checks.append(_share("coverage", reference.covered, batch.covered))
    return checks


def _values_shift(usual: FloatArray, values: FloatArray) -> Shift:
    tolerance = float(rounding_tolerance(usual, usual.dtype.itemsize))
    return distribution_shift(usual, values, 10, tolerance)


def _mean(
    name: str,
    usual: FloatArray,
    values: FloatArray,
    shown: Callable[[FloatArray], FloatArray] = np.asarray,
) -> BatchCheck:
    """Compare values; the table has the means of what ``shown`` makes of them."""
    shift = _values_shift(usual, values)
    means = float(shown(usual).mean()), float(shown(values).mean())
    return BatchCheck("batch", name, *means, shift.p, ks=shift.ks, ks_p=shift.ks_p, psi=shift.psi)


def _share(name: str, usual: BoolArray, values: BoolArray) -> BatchCheck:
    shares = float(usual.mean()), float(values.mean())
    return BatchCheck("batch", name, *shares, share_shift(values, usual))


def _gaps(usual: FloatArray, values: FloatArray) -> BatchCheck:
    """Compare the shares of missing inputs; the test is about rows that miss any."""
    p = share_shift(values > 0.0, usual > 0.0)
    return BatchCheck("batch", "gaps", float(usual.mean()), float(values.mean()), p)


def _class_shares(
    usual: FloatArray, values: FloatArray, labels: list[str], asked: int
) -> list[BatchCheck]:
    """Compare the mean probability of each class; two classes are one test."""
    shown = range(asked, asked + 1) if len(labels) == 2 else range(len(labels))
    return [_mean(f"probability of {labels[k]}", usual[:, k], values[:, k]) for k in shown]


# How many decisions moved with a component: the count if its distribution is put back.


def decisions_moved(
    reference: ReferenceRows,
    batch: RowFacts,
    components: Sequence[int],
    seed: int,
    cutoff: AnswerRule | None = None,
) -> tuple[dict[int, int], int]:
    """Count the rows whose answer changes when components are put back.

    Returns
    -------
    counts : dict from component to number of rows
        Each component put back alone.
    together : int
        All of them put back.
    """
    now = batch.decisions(cutoff)
    counts, change = {}, np.zeros_like(batch.logits)
    for g in components:
        own = _change(reference, batch, g, np.random.default_rng([seed, g]))
        counts[g] = int((now != answers(batch.logits + own, cutoff)).sum())
        change += own
    return counts, int((now != answers(batch.logits + change, cutoff)).sum())


def _change(
    reference: ReferenceRows, batch: RowFacts, g: int, random: np.random.Generator
) -> FloatArray:
    """Return what the logits (m, K) change by when component g is put back."""
    scores = batch.scores[:, g]
    usual = reference.facts.scores[:, g]
    back = [put_back(scores[:, r], usual[:, r], random) for r in range(scores.shape[1])]
    change = reference.axes.weights(g, np.stack(back, axis=1) - scores)
    return np.asarray(change * batch.row_factor[:, None])


def put_back(values: FloatArray, reference: FloatArray, random: np.random.Generator) -> FloatArray:
    """Map values (m,) to the quantiles of reference values (n,); ties are broken at random."""
    m, n = len(values), len(reference)
    order = np.lexsort((random.random(m), values))
    places = ((np.arange(m) + 0.5) / m * n).astype(np.intp)
    mapped = np.empty_like(values)
    mapped[order] = np.sort(reference)[places]
    return mapped
