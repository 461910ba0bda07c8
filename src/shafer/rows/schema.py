"""``InputSchema``: what each column of the training data held, so that new rows are read alike.

Files keep no types, and every library of frames has its own. Nothing is guessed from new rows: a
column is read as what it was in training, and what does not fit is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Self, final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from shafer._checks.frames import frame_columns, frame_of
from shafer._checks.labels import is_missing
from shafer._files.codec import LEFT_OUT, OneOf
from shafer._text import shortened
from shafer._typing import BoolArray
from shafer.errors import BadRowsError
from shafer.rows.csv_cells import apostrophes
from shafer.rows.usual import UsualValues

KINDS = ("number", "whole", "truth", "text", "category", "values", "written", "other")
GAP_WORDS = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
"""Cells of a file that are missing in a column of numbers or truth values."""
_TRUTH = {"true": True, "false": False}
_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_PLAIN = (str, bool, int, float)
_EXACT = 2**53  # larger whole numbers are not told apart by floats
_TAKE_NUMBERS = frozenset({
    "StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "LogisticRegression",
    "SGDClassifier", "LinearDiscriminantAnalysis",
})  # fmt: skip
"""Steps that convert all their columns to numbers."""
_WIDTHS = {2: "float16", 4: "float32"}  # of columns of numbers, besides float64
_LARGEST_KEPT = 10_000  # values of a column of several types


@final
@dataclass(frozen=True, eq=False)
class ColumnSchema:
    """What a column of the training data held.

    Attributes
    ----------
    kind : str
        ``"number"``, ``"whole"`` (numbers), ``"truth"`` (values), ``"text"``, ``"category"`` (a
        column type with its categories), ``"values"`` (of several types), ``"written"`` (the model
        reads every value as text), or ``"other"``: not known.
    categories : array or None
        All values that a column of categories, or of several types, may have.
    ordered : bool
        Whether the categories have an order.
    gap : {"", "nan", "none"}
        How missing values were held in training; empty if there were none.
    empty : bool
        Whether the empty text was one of the values.
    apostrophes : tuple of int
        How many apostrophes stood before texts that a spreadsheet would run as formulas.
    precision : {"float64", "float32", "float16"}
        How numbers were held. A text such as "0.1" is another number in each of them.
    """

    kind: Annotated[str, OneOf(*KINDS)]
    categories: Annotated[NDArray[Any] | None, LEFT_OUT] = None
    ordered: Annotated[bool, LEFT_OUT] = False
    gap: Annotated[str, OneOf("", "nan", "none"), LEFT_OUT] = ""
    empty: Annotated[bool, LEFT_OUT] = False
    apostrophes: Annotated[tuple[int, ...], LEFT_OUT] = ()
    precision: Annotated[str, OneOf("float64", "float32", "float16"), LEFT_OUT] = "float64"

    @classmethod
    def of(cls, column: Any) -> Self:
        """Describe a pandas column of the training data."""
        import pandas

        dtype = column.dtype
        letter = getattr(dtype, "kind", "O")
        if letter == "b":
            return cls("truth", gap=_gap_of(column))
        if letter in "iuf":
            return cls.of_numbers(dtype)
        if dtype.name == "category":
            return cls._of_categories(column)
        if not pandas.api.types.is_object_dtype(dtype) and not _is_string(dtype):
            return cls("other")
        return cls._of_objects(column, pandas.api.types.infer_dtype(column, skipna=True))

    @classmethod
    def of_numbers(cls, dtype: Any) -> Self:
        """Describe a column of numbers by its type."""
        if dtype.kind != "f":
            return cls("whole")
        return cls("number", precision=_WIDTHS.get(dtype.itemsize, "float64"))

    @classmethod
    def _of_categories(cls, column: Any) -> Self:
        known = column.cat.categories
        if not all(isinstance(_plain(value), _PLAIN) for value in known.tolist()):
            return cls("other")  # such as intervals
        kind = getattr(known.dtype, "kind", "O")
        numbers = isinstance(known.dtype, np.dtype) and kind in "biuf"
        values = np.asarray(known) if numbers else _objects(known.tolist())
        ordered = bool(column.cat.ordered)
        marks = _apostrophes(values.tolist())
        return cls("category", values, ordered, _gap_of(column), "" in values.tolist(), marks)

    @classmethod
    def _of_objects(cls, column: Any, content: str) -> Self:
        gap = _gap_of(column)
        if content in ("string", "empty"):
            kind = "text" if content == "string" else "other"
            empty = bool((column == "").fillna(False).any())
            return cls(kind, gap=gap, empty=empty, apostrophes=_apostrophes(column))
        if content in ("integer", "boolean"):
            return cls("whole" if content == "integer" else "truth", gap=gap)
        if content in ("floating", "mixed-integer-float"):
            return cls("number", gap=gap)
        if content.startswith("mixed"):
            values = column.dropna()
            if all(isinstance(_plain(value), _PLAIN) for value in values):
                found = list({_key(value): _plain(value) for value in values}.values())
                if len(found) <= _LARGEST_KEPT:
                    marks = _apostrophes(found)
                    return cls("values", _objects(found), False, gap, "" in found, marks)
        return cls("other")

    @classmethod
    def of_known(cls, values: Iterable[Any]) -> Self:
        """Describe a column by all values that an encoder learned in training."""
        import pandas

        held = _objects([_plain(value) for value in values])
        found = cls.of(pandas.Series(held, dtype=object))
        return found if found.kind != "number" else replace(found, gap="")

    def joined(self, other: ColumnSchema) -> ColumnSchema:
        """Describe the same column in two batches of the training data."""
        gap, empty = self.gap or other.gap, self.empty or other.empty
        marks = tuple(sorted({*self.apostrophes, *other.apostrophes}))
        kinds = {self.kind, other.kind}
        if self.same_categories(other) and len(kinds) == 1:
            wider = self.precision if self.precision == other.precision else "float64"
            return replace(self, gap=gap, empty=empty, apostrophes=marks, precision=wider)
        if kinds == {"number", "whole"}:
            return ColumnSchema("number", gap=gap)
        if kinds == {"values"}:
            found = list({_key(v): v for v in (*self.known, *other.known)}.values())
            return ColumnSchema("values", _objects(found), False, gap, empty, marks)
        if kinds == {"category"}:  # batches that were converted one by one
            columns = ColumnSchema.of_known((*self.known, *other.known))
            return replace(columns, gap=gap, empty=empty, apostrophes=marks)
        return ColumnSchema("other")

    def same_categories(self, other: ColumnSchema) -> bool:
        """Return whether two columns have the same categories in the same order."""
        if self.categories is None or other.categories is None:
            return self.categories is other.categories
        alike = list(map(_key, self.known)) == list(map(_key, other.known))
        return alike and self.categories.dtype == other.categories.dtype

    @property
    def known(self) -> list[Any]:
        """The categories; empty if there are none."""
        return [] if self.categories is None else list(self.categories.tolist())

    @property
    def holds_texts(self) -> bool:
        """Whether some of the values are texts."""
        return self.kind == "text" or any(isinstance(value, str) for value in self.known)

    @property
    def is_read_as_text(self) -> bool:
        """Whether the cells of a CSV file are read as texts first."""
        return self.kind != "number"

    def of_cells(self, cells: Any, name: str, *, raw_csv: bool = False) -> Any:
        """Return the texts of a CSV column, a pandas series, as they were in training.

        Parameters
        ----------
        cells : pandas series of texts
            As they are written; a column of numbers may have been read already.
        name : str
            The column, for messages.
        raw_csv : bool
            Keep every apostrophe. By default one is removed that stands before a formula, if
            the texts of training had one less there.
        """
        if getattr(cells.dtype, "kind", "O") in "iufb" or self.kind == "other":
            return self.of_values(cells, name)
        cells = cells if raw_csv or not self.apostrophes else self._unescaped(cells, name)
        words = GAP_WORDS if self.kind in ("number", "whole", "truth") else ("",)
        gaps = cells.isin(words) | cells.isna()
        if self.empty and gaps.any():
            if self.gap:
                raise _misfit(
                    name, cells, gaps, "not be empty in a CSV file: empty texts and missing values "
                    "are not told apart there, and training had both. Use a Parquet file"
                )  # fmt: skip
            return self.of_values(cells.astype(object).where(~gaps, ""), name)
        return self.of_values(cells.astype(object).where(~gaps, np.nan), name)

    def _unescaped(self, cells: Any, name: str) -> Any:
        """Remove the apostrophe that keeps a spreadsheet from running a text, where one was added.

        Both readings of a cell may be texts of training; then it is refused.
        """
        found = cells.map(apostrophes, na_action="ignore")
        one_less = found.sub(1).isin(self.apostrophes)
        unclear = one_less & found.isin(self.apostrophes)
        if unclear.any():
            raise _misfit(
                name, cells, unclear, "not begin with an apostrophe and a sign in a CSV file, "
                "because training had such texts with and without it. Use a Parquet file, or read "
                "the file with --raw-csv",
            )  # fmt: skip
        return cells.where(~one_less, cells.astype(str).str[1:]) if one_less.any() else cells

    def takes(self, dtype: Any) -> bool:
        """Return whether ``of_values`` gives any pandas column of this type back as it is."""
        letter, plain = getattr(dtype, "kind", "O"), isinstance(dtype, np.dtype)
        if self.kind == "other" or letter in "mMc" or _is_sparse(dtype):
            return True
        letters = {"number": "iubf", "whole": "iub", "truth": "b"}.get(self.kind)
        if letters is not None:
            return plain and letter in letters
        if self.kind == "text":
            return self.gap != "none" and dtype.name == "str" and _is_string(dtype)
        if self.kind == "category" and dtype.name == "category":
            return self._is_same(dtype.categories)
        return False

    def of_values(self, column: Any, name: str) -> Any:
        """Return a pandas column of any type as it was in training; the same one if it is.

        Raises
        ------
        ValueError
            If a value does not fit; the row and the column are named.
        """
        if self.takes(column.dtype):
            return column
        if self.kind == "number":
            return _numbers(column, name)
        if self.kind == "whole":
            return _whole(column, name)
        if self.kind == "truth":
            return self._truths(column, name)
        if self.kind == "written":
            return column.astype(object) if column.dtype.name == "category" else column
        if self.kind == "text":
            return self._texts(column, name)
        return self._placed(column, name)

    def unknown(self, values: Sequence[Any]) -> list[tuple[int, Any]]:
        """Return the positions and values that are none of the categories, nor missing."""
        held = [(k, value) for k, value in enumerate(values) if not is_missing(value)]
        place = self._places([value for _, value in held], self.known)
        return [(k, value) for k, value in held if _key(value) not in place]

    def _filled(self, column: Any, gaps: Any) -> Any:
        """Return a column of objects whose gaps are held as in training."""
        return column.astype(object).where(~gaps, None if self.gap == "none" else np.nan)

    def _texts(self, column: Any, name: str) -> Any:
        import pandas

        values = column.astype(object)
        gaps = values.isna()
        content = pandas.api.types.infer_dtype(values, skipna=True)
        if content not in ("string", "empty"):
            wrong = ~gaps & ~values.map(lambda value: isinstance(value, str | int | np.integer))
            wrong |= ~gaps & values.map(lambda value: isinstance(value, bool | np.bool_))
            if wrong.any():
                raise _misfit(name, values, wrong, "hold texts")
            values = values.map(str).where(~gaps, np.nan)
        elif values is column and not gaps.any():
            return column
        return self._filled(values, gaps) if gaps.any() else values

    def _truths(self, column: Any, name: str) -> Any:
        values = column.astype(object)
        gaps = values.isna()
        place = self._places(values[~gaps].unique(), [False, True])
        wrong = ~gaps & values.map(lambda value: place.get(_key(value)) is None).astype(bool)
        if wrong.any():
            raise _misfit(name, values, wrong, "hold truth values")
        found = values.map(lambda value: place.get(_key(value)) if not is_missing(value) else value)
        if not gaps.any():
            return found.astype(bool)
        if self.gap:
            return self._filled(found.map({0: False, 1: True}), gaps)
        return found.where(~gaps, np.nan).astype(float)

    def _placed(self, column: Any, name: str) -> Any:
        """Return a column with the values, or the categories, of training."""
        import pandas

        assert self.categories is not None
        is_category = column.dtype.name == "category"
        values = column.astype(object)
        gaps = values.isna()
        place = self._places(values[~gaps].unique(), self.categories.tolist())
        found = values.map(lambda v: -1 if is_missing(v) else place.get(_key(v), -2))
        codes = found.astype(int)
        if (codes == -3).any():
            what = "hold values that are told apart in a file: several values of training"
            raise _misfit(name, values, codes == -3, f"{what} are written like this one")
        unknown = codes == -2
        if self.kind == "category" and (is_category or not unknown.any()):
            more = pandas.unique(values[unknown]).tolist()
            last = {_key(value): len(self.categories) + k for k, value in enumerate(more)}
            codes = codes.where(~unknown, values.map(lambda value: last.get(_key(value), -1)))
            index = self._index if not more else pandas.Index([*self.categories.tolist(), *more])
            typed = pandas.Categorical.from_codes(codes.astype(int), index, ordered=self.ordered)
            return pandas.Series(typed, index=column.index, name=column.name)
        if self.kind == "values" and unknown.any():
            raise _misfit(name, values, unknown, "hold a value of the training data")
        known = dict(enumerate(self.categories.tolist()))
        held = [v if c < 0 else known[c] for c, v in zip(codes, values, strict=True)]
        made = pandas.Series(_objects(held), index=column.index, name=column.name)
        return self._filled(made, gaps) if gaps.any() else made

    @cached_property
    def _index(self) -> Any:
        import pandas

        return pandas.Index(self.categories)

    def _is_same(self, categories: Any) -> bool:
        own = self._index
        alike = own.dtype == categories.dtype or (own.inferred_type == "string")
        return bool(alike and own.equals(categories))

    def _places(self, values: Iterable[Any], known: Sequence[Any]) -> dict[Any, int | None]:
        """Return the position of each value among known ones; −3 where there are several."""
        code = {_key(value): k for k, value in enumerate(known)}
        place: dict[Any, int | None] = {}
        for value in values:
            own = _key(value)
            found = {code[own]} if own in code else {code[k] for k in _readings(value) if k in code}
            if found:
                place[own] = found.pop() if len(found) == 1 else -3
        return place


@final
@dataclass(frozen=True, eq=False)
class InputSchema:
    """What the columns of the training data held, in their order.

    Attributes
    ----------
    distinct : tuple of ColumnSchema
        Each kind of column once: there may be many columns.
    places : array of shape (number of columns,)
        Which of them each column is.
    usual : UsualValues or None
        What is usual in each column; None if it is not known.
    """

    distinct: tuple[ColumnSchema, ...]
    places: Annotated[NDArray[np.int64], "p"]
    usual: Annotated[UsualValues | None, LEFT_OUT] = None

    def __post_init__(self) -> None:
        if self.places.size and not 0 <= self.places.min() <= self.places.max() < len(
            self.distinct
        ):
            raise ValueError(f"places must name {len(self.distinct)} kinds of column, from 0 on.")

    @classmethod
    def of_columns(cls, columns: Iterable[ColumnSchema]) -> Self:
        """Make it from the description of each column."""
        plain: dict[Any, int] = {}
        distinct: list[ColumnSchema] = []
        places = []
        for column in columns:
            own = (column.kind, column.gap, column.empty, column.apostrophes, column.precision)
            key = own if column.categories is None else len(distinct)
            if key not in plain:
                plain[key] = len(distinct)
                distinct.append(column)
            places.append(plain[key])
        return cls(tuple(distinct), np.array(places, dtype=np.int64))

    @classmethod
    def unknown(cls, n_columns: int) -> Self:
        """Make one of columns of which nothing is known yet."""
        return cls.of_columns([ColumnSchema("other")] * n_columns)

    @classmethod
    def of(cls, X: Any) -> Self | None:
        """Describe rows of the training data; None for what has no columns of its own types."""
        frame = frame_of(X)
        if frame is None:
            if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "biufO":
                return None
            return cls.of_columns(_columns_of_array(X))
        if hasattr(X, "iloc"):
            return cls.of_columns(ColumnSchema.of(X.iloc[:, j]) for j in range(X.shape[1]))
        return cls.of_columns(_of_series(frame[name]) for name in frame.columns)

    def __len__(self) -> int:
        return len(self.places)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of column that there are, each once or more."""
        return tuple(column.kind for column in self.distinct)

    @cached_property
    def columns(self) -> tuple[ColumnSchema, ...]:
        """The description of each column."""
        return tuple(self.distinct[place] for place in self.places.tolist())

    def joined(self, other: InputSchema | None) -> InputSchema | None:
        """Describe two batches of the training data."""
        if other is None or len(other) != len(self):
            return None
        pairs = zip(self.columns, other.columns, strict=True)
        return InputSchema.of_columns(one if one is two else one.joined(two) for one, two in pairs)

    def completed(self, known: Mapping[int, ColumnSchema]) -> InputSchema:
        """Return a schema in which columns that are not known here are as the model knows them."""
        if not known:
            return self
        columns = list(self.columns)
        for j, found in known.items():
            own = columns[j]
            if "other" in (own.kind, found.kind):  # unknown here, or anything goes in the model
                columns[j] = found
            elif own.kind == found.kind:  # the background may lack the gaps of the training data
                gap, empty = own.gap or found.gap, own.empty or found.empty
                columns[j] = replace(own, gap=gap, empty=empty)
        return replace(InputSchema.of_columns(columns), usual=self.usual)

    def conformed(self, X: Any) -> Any:
        """Return a data frame with the types of training; the same one if it has them.

        Parameters
        ----------
        X : as the model takes it
            A frame has its columns in the order of training. Anything else comes back as it is.

        Raises
        ------
        ValueError
            If a value does not fit; the row and the column are named.
        """
        names = frame_columns(X)
        if names is None or len(names) != len(self) or len(X) == 0:
            return X
        if not hasattr(X, "iloc"):
            frame = frame_of(X)
            assert frame is not None
            # Few libraries take Arrow tables, and those that do take numbers.
            taken = not nw.dependencies.is_pyarrow_table(X) or set(self.kinds) == {"number"}
            columns = (frame[name] for name in frame.columns)
            if taken and all(map(_is_alike, self.columns, columns)):
                return X
            X = pandas_of_arrow(frame.to_arrow())
        changed = {}
        types = X.dtypes.tolist()
        for j, (name, column) in enumerate(zip(names, self.columns, strict=True)):
            if column.takes(types[j]):
                continue
            given = X.iloc[:, j]
            made = column.of_values(given, name)
            if made is not given:
                changed[j] = made
        if not changed:
            return X
        result = X.copy(deep=False)
        for j, made in changed.items():
            result.isetitem(j, made)
        return result


def pandas_of_arrow(table: Any) -> Any:
    """Return an Arrow table as a pandas frame. Whole numbers beside gaps keep all their digits."""
    frame = table.to_pandas(integer_object_nulls=True)
    for j, dtype in enumerate(frame.dtypes):
        column = frame.iloc[:, j]
        if dtype.kind == "O" and str(table.schema.types[j])[-2:] in ("t8", "16", "32", "64"):
            frame.isetitem(j, _whole(column, str(column.name)))
    return frame


def _of_series(column: nw.Series[Any]) -> ColumnSchema:
    gap = "none" if column.null_count() else ""
    if column.dtype.is_numeric() and not column.dtype.is_decimal():
        if column.dtype.is_integer():
            return ColumnSchema("whole")
        single = column.dtype == nw.Float32
        return ColumnSchema("number", precision="float32" if single else "float64")
    if column.dtype == nw.Boolean:
        return ColumnSchema("truth", gap=gap)
    found = ColumnSchema.of(column.to_arrow().to_pandas())
    return replace(found, gap=gap) if found.kind in ("text", "category", "values") else found


def _is_alike(schema: ColumnSchema, column: nw.Series[Any]) -> bool:
    """Return whether a column of another library than pandas is as the model takes it."""
    dtype = column.dtype
    if schema.kind in ("other", "written") or dtype.is_temporal():
        return True
    if schema.kind in ("number", "whole"):
        return dtype.is_numeric() and not dtype.is_decimal()
    if schema.kind == "truth":
        return bool(dtype == nw.Boolean)
    no_gap = schema.gap in ("", "none") or column.null_count() == 0
    return bool(schema.kind == "text" and dtype == nw.String and no_gap)


def _columns_of_array(X: NDArray[Any]) -> Iterator[ColumnSchema]:
    if X.dtype.kind != "O":
        truth = X.dtype.kind == "b"
        one = ColumnSchema("truth") if truth else ColumnSchema.of_numbers(X.dtype)
        yield from [one] * X.shape[1]
        return
    import pandas

    for j in range(X.shape[1]):
        yield ColumnSchema.of(pandas.Series(X[:, j], dtype=object))


# One value: what it is, and how else it may be written.


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _key(value: Any) -> tuple[str, Any]:
    """Return what tells values apart: 1, 1.0 and np.int8(1) are the same; "1" and True are not."""
    value = _plain(value)
    if isinstance(value, bool):
        return "truth", value
    if isinstance(value, float) and value.is_integer():
        return "number", int(value)
    if isinstance(value, int | float):
        return "number", value
    return ("text", value) if isinstance(value, str) else (type(value).__name__, value)


def _readings(value: Any) -> Iterator[tuple[str, Any]]:
    """Give what a value may stand for: "1" for 1, 1 for "1", "true" for True."""
    kind, plain = _key(value)
    if kind == "text":
        if _NUMBER.fullmatch(plain):
            yield _key(int(plain) if _WHOLE.fullmatch(plain) else float(plain))
        if plain.lower() in _TRUTH:
            yield "truth", _TRUTH[plain.lower()]
        elif plain in ("0", "1", "0.0", "1.0"):
            yield "truth", plain[0] == "1"
    elif kind == "number":
        yield from {("text", str(plain)), ("text", str(_plain(value)))}
        if plain in (0, 1):
            yield "truth", bool(plain)
    elif kind == "truth":
        yield "number", int(plain)
        yield from (("text", word) for word in (str(plain), str(plain).lower()))


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    held = np.empty(len(values), dtype=object)
    held[:] = values
    return held


def _is_string(dtype: Any) -> bool:
    return type(dtype).__name__ in ("StringDtype", "ArrowDtype") and dtype.type is str


def _is_sparse(dtype: Any) -> bool:
    return type(dtype).__name__ == "SparseDtype"


def _gap_of(column: Any) -> str:
    gaps = column.isna()
    if not gaps.any():
        return ""
    held = column[gaps] if getattr(column.dtype, "kind", "O") == "O" else ()
    return "none" if any(value is None for value in held) else "nan"


# Columns of numbers that are held as something else.


def _numbers(column: Any, name: str) -> Any:
    import pandas

    values = column.astype(object)
    gaps = values.isna() | values.isin(("nan", "NaN"))
    numbers = pandas.to_numeric(values.where(~gaps, np.nan), errors="coerce")
    lost = numbers.isna() & ~gaps
    if lost.any():
        raise _misfit(name, values, lost, "hold numbers")
    exact = [np.nan if gap else float(v) for gap, v in zip(gaps, values, strict=True)]
    return type(values)(np.array(exact, dtype=float), index=column.index, name=column.name)


def _whole(column: Any, name: str) -> Any:
    """Return whole numbers with all their digits; other numbers as they are."""
    letter, plain = getattr(column.dtype, "kind", "O"), isinstance(column.dtype, np.dtype)
    if plain and letter == "f":
        values = column.to_numpy()
        with np.errstate(invalid="ignore"):
            whole = np.isfinite(values) & (np.abs(values) < 2.0**63) & (values == np.round(values))
        return column.astype(np.int64) if whole.all() else column
    values = column.astype(object)
    gaps = values.isna()
    parsed: list[Any] = []
    wrong: BoolArray = np.zeros(len(values), dtype=bool)
    for row, (value, gap) in enumerate(zip(values, gaps, strict=True)):
        if gap:
            parsed.append(np.nan)
        elif isinstance(value, str):
            fits = _NUMBER.fullmatch(value.strip())
            wrong[row] = fits is None
            parsed.append(_key_number(value.strip()) if fits else np.nan)
        else:
            wrong[row] = _key(value)[0] not in ("number", "truth")
            parsed.append(np.nan if wrong[row] else _key(value)[1])
    if wrong.any():
        raise _misfit(name, values, type(values)(wrong, index=values.index), "hold numbers")
    return type(values)(_as_array(parsed), index=column.index, name=column.name)


def _key_number(text: str) -> Any:
    return _key(int(text) if _WHOLE.fullmatch(text) else float(text))[1]


def _as_array(numbers: list[Any]) -> NDArray[Any]:
    whole = [number for number in numbers if isinstance(number, int)]
    large = any(abs(number) > _EXACT for number in whole)
    if len(whole) == len(numbers) and all(-(2**63) <= number < 2**63 for number in whole):
        return np.array(numbers, dtype=np.int64)
    # Floats would not keep the digits.
    return _objects(numbers) if large else np.array(numbers, dtype=float)


def _apostrophes(values: Iterable[Any]) -> tuple[int, ...]:
    """Return how many apostrophes stand before the texts that start a formula."""
    return tuple(sorted({found for value in values if (found := apostrophes(value)) is not None}))


def _misfit(name: str, values: Any, wrong: Any, must: str) -> BadRowsError:
    rows = np.flatnonzero(np.asarray(wrong)).tolist()
    given = [shortened(repr(_plain(values.iloc[row]))) for row in rows]
    if " in a CSV file" in must:
        reasons = [f"Column {name!r} must {must}."] * len(rows)
        cell = "an empty cell" if " empty " in must else given[0]
        message = f"{reasons[0]} Row {values.index[rows[0]]} has {cell}."
        return BadRowsError(message, rows, reasons, name)
    start = f"Column {name!r} must {must}, as in training"
    reasons = [f"{start}; it has {value}." for value in given]
    message = f"{start}; row {values.index[rows[0]]} has {given[0]}."
    return BadRowsError(message, rows, reasons, name)


# What a model learned of the columns that it takes.


def category_columns(known: Iterable[Sequence[Any] | None]) -> dict[int, ColumnSchema]:
    """Return the columns of which the categories of training are known."""
    import pandas

    return {
        j: ColumnSchema.of(pandas.Series(pandas.Categorical([], categories=list(categories))))
        for j, categories in enumerate(known)
        if categories is not None
    }


def encoder_columns(
    step: Any, given: Sequence[int], columns: Sequence[str] | None
) -> Iterator[tuple[int, ColumnSchema]]:
    """Give the columns of which a fitted transformer knows values: categories, or fillings.

    Parameters
    ----------
    step : fitted transformer
    given : sequence of int
        The positions of the columns that it takes.
    columns : sequence of strings, optional
        The names of all columns.
    """
    if step is None or isinstance(step, str):  # "passthrough", "drop"
        return
    for _, part, *_ in getattr(step, "steps", ())[:1]:
        yield from encoder_columns(part, given, columns)
    for _, part in getattr(step, "transformer_list", ()):
        yield from encoder_columns(part, given, columns)
    for _, part, selected in getattr(step, "transformers_", ()):
        yield from encoder_columns(part, selected_columns(selected, given, columns), columns)
    known = zip(given, _known_values(step), strict=False)
    yield from ((place, found) for place, found in known if found is not None)


def _known_values(step: Any) -> list[ColumnSchema | None]:
    """Return what a step knows of each column: its categories, what it fills in, or numbers."""
    if type(step).__name__ in _TAKE_NUMBERS:
        return [ColumnSchema("number")] * int(getattr(step, "n_features_in_", 0))
    if hasattr(step, "categories_"):
        return [_of_learned(np.asarray(known)) for known in step.categories_]
    filled = getattr(step, "statistics_", None)
    if filled is None or np.ndim(filled) != 1:
        return []
    if filled.dtype.kind == "f":  # an imputer that was trained on numbers takes nothing else
        return [ColumnSchema("number")] * len(filled)
    return [ColumnSchema("text") if isinstance(value, str) else None for value in filled]


def _of_learned(known: NDArray[Any]) -> ColumnSchema:
    if known.dtype.kind == "f":
        return ColumnSchema.of_numbers(known.dtype)
    return ColumnSchema.of_known(known.tolist())


def selected_columns(
    selected: Any, given: Sequence[int], columns: Sequence[str] | None
) -> list[int]:
    """Return the positions of columns selected by name, position, slice or mask."""
    if isinstance(selected, slice):
        if isinstance(selected.start, str) or isinstance(selected.stop, str):
            names = list(columns or ())
            start = 0 if selected.start is None else names.index(selected.start)
            stop = len(names) if selected.stop is None else names.index(selected.stop) + 1
            return list(given[start:stop])
        return list(given[selected])
    chosen = [selected] if np.ndim(selected) == 0 else list(selected)
    if chosen and isinstance(chosen[0], bool | np.bool_):
        return [place for place, kept in zip(given, chosen, strict=True) if kept]
    names = list(columns or ())
    return [given[names.index(c) if isinstance(c, str) else int(c)] for c in chosen]
