"""From files named on the command line to reports of a monitor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from shafer.cli.background_means import MeasuredModel, measured_model
from shafer.cli.model_inputs import ModelInputs, model_inputs
from shafer.cli.model_loading.load_model import NamedModel
from shafer.cli.shared_options import ModelOptions
from shafer.cli.table_files import as_kinds, kinds_of, read_table
from shafer.cli.target_labels import known_labels, read_labels
from shafer.cli.terminal_output import note
from shafer.cli.trained_model import train_on
from shafer.models import Explainer
from shafer.monitor import Monitor, MonitorReport

_PAGES = (".html", ".htm")


@final
@dataclass(frozen=True, eq=False)
class Monitored:
    """Reports of files, in their order, the names of the files, and a sentence on the means."""

    reports: list[MonitorReport]
    names: list[str]
    about: str


def check_page(out: Path, inputs: Iterable[Path | None]) -> None:
    """Refuse a page that is not HTML, or that is one of the inputs."""
    if out.suffix.lower() not in _PAGES:
        raise ValueError(f"--out must be a .html file; got {out}.")
    if any(p is not None and p.exists() and out.exists() and p.samefile(out) for p in inputs):
        raise ValueError(f"--out must be another file than the data; got {out}.")


@final
@dataclass(frozen=True, eq=False)
class _Reader:
    """Reads rows as the model takes them, and their classes."""

    model: MeasuredModel
    inputs: ModelInputs
    labels: str | None
    truth_as_text: bool

    def rows(self, frame: Any, path: Path) -> Any:
        lacking = [name for name in self.inputs.kinds if name not in frame.columns]
        if lacking:
            raise ValueError(
                f"{path} lacks the column {lacking[0]!r}, which the model needs. Add it, with the "
                "name that it had in training."
            )
        try:
            known = as_kinds(frame, self.inputs.kinds, truth_as_text=self.truth_as_text)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        return self.inputs.rows(known)

    def truth(self, frame: Any, path: Path) -> Any:
        if self.labels is None:
            return None
        given = read_labels(frame, self.labels, path)
        return known_labels(given, self.model.classes, self.labels)


def monitored_files(
    named: NamedModel | None,
    reference: Path,
    new: tuple[Path, ...],
    options: ModelOptions,
    labels: str | None,
    alpha: float,
) -> Monitored:
    """Fit a monitor on one file, and check the others.

    Parameters
    ----------
    named : NamedModel, optional
        By default a logistic regression is trained, on ``--train``.
    reference, new : Path, tuple of Path
    options : ModelOptions
    labels : str, optional
        The column with the true classes.
    alpha : float
    """
    frame = read_table(reference)
    reader = _reader(named, frame, reference, options, labels)
    explainer = reader.model.evidence
    if not isinstance(explainer, Explainer):
        raise ValueError(
            "shafer monitor needs a model with weights of evidence; this one makes its evidence in "
            "another way. Use one of the models of docs/guide/models.md."
        )
    note(f"Reading {len(frame):,} reference rows …")
    monitor = Monitor.fit(
        explainer, reader.rows(frame, reference), reader.truth(frame, reference), alpha=alpha
    )
    reports = []
    for path in new:
        note(f"Checking {path.name} …")
        frame = read_table(path)
        truth = reader.truth(frame, path)
        X = reader.rows(frame, path)
        try:
            reports.append(monitor.check(X, truth))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
    return Monitored(reports, [path.name for path in new], reader.model.sentence)


def _reader(
    named: NamedModel | None, frame: Any, path: Path, options: ModelOptions, labels: str | None
) -> _Reader:
    means = options.means(of_table=True)
    if named is None:
        if options.train_path is None or options.target is None:
            raise ValueError(
                "shafer monitor needs --model, or --train and --target to train a logistic "
                "regression."
            )
        trained = train_on(options.train_path, options.target, means)
        own = MeasuredModel.relative(trained.explainer, f"of {options.train_path.name}")
        return _Reader(own, ModelInputs(trained.kinds), labels, truth_as_text=True)
    target = options.target if labels is None else labels
    inputs = model_inputs(
        named.model, kinds_of(frame), path, target=target, text_column=options.text_column
    )
    known = as_kinds(frame, inputs.kinds, truth_as_text=False)
    X = inputs.rows(known)
    measured = measured_model(named.model, inputs, path, lambda: X, means)
    return _Reader(measured, inputs, labels, truth_as_text=False)
