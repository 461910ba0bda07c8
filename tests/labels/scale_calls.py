"""Calls on lazy frames."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
from sklearn.linear_model import LogisticRegression

from shafer import scale

from .calls import covers
from .worlds import FEATURES, World

FRAME = pd.DataFrame(FEATURES, columns=["p", "q", "r"])


@covers("scale.score", "scale.background", trains=True, compares=False)
def lazy_scores(world: World) -> list[Any]:
    model = LogisticRegression(max_iter=500).fit(FRAME, world.training_labels)
    frame = pl.from_pandas(FRAME[["r", "p", "q"]].assign(key=range(len(FRAME)))).lazy()
    explainer = scale.background(frame, model, ["q", "r", "p"])
    scores = scale.score(frame, explainer, ["q", "p", "r"], keep=["key"], reasons=1).collect()
    names = [column.split("_", 1)[1] for column in scores.columns if "probability_" in column]
    assert len(set(names)) == world.n_classes
    numbers = [name for name, kind in scores.schema.items() if kind.is_numeric()]
    numbers = [name for name in numbers if name != "answer"]  # a label
    return [scores[name].fill_nan(0.0).to_list() for name in numbers]  # rows without a reason
