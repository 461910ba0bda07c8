"""Trained boosters of XGBoost and LightGBM, in formats that keep every digit."""

from __future__ import annotations

from typing import Any, final

from shafer.models.saving.formats.booster_checks import check_lightgbm, check_xgboost
from shafer.models.saving.object_format import (
    ObjectFormat,
    ObjectSink,
    ObjectSource,
    class_name,
    imported_class,
)
from shafer.models.saving.stored_values import Json

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
        return {"file": sink.member("json", bytes(value.save_raw(raw_format="json")))}

    def read(self, node: dict[str, Json], source: ObjectSource) -> Any:
        """Let XGBoost read its booster."""
        content = source.member(node["file"])
        check_xgboost(content)
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
        return {"file": sink.member("txt", text.encode()), "state": sink.value(chosen)}

    def read(self, node: dict[str, Json], source: ObjectSource) -> Any:
        """Let LightGBM read its booster."""
        text, state = source.member(node["file"]).decode(), source.value(node["state"])
        check_lightgbm(text)
        booster = imported_class(_LIGHTGBM)(model_str=text)
        booster.best_iteration, booster.params = int(state["best_iteration"]), dict(state["params"])
        return booster
