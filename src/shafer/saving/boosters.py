"""Trained boosters of XGBoost, LightGBM and CatBoost, in formats that keep every digit."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, final

from shafer.saving.catboost_trial import try_catboost
from shafer.saving.formats import ObjectFormat, ObjectSink, ObjectSource, class_name, imported_class
from shafer.saving.lightgbm_text import checked_lightgbm
from shafer.saving.values import Json
from shafer.saving.xgboost_json import checked_xgboost

_XGBOOST = "xgboost.core.Booster"
_LIGHTGBM = "lightgbm.basic.Booster"


@final
class XGBoostFormat(ObjectFormat):
    """XGBoost's JSON, which has as many digits as a number of single precision needs."""

    name = "xgboost"

    def takes(self, value: Any) -> bool:
        """Tell whether it is a booster of XGBoost."""
        return class_name(value) == _XGBOOST

    def write(self, value: Any, sink: ObjectSink) -> dict[str, Json]:
        """Write the booster as XGBoost does."""
        return {"file": sink.member("json", checked_xgboost(bytes(value.save_raw("json"))))}

    def read(self, node: dict[str, Json], source: ObjectSource) -> Any:
        """Let XGBoost read its booster, written from checked values."""
        content = checked_xgboost(source.member(node["file"]))
        booster = imported_class(_XGBOOST)()
        booster.load_model(bytearray(content))
        return booster


@final
class LightGBMFormat(ObjectFormat):
    """LightGBM's text, which has 17 digits of each number."""

    name = "lightgbm"

    def takes(self, value: Any) -> bool:
        """Tell whether it is a booster of LightGBM."""
        return class_name(value) == _LIGHTGBM

    def write(self, value: Any, sink: ObjectSink) -> dict[str, Json]:
        """Write all trees as LightGBM does, also those after the best iteration."""
        text = value.model_to_string(num_iteration=-1)
        if "\nis_linear=1" in text:
            raise ValueError(
                "A LightGBM model with linear_tree=True cannot be saved. Train it with "
                "linear_tree=False."
            )
        chosen = {"best_iteration": value.best_iteration, "params": value.params}
        checked = checked_lightgbm(text).encode()
        return {"file": sink.member("txt", checked), "state": sink.value(chosen)}

    def read(self, node: dict[str, Json], source: ObjectSource) -> Any:
        """Let LightGBM read its booster, whose lines are checked."""
        text = checked_lightgbm(source.member(node["file"]).decode())
        state = source.value(node["state"])
        booster = imported_class(_LIGHTGBM)(model_str=text)
        booster.best_iteration, booster.params = int(state["best_iteration"]), dict(state["params"])
        return booster


# CatBoost's models, in its own binary format.

_OF_THE_DAY = ("train_finish_time", "model_guid")


def _without_time(model: Any) -> Any:
    """Return a copy without the time of its training, and without a number that is random.

    Both are replaced before anything is written: the random number is not always of one length.
    """
    timeless = model.copy()
    notes = timeless.get_metadata()
    for name in _OF_THE_DAY:
        if name in notes.keys():  # noqa: SIM118 - it is no mapping
            notes[name] = "0"
    return timeless


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
                _without_time(value).save_model(str(path), format="cbm")
                written["file"] = sink.member("cbm", path.read_bytes())
        return written

    def read(self, node: dict[str, Json], source: ObjectSource) -> Any:
        """Let CatBoost read its model, after a trial in another process."""
        if node["class"] not in _CLASSES:
            raise ValueError(f"it names {node['class']!r}, which is not a class of CatBoost")
        model, params = imported_class(node["class"])(), source.value(node["params"])
        if node["file"] is not None:
            content = source.member(node["file"])
            try_catboost(content)
            model.load_model(blob=content)
        model._init_params = dict(params)
        return model
