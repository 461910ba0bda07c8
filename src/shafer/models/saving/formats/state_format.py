"""Objects that are a class and plain values: those of this library, and wrappers of boosters."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, final

from shafer.models.saving.object_format import (
    ObjectFormat,
    ObjectSink,
    ObjectSource,
    class_name,
    imported_class,
)
from shafer.models.saving.skops_files.trusted_classes import OWN_CLASSES
from shafer.models.saving.stored_values import Json

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
        return {"class": class_name(value), "state": sink.value(dict(state))}

    def read(self, node: dict[str, Json], source: ObjectSource) -> Any:
        """Make the object without calling its class."""
        name = node["class"]
        if name not in STORED_BY_STATE:
            raise ValueError(f"it names the class {name!r}, which is not stored like this")
        cls, state = imported_class(name), source.value(node["state"])
        if not isinstance(state, dict) or not all(isinstance(key, str) for key in state):
            raise ValueError(f"the attributes of {name} are damaged")
        if is_dataclass(cls) and set(state) != {field.name for field in fields(cls)}:
            raise ValueError(f"the attributes of {name} are damaged")
        made: Any = object.__new__(cls)
        if name in OWN_CLASSES and hasattr(cls, "__setstate__"):
            made.__setstate__(state)
        else:
            vars(made).update(state)
        return made
