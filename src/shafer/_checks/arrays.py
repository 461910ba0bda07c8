"""Arrays of real numbers, of any array library."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, NoReturn, TypeAlias

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from shafer._checks.frames import frame_columns, frame_of
from shafer._typing import Array


def to_numpy(x: Array) -> NDArray[Any]:
    """Return the array as NumPy, from any device and without its gradient graph."""
    if array_api_compat.is_torch_array(x):
        x = x.detach().cpu()
    elif array_api_compat.is_cupy_array(x):  # pragma: no cover - needs a GPU
        x = x.get()
    return np.asarray(x)


def frozen(array: Array) -> Array:
    """Make a NumPy array read-only; arrays of other libraries are returned as they are."""
    if isinstance(array, np.ndarray):
        array.flags.writeable = False
    return array


def float_array(
    value: Any, name: str, *, ndim: Sequence[int] | None = None, finite: bool = False
) -> Array:
    """Return a real floating array of the caller's library; anything else becomes NumPy.

    Integers and booleans become float64, half precision becomes float32. Column names of data
    frames are dropped. ``finite=True`` skips the search for NaN and infinity.

    Raises
    ------
    ValueError
        If the values are not real numbers, are not all finite, or the rank is not in ``ndim``.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise ValueError(f"{name} must not be a masked array. Fill it first, with .filled(value).")
    array = value if array_api_compat.is_array_api_obj(value) else _as_numpy(value, name)
    xp = array_api_compat.array_namespace(array)
    if array_api_compat.is_numpy_array(array) and array.dtype == object:
        array = _as_numpy(array, name)
    if xp.isdtype(array.dtype, "real floating"):
        size = xp.finfo(array.dtype).bits
        array = xp.astype(array, {16: xp.float32, 32: xp.float32}.get(size, xp.float64), copy=False)
    elif xp.isdtype(array.dtype, ("bool", "integral")):
        array = xp.astype(array, xp.float64)
    else:
        raise ValueError(f"{name} must hold real numbers; got an array of {array.dtype}.")
    if ndim is not None and array.ndim not in ndim:
        wanted = " or ".join(str(n) for n in ndim)
        raise ValueError(f"{name} must have {wanted} dimension(s); got shape {tuple(array.shape)}.")
    if not finite:
        check_finite(array, name, frame_columns(value))
    return array


def _as_numpy(value: Any, name: str) -> NDArray[Any]:
    if value is None:
        raise ValueError(f"{name} must be an array of real numbers; got None.")
    frame = frame_of(value)
    try:
        array = np.asarray(value) if frame is None else frame.to_numpy()
        return array.astype(np.float64) if array.dtype == object else array
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be an array of real numbers; got {type(value).__name__}: {error}"
        ) from error


def check_finite(array: Array, name: str, columns: Sequence[Any] | None = None) -> None:
    """Refuse NaN and infinity; the error gives the place of the first one.

    ``columns`` are the names of the columns, where they are known.
    """
    xp = array_api_compat.array_namespace(array)
    with np.errstate(over="ignore", invalid="ignore"):
        if bool(xp.isfinite(xp.sum(array))):  # one pass, nothing allocated
            return
    finite = xp.isfinite(array)
    if bool(xp.all(finite)):
        return
    bad = ~to_numpy(finite)
    first = tuple(int(i) for i in np.argwhere(bad)[0])
    place = f"at index {first}"
    if columns is not None and len(first) == 2:
        place = f"in row {first[0]}, column {columns[first[1]]!r}"
    raise ValueError(
        f"{name} must be finite; got {int(bad.sum())} NaN or infinite value(s), the first {place}."
    )


def check_overflow(array: Array, what: str) -> None:
    """Refuse values so large that sums of them overflow the precision of the array."""
    check_overflows([array], what)


def check_overflows(arrays: Sequence[Array], what: str) -> None:
    """Do the same for several arrays of one library; a device is waited for only once."""
    if all(isinstance(array, np.ndarray) for array in arrays):
        _check_numpy_overflows(arrays, what)
        return
    xp = array_api_compat.array_namespace(*arrays)
    filled = [array for array in arrays if math.prod(array.shape)]
    on_device = filled and array_api_compat.is_torch_array(filled[0]) and filled[0].is_cuda
    if on_device and len({tuple(array.shape) for array in filled}) == 1:
        filled = [xp.stack(filled)]  # fewer steps to send to the device
    inside = [xp.all(xp.abs(array) < _largest(xp, array)) for array in filled]
    if inside:
        check_later(xp.all(xp.stack(inside)), partial(_overflows, what, filled[0].dtype))


def _check_numpy_overflows(arrays: Sequence[NDArray[Any]], what: str) -> None:
    """Compare the extremes alone: one pass over each array, nothing allocated."""
    for array in arrays:
        if array.size:
            largest = _largest(np, array)
            if not (-largest < array.min() and array.max() < largest):  # False for NaN too
                _overflows(what, array.dtype)


def _overflows(what: str, dtype: Any) -> NoReturn:
    if what.startswith("values of"):
        raise ValueError(f"The {what} are too large for {dtype}. Give smaller numbers.")
    raise ValueError(
        f"The {what} overflow {dtype}: coefficients and features are too large together. Scale "
        "the features, or use float64."
    )


def _largest(xp: Any, array: Array) -> float:
    largest: float = xp.finfo(array.dtype).max
    n_last: int = array.shape[-1]
    return largest / (4 * max(1, n_last))


def same_library(arrays: dict[str, Array]) -> Any:
    """Return the array namespace that all arrays share; the error names the ones that differ."""
    try:
        return array_api_compat.array_namespace(*arrays.values())
    except TypeError as error:
        kinds = ", ".join(f"{name}: {type(a).__module__}" for name, a in arrays.items())
        raise ValueError(
            f"All arrays must come from one library; got {kinds}. Convert them to NumPy arrays, or "
            "to tensors of one library."
        ) from error


# Checks of arrays on a device, read together: reading one waits for all work before it.

_Check: TypeAlias = tuple[Array, Callable[[], object]]
_WAITING: ContextVar[list[_Check] | None] = ContextVar("waiting", default=None)


def check_later(holds: Array, failure: Callable[[], object]) -> None:
    """Call ``failure`` unless a boolean array of one element is true.

    It raises an error, or repairs what was computed.

    Inside :func:`deferred_checks`, arrays on a CUDA device are read at its end.
    """
    waiting = _WAITING.get()
    on_device = array_api_compat.is_torch_array(holds) and holds.is_cuda
    if waiting is not None and on_device:
        waiting.append((holds, failure))
    elif not bool(holds):
        failure()


@contextmanager
def deferred_checks() -> Iterator[None]:
    """Read all checks at the end, at once; the first that fails raises its error.

    It comes before an error of the code inside, which it may have caused.
    """
    if _WAITING.get() is not None:  # the outer one reads them
        yield
        return
    waiting: list[_Check] = []
    token = _WAITING.set(waiting)
    try:
        yield
    finally:
        _WAITING.reset(token)
        _settle(waiting)


def _settle(waiting: list[_Check]) -> None:
    if not waiting:
        return
    flags = [holds.reshape(()) for holds, _ in waiting]
    together = array_api_compat.array_namespace(*flags).stack(flags)
    for held, (_, failure) in zip(together.tolist(), waiting, strict=True):
        if not held:
            failure()


# Sample weights: one for each row.


def row_weights(
    sample_weight: Any, n: int, *, allow_all_zero: bool = False
) -> NDArray[np.float64] | None:
    """Return one weight ≥ 0 for each of n rows, or None for equal weights.

    A single number counts for every row. Unless ``allow_all_zero``, some weight must be positive.
    """
    if sample_weight is None:
        return None
    given = to_numpy(float_array(sample_weight, "sample_weight", ndim=(0, 1))).astype(np.float64)
    weight = np.broadcast_to(given, (n,)) if given.ndim == 0 else given
    if weight.shape != (n,):
        raise ValueError(
            f"sample_weight must have one weight for each of the {n} rows; got {weight.shape[0]}."
        )
    if n and (weight.min() < 0 or (weight.max() == 0 and not allow_all_zero)):
        raise ValueError(
            "sample_weight must be nonnegative and not all zero; "
            f"got values from {weight.min()} to {weight.max()}."
        )
    return weight


# Sparse matrices from files: their index arrays are followed by compiled code without checks.

_INDEX_TYPES = (np.dtype(np.int32), np.dtype(np.int64))


def check_compressed(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    n_major: int,
    n_minor: int,
) -> None:
    """Refuse compressed rows (or columns) whose indices lead out of the matrix or its arrays.

    Parameters
    ----------
    data, indices : arrays of shape (nnz,)
    indptr : array of shape (n_major + 1,)
    n_major, n_minor : int
        Rows and columns of a CSR matrix, columns and rows of a CSC matrix.
    """
    for name, array in (("indices", indices), ("indptr", indptr)):
        if array.dtype not in _INDEX_TYPES or array.ndim != 1:
            raise ValueError(f"its array {name!r} must be a list of whole numbers")
    if data.shape != indices.shape:
        raise ValueError(f"it has {data.size} values for {indices.size} indices")
    if len(indptr) != n_major + 1 or indptr[0] != 0 or indptr[-1] != len(data):
        raise ValueError("its array 'indptr' does not fit the matrix")
    if np.any(indptr[1:] < indptr[:-1]):
        raise ValueError("its array 'indptr' must not decrease")
    check_indices(indices, n_minor, "indices")


def check_indices(indices: NDArray[Any], size: int, name: str) -> None:
    """Refuse an index outside 0 … size − 1."""
    if indices.size and (int(indices.min()) < 0 or int(indices.max()) >= size):
        raise ValueError(f"its array {name!r} holds indices outside 0 … {size - 1}")
