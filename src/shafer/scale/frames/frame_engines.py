"""Which engine a frame belongs to, by the names of its classes: no engine is imported for this."""

from __future__ import annotations

import importlib
from typing import Any

from shafer.scale.frames.frame_engine import FrameEngine

# The library and the class of a frame -> the class that works on it.
_ENGINES = {
    ("dask", "DataFrame"): "dask_frames.DaskFrames",
    ("pyspark", "DataFrame"): "spark_frames.SparkFrames",
    ("ray", "Dataset"): "ray_datasets.RayDatasets",
    ("polars", "LazyFrame"): "polars_frames.PolarsFrames",
}
_IN_MEMORY = ("pandas", "polars", "pyarrow", "numpy")


def engine_of(frame: Any) -> FrameEngine:
    """Return what works on a frame.

    Raises
    ------
    ValueError
        If it is not a frame of one of the engines.
    """
    for kind in type(frame).__mro__:
        library = kind.__module__.partition(".")[0]
        found = _ENGINES.get((library, kind.__name__))
        if found is not None:
            module, _, name = found.partition(".")
            engine: FrameEngine = getattr(
                importlib.import_module(f"shafer.scale.frames.{module}"), name
            )()
            return engine
    given = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
    instead = ""
    if given.partition(".")[0] in _IN_MEMORY:
        instead = " For rows in memory, call the explainer: explainer(frame).to_frame()."
    raise ValueError(
        "frame must be a Dask DataFrame, a Spark DataFrame, a Ray Dataset or a polars LazyFrame; "
        f"got {given}.{instead}"
    )
