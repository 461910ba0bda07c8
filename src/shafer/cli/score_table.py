"""Score a table of any length: chunk by chunk, and the file appears when it is complete."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

import shafer
from shafer._files import replacing
from shafer.cli.background_means import MeansOptions
from shafer.cli.clean_errors import writing
from shafer.cli.model_loading.load_model import NamedModel
from shafer.cli.scoring.chunk_scorer import ChunkScorer, ExtraColumns
from shafer.cli.scoring.input_files import input_files
from shafer.cli.scoring.table_writer import table_writer
from shafer.cli.table_files import survey
from shafer.cli.table_output import check_output


@final
@dataclass(frozen=True)
class Written:
    """What was written: the number of rows, and sentences on the means and on what was left out."""

    rows: int
    means: str
    left_out: str = ""


def _in_folder(out: Path) -> Path:
    """Make the folder of a file."""
    out.parent.mkdir(parents=True, exist_ok=True)
    return out


def write_scores(
    data: Path,
    out: Path,
    model: NamedModel | None,
    options: MeansOptions,
    chunk: int,
    extra: ExtraColumns,
) -> Written:
    """Write the evidence of every row of a table.

    Parameters
    ----------
    data, out : Path
        CSV or Parquet files.
    model : NamedModel, optional
        By default a logistic regression is trained.
    options : MeansOptions
        Training data, target and text column.
    chunk : int
        Rows held at a time.
    extra : ExtraColumns
        What to write besides the evidence.
    """
    from tqdm import tqdm

    input_files(data)  # a wrong path is reported before --out, which may be right for a folder
    check_output(out, (data, options.train_path))
    found = survey(data, chunk)
    if found.rows == 0:
        raise ValueError(f"{data} has no rows.")
    scorer = ChunkScorer.of(model, data, [data], found.kinds, options, chunk, extra)
    about = {"version": shafer.__version__, "means": scorer.sentence}
    asked = scorer.asking()
    done = 0
    with (
        writing(out),
        replacing(_in_folder(out)) as file,
        table_writer(file, out, about) as write,
        tqdm(total=found.rows, unit="row", unit_scale=True, disable=None) as progress,
    ):
        for table in scorer.tables(data, chunk, 0, asked):
            write(table)
            done += len(table["row"])
            progress.update(len(table["row"]))
    if done != found.rows:
        raise ValueError(f"{data} changed while it was read. Score it again.")
    return Written(done, scorer.sentence, "" if asked is None else asked.left_out)
