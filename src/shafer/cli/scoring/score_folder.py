"""Score many files into a folder, on an engine or here; a run that was stopped goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, final

import shafer
from shafer.cli.background_means import MeansOptions
from shafer.cli.clean_errors import writing
from shafer.cli.model_loading.load_model import NamedModel
from shafer.cli.score_table import Written
from shafer.cli.scoring.chunk_scorer import ChunkScorer, ExtraColumns
from shafer.cli.scoring.input_files import input_files
from shafer.cli.scoring.output_folder import OutputFolder
from shafer.cli.scoring.unit_scorer import UnitDone, UnitScorer
from shafer.cli.scoring.work_plan import WorkPlan, is_csv, make_request
from shafer.cli.table_files import Survey, surveyed
from shafer.scale.jobs.job_engine import JobEngine
from shafer.scale.jobs.local_jobs import LocalJobs


@final
@dataclass(frozen=True)
class FolderRequest:
    """What a folder of scores is made from.

    Attributes
    ----------
    data : Path
        A file, a folder, or a pattern.
    out : Path
        A new folder, or one that an earlier run of the same command left behind.
    contents : dict
        The other files that change the scores, by option.
    options : dict
        The options that change the scores, as plain values.
    """

    data: Path
    out: Path
    contents: dict[str, Path | None]
    options: dict[str, Any]

    def files(self) -> list[Path]:
        """Return the tables to be scored, and refuse a folder that cannot be written."""
        if self.out.name.lower().endswith((".csv", ".csv.gz")):
            raise ValueError(f"--out must be a folder, of Parquet files; got {self.out}.")
        return [path.absolute() for path in input_files(self.data)]


def write_score_folder(
    asked: FolderRequest,
    model: NamedModel | None,
    options: MeansOptions,
    chunk: int,
    extra: ExtraColumns,
    engine: JobEngine,
) -> Written:
    """Write the evidence of every row of many files.

    Parameters
    ----------
    asked : FolderRequest
    model : NamedModel, optional
        By default a logistic regression is trained.
    options : MeansOptions
    chunk : int
        Rows held at a time, by each worker.
    extra : ExtraColumns
    engine : JobEngine
    """
    files, folder = asked.files(), OutputFolder(asked.out)
    request = make_request(files, asked.contents, asked.options)
    plan, complete = folder.plan_for(request)
    if complete and plan is not None:
        return Written(plan.rows, "All parts were there already.")
    if plan is None:
        plan = WorkPlan.of(request, files, _surveys(files, chunk, engine))
        if plan.rows == 0:
            raise ValueError(f"{asked.data} has no rows.")
    scorer = ChunkScorer.of(model, asked.data, files, plan.kinds, options, chunk, extra)
    with writing(asked.out):
        folder.begin(plan)
        left_out = _score_units(plan, folder, scorer, chunk, engine)
        folder.complete(plan)
    return Written(plan.rows, scorer.sentence, left_out)


def _surveys(files: Sequence[Path], chunk: int, engine: JobEngine) -> list[Survey]:
    """Learn what the files hold. CSV files must be read for this, which the workers do."""
    found: dict[Path, Survey] = {}
    for path, survey in (engine if is_csv(files) else LocalJobs()).run(
        partial(surveyed, rows=chunk), files
    ):
        found[path] = survey
    return [found[path] for path in files]


def _score_units(
    plan: WorkPlan, folder: OutputFolder, scorer: ChunkScorer, chunk: int, engine: JobEngine
) -> str:
    from tqdm import tqdm

    about = {"version": shafer.__version__, "means": scorer.sentence, "plan": plan.digest}
    work = UnitScorer(scorer, str(folder.growing), chunk, about)
    left = [unit for unit in plan.units if not folder.is_done(unit, plan)]
    before = plan.rows - sum(unit.rows for unit in left)
    left_out = ""
    with tqdm(
        total=plan.rows, initial=before, unit="row", unit_scale=True, disable=None
    ) as progress:
        for done in engine.run(work, left):
            assert isinstance(done, UnitDone)
            left_out = left_out or done.left_out
            progress.update(done.rows)
    return left_out
