"""Rows per second with one and two workers, and how much memory a worker takes.

Engines are started and warmed up before the clock runs. ``predict_proba`` runs on the same units of
work, with the same reading and writing.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from scaling.commands import CHUNK
from scaling.parquet_rows import COLUMNS, FOLDER, data, explainer
from shafer.scale.background_means import MeansOptions
from shafer.scale.columns import ScoreOptions
from shafer.scale.engines import JobEngine, job_engine
from shafer.scale.folder import FileScorer, UnitScorer
from shafer.scale.models import NamedModel
from shafer.scale.plan import WorkPlan
from shafer.scale.tables import surveyed

_UNITS_WITH_REASONS = 6  # they take longer


@dataclass(frozen=True)
class Probabilities:
    """Writes the probabilities of a unit: what a user without this library runs."""

    model: Any
    folder: str

    def __call__(self, unit: Any) -> int:
        """Return the memory of this process, in KB."""
        import pyarrow
        from pyarrow import parquet

        out = Path(self.folder) / unit.file_name
        with parquet.ParquetFile(unit.path) as file:
            writer = None
            for batch in file.iter_batches(CHUNK, row_groups=list(unit.row_groups)):
                p = self.model.predict_proba(batch.to_pandas()[COLUMNS])
                table = pyarrow.table({"probability_no": p[:, 0], "probability_yes": p[:, 1]})
                writer = writer or parquet.ParquetWriter(out, table.schema)
                writer.write_table(table)
            if writer is not None:
                writer.close()
        return _peak()


def _peak() -> int:
    """Return the largest memory of this process so far, in KB.

    Not ``getrusage``: there a process inherits the peak of the one that started it.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


def _with_memory(work: UnitScorer, unit: Any) -> int:
    work(unit)
    return _peak()


def _plan(millions: int) -> WorkPlan:
    files = sorted(data(millions).glob("*.parquet"))
    return WorkPlan.of({}, files, [surveyed(path, CHUNK)[1] for path in files])


def _work(plan: WorkPlan, reasons: int = 0) -> tuple[Any, Any]:
    out = FOLDER / "units"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    shown = explainer()
    wanted = ScoreOptions(reasons or None)
    files = [Path(unit.path) for unit in plan.units]
    named = NamedModel(shown, "explainer.shafer")
    scorer = FileScorer.of(named, out, files, plan.kinds, MeansOptions(), CHUNK, wanted)
    evidence = partial(_with_memory, UnitScorer(scorer, str(out), CHUNK, {}))
    return evidence, Probabilities(shown._given, str(out))


@contextmanager
def _running(engine: str | None, workers: int) -> Iterator[JobEngine]:
    """Start an engine, which the job then uses."""
    if engine == "dask":
        from distributed import LocalCluster

        with LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster:
            yield job_engine("dask", cluster.scheduler_address, None)
    elif engine == "spark":
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master(f"local[{workers},4]")
        for name in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
            builder = builder.config(name, "false")
        session = builder.getOrCreate()
        yield job_engine("spark", None, workers)
        session.stop()
    elif engine == "ray":
        import ray

        ray.init(
            address="local",
            num_cpus=workers,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
        yield job_engine("ray", None, workers)
        ray.shutdown()
    else:
        yield job_engine(None, None, None)


def throughput(engine: str | None, workers: int, millions: int) -> dict[str, Any]:
    """Return rows per second of evidence, of evidence with three reasons, of ``predict_proba``."""
    plan = _plan(millions)
    evidence, probabilities = _work(plan)
    with_reasons, _ = _work(plan, reasons=3)
    found: dict[str, Any] = {"engine": engine or "this process", "workers": workers}
    with _running(engine, workers) as jobs:
        for name, work in (
            ("predict_proba", probabilities),
            ("evidence", evidence),
            ("with 3 reasons", with_reasons),
        ):
            units = plan.units[:_UNITS_WITH_REASONS] if "reasons" in name else plan.units
            list(jobs.run(work, units))  # all workers have started and loaded the libraries
            start = time.perf_counter()
            list(jobs.run(work, units))
            rows = sum(unit.rows for unit in units)
            found[f"{name} rows/s"] = round(rows / (time.perf_counter() - start))
    found["time / predict_proba"] = round(
        found["predict_proba rows/s"] / found["evidence rows/s"], 2
    )
    return found


def memory(engine: str, millions: int) -> dict[str, Any]:
    """Return the largest memory of one worker, in MB, after so many rows."""
    plan = _plan(millions)
    evidence, _ = _work(plan)
    with _running(engine, 2) as jobs:
        peak = max(jobs.run(evidence, plan.units))
    return {"engine": engine, "million rows": millions, "MB per worker": round(peak / 1024)}
