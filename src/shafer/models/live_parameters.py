"""The parameters of a trained model, remembered, so that training it again is noticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NoReturn, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shafer.errors import UnsupportedModelError

# Arrays of more elements are compared at some places, as long as they are the same object.
_LARGE = 2**16
_SAMPLE = 4096
_GOLDEN = 0.6180339887498949  # multiples of it, modulo 1, spread evenly
_PLAIN = (bool, int, float, str, np.generic, type(None))


@final
@dataclass(frozen=True, eq=False)
class LiveParameters:
    """Parameters of a live model, and their values when the explainer was made.

    An explainer keeps some parameters and asks the model for the rest. If the model is trained
    again in between, the two do not belong together, and the explainer must stop.

    Arrays are compared by value, other objects by identity, which pickling keeps as long as the
    model is pickled with the explainer. A large array that is still the same object is compared at
    4096 places: training in place changes nearly all of it.
    """

    read: Callable[[], tuple[Any, ...]]
    kept: tuple[Any, ...]
    stamp: Callable[[], Any] | None = None
    kept_stamp: Any = None
    seen: tuple[Any, ...] = ()
    """The parameters themselves, which a copy of the object does not share."""

    @classmethod
    def of(
        cls, read: Callable[[], tuple[Any, ...]], stamp: Callable[[], Any] | None = None
    ) -> LiveParameters:
        """Remember what ``read`` returns now.

        As long as ``stamp`` returns the same, nothing has changed, and the values are not read.
        """
        seen = read()
        kept = tuple(_copied(value) for value in seen)
        return cls(read, kept, stamp, None if stamp is None else stamp(), seen)

    @classmethod
    def attributes(cls, model: Any, *names: str) -> LiveParameters:
        """Remember fitted attributes of a model, after a check that they are finite."""
        live = cls.of(partial(_attributes, model, names))
        check_parameters(type(model).__name__, live.kept)
        return live

    @classmethod
    def fitted(cls, transformer: Any) -> LiveParameters:
        """Remember all fitted attributes of a transformer, by scikit-learn's naming rule."""
        return cls.of(partial(_fitted_attributes, transformer))

    def check(self) -> None:
        """Raise an error if the parameters have changed."""
        now = None if self.stamp is None or self.kept_stamp is None else self.stamp()
        if now is not None and now == self.kept_stamp:
            return
        values = self.read()
        if len(values) == len(self.seen) == len(self.kept):
            alike = all(map(_unchanged, values, self.seen, self.kept))
        else:
            alike = _same(values, self.kept)
        if not alike:
            trained_again()


def trained_again() -> NoReturn:
    """Raise the error for a model whose parameters have changed."""
    raise ValueError(
        "The model was trained again after this Explainer was made. Make a new Explainer."
    )


def check_parameters(model: str, values: Any) -> None:
    """Refuse NaN and infinity among the parameters of a model."""
    arrays = [value for value in _flat(values) if value.dtype.kind == "f"]
    if all(np.isfinite(array).all() for array in arrays):
        return
    if any(np.isnan(array).any() for array in arrays):
        raise UnsupportedModelError(
            f"{model} has NaN parameters, so its probabilities are NaN too. Train it again: scale "
            "the inputs, lower the learning rate, or use smoothing (alpha > 0)."
        )
    raise UnsupportedModelError(
        f"{model} has infinite parameters, which would be infinite evidence. Train it with "
        "smoothing (alpha > 0) and with a prior above 0 for each class."
    )


def _attributes(model: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(getattr(model, name) for name in names)


def _fitted_attributes(transformer: Any) -> tuple[Any, ...]:
    parts = [part for _, part, *_ in getattr(transformer, "steps", ())]
    parts += [part for _, part in getattr(transformer, "transformer_list", ())]
    own = vars(transformer) if hasattr(transformer, "__dict__") else {}
    values = [own[name] for name in own if name.endswith("_") and not name.startswith("_")]
    return (*values, *(_fitted_attributes(part) for part in parts))


def _copied(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_copied(part) for part in value)
    array = _array(value)
    return value if array is None else array.copy()


def _array(value: Any) -> Any:
    """Return the numbers of an array, dense or sparse; None for anything else."""
    if sparse.issparse(value):
        return value.data
    return value if isinstance(value, np.ndarray) and value.dtype != object else None


def _objects(value: Any) -> list[Any] | None:
    """Return the elements of an array of objects, such as categories; None for anything else."""
    return value.ravel().tolist() if isinstance(value, np.ndarray) else None


def _flat(values: Any) -> list[Any]:
    """List all arrays in nested tuples."""
    if isinstance(values, tuple):
        return [array for part in values for array in _flat(part)]
    return [values] if isinstance(values, np.ndarray) else []


def _unchanged(now: Any, seen: Any, kept: Any) -> bool:
    """Compare a parameter with its copy: all of it, or some places of a large array."""
    large = isinstance(kept, np.ndarray) and kept.size > _LARGE
    if large and now is seen and isinstance(now, np.ndarray) and now.shape == kept.shape:
        places = _places(kept.size)
        return _equal(now.take(places), kept.take(places))
    return _same(now, kept)


@cache
def _places(size: int) -> NDArray[np.intp]:
    """Return places all over an array: no two rows or columns have the same pattern of them."""
    steps = np.arange(_SAMPLE, dtype=np.float64) * _GOLDEN % 1.0
    return (steps * size).astype(np.intp)


def _same(now: Any, kept: Any) -> bool:
    if isinstance(kept, tuple):
        alike = isinstance(now, list | tuple) and len(now) == len(kept)
        return alike and all(map(_same, now, kept))
    array = _array(now)
    if array is not None and isinstance(kept, np.ndarray):
        return _equal(array, kept)
    if now is kept:
        return True
    inside, kept_inside = _objects(now), _objects(kept)
    if inside is not None and kept_inside is not None:
        return len(inside) == len(kept_inside) and all(map(_same, inside, kept_inside))
    return isinstance(now, _PLAIN) and isinstance(kept, _PLAIN) and now == kept


def _equal(now: Any, kept: Any) -> bool:
    if np.array_equal(now, kept):
        return True
    # An imputer may hold NaN, which equals nothing.
    return now.dtype.kind == kept.dtype.kind == "f" and np.array_equal(now, kept, equal_nan=True)
