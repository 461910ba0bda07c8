"""Tables of scores, and one explainer on many machines: Dask, Spark, Ray, polars.

``columns`` is the list of score columns; ``scorer`` makes their values from one pass of the rows,
for lazy frames, files and MLflow alike. ``folder`` scores files, ``plan`` says which rows are one
unit of work, so that a run can go on. ``score`` and ``background`` take a lazy frame and work where
its rows are. ``engines`` recognises a frame by the name of its class; the file of each engine is
imported when it is used. May import models and everything below.
"""

from shafer.scale.background import background
from shafer.scale.score import schema, score

__all__ = ["background", "schema", "score"]
