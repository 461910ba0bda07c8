"""The results of the experiments as numbers under stable keys: the content of results.json."""

from __future__ import annotations

from typing import Any

import numpy as np

from shafer._typing import FloatArray
from shafer.paper import printed_numbers
from shafer.paper.gaussian_experiment import GaussianResult
from shafer.paper.heart_experiment import HeartResult
from shafer.paper.penalty_selection import Selection

LOW, HIGH = 10, 90  # percentiles of the reported range

# Bitmasks of the rows of the paper's Table 4, then the one set it has no row for.
ID_ROWS = (0b001, 0b010, 0b100, 0b011, 0b110, 0b111, 0b101)

OTHER_FIGURES = (
    "id_missed",
    "random_choice_error",
    "mp_error_where_open",
    "bayes_in_set",
    "bayes_in_set_where_mp_differs",
)


def _plain(array: FloatArray) -> Any:
    """Return nested lists, rounded: the last digits differ between processors."""
    return np.round(array, 4).tolist()


def heart_results(result: HeartResult) -> dict[str, Any]:
    """Summarise the heart experiment: means over the replications, and their spread."""
    return {
        "cutoffs": {name: round(value, 6) for name, value in result.cutoffs.items()},
        "mp": _plain(result.mp.mean(axis=0)),
        "id": _plain(result.id.mean(axis=0)),
        "mp_sd": _plain(result.mp.std(axis=0)),
        "id_sd": _plain(result.id.std(axis=0)),
        "derived": {
            name: {
                "paper": printed_numbers.HEART_DERIVED[name],
                "mean": _plain(values.mean()),
                "sd": _plain(values.std()),
            }
            for name, values in result.derived.items()
        },
        "replications": len(result.mp),
    }


def _range(values: FloatArray) -> dict[str, float]:
    low, median, high = np.percentile(values, (LOW, 50, HIGH))
    return {"median": _plain(median), "low": _plain(low), "high": _plain(high)}


def gaussian_results(result: GaussianResult, selection: Selection | None) -> dict[str, Any]:
    """Summarise the Gaussian experiment: median network and range over the networks."""
    figures = {}
    for name, number in printed_numbers.GAUSSIAN.items():
        spread = _range(result.figures[name])
        inside = spread["low"] <= number <= spread["high"]
        figures[name] = {"paper": number, **spread, "paper_in_range": inside}
    rows = list(ID_ROWS)
    return {
        **figures,
        **{name: _range(result.figures[name]) for name in OTHER_FIGURES},
        "mp": _plain(np.median(result.mp, axis=0)[[1, 2, 4]]),
        "id": _plain(np.median(result.id, axis=0)[rows]),
        "typical": {
            "network": result.typical,
            "mp": _plain(result.mp[result.typical][[1, 2, 4]]),
            "id": _plain(result.id[result.typical][rows]),
            **{name: _plain(values[result.typical]) for name, values in result.figures.items()},
        },
        "by_epochs": [
            {
                "epochs": epochs,
                **{
                    name: _range(values[step])
                    for name, values in result.by_epochs.items()
                    if name in printed_numbers.GAUSSIAN and name != "bayes_error"
                },
            }
            for step, epochs in enumerate(result.plan.checkpoints)
        ],
        "networks": result.plan.networks,
        "epochs": result.plan.epochs,
        "penalty": result.plan.penalty,
        "selection": None if selection is None else _selection(selection),
    }


def _selection(selection: Selection) -> dict[str, Any]:
    return {
        "penalty": selection.penalty,
        "epochs": selection.epochs_for(selection.penalty),
        "epochs_for": {str(p): selection.epochs_for(p) for p in selection.penalties},
        "penalties": list(selection.penalties),
        "checkpoints": list(selection.epochs),
        "log_loss": _plain(selection.loss),
        "standard_error": _plain(selection.standard_error),
    }
