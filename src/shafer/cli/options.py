"""Options that several commands share, and how they are read."""

from __future__ import annotations

import functools
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import click

from shafer._terminal import Refused, ended_cleanly, refusing
from shafer._text import listed, one_line
from shafer.evidence.base_rate import PRIORS
from shafer.scale.tables import read_table

if TYPE_CHECKING:
    from shafer.scale.background_means import MeansOptions
    from shafer.scale.models import NamedModel


_ELSEWHERE = {"model_path", "train_path", "trusted", "trust_pickle"}  # files, and what is trusted
_PART = re.compile(r"(\d+)|(\d*):(\d*)")
_PATH = click.Path(path_type=Path)


def examples(*lines: str) -> str:
    """Return examples for the end of a help text, one on each line."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def page_path(given: Path, option: str, name: str) -> Path:
    """Return the page to write: the file itself, or one of this name in a folder."""
    if given.is_dir() or not (given.suffix or given.exists()):
        given = given / name
    if given.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{option} must be an .html file or a folder; got {given}.")
    return given


@final
@dataclass(frozen=True)
class ModelOptions:
    """The options about the model and its columns, as the user gave them."""

    model_path: Path | None
    train_path: Path | None
    target: str | None
    text_column: str | None
    means_from_data: bool
    prior: str | None
    missing: str | None
    trusted: tuple[str, ...]
    trust_pickle: bool
    drop: tuple[str, ...]
    ids: tuple[str, ...]
    threshold: str | None
    loss: str | None

    def loaded(self) -> NamedModel | None:
        """Load the model, if one was given."""
        from shafer.scale.models import NamedModel, load_model

        if self.model_path is None:
            return None
        if self.drop:
            raise ValueError(
                f"--drop {self.drop[0]} cannot be used with --model: the model takes the columns "
                "it was trained on. Leave out --drop; further columns are ignored."
            )
        model = load_model(self.model_path, self.trusted, self.trust_pickle)
        return NamedModel(model, self.model_path.name)

    def choices(self) -> dict[str, Any]:
        """Return the options about columns and means that are not files, as plain values."""
        names = [field.name for field in fields(self) if field.name not in _ELSEWHERE]
        return {name.replace("_", "-"): getattr(self, name) for name in names}

    def means(
        self, *, of_table: bool = False, errors: str | None = None, acts: bool = False
    ) -> MeansOptions:
        """Return the options that choose the means.

        ``of_table`` is for a command about the table as a whole, which may give the means itself.
        ``errors`` asks for error bars, from the same data. ``acts`` is for a command whose
        ``--loss`` may also be about acts that are no classes.
        """
        from shafer.scale.background_means import MeansOptions
        from shafer.scale.models import read_loss_table

        from_data = self.means_from_data or of_table
        return MeansOptions(
            self.train_path,
            from_data,
            self.target,
            self.text_column,
            self.prior,
            errors,
            self.missing,
            self.drop,
            self.ids,
            self.threshold,
            None if self.loss is None else read_loss_table(self.loss),
            acts,
        )


_OPTIONS = (
    click.option(
        "--model",
        "model_path",
        type=_PATH,
        help="A trained model: a file of shafer save or of Explainer.save, or a skops file.",
    ),
    click.option(
        "--train",
        "train_path",
        type=_PATH,
        help="Training data (CSV or Parquet). Weights of evidence are relative to its means. "
        "Without --model, a logistic regression is trained on it.",
    ),
    click.option(
        "--target",
        help="The column with the classes. Needed without --model, to train one.",
    ),
    click.option("--text-column", help="The column with the texts, for a model that takes texts."),
    click.option(
        "--means-from-data",
        is_flag=True,
        help="Take the means from the rows of the data if neither the model file nor --train "
        "gives those of the training data. A row's numbers then depend on the other rows of the "
        "file. (shafer report does this without the option.)",
    ),
    click.option(
        "--prior",
        type=click.Choice(PRIORS[::-1]),
        help="The base rate: a component of its own (own, the default), or shared equally among "
        "the components, as in the paper (shared). Probabilities are the same. An Explainer or "
        "EvidentialClassifier in the model file keeps its own choice.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["conditional", "vacuous"]),
        help="What to put in the place of missing inputs of a linear model: what the other inputs "
        "suggest (conditional, needs --train), or no evidence (vacuous). By default the model "
        "itself must take them, such as by an imputer. An Explainer or EvidentialClassifier in "
        "the model file keeps its own choice.",
    ),
    click.option(
        "--trust",
        "trusted",
        multiple=True,
        metavar="CLASS",
        help="The full name of a class in the model file that you trust, such as "
        "xgboost.sklearn.XGBClassifier. Functions are never loaded.",
    ),
    click.option(
        "--trust-pickle",
        is_flag=True,
        help="Load a pickle or joblib file, which may run any code.",
    ),
    click.option(
        "--drop",
        multiple=True,
        metavar="COLUMN",
        help="Leave this column out of the model that is trained here. Give the option once for "
        "each column.",
    ),
    click.option(
        "--id",
        "ids",
        multiple=True,
        metavar="COLUMN",
        help="A column that names the rows, such as a patient number. It is kept as it is written, "
        "and never reaches the model. Repeat the option if only several columns tell all rows "
        "apart.",
    ),
    click.option(
        "--threshold",
        metavar="NUMBER|CLASS=NUMBER",
        help="From which probability on the answer is the second of two classes, or the class that "
        "is named, such as ill=0.2. By default the model's own threshold, or one half. A saved "
        "model keeps its own.",
    ),
    click.option(
        "--loss",
        metavar="FILE|JSON",
        help="What errors cost: a table with the column act (the answer) and a column for each "
        'class, or JSON such as {"ill": {"ill": 0, "well": 1}, "well": {"ill": 5, "well": 0}}. The '
        "answer is then the class of the least expected loss. A saved model keeps its own.",
    ),
)


def model_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options about the model; the command gets them as one :class:`ModelOptions`."""

    @functools.wraps(command)
    def collected(**given: Any) -> None:
        chosen = {field.name: given.pop(field.name) for field in fields(ModelOptions)}
        command(options=ModelOptions(**chosen), **given)

    for option in reversed(_OPTIONS):
        collected = option(collected)
    return collected


keep_option = click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="A column of the data to write as well, as it is. It may be repeated.",
)
errors_option = click.option(
    "--errors",
    type=click.Choice(["sandwich", "laplace"]),
    help="Give the weights error bars: how far they could move with other training data. For "
    "linear models, with the training data (--train, or a model trained here).",
)


def read_rows(value: str) -> list[slice]:
    """Read rows such as ``0:100``, ``3,7,9`` or ``:10,42``."""
    parts = []
    for text in value.split(","):
        found = _PART.fullmatch(text.strip())
        if found is None:
            raise ValueError(
                f"--rows must be rows such as 3,7,9 or 0:100; got {value!r}. For ids, name their "
                "column with --id."
            )
        one, start, stop = found.groups()
        if one is not None:
            parts.append(slice(int(one), int(one) + 1))
        else:
            parts.append(slice(int(start or 0), int(stop) if stop else None))
    return parts


def rows_among(parts: list[slice], n: int) -> list[int]:
    """Return the row numbers, checked against the number of rows."""
    rows: dict[int, None] = {}
    for part in parts:
        stop = n if part.stop is None else part.stop
        outside = [row for row in (part.start, stop - 1) if not 0 <= row < n]
        if outside or stop <= part.start:
            given = f"{part.start}:{stop}" if stop != part.start + 1 else f"{part.start}"
            raise ValueError(f"--rows must lie between 0 and {n - 1}; got {given}.")
        rows.update(dict.fromkeys(range(part.start, stop)))
    return list(rows)


@contextmanager
def careful(*, findings: bool = False) -> Iterator[None]:
    """Show errors in one line, and hide warnings that do not concern the user.

    ``findings``: the exit code 1 means that the command found something, so no error may have it.
    """
    with ended_cleanly(), refusing(), warnings.catch_warnings():
        # Models trained on arrays are given frames, for the names of their columns.
        warnings.filterwarnings("ignore", message="X has feature names")
        warnings.filterwarnings("ignore", message="Found unknown categories")
        warnings.filterwarnings("ignore", message="The number of unique classes is greater than")
        try:
            yield
        except (ValueError, OSError, TypeError, ImportError, MemoryError, click.ClickException):
            raise
        except Exception as error:
            if not findings:
                raise
            raise Refused(f"{type(error).__name__}: {one_line(error)}") from error


# Costs of inputs as the user gives them: ``name=number``, or a table of them.

_COLUMNS = ("input", "cost")


def read_costs(given: Iterable[str]) -> dict[str, float] | None:
    """Return input -> cost; None if no costs were given.

    Parameters
    ----------
    given : iterable of strings
        Each is ``name=number``, or the path of a CSV or Parquet file with the columns ``input``
        and ``cost``.
    """
    costs: dict[str, float] = {}
    for text in given:
        own = _one_cost(text) if "=" in text and not Path(text).exists() else _of_file(Path(text))
        twice = sorted(costs.keys() & own.keys())
        if twice:
            raise ValueError(f"--costs gives {listed(twice)} twice. Give each input one cost.")
        costs |= own
    return costs or None


def _one_cost(text: str) -> dict[str, float]:
    name, _, number = text.rpartition("=")
    return {name.strip(): _cost(number, name.strip(), "--costs")}


def _of_file(path: Path) -> dict[str, float]:
    if not path.exists():
        raise ValueError(
            f"--costs must be a cost such as age=2.5, or a table of costs; got {path}, which is "
            "not a file."
        )
    table = read_table(path)
    frame = table.frame
    lacking = [name for name in _COLUMNS if name not in frame.columns]
    if lacking:
        raise ValueError(
            f"{path} lacks the column(s) {listed(lacking)}. A table of costs has the columns input "
            "and cost."
        )
    names = [str(name) for name in table.cells["input"]]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{path} gives {listed(twice)} twice. Give each input one cost.")
    cells = zip(names, frame["cost"], strict=True)
    return {name: _cost(cost, name, str(path)) for name, cost in cells}


def _cost(cost: object, name: str, where: str) -> float:
    try:
        number = float(str(cost))
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0.0):
        raise ValueError(
            f"{where} gives {str(cost)!r} as the cost of {name!r}. A cost must be a number > 0."
        )
    return number
