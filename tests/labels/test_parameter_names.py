"""One thing has one name: parameters of public functions that mean the same are called the same."""

from __future__ import annotations

import inspect

from .public_functions import public_callables

OTHER_NAMES = {
    "class_": {"label", "focus", "klass", "class_label", "target_class", "category"},
    "classes": {"labels", "class_names", "class_labels", "categories"},
    "y": {"truth", "target", "targets", "y_test"},
    "sample_weight": {"sample_weights", "row_weight", "row_weights"},
    "sources": {"experts", "opinions"},
    "background": {"reference", "X_background", "background_data", "baseline"},
    "path": {"file", "filename", "file_name", "fname"},
    "estimator": {"classifier", "base_estimator", "clf"},
    "coverage": {"confidence_level", "significance"},
    "random_state": {"rng", "generator"},
}
"""The name of a parameter, and names that would mean the same."""

ALLOWED = {
    ("belief.Frame", "labels"): "the labels of a frame are its elements, not only classes",
    ("belief.Frame.position", "label"): "one element of a frame",
    ("belief.Frame.subset", "labels"): "elements of a frame",
    ("decision.tempering_factor", "truth"): "positions, not labels: arrays alone",
    ("deferral.DeferringPrediction", "labels"): "the answers, one label for each row",
    ("monitor.BatchCheck", "reference"): "a record; rows to compare with, not the training data",
    ("monitor.Monitor", "reference"): "rows to compare new rows with, not the training data",
    ("plots.RegionDisplay.plot", "label"): "text of a legend, as in matplotlib",
    ("plots.SummaryDisplay", "labels"): "texts above the panels",
    ("plots.WaterfallDisplay", "label"): "text of the axis",
    ("plots.TextDisplay", "label"): "text of the legend",
    ("plots.SummaryDisplay.from_evidence", "labels"): "the old name, which warns",
    ("plots.DependenceDisplay.plot", "labels"): "the old name, which warns",
    ("report.Study", "truth"): "a record that stores positions",
}


def _takes_scikit_learns_labels(name: str, parameter: str) -> bool:
    """Metrics, and the Displays that draw them, name the classes as scikit-learn's metrics do."""
    metric = name.startswith("metrics.") or name.endswith(".from_predictions")
    return metric and parameter == "labels"


def test_one_thing_has_one_name() -> None:
    wrong = {}
    for name, member in public_callables():
        try:
            parameters = inspect.signature(member).parameters
        except ValueError:  # an exception class
            continue
        for proper, others in OTHER_NAMES.items():
            for parameter in others & set(parameters):
                known = (name, parameter) in ALLOWED or _takes_scikit_learns_labels(name, parameter)
                if not known:
                    wrong[f"{name}({parameter}=)"] = proper
    assert not wrong, f"rename each to {wrong}"


def test_no_function_takes_one_thing_twice() -> None:
    for name, member in public_callables():
        try:
            parameters = set(inspect.signature(member).parameters)
        except ValueError:
            continue
        old_names = {parameter for known, parameter in ALLOWED if known == name}
        assert not {"labels", "classes"} <= parameters - old_names, name
        assert not {"y", "y_true"} <= parameters, name
