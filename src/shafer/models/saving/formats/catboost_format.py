"""CatBoost's models, in its own binary format."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, final

from shafer.models.saving.object_format import (
    ObjectFormat,
    ObjectSink,
    ObjectSource,
    class_name,
    imported_class,
)
from shafer.models.saving.stored_values import Json

_CLASSES = ("catboost.core.CatBoost", "catboost.core.CatBoostClassifier")


@final
class CatBoostFormat(ObjectFormat):
    """A ``cbm`` file, and the parameters that the user gave."""

    name = "catboost"

    def takes(self, value: Any) -> bool:
        """Tell whether it is a model of CatBoost."""
        return class_name(value) in _CLASSES

    def write(self, value: Any, sink: ObjectSink) -> dict[str, Json]:
        """Write the model as CatBoost does; one that is not trained has parameters only."""
        written: dict[str, Json] = {
            "class": class_name(value),
            "params": sink.value(dict(value.get_params(deep=False))),
            "file": None,
        }
        if value.is_fitted():
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "model.cbm")
                value.save_model(str(path), format="cbm")
                written["file"] = sink.member("cbm", path.read_bytes())
        return written

    def read(self, node: dict[str, Json], source: ObjectSource) -> Any:
        """Let CatBoost read its model."""
        if node["class"] not in _CLASSES:
            raise ValueError(f"it names {node['class']!r}, which is not a class of CatBoost")
        model, params = imported_class(node["class"])(), source.value(node["params"])
        if node["file"] is not None:
            model.load_model(blob=source.member(node["file"]))
        model._init_params = dict(params)
        return model
