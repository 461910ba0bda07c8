"""Statements of any form as weights of evidence: words and mappings, or columns of a frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer._validation import component_names, frame_of, log_prior
from shafer.evidence.statements.expert_statements import (
    Statement,
    read_statements,
    statement_names,
    statement_weights,
)
from shafer.evidence.statements.row_statements import row_weights_of_experts, uses_probabilities


class StatedWeights(NamedTuple):
    """The weights of each instance, statement or expert and class, (n, G, K)."""

    weights: FloatArray
    names: tuple[str, ...]
    index: Any = None
    """Row labels of a pandas frame."""


def stated_weights(
    statements: Any, classes: NDArray[Any], columns: Any, prior: Any
) -> StatedWeights:
    """Read statements about one case, or with ``columns`` about each row of a data frame."""
    frame = frame_of(statements)
    if columns is None:
        _check_not_rows(frame)
        read = stated(statements, classes, prior)
        return StatedWeights(statement_weights(read, classes)[None], tuple(statement_names(read)))
    if frame is None:
        raise ValueError(
            f"columns= needs a data frame with a row for each case; got statements of type "
            f"{type(statements).__name__}. Leave out columns= for statements about one case."
        )
    index = getattr(statements, "index", None) if hasattr(statements, "iloc") else None
    labels = None if index is None or _counts_rows(index) else index.tolist()
    if isinstance(columns, Mapping):
        _check_prior_is_used(prior, used=uses_probabilities(columns))
    weights = row_weights_of_experts(frame, columns, classes, _logs(prior, classes), labels)
    return StatedWeights(weights, component_names(columns, len(columns)), index)


def stated(statements: Any, classes: NDArray[Any], prior: Any) -> list[Statement]:
    """Read statements about one case."""
    _check_not_rows(frame_of(statements))
    read = read_statements(statements, classes, _logs(prior, classes))
    _check_prior_is_used(prior, used=any(one.kind == "probability" for one in read))
    return read


def _logs(prior: Any, classes: NDArray[Any]) -> FloatArray:
    return np.zeros(len(classes)) if prior is None else log_prior(prior, classes.tolist())


def _counts_rows(index: Any) -> bool:
    return bool(index.tolist() == list(range(len(index))))


def _check_not_rows(frame: Any) -> None:
    if frame is not None:
        raise ValueError(
            f"statements is a data frame of {len(frame)} rows, so say which columns hold the "
            "opinions: Evidence.from_statements(frame, classes=..., columns={'doctor': {'for': "
            "'diagnosis', 'probability': 'sure'}})."
        )


def _check_prior_is_used(prior: Any, *, used: bool) -> None:
    if prior is not None and not used:
        raise ValueError(
            "prior= changes how a stated probability is read, but no statement has a "
            "'probability'. Leave out prior=."
        )
