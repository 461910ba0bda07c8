"""Whom to measure what: a model, a table with gaps, and the measurements to make."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from shafer.cli.background_means import MeansOptions, measured_model
from shafer.cli.model_inputs import model_inputs
from shafer.cli.model_loading.load_model import NamedModel
from shafer.cli.table_files import kinds_of, read_table
from shafer.cli.trained_model import train_on
from shafer.models import Explainer


@final
@dataclass(frozen=True, eq=False)
class MeasurementPlan:
    """What to measure next.

    Attributes
    ----------
    n_rows : int
        Rows of the table.
    each : pandas frame
        The next inputs of each row, as ``Explainer.next_inputs`` gives them.
    bought : pandas frame, optional
        The measurements within the budget, as ``Explainer.next_measurements`` gives them.
    """

    n_rows: int
    each: Any
    bought: Any = None


def measurement_plan(
    model: NamedModel | None,
    data: Path,
    options: MeansOptions,
    *,
    budget: float | None,
    costs: dict[str, float] | None,
    top: int,
) -> MeasurementPlan:
    """Plan the measurements of a table.

    Parameters
    ----------
    model : NamedModel, optional
        By default a logistic regression is trained.
    data : Path
        The table, with empty cells where an input is missing.
    options : MeansOptions
        Training data and target.
    budget : float, optional
        What all measurements together may cost.
    costs : dict, optional
        Input -> cost; 1 by default.
    top : int
        The inputs listed for each row.
    """
    explainer, X = _asked(model, data, options)
    each = explainer.next_inputs(X, top, costs=costs, backend="pandas")
    bought = None
    if budget is not None:
        bought = explainer.next_measurements(X, budget, costs=costs, backend="pandas")
    plan = [None if table is None else _by_position(table) for table in (each, bought)]
    return MeasurementPlan(len(X), *plan)


def _by_position(table: Any) -> Any:
    """Leave out the labels of the rows: a table read from a file has none but the positions."""
    return table.drop(columns="index", errors="ignore")


def _asked(model: NamedModel | None, data: Path, options: MeansOptions) -> tuple[Explainer, Any]:
    frame = read_table(data)
    if model is not None:
        inputs = model_inputs(
            model.model,
            kinds_of(frame),
            data,
            target=options.target,
            text_column=options.text_column,
        )
        X = inputs.rows(frame)
        explainer = measured_model(model.model, inputs, data, lambda: X, options).evidence
        if not isinstance(explainer, Explainer):
            raise ValueError(
                f"shafer next needs a linear model on single columns; {model.file_name} holds a "
                f"{type(model.model).__name__}, which makes its own evidence."
            )
        return explainer, X
    if options.train_path is None or options.target is None:
        raise ValueError(
            "shafer next needs --model, or --train and --target to train a logistic regression."
        )
    trained = train_on(options.train_path, options.target, options)
    return trained.explainer, trained.inputs(frame, data)
