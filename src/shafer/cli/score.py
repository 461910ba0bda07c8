"""``shafer score``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shafer.cli.options import ModelOptions, careful, examples, keep_option, model_options
from shafer.decision.rules import RULES
from shafer.scale.bad_rows import ON_ERROR, BadRowOptions, OnError
from shafer.scale.engines import ENGINES, job_engine
from shafer.scale.run_log import LOG_FORMATS, LogFormat, RunLog
from shafer.scale.run_record import RunRecord

if TYPE_CHECKING:
    from shafer.scale.folder import Written

_PATH = click.Path(path_type=Path)


@click.command(
    epilog=examples(
        "shafer score new.csv --model model.shafer --id patient --out scored.parquet",
        "shafer score new.csv --model model.skops --train old.csv --out scored.parquet",
        "shafer score new.csv --train old.csv --target chd --out scored.csv",
        "shafer score new.csv --model model.skops --out scored.csv --reasons 4 --class 1",
        "shafer score new.csv --model model.skops --train old.csv --ask --out scored.csv",
        "shafer score new.csv --model model.shafer --evidence --keep ward --out scored.csv",
        "shafer score new.csv --model model.skops --loss costs.csv --reject 0.5 --out scored.csv",
        "shafer score new.csv --model model.shafer --on-error quarantine --out scored.csv",
        "shafer score folder --model explainer.shafer --out scores --engine dask",
        "shafer score 'logs/*.csv' --model explainer.shafer --out scores --engine spark",
    )
)
@click.argument("data", type=click.Path(path_type=Path))
@model_options
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The table to write: .csv, .csv.gz or .parquet. For several files or with --engine, the "
    "folder to write.",
)
@click.option(
    "--chunk",
    type=click.IntRange(min=1),
    default=20_000,
    show_default=True,
    help="Rows held in memory at a time.",
)
@click.option(
    "--reasons",
    type=click.IntRange(min=0),
    help="Write so many reasons for each row: the components that favour its answer most. By "
    "default 3 if the model file was calibrated or --class, --over or --codes is given, and none "
    "otherwise.",
)
@click.option(
    "--class",
    "class_",
    metavar="CLASS",
    help="Write the reasons for this class, not for the answer.",
)
@click.option(
    "--over",
    metavar="CLASS",
    help="Compare it with this class; by default with the most probable other class of the row.",
)
@click.option(
    "--codes",
    type=click.Path(path_type=Path),
    help="A CSV file with the columns component, code and text: your reason codes.",
)
@click.option(
    "--ask",
    is_flag=True,
    help="Also write what to measure, what to check and whether the answer would stand.",
)
@click.option(
    "--evidence",
    is_flag=True,
    help="Also write belief, plausibility, lack, contradiction, ignorance, conflict and more.",
)
@keep_option
@click.option(
    "--reject",
    type=float,
    help="The cost of not deciding, as one more act; without --loss, a wrong class costs 1.",
)
@click.option(
    "--rule",
    type=click.Choice(list(RULES)),
    help="How --loss and --reject decide; by default by the least expected loss.",
)
@click.option(
    "--on-error",
    type=click.Choice(ON_ERROR),
    default="stop",
    show_default=True,
    help="What to do about rows that cannot be scored: stop; leave them out (skip); or leave them "
    "out and write them, with what is wrong, to a side file beside --out (quarantine).",
)
@click.option(
    "--raw-csv",
    is_flag=True,
    help="Read and write texts of CSV files as they are. By default texts that a spreadsheet would "
    "run as a formula get an apostrophe in the output, which is removed again when they are read.",
)
@click.option(
    "--summary",
    type=_PATH,
    help="A JSON file about this run: rows, seconds, versions, and digests of all files that were "
    "read and written. A folder has one in any case, _run.json, without digests of the data.",
)
@click.option(
    "--log-format",
    type=click.Choice(LOG_FORMATS),
    default="text",
    show_default=True,
    help="How to report on the error stream: sentences, or a JSON object on each line.",
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    help="Let Dask, Spark or Ray score the files side by side; --out is a folder of Parquet files.",
)
@click.option(
    "--address",
    help="A running cluster: of Dask (tcp://host:8786), Spark (spark://host:7077) or Ray (auto). "
    "By default workers are started on this machine.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="How many workers to start on this machine; by default one for each processor.",
)
def score(
    data: Path,
    options: ModelOptions,
    out: Path,
    chunk: int,
    engine: str | None,
    address: str | None,
    workers: int | None,
    on_error: OnError,
    raw_csv: bool,
    summary: Path | None,
    log_format: LogFormat,
    **wanted: Any,
) -> None:
    """Write the answer about every row of DATA, the probabilities, and what was promised.

    The columns are those of --id and --keep (without --id the number of the row), answer (the
    class) and the probability of each class. If the model file was calibrated (shafer save
    --calibrate, or conformalize and control_error), there are also set (a set of classes with a
    guaranteed coverage), deferred (true if a person should decide) and why; groups are read from
    their column. The table is read in chunks, so it may be larger than the memory. The file --out
    appears when it is complete.

    With --evidence there are also the belief, plausibility and pignistic probability of each
    class, the lack of evidence, the contradiction, the ignorance, the conflict and its weight.

    With --reasons there are also the columns reasons_class and reasons_over (the two classes
    compared) and, for the first reason, reason_1 (a component), reason_1_value (of its input),
    reason_1_log_odds (what it adds to the log-odds), reason_1_share (of all that is added) and
    reason_1_words (a sentence); with --codes also reason_1_code and reason_1_text. Cells are empty
    where a row has fewer reasons.

    With --ask there are also the columns fragility (the chance that the answer changes if each
    input is lost with a chance of 20 %), overturn (the chance that the missing inputs change it),
    next_input and next_information (the missing input that would tell most, in nats), check_input,
    check_expected and check_stake (the value to check first, what the other inputs suggest in its
    place, and what is at stake, in nats) and alarm (the probability that some value is wrong, if
    one row in five has a wrong value). Linear models on single columns have all of them, if the
    training data are known; other models have fragility, of their components.

    With --loss or --reject there are also the columns act (what to do) and expected_loss (what it
    costs on average, under the probabilities). A rule that keeps several acts writes a set of them
    and no cost. The rules are in docs/guide/deciding.md.

    DATA may be a folder of Parquet or CSV files, or a pattern in quotes such as 'data/*.csv'. Then
    --out is a folder: it gets a Parquet file for each part of the data, and the file _SUCCESS.
    It appears when it is complete. If the command is stopped, or stops at a bad row and you correct
    its file, repeat it: finished parts are not scored again. With --engine the parts are scored
    side by side, by Dask, Spark or Ray.

    The exit code is 0 if all rows were scored, 1 if rows were left out (--on-error), and 2 on an
    error; then nothing is written to --out.

    Weights of evidence are relative to the means of the training data. These come from the model
    file (classifiers of shafer, Explainer, a linear model behind a StandardScaler) or from --train.
    """
    log = RunLog(log_format)
    record = RunRecord(summary, "score", data, out)
    with log.refusals(), record.refusals(), careful(findings=True):
        from shafer.scale.columns import ScoreOptions
        from shafer.scale.folder import FolderRequest, names_many, write_score_folder, write_scores

        _check_engine(engine, address, workers)
        is_one = engine is None and not names_many(data)
        runner = None if is_one else job_engine(engine, address, workers)  # before long reading
        columns = ScoreOptions(**wanted, loss=options.loss, bad=BadRowOptions(on_error, raw_csv))
        columns.check()
        model, means = options.loaded(), options.means(acts=True)
        contents = {"--model": options.model_path, "--train": options.train_path}
        contents |= columns.contents()
        choices = columns.choices() | options.choices()
        record.begin(contents, choices, engine)
        if runner is None:
            written = write_scores(data, out, model, means, chunk, columns, log)
        else:
            request = FolderRequest(data, out, contents, choices)
            written = write_score_folder(request, model, means, chunk, columns, runner, log)
        found = record.done(written)
    told = ("rows", "bad_rows", "seconds", "exit_code", "out", "quarantine")
    log.done(_sentence(written, out, on_error), **{name: found[name] for name in told})
    if written.bad:
        raise SystemExit(1)


def _sentence(written: Written, out: Path, on_error: OnError) -> str:
    """Return what was written."""
    text = f"{written.means} Written to {out}: {written.rows} rows."
    if written.left_out:
        text += f" {written.left_out}"
    if written.bad:
        what = "row was" if written.bad == 1 else "rows were"
        text += f" {written.bad} {what} left out; the first: {written.reason}"
        if written.side is not None and on_error == "quarantine":
            text += f" They are in {written.side}."
    return text


def _check_engine(engine: str | None, address: str | None, workers: int | None) -> None:
    for option, value in (("--address", address), ("--workers", workers)):
        if value is not None and engine is None:
            raise ValueError(f"{option} needs --engine: {', '.join(ENGINES)}.")
    if address is not None and workers is not None:
        raise ValueError("--workers starts workers on this machine; leave it out with --address.")
