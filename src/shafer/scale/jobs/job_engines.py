"""The engines that a job may run on, by name."""

from __future__ import annotations

import importlib
import importlib.util
import os

from shafer.scale.jobs.job_engine import JobEngine

# The name that users give -> module, class, the library that is needed.
_ENGINES = {
    "dask": ("dask_jobs", "DaskJobs", "distributed"),
    "spark": ("spark_jobs", "SparkJobs", "pyspark"),
    "ray": ("ray_jobs", "RayJobs", "ray"),
}
ENGINES = tuple(_ENGINES)


def job_engine(name: str | None, address: str | None, workers: int | None) -> JobEngine:
    """Return an engine.

    Parameters
    ----------
    name : {"dask", "spark", "ray"} or None
        None for this process.
    address : str, optional
        A running cluster; by default workers are started on this machine.
    workers : int, optional
        How many to start; by default one for each processor.
    """
    if name is None:
        from shafer.scale.jobs.local_jobs import LocalJobs

        return LocalJobs()
    module, class_name, library = _ENGINES[name]
    if importlib.util.find_spec(library) is None:
        raise ValueError(f"The engine {name} needs {library}; run: pip install 'shafer[{name}]'")
    engine = getattr(importlib.import_module(f"shafer.scale.jobs.{module}"), class_name)
    made: JobEngine = engine(address, workers or os.cpu_count() or 1)
    return made
