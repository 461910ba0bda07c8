"""``ObjectFormat``: how the objects of one kind are stored, without pickle."""

from __future__ import annotations

import copy
import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from types import FunctionType, MethodType, ModuleType
from typing import Any, ClassVar, final

import numpy as np

from shafer.saving.trusted import FORMER_FIELDS, OWN_CLASSES, current_name, stored_name
from shafer.saving.values import Json, ValueSink, ValueSource


class ObjectSink(ValueSink):
    """Where the parts of an object go while it is written."""

    @abstractmethod
    def value(self, value: Any) -> Json:
        """Return a value as JSON."""

    @abstractmethod
    def member(self, suffix: str, content: bytes) -> str:
        """Keep the bytes of a file in the framework's own format, and return its name."""


class ObjectSource(ValueSource):
    """Where the parts of an object come from while it is read."""

    @abstractmethod
    def value(self, node: Json) -> Any:
        """Return a value that :meth:`ObjectSink.value` wrote."""

    @abstractmethod
    def member(self, name: str) -> bytes:
        """Return the bytes that :meth:`ObjectSink.member` kept."""

    @abstractmethod
    def module(self) -> Any:
        """Return the torch module that the caller gave."""

    @abstractmethod
    def skops(self, content: bytes, also: tuple[str, ...]) -> Any:
        """Load a skops file of known classes, of those the user trusts, and of ``also``."""


class ObjectFormat(ABC):
    """Stores the objects of some classes.

    Attributes
    ----------
    name : str
        In the file.
    """

    name: ClassVar[str]

    @abstractmethod
    def takes(self, value: Any) -> bool:
        """Tell whether an object is stored in this format."""

    @abstractmethod
    def write(self, value: Any, sink: ObjectSink) -> dict[str, Json]:
        """Return the description of an object as JSON; its parts go to the sink."""

    @abstractmethod
    def read(self, node: dict[str, Json], source: ObjectSource) -> Any:
        """Return the object."""


def class_name(value: Any) -> str:
    """Return the full name of an object's class."""
    return f"{type(value).__module__}.{type(value).__qualname__}"


def imported(module: str, install: str | None = None) -> Any:
    """Import a module of another package; the error tells what to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        raise ModuleNotFoundError(
            f"The saved model needs {package}, which is not installed. Run: pip install "
            f"{install or package}",
            name=package,
        ) from error


def imported_class(name: str) -> type:
    """Import a class; the caller has compared its name with an exact list."""
    module, _, attribute = name.rpartition(".")
    found = getattr(imported(module), attribute)
    if not isinstance(found, type):
        raise ValueError(f"{name} is not a class in the installed version")
    return found


# Parts of a scikit-learn object that have a format of their own, such as a booster in a pipeline.

_NOT_ENTERED = (str, bytes, int, float, np.ndarray, np.generic, type, ModuleType)
_FUNCTIONS = (FunctionType, MethodType)


@final
@dataclass(frozen=True)
class TakenOut:
    """Stands for a part that is stored elsewhere in the file."""

    number: int


PLACEHOLDER = f"{TakenOut.__module__}.{TakenOut.__qualname__}"


def with_parts(value: Any, part: Callable[[Any], Any]) -> Any:
    """Return an object in which every part is replaced by ``part(it)``.

    ``part`` returns its argument for what is not a part. It is asked about functions as well.
    """
    return _Replacing(part, {}).of(value)


@final
@dataclass(frozen=True)
class _Replacing:
    part: Callable[[Any], Any]
    done: dict[int, tuple[Any, Any]]  # id -> the object, held so that its id stays its own

    def of(self, value: Any) -> Any:
        if value is None or isinstance(value, _NOT_ENTERED):
            return value
        if id(value) in self.done:
            return self.done[id(value)][1]
        self.done[id(value)] = (value, value)  # a cycle leads back to the object itself
        new = self.part(value)
        if new is value and not isinstance(value, _FUNCTIONS):
            new = self._rebuilt(value)
        self.done[id(value)] = (value, new)
        return new

    def _rebuilt(self, value: Any) -> Any:
        if type(value) in (list, tuple, set, frozenset):
            items = [self.of(item) for item in value]
            same = all(new is old for new, old in zip(items, value, strict=True))
            return value if same else type(value)(items)
        if isinstance(value, dict):
            changed = self._changed(value)
            if changed:
                value = copy.copy(value)
                value.update(changed)
            return value
        if not hasattr(value, "__dict__"):
            return value
        changed = self._changed(vars(value))
        if not changed:
            return value
        new = object.__new__(type(value))
        vars(new).update({**vars(value), **changed})
        return new

    def _changed(self, items: dict[Any, Any]) -> dict[Any, Any]:
        found = {key: self.of(item) for key, item in items.items()}
        return {key: new for key, new in found.items() if new is not items[key]}


# Objects that are a class and plain values: those of this library, and wrappers of boosters.

_WRAPPERS = (
    "interpret.glassbox._ebm._ebm.ExplainableBoostingClassifier",
    "lightgbm.sklearn.LGBMClassifier",
    "xgboost.sklearn.XGBClassifier",
    "xgboost.sklearn.XGBRFClassifier",
)
STORED_BY_STATE = frozenset((*OWN_CLASSES, *_WRAPPERS))
"""Exact names: such an object is made without a call, and its attributes are set."""


@final
class StateFormat(ObjectFormat):
    """Stores the attributes of an object; a trained booster among them has its own format."""

    name = "state"

    def takes(self, value: Any) -> bool:
        """Tell whether the class is on the list."""
        return class_name(value) in STORED_BY_STATE

    def write(self, value: Any, sink: ObjectSink) -> dict[str, Json]:
        """Write the class and the attributes."""
        own = class_name(value) in OWN_CLASSES
        state = value.__getstate__() if own else vars(value)
        held = {name: state[name] for name in sorted(state)}  # in one order, whoever set them
        return {"class": stored_name(class_name(value)), "state": sink.value(held)}

    def read(self, node: dict[str, Json], source: ObjectSource) -> Any:
        """Make the object without calling its class."""
        name = current_name(node["class"])
        if name not in STORED_BY_STATE:
            raise ValueError(f"it names the class {name!r}, which is not stored like this")
        cls, state = imported_class(name), source.value(node["state"])
        if not isinstance(state, dict) or not all(isinstance(key, str) for key in state):
            raise ValueError(f"the attributes of {name} are damaged")
        former = FORMER_FIELDS.get(name, {})
        state = {former.get(key, key): value for key, value in state.items()}
        if is_dataclass(cls) and set(state) != {field.name for field in fields(cls)}:
            raise ValueError(f"the attributes of {name} are damaged")
        if name in _WRAPPERS:
            _check_threads(state)
        made: Any = object.__new__(cls)
        if name in OWN_CLASSES and hasattr(cls, "__setstate__"):
            made.__setstate__(state)
        else:
            vars(made).update(state)
        return made


_THREADS = ("n_jobs", "nthread", "nthreads", "num_thread", "num_threads", "thread_count")
_MOST_THREADS = 1024


def _check_threads(state: dict[str, Any]) -> None:
    """Refuse a number of threads that no machine has: the library would end the process."""
    for name, value in state.items():
        if isinstance(value, dict):
            _check_threads(value)
        elif name in _THREADS and isinstance(value, int | float) and abs(value) > _MOST_THREADS:
            raise ValueError(f"its model asks for {value} threads")
