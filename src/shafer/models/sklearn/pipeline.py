"""scikit-learn's ``Pipeline``: the model of its last step, behind the transformers before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from shafer.errors import UnsupportedModelError
from shafer.models import registry
from shafer.models.live_parameters import LiveParameters
from shafer.models.read_model import ReadModel
from shafer.rows.access import by_position, take_rows
from shafer.rows.checks import check_single
from shafer.rows.schema import ColumnSchema

_FEW = 64  # rows that show which layer of a network comes last


def adapt(model: Any, background: Any = None, **options: Any) -> ReadModel:
    """Read a fitted pipeline that ends in a supported model; a component is as in that model."""
    check_single(background, type(model).__name__)
    return _behind_steps(model, partial(_read_last, model, background), options)


def _read_last(model: Any, background: Any, last: Any, **options: Any) -> ReadModel:
    """Read the last step, with a few rows as it gets them, if its reader asks for some."""
    if background is None or not registry.wants_background(last):
        return registry.adapt(last, **options)
    rows = by_position(take_rows(background, slice(0, _FEW)))
    for _, step in model.steps[:-1]:
        rows = rows if step is None or step == "passthrough" else step.transform(rows)
    return registry.adapt(last, rows, **options)


def decision(model: Any, **options: Any) -> ReadModel:
    """Read the decision function of a fitted pipeline."""
    return _behind_steps(model, registry.adapt_decision, options)


def _behind_steps(model: Any, read: Callable[..., ReadModel], options: dict[str, Any]) -> ReadModel:
    last = model.steps[-1][1]
    if last is None or last == "passthrough":
        raise UnsupportedModelError(
            "This Pipeline has no classifier: its last step is 'passthrough'. Pass a pipeline "
            "whose last step is the classifier."
        )
    adapted = read(last, **options)
    # Step by step: a pipeline of the first steps alone would ask the last of them whether it is
    # fitted, which transformers from outside scikit-learn may not know how to answer.
    for _, step in reversed(model.steps[:-1]):
        if step is not None and step != "passthrough":
            adapted = registry.behind(adapted, step)
    return adapted.watching(LiveParameters.of(partial(_steps, model)))


def held(model: Any) -> Any:
    """Return the last step."""
    return model.steps[-1][1]


def _steps(model: Any) -> tuple[Any, ...]:
    """Return the steps themselves: ``set_params`` may put another in the place of one."""
    return tuple(step for _, step in model.steps)


def known_columns(model: Any, columns: Sequence[str] | None) -> dict[int, ColumnSchema]:
    """Return what the first step knows of the columns of the training data."""
    for _, step in model.steps:
        if step is not None and step != "passthrough":
            return registry.known_columns(step, columns)
    return {}
