"""Which models and transformers can take missing inputs, and rows without any."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import get_tags

from shafer._errors import UnsupportedModelError
from shafer.models.grouping.input_blocks import InputBlocks
from shafer.models.inputs.nan_checks import gaps_in
from shafer.models.inputs.row_access import take_rows
from shafer.models.readers.adapted_model import AdaptedModel, LinearModel

MISSING = ("error", "vacuous", "conditional")


def complete_rows(X: Any) -> Any:
    """Return the rows without gaps, in which an imputer changes nothing; None if there are none."""
    gaps = gaps_in(X).any(axis=1)
    if not gaps.any():
        return X
    return None if gaps.all() else take_rows(X, np.flatnonzero(~gaps).tolist())


def check_gaps(model: AdaptedModel, how: str, background: Any) -> None:
    """Raise an error for models and transformers that mix the inputs."""
    if how not in MISSING[1:]:
        raise ValueError(f"missing must be one of {', '.join(map(repr, MISSING))}; got {how!r}.")
    check_single_inputs(model, background, f"missing={how!r}", "use missing='error'")


def check_single_inputs(
    model: AdaptedModel, background: Any, what: str, otherwise: str
) -> InputBlocks | None:
    """Raise an error unless each feature of a linear model depends on one input.

    Parameters
    ----------
    model : AdaptedModel
    background : as the model takes it
    what : str
        What needs it, for the error.
    otherwise : str
        What to do for other models, for the error.

    Returns
    -------
    InputBlocks or None
        None if the features are the inputs, or if the transformers pass NaN on by themselves.
    """
    if isinstance(background, Iterator) or sparse.issparse(background):
        kind = "a sparse matrix" if sparse.issparse(background) else "an iterator of batches"
        raise ValueError(
            f"{what} needs the background as one dense array; got {kind}. Pass one array "
            f"or data frame, or {otherwise}."
        )
    if not isinstance(model, LinearModel) or model.gaps is None:
        raise UnsupportedModelError(
            f"{what} works for linear models whose components are their inputs, such as "
            "LogisticRegression, alone or behind transformers of single columns. For this model, "
            f"put an imputer in front of it in a pipeline, and {otherwise}."
        )
    blocks = InputBlocks.traced(model, background)
    if blocks is None:
        for encoder in model.encoders:
            for step in _steps(encoder):
                _check_lets_pass(step, what, otherwise)
    return blocks


def _steps(encoder: Any) -> list[Any]:
    """Return the transformers that all columns pass through, in order."""
    if not hasattr(encoder, "steps"):
        return [encoder]
    return [part for _, step in encoder.steps for part in _steps(step)]


def _check_lets_pass(step: Any, what: str, otherwise: str) -> None:
    if step is None or isinstance(step, str):  # "passthrough"
        return
    name = type(step).__name__
    if "Imputer" in name:
        raise UnsupportedModelError(
            f"{what} cannot be used behind this {name}, which mixes columns or adds features for "
            f"missing values. Put a SimpleImputer without add_indicator in its place, or "
            f"{otherwise}."
        )
    if name == "ColumnTransformer":  # may accept NaN in some columns: checked when one comes
        return
    if not get_tags(step).input_tags.allow_nan:
        raise UnsupportedModelError(
            f"{what} needs transformers of single columns, such as scalers and one-hot encoders; "
            f"{name} mixes columns, or does not tell which of them it uses. Put an imputer in "
            f"front of it, and {otherwise}."
        )
