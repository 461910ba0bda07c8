"""A saved ``DeferralControl``: arrays and plain Python values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from shafer._validation import float_array
from shafer.decision.calibration.selective_threshold import SelectiveThreshold
from shafer.models.deferring.deferral_control import DeferralControl
from shafer.models.deferring.promise import KINDS, Promise
from shafer.models.deferring.reason_scale import ReasonScale
from shafer.models.deferring.row_measures import MEASURES


def deferral_state(control: DeferralControl | None) -> dict[str, Any] | None:
    """Return the thresholds as a dictionary of arrays and plain Python values."""
    if control is None:
        return None
    promise, found = control.promise, control.found
    return {
        "kind": promise.kind,
        "level": promise.level,
        "confidence": promise.confidence,
        "class_": promise.class_,
        "loss": promise.loss,
        "groups": control.groups,
        "column": control.column,
        "threshold": np.array([part.threshold for part in found]),
        "n_calibration": np.array([part.n_calibration for part in found]),
        "n_decided": np.array([part.n_decided for part in found]),
        "risk": np.array([part.risk for part in found]),
        "upper_bound": np.array([part.upper_bound for part in found]),
        "scale": dict(control.scale.sorted_measures),
    }


def restored_deferral(given: Mapping[str, Any], n_classes: int) -> DeferralControl:
    """Check a dictionary that :func:`deferral_state` gave, and return its thresholds."""
    kind, loss = str(given["kind"]), given["loss"]
    if kind not in KINDS or (kind == "mean_loss") != (loss is not None):
        raise ValueError(f"the promise of the deferral must be one of {KINDS}; got {kind!r}.")
    if loss is not None and np.shape(loss) != (n_classes, n_classes):
        raise ValueError(f"loss must have {n_classes} rows and columns; got {np.shape(loss)}.")
    promise = Promise(
        kind,
        float(given["level"]),
        float(given["confidence"]),
        given["class_"],
        None if loss is None else np.asarray(float_array(loss, "loss"), dtype=np.float64),
    )
    groups = None if given["groups"] is None else tuple(given["groups"])
    names = ("threshold", "n_calibration", "n_decided", "risk", "upper_bound")
    columns = [np.asarray(given[name], dtype=np.float64) for name in names]
    wanted = (1 if groups is None else len(groups),)
    if any(column.shape != wanted for column in columns) or np.isnan(columns[0]).any():
        raise ValueError(f"the deferral must have {wanted[0]} threshold(s), one for each group.")
    found = tuple(
        SelectiveThreshold(float(t), int(n), int(decided), float(risk), float(bound))
        for t, n, decided, risk, bound in zip(*columns, strict=True)
    )
    return DeferralControl(promise, found, groups, given["column"], _scale(given["scale"]))


def _scale(given: Mapping[str, Any]) -> ReasonScale:
    if not set(given) <= set(MEASURES):
        raise ValueError(f"the deferral must measure {tuple(MEASURES)}; got {tuple(given)}.")
    read = {name: np.asarray(given[name], dtype=np.float64) for name in MEASURES if name in given}
    if any(values.ndim != 1 or not len(values) for values in read.values()):
        raise ValueError("the measures of the deferral must hold one number for each row.")
    return ReasonScale(read)
