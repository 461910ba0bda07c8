"""One explainer on many machines: Dask, Spark, Ray, and lazy frames of polars.

``score`` and ``background`` take a frame of one of these and work where its rows are. ``frames/``
has one file for each kind of frame, ``jobs/`` one for each engine that runs the command line.
Engines are recognised by the name of a class, and imported when they are used. May import models
and everything below.
"""

from shafer.scale.background import background
from shafer.scale.score import schema, score

__all__ = ["background", "schema", "score"]
