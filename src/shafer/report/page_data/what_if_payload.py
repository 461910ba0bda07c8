"""The data of the what-if sliders."""

from __future__ import annotations

from typing import Any

from shafer.report.what_if import Input, WhatIf


def what_if_payload(model: WhatIf | None, why_not: str) -> dict[str, Any]:
    """Return how the inputs make the weights, or why the page has no sliders."""
    if model is None:
        return {"whatIf": None, "whyNot": why_not}
    inputs = [_input(entry) for entry in model.inputs]
    return {"whatIf": {"base": model.base.tolist(), "inputs": inputs}, "whyNot": ""}


def _input(entry: Input) -> dict[str, Any]:
    choices = [choice for choice in entry.effects if choice is not None]
    missing = entry.effects.get(None)
    return {
        "name": entry.name,
        "components": entry.components,
        "anchor": entry.anchor,
        "low": entry.low,
        "high": entry.high,
        "digits": entry.digits,
        "slope": None if entry.slope is None else entry.slope.tolist(),
        "choices": choices,
        "effects": [entry.effects[choice].tolist() for choice in choices],
        "missing": None if missing is None else missing.tolist(),
    }
