"""The user's X as the inputs of a graph: names, types, and blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shafer._checks.arrays import to_numpy
from shafer._checks.frames import frame_of
from shafer._text import listed, shortened
from shafer.errors import UnsupportedModelError
from shafer.rows.access import is_several_inputs, n_rows, values_of

_TEXT = np.dtype(object)
_BLOCK = 1024


@final
@dataclass(frozen=True)
class InputSpec:
    """One input of a graph; a size that may vary is None."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int | None, ...]

    @property
    def text(self) -> str:
        """The input in words."""
        sizes = ["n" if j == 0 and s is None else "?" if s is None else str(s)
                 for j, s in enumerate(self.shape)]  # fmt: skip
        kind = "texts" if self.dtype == _TEXT else str(self.dtype)
        return f"{self.name!r}: {kind} ({', '.join(sizes)})"

    def array(self, given: Any) -> NDArray[Any]:
        """Return values in the type and with the axes of the input."""
        values = given.toarray() if sparse.issparse(given) else _array(given)
        values = self._texts(values) if self.dtype == _TEXT else self._numbers(values)
        rank = len(self.shape)
        if values.ndim == 1 and rank == 2:
            values = values[:, None]
        if values.ndim == 2 and rank == 1 and values.shape[1] == 1:
            values = values[:, 0]
        fits = values.ndim == rank and all(
            wanted is None or wanted == size
            for wanted, size in zip(self.shape[1:], values.shape[1:], strict=True)
        )
        if not fits:
            raise ValueError(
                f"The graph takes {self.text}; got an array of shape {tuple(values.shape)}. Pass "
                "rows of this shape."
            )
        return np.ascontiguousarray(values)

    def _texts(self, values: NDArray[Any]) -> NDArray[Any]:
        cells = values.astype(object)
        for place, value in enumerate(cells.ravel().tolist()):
            if not isinstance(value, str):
                row = place * len(cells) // cells.size
                raise ValueError(
                    f"The input {self.name!r} of the graph takes texts; got "
                    f"{shortened(repr(value))} in row {row}. Pass texts."
                )
        return cells

    def _numbers(self, values: NDArray[Any]) -> NDArray[Any]:
        if values.dtype.kind not in "biuf":
            try:
                values = values.astype(np.float64)
            except (TypeError, ValueError) as error:
                raise ValueError(
                    f"The graph takes {self.text}; got values of {values.dtype}, such as "
                    f"{shortened(repr(values.ravel()[:1].tolist()))}. Pass numbers."
                ) from error
        if values.dtype == self.dtype:
            return values
        with np.errstate(over="ignore", invalid="ignore"):
            cast = values.astype(self.dtype)
            wrong = (
                np.isinf(cast) & np.isfinite(values) if self.dtype.kind == "f" else cast != values
            )
        if np.any(wrong):
            row = int(np.argwhere(wrong)[0][0])
            raise ValueError(
                f"The graph takes {self.text}; got {values[wrong].tolist()[0]!r} in row {row}, "
                "which this type cannot hold. Pass other values."
            )
        return cast


def _array(given: Any) -> NDArray[Any]:
    values = values_of(given)
    if hasattr(values, "to_numpy"):  # one column
        values = values.to_numpy()
    return to_numpy(values) if hasattr(values, "shape") else np.asarray(values)


def input_spec(given: Any) -> InputSpec:
    """Read the declaration of an input."""
    from onnx import TensorProto, helper

    if given.type.WhichOneof("value") != "tensor_type":
        raise UnsupportedModelError(
            f"The input {given.name!r} of the graph is not a tensor. Export the model with tensors "
            "as inputs."
        )
    kind = given.type.tensor_type
    if kind.elem_type == TensorProto.STRING:
        dtype = _TEXT
    else:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(kind.elem_type))
        if dtype.kind not in "biuf":
            raise UnsupportedModelError(
                f"The input {given.name!r} of the graph takes {dtype}, which NumPy does not have. "
                "Export the model with inputs of float32."
            )
    if not kind.HasField("shape"):
        raise UnsupportedModelError(
            f"The input {given.name!r} of the graph has no shape. Export the model with the shapes "
            "of its inputs."
        )
    sizes = (dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim)
    return InputSpec(given.name, dtype, tuple(s if s and s > 0 else None for s in sizes))


@final
class GraphInputs:
    """The inputs of a graph that rows go into: from the user's X to blocks of rows.

    Parameters
    ----------
    specs : sequence of InputSpec
    batch_size : int, optional
        Rows in one block, if the graph leaves it open; 1024 by default.
    full : bool
        Whether each block must have all its rows.

    Attributes
    ----------
    specs : tuple of InputSpec
    """

    def __init__(
        self, specs: Sequence[InputSpec], batch_size: int | None = None, *, full: bool = False
    ) -> None:
        self.specs = tuple(specs)
        for spec in specs:
            if not spec.shape:
                raise ValueError(
                    f"The input {spec.name!r} of the graph is one number, the same for all rows. "
                    f"Pass its value: constants={{{spec.name!r}: …}}."
                )
        sizes = {spec.shape[0] for spec in specs}
        if len(sizes) != 1:
            raise ValueError(
                f"The inputs of the graph must have one number of rows; got {self.text or 'none'}. "
                "Pass the values of those that are the same for all rows, by their names: "
                "constants={…}, and as batch_size= the number of rows that they are for."
            )
        fixed = next(iter(sizes))
        self._block = fixed or batch_size or _BLOCK
        self._full = fixed is not None or full

    @property
    def text(self) -> str:
        """The inputs in words."""
        return "; ".join(spec.text for spec in self.specs)

    def arrays(self, X: Any) -> dict[str, NDArray[Any]]:
        """Return the array of each input."""
        parts = self._parts(X)
        arrays = {spec.name: spec.array(parts[spec.name]) for spec in self.specs}
        if n_rows(arrays) == 0:  # an error if they differ
            raise ValueError("X must have at least one row; got none. Pass some rows.")
        return arrays

    def _parts(self, X: Any) -> Mapping[str, Any]:
        names = [spec.name for spec in self.specs]
        if isinstance(X, Mapping) and list(X) == list(range(len(names))):  # a tuple, numbered
            X = tuple(X.values())
        if isinstance(X, Mapping) and not hasattr(X, "shape"):
            if set(names) != {str(name) for name in X}:
                raise ValueError(
                    f"The graph has the inputs {listed(names)}; got {listed(list(X))}. Name each "
                    "of them once."
                )
            return {str(name): part for name, part in X.items()}
        if is_several_inputs(X) and len(X) == len(names) > 1:
            return dict(zip(names, X, strict=True))
        if len(names) == 1:
            return {names[0]: X}
        frame = frame_of(X)
        if frame is not None:
            missing = [name for name in names if name not in frame.columns]
            if missing:
                raise ValueError(
                    f"X must have the columns that the graph has as inputs; got "
                    f"[{listed(frame.columns)}], without {listed(missing)}. Name the columns as in "
                    "training."
                )
            return {name: frame[name].to_numpy() for name in names}
        return self._split(X)

    def _split(self, X: Any) -> Mapping[str, Any]:
        """Give each input its columns of one table, in the order of the inputs."""
        values = X.toarray() if sparse.issparse(X) else _array(X)
        widths = [spec.shape[1] if len(spec.shape) == 2 else None for spec in self.specs]
        known = [width for width in widths if width is not None]
        if values.ndim != 2 or len(known) < len(widths) or sum(known) != values.shape[1]:
            raise ValueError(
                f"The graph takes {self.text}; got {type(X).__name__} of shape "
                f"{tuple(values.shape)}. Pass a mapping from the names of the inputs to arrays."
            )
        ends = np.cumsum(known)
        parts = np.split(values, ends[:-1], axis=1)
        return {spec.name: part for spec, part in zip(self.specs, parts, strict=True)}

    def blocks(self, X: Any) -> Iterator[tuple[int, int, dict[str, NDArray[Any]]]]:
        """Yield the position of the first row, the number of rows, and what the graph takes.

        A block that must be full has its last row again at its end.
        """
        arrays = self.arrays(X)
        total, size = n_rows(arrays), self._block
        for start in range(0, total, size):
            block = {name: array[start : start + size] for name, array in arrays.items()}
            n = n_rows(block)
            if self._full and n < size:
                block = {
                    name: np.concatenate([part, np.repeat(part[-1:], size - n, axis=0)])
                    for name, part in block.items()
                }
            yield start, n, block


def constant_array(spec: InputSpec, given: Any) -> NDArray[Any]:
    """Return the value of an input that rows do not go into."""
    values = _array(given)
    fits = values.ndim == len(spec.shape) and all(
        wanted is None or wanted == size
        for wanted, size in zip(spec.shape, values.shape, strict=True)
    )
    if not fits:
        raise ValueError(
            f"The graph takes {spec.text}; constants has an array of shape {tuple(values.shape)}. "
            "Pass a value of this shape."
        )
    return values.astype(spec.dtype)
