"""What is compared of a stored file, for ``golden/make_stored.py`` and its test.

Results are plain Python values, so that they can be kept as JSON. Only public names are used.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

import shafer


def plain(value: Any) -> Any:
    """Return arrays, tensors and sequences as lists of plain values."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value


def rows_of(stored: dict[str, Any]) -> Any:
    """Return rows as the model takes them."""
    if "frame" in stored:
        return pd.DataFrame(stored["frame"])
    if "texts" in stored:
        return list(stored["texts"])
    if "tensor" in stored:
        import torch

        return torch.tensor(stored["tensor"], dtype=torch.float32)
    return np.array(stored["array"], dtype=float)


def torch_module(name: str) -> Any:
    """Return an untrained module, built like a saved one."""
    from torch import nn

    if name == "dense":
        return nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3))
    maps = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU())
    pooled = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return nn.Sequential(maps, pooled, nn.Linear(2, 2))


def evidence_results(ev: Any) -> dict[str, Any]:
    """Return the numbers of an evidence; weights and their errors where it has them."""
    found = {
        "type": type(ev).__name__,
        "classes": ev.classes,
        "probability": ev.probability,
        "belief": ev.belief,
        "plausibility": ev.plausibility,
        "ignorance": ev.ignorance,
        "conflict": ev.conflict,
        "decided": ev.decide("interval_dominance"),
        "pignistic": ev.decide("pignistic"),
    }
    for name in ("component_names", "parts", "weights", "reliability"):
        if hasattr(ev, name):
            found[name] = getattr(ev, name)
    if getattr(ev, "errors", None) is not None:
        found["weights_std"] = ev.weights_std
    layout = getattr(ev, "layout", None)
    if layout is not None:
        found["layout"] = type(layout).__name__
        found["spread"] = layout.spread(np.arange(float(len(ev.component_names))))
    return plain(found)


def explainer_results(explainer: shafer.Explainer, rows: Any, groups: Any = None) -> dict[str, Any]:
    """Return the evidence of rows, and the answers that need what was fitted beside the model."""
    found = evidence_results(explainer(rows))
    found["factor"] = explainer.factor
    found["bet"] = explainer.observe(rows).bet.probability
    found["predict_set"] = _sets(explainer, explainer.conformal, rows, groups)
    found["typicality"] = _or_error(lambda: explainer.typicality(rows))
    asked: Any = getattr(explainer, "ask", explainer)
    found["overturn"] = _or_error(lambda: asked.overturn(rows))
    found["guarded"] = _or_error(lambda: asked.guard(rows).evidence.probability)
    if explainer.deferral is not None:
        found |= deferral_results(explainer, rows, groups)
    return plain(found)


def classifier_results(classifier: Any, rows: Any, groups: Any = None) -> dict[str, Any]:
    """Return the predictions of a classifier, and its evidence."""
    found = evidence_results(classifier.evidence(rows))
    found["predict"] = classifier.predict(rows)
    found["predict_proba"] = classifier.predict_proba(rows)
    found["predict_set"] = _sets(classifier, classifier.conformal_, rows, groups)
    if classifier.deferral_ is not None:
        found |= deferral_results(classifier, rows, groups)
    return plain(found)


def _sets(model: Any, calibrated: Any, rows: Any, groups: Any) -> Any:
    """Return the calibrated sets, or those of the rule that was the default at that time."""
    rule = None if calibrated is not None else model.policy.rule_of_sets({})
    with warnings.catch_warnings():  # one file has a row of an unknown group
        warnings.filterwarnings("ignore", ".* in group.s. that conformalize was not given")
        return model.predict_set(rows, rule, by=groups)


def deferral_results(model: Any, rows: Any, groups: Any) -> dict[str, Any]:
    answer = model.predict_or_defer(rows, by=groups)
    names = ("labels", "deferred", "reason", "probability", "scores", "thresholds", "promise")
    return {f"deferral {name}": getattr(answer, name) for name in names}


def monitor_results(monitor: shafer.Monitor, rows: Any, y: Any) -> dict[str, Any]:
    """Return the table of a batch, and what a stream says of the same rows."""
    report, stream = monitor.check(rows, y), monitor.watch()
    alarm = stream.update(rows)
    return plain(
        {
            "columns": report.columns(),
            "alarm": report.alarm,
            "moved": report.moved,
            "decisions_moved": report.decisions_moved,
            "typicality": report.typicality,
            "stream alarm": alarm,
            "stream evidence": stream.evidence,
        }
    )


def stream_results(stream: Any, rows: Any) -> dict[str, Any]:
    """Return where a stream stands, and where it stands after more rows."""
    found = {"n_rows": stream.n_rows, "evidence": stream.evidence, "alarm": stream.alarm}
    found["later alarm"] = stream.update(rows)
    found["later evidence"], found["moved"] = stream.evidence, stream.moved
    found["history"] = stream.history
    return plain(found)


def _or_error(call: Any) -> Any:
    """Return the result, or the name of the error: some questions are for some models only."""
    try:
        return call()
    except (AttributeError, TypeError, ValueError) as error:
        return f"error: {type(error).__name__}"
