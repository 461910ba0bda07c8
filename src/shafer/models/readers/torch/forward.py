"""The forward pass of a torch module on the user's rows, with errors that show their shapes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, Protocol, TypeAlias

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from shafer._validation import float_array, frame_columns
from shafer.models.inputs.row_access import values_of

Inputs: TypeAlias = dict[Any, Tensor]

# What a module raises when it is given something else than it was written for.
_FAILURES = (RuntimeError, TypeError, ValueError, IndexError, AttributeError)

_MOST_SHOWN = 4


def keyed(X: Any) -> Any:
    """Return a tuple of inputs as a mapping by position, which cannot be taken for rows."""
    return dict(enumerate(X)) if isinstance(X, tuple) else X


class Recorded(Protocol):
    """What hooks have recorded, such as a list."""

    def clear(self) -> None:
        """Forget it."""


def forward(
    model: nn.Module,
    X: Any,
    calls: Recorded,
    within: AbstractContextManager[Any] | None = None,
) -> Any:
    """Return the module's output for rows; rows of another type are converted if need be.

    An embedding takes whole numbers and a linear layer does not, so integers are first passed as
    they are. ``calls``, which hooks have recorded, is emptied before the second attempt. The
    module is called inside ``within``.
    """
    inputs = tensors(model, X)
    inside = nullcontext() if within is None else within
    try:
        with inside:
            return _called(model, inputs)
    except torch.cuda.OutOfMemoryError:  # nothing is wrong with X
        raise
    except _FAILURES as error:
        cast = _in_precision_of(model, inputs)
        if cast is not None:
            calls.clear()
            with suppress(*_FAILURES), inside:
                return _called(model, cast)
        raise ValueError(_what_failed(model, inputs, error)) from error


def tensors(model: nn.Module, X: Any) -> Inputs:
    """Return rows as tensors on the module's device; floating arrays in its precision."""
    parts = X if isinstance(X, Mapping) else {0: X}
    return {name: _on_device(model, part) for name, part in parts.items()}


def _called(model: nn.Module, inputs: Inputs) -> Any:
    by_position = [part for name, part in inputs.items() if isinstance(name, int)]
    by_name = {name: part for name, part in inputs.items() if not isinstance(name, int)}
    return model(*by_position, **by_name)


def _on_device(model: nn.Module, X: Any) -> Tensor:
    parameter = next(model.parameters(), torch.empty(0))
    if isinstance(X, Tensor):
        if X.is_meta:
            raise ValueError("X is a tensor on the meta device, which has no values. Pass data.")
        return X.to(parameter.device)
    if sparse.issparse(X):
        raise ValueError(
            f"{type(model).__name__} takes dense arrays; got a sparse matrix of shape {X.shape}. "
            "Pass X.toarray(), a batch at a time if it is large."
        )
    array = np.ascontiguousarray(values_of(X))  # torch takes no negative strides
    if array.dtype.kind not in "biuf" or array.dtype == np.longdouble:
        array = float_array(array, "X", finite=True)  # such as a frame of numbers and booleans
    tensor = torch.tensor(array)
    dtype = parameter.dtype if tensor.is_floating_point() else tensor.dtype
    return tensor.to(parameter.device, dtype)


def _in_precision_of(model: nn.Module, inputs: Inputs) -> Inputs | None:
    """Return the inputs as floating numbers of the module's precision, if that changes them."""
    precision = next((p.dtype for p in model.parameters() if p.is_floating_point()), None)
    given = list(inputs.values())
    if precision is None or any(part.is_complex() for part in given):
        return None
    if all(part.dtype == precision for part in given):
        return None
    return {name: part.to(precision) for name, part in inputs.items()}


def _what_failed(model: nn.Module, inputs: Inputs, error: Exception) -> str:
    first_line, *_ = str(error).splitlines() or [type(error).__name__]
    shown = list(inputs.items())[:_MOST_SHOWN]
    shapes = ", ".join(_described(name, part, len(inputs)) for name, part in shown)
    shapes += f" and {len(inputs) - len(shown)} more" if len(inputs) > len(shown) else ""
    single = [part for part in inputs.values() if part.ndim == 1]
    hint = " Pass a single row as X[None]." if single and len(inputs) == 1 else ""
    return (
        f"{type(model).__name__} cannot take X, {shapes}: {first_line.rstrip('.')}. Pass X as its "
        f"forward takes it: one array, or a tuple or mapping with one array for each input.{hint}"
    )


def _described(name: Any, part: Tensor, n_inputs: int) -> str:
    shape = ", ".join(["n", *(str(size) for size in part.shape[1:])])
    which = f"input {name!r} " if n_inputs > 1 else ""
    return f"{which}of shape ({shape}{',' if part.ndim == 1 else ''}) and {part.dtype}"


def check_finite_features(model: nn.Module, features: Tensor, X: Any, start: int) -> None:
    """Refuse features that are not finite, and name the place in X that is not, if there is one."""
    bad = ~torch.isfinite(features)
    if not bool(bad.any()):
        return
    row, unit = (int(i) for i in bad.nonzero()[0])
    inputs = tensors(model, X)
    for name, part in inputs.items():
        values = part[row]
        wrong = ~torch.isfinite(values)
        if bool(wrong.any()):
            where = [int(i) for i in wrong.nonzero()[0]]
            column = f", index {where}"
            if len(where) == 1:
                names = None if isinstance(X, Mapping) else frame_columns(X)
                column = f", column {where[0] if names is None else repr(names[where[0]])}"
            which = f" of input {name!r}" if len(inputs) > 1 else ""
            value = "NaN" if bool(values[wrong][0].isnan()) else "infinity"
            raise ValueError(
                f"X contains {value}, the first in row {start + row}{column}"
                f"{which if where else ''}, and {type(model).__name__} computes features from it "
                "that are not finite. Impute it before the module."
            )
    raise ValueError(
        f"X is finite in row {start + row}, but the features that {type(model).__name__} computes "
        f"are not: unit {unit} before its last layer is {float(features[row, unit])}. Check the "
        "module, and the scale of X."
    )
