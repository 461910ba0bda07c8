"""``RowReader``: rows of JSON as a table that the model takes; wrong rows are named, not shown.

What is wrong is told by row and column. Values and names from the body are never repeated: a log
or a browser that shows an answer must not show a patient.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Self, final

import numpy as np

from shafer.explain.explainer import Explainer
from shafer.explain.predictor import Predictor
from shafer.rows.schema import ColumnSchema
from shafer.texts.inputs import first_vectorizer

TEXT = "text"
"""The column of a model that takes texts."""
_EXACT = 2**53
_TYPES = {"number": "number", "whole": "number", "truth": "boolean", "text": "string"}
_WORDS = {
    "number": "a finite number",
    "whole": "a finite number",
    "truth": "true or false",
    "text": "a text",
    "category": "one of the values of training",
    "values": "one of the values of training",
}
_PLAIN = "a text, a finite number, true or false"


class BodyError(ValueError):
    """A body that holds no rows of the model: what is wrong, and where.

    Parameters
    ----------
    problems : sequence of (location, message)
    """

    def __init__(self, problems: Sequence[tuple[tuple[str | int, ...], str]]) -> None:
        super().__init__(problems[0][1])
        self.problems = problems

    @property
    def detail(self) -> list[dict[str, Any]]:
        """The problems in the form of FastAPI, without the input."""
        return [{"loc": ["body", *place], "msg": text} for place, text in self.problems]


def read_json(body: bytes) -> Any:
    """Return the content of a body; NaN, infinity and what is no JSON are refused."""
    try:
        return json.loads(body, parse_constant=_no_constant)
    except BodyError:
        raise
    except (ValueError, RecursionError):  # the text of the error would repeat the body
        raise BodyError([((), "The body must be JSON, in UTF-8.")]) from None


def _no_constant(_: str) -> NoReturn:
    raise BodyError([((), "NaN and Infinity are not JSON. Send null for a missing value.")])


@final
@dataclass(frozen=True, eq=False)
class RowReader:
    """The columns that a service takes.

    Attributes
    ----------
    columns : dict from name to ColumnSchema
        Those of the model, then those of the groups of its promises.
    n_inputs : int
        How many of them are the model's.
    kind : {"frame", "array", "texts"}
        What the model takes.
    """

    columns: dict[str, ColumnSchema]
    n_inputs: int
    kind: str

    @classmethod
    def of(cls, predictor: Predictor, explainer: Explainer) -> Self:
        """Read the columns from a model.

        Raises
        ------
        ValueError
            If the file does not tell them, or groups were given beside the rows.
        """
        weighed = explainer.weighed_model
        schema, names = weighed.schema, predictor.columns or explainer.columns
        kind = "frame"
        if first_vectorizer(weighed.model.encoders) is not None:
            kind, columns = "texts", {TEXT: ColumnSchema("text")}
        elif schema is None:
            raise ValueError(
                "This file does not tell what the columns of a row are. Make the explainer again, "
                "with a data frame as its background, and save it."
            )
        else:
            if names is None:
                kind, names = "array", tuple(f"x{j}" for j in range(len(schema)))
            columns = dict(zip(names, schema.columns, strict=True))
        n_inputs = len(columns)
        kept = predictor.promises
        for method, one in (("conformalize", kept.conformal), ("control_error", kept.deferral)):
            if one is None or one.by is None:
                continue
            if one.column is None:
                raise ValueError(
                    f"{method} was given the groups beside the rows, so a service cannot know "
                    "them. Call it with by= the name of a column."
                )
            columns.setdefault(one.column, ColumnSchema.of_known(one.by))
        return cls(columns, n_inputs, kind)

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON schema of one row."""
        return {
            "type": "object",
            "properties": {name: _described(column) for name, column in self.columns.items()},
            "required": list(self.columns),
            "additionalProperties": False,
        }

    def checked(self, given: Any, place: tuple[int, ...] = ()) -> dict[str, Any]:
        """Return one row of a body after all checks.

        Raises
        ------
        BodyError
            With every column that is missing or wrong.
        """
        if not isinstance(given, Mapping):
            raise BodyError([(place, "A row must be an object: a value for each column.")])
        problems: list[tuple[tuple[str | int, ...], str]] = []
        for name, column in self.columns.items():
            if name not in given:
                problems.append(((*place, name), "This column is missing."))
            elif not _fits(column, given[name]):
                words = _WORDS.get(column.kind, _PLAIN)
                problems.append(
                    ((*place, name), f"This must be {words}, or null if it is missing.")
                )
        more = len(given) - sum(name in given for name in self.columns)
        if more:
            problems.append((place, f"The model does not know {more} of the columns."))
        if problems:
            raise BodyError(problems)
        return dict(given)

    def table(self, rows: Sequence[Mapping[str, Any]]) -> Any:
        """Return rows as the model takes them."""
        if self.kind == "texts":
            return [row[TEXT] if row[TEXT] is not None else "" for row in rows]
        import pandas

        types = {(column.kind, column.precision) for column in self.columns.values()}
        if {kind for kind, _ in types} == {"number"} and len(types) == 1:
            names = list(self.columns)
            values = np.array([[row[name] for name in names] for row in rows], dtype=np.float64)
            values = values.astype(types.pop()[1], copy=False)
            if self.kind == "array" and len(names) == self.n_inputs:
                return values
            return pandas.DataFrame(values, columns=names, copy=False)
        held = {
            name: _column([row[name] for row in rows], column)
            for name, column in self.columns.items()
        }
        frame = pandas.DataFrame(held)
        if self.kind == "array" and len(self.columns) == self.n_inputs:
            return frame.to_numpy()
        return frame


def _fits(column: ColumnSchema, value: Any) -> bool:
    if value is None:
        return True
    if column.kind in ("number", "whole"):
        return type(value) in (int, float) and abs(value) <= float(np.finfo(column.precision).max)
    if column.kind == "truth":
        return isinstance(value, bool)
    if column.kind == "text":
        return isinstance(value, str)
    if not isinstance(value, str | bool | int | float) or not _is_finite(value):
        return False
    return column.kind not in ("category", "values") or not column.unknown([value])


def _is_finite(value: Any) -> bool:
    try:
        return isinstance(value, str) or math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def _column(values: list[Any], column: ColumnSchema) -> Any:
    if column.kind == "number":
        numbers = np.array(values, dtype=np.float64)  # None becomes NaN
        return numbers.astype(column.precision, copy=False)
    if column.kind == "whole":
        whole = all(type(value) is int and abs(value) <= _EXACT for value in values)
        return np.array(values, dtype=np.int64 if whole else np.float64)
    if column.kind == "truth" and None not in values:
        return np.array(values, dtype=bool)
    held = np.empty(len(values), dtype=object)
    held[:] = values
    return held


def _described(column: ColumnSchema) -> dict[str, Any]:
    if column.kind in _TYPES:
        return {"type": [_TYPES[column.kind], "null"]}
    if column.kind in ("category", "values"):
        return {"enum": [*column.known, None]}
    return {"type": ["string", "number", "boolean", "null"]}
