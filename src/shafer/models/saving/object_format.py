"""``ObjectFormat``: how the objects of one kind are stored, without pickle."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from shafer.models.saving.stored_values import Json, ValueSink, ValueSource


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


def imported_class(name: str) -> type:
    """Import a class; the caller has compared its name with an exact list."""
    module, _, attribute = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        raise ModuleNotFoundError(
            f"The saved model needs {package}, which is not installed. Run: pip install {package}",
            name=error.name,
        ) from error
    if not isinstance(found, type):
        raise ValueError(f"{name} is not a class in the installed version")
    return found
