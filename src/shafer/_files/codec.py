"""Dataclasses as plain values and arrays, and back: ``written`` and ``read``.

Nothing that is read makes an object of a class that a file names. What a field may hold, it
declares once, in its type hint::

    beta: Annotated[FloatArray, "J K"]            # an array of shape (J, K)
    root: Annotated[FloatArray, "J+1 r"]          # (J + 1, r)
    shift: Annotated[Array, "1 K", "G K"]         # one of two shapes
    weights: Annotated[Array, "... G K"]          # any axes before G and K
    names: Annotated[tuple[str, ...], "J"]        # J strings
    n_classes: Annotated[int, "K"]                # K itself
    how: Annotated[str, OneOf("vacuous", "conditional")]

A capital letter is one size in a whole stored object, a small letter in one dataclass of it. An
array without a shape may have any. Numbers are finite, unless their ``Limits`` allow more.
"""

from __future__ import annotations

import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, TypeVar, Union, final, get_args, get_origin, get_type_hints

import array_api_compat
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shafer._checks.arrays import check_finite, float_array
from shafer._checks.labels import class_labels
from shafer._text import shortened

_Content = TypeVar("_Content")
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


# Versions: the formats of all stored objects, and what the older ones lack.


@final
@dataclass(frozen=True)
class StoredFormat:
    """The format in which a kind of object is written, and older ones that can be read.

    Attributes
    ----------
    current : int or str
    lacking : mapping
        For each older format, what it lacks: a value for each field, such as ``"part.field"``.
    renamed : mapping
        For each older format, the new name of each field that had another, such as
        ``{"part.field": "new"}``.
    """

    current: int | str
    lacking: Mapping[int | str, Mapping[str, Any]] = field(default_factory=dict)
    renamed: Mapping[int | str, Mapping[str, str]] = field(default_factory=dict)

    def completed(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what an object of the current format holds; ``given`` has a ``format``."""
        older = given.get("format")
        if not isinstance(older, int | str) or older not in self.lacking:
            return given
        result = {**given, "format": self.current}
        for name, new in self.renamed.get(older, {}).items():
            _rename(result, name, new)
        for name, value in self.lacking[older].items():
            _complete(result, name, value)
        return result


def _complete(given: dict[str, Any], name: str, value: Any) -> None:
    """Set a field that is not there; a part that is None has no fields."""
    head, _, rest = name.partition(".")
    if not rest:
        given.setdefault(head, value)
    elif isinstance(given.get(head), Mapping):
        given[head] = dict(given[head])
        _complete(given[head], rest, value)


def _rename(given: dict[str, Any], name: str, new: str) -> None:
    """Give a field another name, if it is there."""
    head, _, rest = name.partition(".")
    if head not in given:
        return
    if not rest:
        given[new] = given.pop(head)
    elif isinstance(given[head], Mapping):
        given[head] = dict(given[head])
        _rename(given[head], rest, new)


EXPLAINER = StoredFormat(
    7,
    {
        6: {"loss": None, "rows": None},
        5: {"loss": None, "rows": None},
        4: {"schema": None, "threshold": None, "loss": None, "rows": None},
        3: {
            "deferral": None,
            "conformal.by": None,
            "conformal.column": None,
            "schema": None,
            "threshold": None,
            "loss": None,
            "rows": None,
        },
    },
    {older: {"conformal.groups": "by"} for older in (4, 5)},
)
EVIDENCE = StoredFormat("shafer-evidence-2", {"shafer-evidence-1": {}})  # without rows
MONITOR = StoredFormat("shafer-monitor-1")
STREAM = StoredFormat("shafer-monitor-stream-1")


# What a field may declare besides its type and shapes.


@final
@dataclass(frozen=True)
class Limits:
    """The least that numbers may be, and whether they may be infinite or NaN."""

    least: float = -math.inf
    infinite: bool = False
    nan: bool = False


@final
class OneOf(tuple[str, ...]):
    """The only texts that a field may hold."""

    __slots__ = ()

    def __new__(cls, *texts: str) -> OneOf:
        """Take the texts one after the other."""
        return super().__new__(cls, texts)


@final
@dataclass(frozen=True)
class Says:
    """The error of a field that is damaged; it may name sizes, such as ``{J}``, and ``{got}``."""

    text: str


@final
@dataclass(frozen=True)
class Mark:
    """A property of a field: one of those below."""

    text: str


LABELS = Mark("class labels: distinct, of any type")
LEFT_OUT = Mark("not written where it is the default")
UNSTORED = Mark("never written, because it is found again")


@final
@dataclass(frozen=True)
class _Rule:
    """What a field, or a part of it, declares: its type, and the metadata of ``Annotated``."""

    hint: Any
    said: tuple[Any, ...]
    default: Any = None

    @classmethod
    def of(cls, hint: Any, said: tuple[Any, ...] = (), default: Any = None) -> _Rule:
        if get_origin(hint) is Annotated:
            hint, *more = get_args(hint)
            said = (*said, *more)
        alias = getattr(get_origin(hint), "__value__", None)
        if alias is not None:  # since NumPy 2.5, NDArray is a name for np.ndarray[...]
            hint = alias[get_args(hint)]
        return cls(hint, said, default)

    @property
    def shapes(self) -> list[str]:
        return [said for said in self.said if isinstance(said, str)]

    def one(self, kind: type[_Content]) -> _Content | None:
        return next((said for said in self.said if isinstance(said, kind)), None)

    def omits(self, value: Any) -> bool:
        """Return whether a value is not written."""
        return UNSTORED in self.said or (LEFT_OUT in self.said and value is self.default)


@cache
def _declared(cls: Any) -> dict[str, _Rule]:
    """Return what the fields of a dataclass declare."""
    hints = get_type_hints(cls, include_extras=True)
    return {
        f.name: _Rule.of(hints[f.name], (), None if f.default is MISSING else f.default)
        for f in fields(cls)
        if f.init
    }


@cache
def _has_parts(hint: Any) -> bool:
    """Return whether a type is a dataclass, or holds some."""
    return (isinstance(hint, type) and is_dataclass(hint)) or any(map(_has_parts, get_args(hint)))


def written(value: Any) -> Any:
    """Return a dataclass as a dictionary of its fields; declared dataclasses in it, too.

    Parameters
    ----------
    value : dataclass, or a tuple of dataclasses
        Anything else is returned as it is.

    Returns
    -------
    dict of arrays and plain values
    """
    if isinstance(value, tuple):
        return tuple(map(written, value))
    if not is_dataclass(value) or isinstance(value, type):
        return value
    held = [(name, rule, getattr(value, name)) for name, rule in _declared(type(value)).items()]
    return {
        name: written(part) if _has_parts(rule.hint) else part
        for name, rule, part in held
        if not rule.omits(part)
    }


def read(cls: type[_Content], given: Any, sizes: Mapping[str, Any] | None = None) -> _Content:
    """Make a dataclass from what :func:`written` gave.

    Parameters
    ----------
    cls : dataclass
    given : mapping from field to value
    sizes : mapping from letter to int, optional
        Sizes that are known; for ``"..."`` a tuple of them.

    Raises
    ------
    ValueError
        If a field is missing, unknown, of another type or shape, or not finite.
    """
    found: _Content = _Place("", dict(sizes or {}), {}).object(cls, given)
    return found


@final
@dataclass(frozen=True)
class _Place:
    """Where in a stored object something is read, and the sizes that are known there."""

    name: str
    sizes: dict[str, Any]  # by capital letter
    own: dict[str, Any]  # by small letter, and the axes for which "..." stands

    def wrong(self, what: str) -> ValueError:
        return ValueError(f"{self.name or 'it'} {what}")

    def object(self, cls: Any, given: Any) -> Any:
        """Read a dataclass. What is there is read first: its errors tell more."""
        if not isinstance(given, Mapping):
            raise self.wrong(f"must be a mapping; got {type(given).__name__}.")
        rules = {n: rule for n, rule in _declared(cls).items() if UNSTORED not in rule.said}
        inside = _Place(self.name, self.sizes, {})
        found = {n: inside.part(n, rule, given[n]) for n, rule in rules.items() if n in given}
        needed = {name for name, rule in rules.items() if LEFT_OUT not in rule.said}
        if not needed <= set(given) <= set(rules):
            holds = shortened(str(sorted(map(str, given))), 300)
            raise self.wrong(f"must hold the arrays and values {sorted(needed)}; it holds {holds}")
        return cls(**found)

    def part(self, name: str, rule: _Rule, given: Any) -> Any:
        """Read a field or an item; an error of its own takes the place of any other."""
        place = _Place(f"{self.name}.{name}".lstrip("."), self.sizes, self.own)
        says = rule.one(Says)
        try:
            return place.value(rule, given)
        except ValueError as error:
            if says is None:
                raise
            got = np.shape(given) if isinstance(given, np.ndarray) else shortened(repr(given))
            raise ValueError(says.text.format(got=got, **self.sizes, **self.own)) from error

    def value(self, rule: _Rule, given: Any) -> Any:
        """Read a value of the type that a rule names."""
        hint, origin = rule.hint, get_origin(rule.hint)
        if origin in (Union, types.UnionType):
            return self.one_of_types(rule, given)
        if LABELS in rule.said:
            return self.labels(rule, given)
        if origin in (tuple, list):
            return self.items(rule, given)
        if origin in (dict, Mapping):
            return self.mapping(rule, given)
        if hint in (float, int):
            return self.number(rule, given)
        if hint in (bool, str):
            return self.plain(rule, given)
        if isinstance(hint, type) and is_dataclass(hint):
            return self.object(hint, given)
        return self.array(rule, given) if origin is np.ndarray or rule.shapes else given

    def one_of_types(self, rule: _Rule, given: Any) -> Any:
        """Read a value of one of several types; the error is that of the last."""
        hints = get_args(rule.hint)
        if given is None and type(None) in hints:
            return None
        *others, last = (_Rule.of(h, rule.said) for h in hints if h is not type(None))
        for other in others:
            try:
                return self.value(other, given)
            except ValueError:
                continue
        return self.value(last, given)

    def labels(self, rule: _Rule, given: Any) -> Any:
        array = np.asarray(given)
        self.fit(array.shape, rule)
        try:
            return class_labels(array, len(array))
        except TypeError as error:
            raise self.wrong("must hold labels that can be compared.") from error

    def items(self, rule: _Rule, given: Any) -> Any:
        if not isinstance(given, tuple | list):
            raise self.wrong(f"must be a list of values; got {type(given).__name__}.")
        hints: tuple[Any, ...] = get_args(rule.hint)
        if get_origin(rule.hint) is list or hints[-1] is ...:
            hints = (hints[0],) * len(given)
        self.count(len(given), rule, "hold {} value(s)")
        if len(hints) != len(given):
            raise self.wrong(f"must hold {len(hints)} value(s); got {len(given)}.")
        pairs = enumerate(zip(hints, given, strict=True))
        found = [self.part(str(i), _Rule.of(hint), item) for i, (hint, item) in pairs]
        return found if get_origin(rule.hint) is list else tuple(found)

    def mapping(self, rule: _Rule, given: Any) -> dict[Any, Any]:
        key, value = get_args(rule.hint)
        if not isinstance(given, Mapping) or not all(isinstance(name, key) for name in given):
            raise self.wrong("must be a mapping from names to values.")
        return {name: self.part(name, _Rule.of(value), item) for name, item in given.items()}

    def plain(self, rule: _Rule, given: Any) -> Any:
        kinds = (bool, np.bool_) if rule.hint is bool else str
        if not isinstance(given, kinds):
            raise self.wrong(f"must be of type {rule.hint.__name__}; got {type(given).__name__}.")
        allowed = rule.one(OneOf)
        if allowed is not None and given not in allowed:
            raise self.wrong(f"must be one of {tuple(allowed)}; got {shortened(repr(given))}.")
        return rule.hint(given)

    def number(self, rule: _Rule, given: Any) -> Any:
        whole = rule.hint is int
        kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
        limits = rule.one(Limits) or Limits()
        fits = isinstance(given, kinds) and not isinstance(given, bool)
        try:
            fits = fits and _hold(np.asarray(float(given)), limits)
        except OverflowError:  # a whole number of hundreds of digits
            fits = False
        if not fits:
            what = "whole number" if whole else "number"
            raise self.wrong(f"must be a {_told(what, limits)}; got {shortened(repr(given))}.")
        if whole and rule.shapes:
            self.count(int(given), rule, "be {}")
        return rule.hint(given)

    def array(self, rule: _Rule, given: Any) -> Any:
        """Read an array; where the type names no dtype, it keeps its library and precision."""
        if rule.hint is sparse.csr_array:  # made of arrays that were checked
            if not isinstance(given, sparse.csr_array):
                raise self.wrong(f"must be a CSR array; got {type(given).__name__}.")
            self.fit(given.shape, rule)
            return given
        if not array_api_compat.is_array_api_obj(given) or np.ma.isMaskedArray(given):
            raise self.wrong(f"must be an array; got {type(given).__name__}.")
        limits = rule.one(Limits) or Limits()
        if get_origin(rule.hint) is np.ndarray:
            array, what = self.typed(np.asarray(given), get_args(get_args(rule.hint)[1])[0])
        elif isinstance(given, np.ndarray):
            self.check_dtype(given, given.dtype in _FLOATS, "floats")
            array, what = given, "floats"
        else:  # a tensor
            array, what = float_array(given, self.name), "floats"
        self.fit(tuple(array.shape), rule)
        if what == "floats" and not limits.infinite and not limits.nan:
            check_finite(array, self.name)
        if limits != Limits() and not _hold(array, limits):
            raise self.wrong(f"must hold {_told(what, limits)}.")
        return array

    def typed(self, array: NDArray[Any], declared: Any) -> tuple[NDArray[Any], str]:
        """Return an array of the declared type, and what it holds in words."""
        kind = get_origin(declared) or declared
        if kind is np.floating:
            self.check_dtype(array, array.dtype in _FLOATS, "floats")
            return array.astype(np.float64, copy=False), "floats"
        if kind is np.bool_:
            self.check_dtype(array, array.dtype == np.bool_, "truth values")
            return array, "truth values"
        if kind is not Any and issubclass(kind, np.integer):
            whole = array.dtype.kind == "i" and array.dtype.isnative
            self.check_dtype(array, whole, "whole numbers")
            concrete = kind in (np.int64, np.intp)
            return array.astype(kind, copy=False) if concrete else array, "whole numbers"
        return array, "values"

    def check_dtype(self, array: NDArray[Any], fits: bool, what: str) -> None:
        if not fits:
            raise self.wrong(f"must hold {what}; it holds {array.dtype}.")

    def count(self, n: int, rule: _Rule, what: str) -> None:
        """Compare a number with the size that a rule names."""
        try:
            self.fit((n,), rule)
        except ValueError:
            wanted = self.shown(rule.shapes[0].split()).strip("(,)")
            raise self.wrong(f"must {what.format(wanted)}; got {n}.") from None

    def fit(self, shape: tuple[int, ...], rule: _Rule) -> None:
        """Compare a shape with those that a rule allows, and keep the sizes that are new."""
        for tokens in map(str.split, rule.shapes):
            found = self.sizes_of(shape, tokens)
            if found is not None:
                self.sizes.update({n: size for n, size in found.items() if n[0].isupper()})
                self.own.update({n: size for n, size in found.items() if not n[0].isupper()})
                return
        if rule.shapes:
            wanted = " or ".join(self.shown(text.split()) for text in rule.shapes)
            raise self.wrong(f"must have shape {wanted}; got {shape}.")

    def sizes_of(self, shape: tuple[int, ...], tokens: list[str]) -> dict[str, Any] | None:
        """Return the sizes that a shape gives to letters; None if it does not fit."""
        known: dict[str, Any] = {**self.sizes, **self.own}
        if tokens[:1] == ["..."]:
            n_free = max(0, len(shape) - len(tokens) + 1)
            if known.setdefault("...", shape[:n_free]) != shape[:n_free]:
                return None
            shape, tokens = shape[n_free:], tokens[1:]
        if len(shape) != len(tokens):
            return None
        for size, token in zip(shape, tokens, strict=True):
            letter, offset = _parsed(token)
            if letter and size < offset:
                return None
            if (known.setdefault(letter, size - offset) if letter else 0) != size - offset:
                return None
        return known

    def shown(self, tokens: list[str]) -> str:
        """Return a shape for an error, with the sizes that are known."""
        known = {**self.sizes, **self.own}
        sizes: list[str] = []
        for token in tokens:
            letter, offset = _parsed(token)
            if token == "...":
                sizes += map(str, known.get("...", ("...",)))
            else:
                sizes.append(str(known[letter] + offset) if letter in known else token)
        return f"({', '.join(sizes)}{',' * (len(sizes) == 1)})"


@cache
def _parsed(token: str) -> tuple[str, int]:
    """Return the letter and what is added to it; no letter for a number."""
    if token.isdecimal():
        return "", int(token)
    letter, sign, offset = (*token.partition("+"),) if "+" in token else (*token.partition("-"),)
    return letter, int(f"{sign}{offset}" or 0)


def _hold(values: NDArray[Any], limits: Limits) -> bool:
    """Return whether numbers lie within limits."""
    if not limits.nan and np.isnan(values).any():
        return False
    if not limits.infinite and np.isinf(values).any():
        return False
    return not (values < limits.least).any()


def _told(what: str, limits: Limits) -> str:
    """Return the limits in words."""
    least = f" of at least {limits.least:g}" if limits.least > -math.inf else ""
    bounded = limits.infinite or what.startswith("whole")
    return f"{what if bounded else f'finite {what}'}{least}"
