"""Figures of merit: log loss, AUROC, calibration error, and win:loss counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

FEWEST_EVENTS = 10
SMALLEST_PROBABILITY = 1e-15


def log_loss(p: Any, y: Any) -> float:
    """Return the mean log loss; no probability counts as less than 1e-15."""
    return float(-np.log(np.maximum(p[np.arange(len(y)), y], SMALLEST_PROBABILITY)).mean())


def accuracy(p: Any, y: Any) -> float:
    """Return the share of rows whose most probable class is right."""
    return float((p.argmax(axis=1) == y).mean())


def auroc(score: Any, events: Any, times: Any = 1) -> float:
    """Return the AUROC of a score for events that happen ``events`` of ``times`` times."""
    events = np.asarray(events, dtype=float)
    label = np.r_[np.ones(len(events)), np.zeros(len(events))]
    weight = np.r_[events, times - events]
    return float(roc_auc_score(label, np.r_[score, score], sample_weight=weight))


def enough(events: Any, times: int = 1) -> bool:
    """Return whether there are ten events and ten others."""
    total = np.sum(events)
    return bool(FEWEST_EVENTS <= total <= times * len(events) - FEWEST_EVENTS)


def calibration_error(p: Any, events: Any, times: Any = 1) -> float:
    """Return the expected calibration error in ten bins of equal width."""
    p, rate = np.asarray(p), np.asarray(events, dtype=float) / times
    bins = np.minimum((p * 10).astype(int), 9)
    gaps = np.bincount(bins, weights=p - rate, minlength=10)
    return float(np.abs(gaps).sum() / len(p))
