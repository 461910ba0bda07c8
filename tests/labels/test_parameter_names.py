"""One thing has one name: parameters of public functions that mean the same are called the same."""

from __future__ import annotations

import importlib
import inspect

import click
import numpy as np
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.evidence.reasons import reason_column_kinds, reason_columns

from .public_functions import public_callables

OTHER_NAMES = {
    "class_": {"label", "focus", "klass", "class_label", "target_class", "category", "for_"}
    | {"positive", "pos_label", "of_class"},
    "over": {"against", "versus", "rival", "other_class", "reference_class", "b"},
    "top": {
        "max_components",
        "max_classes",
        "max_sets",
        "max_display",
        "n_top",
        "n_reasons",
        "limit",
    },
    "units": {"quantity"},
    "by": {"subgroups", "subpopulations"},
    "loss": {"costs_of_errors", "cost_matrix"},
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


OPTIONS = {
    "--class": {"--reasons-for", "--label", "--positive", "--target-class"},
    "--over": {"--against", "--versus", "--rival"},
    "--top": {"--limit", "--max", "--number", "--n"},
}
"""An option of the command line, and names that would mean the same."""


def test_one_thing_has_one_option() -> None:
    main = importlib.import_module("shafer.cli").main
    context = click.Context(main)
    given = {
        (name, option)
        for name in main.list_commands(context)
        for parameter in main.get_command(context, name).params
        for option in parameter.opts
    }
    assert {"explain", "score", "next"} <= {name for name, _ in given}
    wrong = {(n, o): proper for proper, others in OPTIONS.items() for n, o in given if o in others}
    assert not wrong


def _tables() -> dict[str, set[str]]:
    """The columns of every kind of table of weights."""
    X = np.random.default_rng(0).integers(0, 3, size=(40, 2)).astype(float)
    found = {}
    for n_classes in (2, 3):
        y = np.arange(40) % n_classes
        model = LogisticRegression().fit(X, y)
        explainer = shafer.Explainer(model, X, prior="own", errors="laplace")
        ev = explainer(X)
        assert isinstance(ev, shafer.Evidence)
        for units in ("log_odds", "odds", "probability", "weight"):
            found[f"reasons {units} {n_classes}"] = set(ev.reasons(units=units))
        found[f"importance {n_classes}"] = set(ev.importance().to_frame())
        found[f"to_frame {n_classes}"] = set(ev.to_frame("pandas"))
        points = shafer.scorecards.scorecard(explainer, class_=0)
        found[f"scorecard {n_classes}"] = set(points)
        kinds = reason_column_kinds(2, errors=True, codes=True)
        assert set(kinds) == set(reason_columns(ev, 2, codes={"x0": "A"}))
        gaps = X[:2].copy()
        gaps[0, 0] = np.nan
        found[f"next inputs {n_classes}"] = set(explainer.ask.next_inputs(gaps))
        found[f"cells {n_classes}"] = set(explainer.ask.check_cells(X[:2]))
        decided = explainer.control_error(X, y, error=0.9).predict_or_defer(X)
        found[f"deferral {n_classes}"] = set(decided.to_frame("pandas"))
        monitor = shafer.Monitor.fit(explainer, np.repeat(X, 2, axis=0))
        found[f"monitor {n_classes}"] = set(monitor.check(X).table)
        found[f"score {n_classes}"] = {name.removeprefix("reason_1_") for name in kinds}
        names = set(ev.component_names)
        assert "base rate" in names
        assert "prior" not in names
    return found


def test_a_column_of_one_class_is_weight_and_of_two_log_odds() -> None:
    tables = _tables()
    of_one_class = {name for name, columns in tables.items() if "weight" in columns}
    assert of_one_class == {"reasons weight 2", "reasons weight 3", "scorecard 3"}
    of_two = {name for name, columns in tables.items() if "log_odds" in columns}
    assert of_two == {
        "reasons log_odds 2",
        "reasons log_odds 3",
        "scorecard 2",
        "score 2",
        "score 3",
    }
    synonyms = {
        "for",
        "class_",
        "label",
        "rival",
        "against",
        "versus",
        "prior",
        "logit",
        "log-odds",
    }
    for name, columns in tables.items():
        assert not synonyms & columns, name
        if "over" in columns:
            assert "class" in columns, name


def test_no_function_takes_one_thing_twice() -> None:
    for name, member in public_callables():
        try:
            parameters = set(inspect.signature(member).parameters)
        except ValueError:
            continue
        old_names = {parameter for known, parameter in ALLOWED if known == name}
        assert not {"labels", "classes"} <= parameters - old_names, name
        assert not {"y", "y_true"} <= parameters, name
