"""Stored dataclasses: they come back as they were, and every kind of damage is one clear error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, TypeVar

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from typing_extensions import TypeAliasType

from shafer._files.codec import LEFT_OUT, UNSTORED, Limits, OneOf, Says, StoredFormat, read, written
from shafer._typing import BoolArray, FloatArray
from shafer.asking.inputs import LinearInputs, ValueDecoder
from shafer.conformal.split import ConformalSets
from shafer.evidence.errors import ComponentSums, LinearErrors, TableErrors
from shafer.evidence.layout import GridLayout, RegionLayout, TokenLayout
from shafer.evidence.sources import DenseWeights, LinearWeights, LocatedWeights, SparseWeights
from shafer.evidence.typicality import ClassProfile, WeightProfile
from shafer.explain.calibration import Familiarity, Moderation
from shafer.explain.error_bars import StoredBars
from shafer.explain.laplace import LaplacePosterior
from shafer.explain.missing import ConditionalGaussian, MissingInputs
from shafer.explain.state import ExplainerState
from shafer.monitor.options import MonitorOptions
from shafer.monitor.reference import (
    ComponentAxes,
    ExplainerPrint,
    LabelFacts,
    ReferenceRows,
    RowFacts,
)
from shafer.monitor.stream import StreamState
from shafer.rows.blocks import InputBlocks

J, K, N = 4, 3, 6
CLASSES = np.array(["a", "b", "c"])
SIZES = {"J": J, "K": K}


def numbers(*shape: int) -> FloatArray:
    return np.random.default_rng(0).normal(size=shape)


def examples() -> dict[str, Any]:
    """One of each dataclass that is stored, with all that it may hold."""
    blocks = InputBlocks(("u", "v"), (0, 2), ((0, 1), (2, 3)), ("x", 1.5))
    gaussian = ConditionalGaussian(numbers(J), numbers(J), numbers(J, J), numbers(J, J))
    missing = MissingInputs("conditional", numbers(J), numbers(J, K), numbers(K), gaussian, blocks)
    decoder = ValueDecoder(np.array(["x", "y"]), numbers(2, 2))
    inputs = LinearInputs(missing, blocks, (1, 2), (decoder, None))
    profile = ClassProfile(numbers(J), numbers(J), 0.1, numbers(J, 2), numbers(2), 0.5, numbers(9))
    profiles = WeightProfile(CLASSES, ("p", "q", "r", "s"), (profile,) * K)
    sets = ConformalSets("plausibility", 0.9, np.ones((2, K)), 50, K, True, ("m", "f"), "sex")
    familiarity = Familiarity(numbers(5, 2), numbers(2), numbers(2), 1.0, 2.0)
    moderation = Moderation(LaplacePosterior(numbers(J + 1, 7), numbers(J)), familiarity)
    bars = StoredBars("laplace", numbers(K - 1, J + 1, K - 1, J + 1))
    yes = np.ones(N, dtype=bool)
    row = numbers(N)
    facts = RowFacts(
        numbers(N, K), row, numbers(N, J, 2), numbers(1, J, K), row, row, yes, row, row
    )
    labels = LabelFacts(row, row, yes, yes)
    axes = ComponentAxes(numbers(J, K), numbers(J, K, 2))
    sums = ComponentSums(sparse.csr_array(numbers(J, J + 1)))
    features = numbers(N, J)
    return {
        "explainer": ExplainerState(
            model=None,
            options={"components": "units"},
            columns=("u", "v", "w"),
            classes=CLASSES,
            names=("p", "q", "r", "s"),
            groups={"p": [0], "q": [1], "r": [2], "s": [3]},
            means=numbers(J),
            factor=0.8,
            conformal=sets,
            moderation=moderation,
            missing=missing,
            profile=profiles,
            inputs=inputs,
            prior="own",
            errors=bars,
            refits=[],
        ),
        "reference": ReferenceRows(axes, profiles, yes, facts, labels, numbers(J, 2)),
        "print": ExplainerPrint(
            ("p", "q", "r", "s"), CLASSES, numbers(J), numbers(K), numbers(J, K), 0.8
        ),
        "options": MonitorOptions(0.05, 1000, 10, 0),
        "stream": StreamState(
            ("p", "q"),
            0.05,
            1,
            np.ones((2, 128), dtype=np.int64),
            np.ones((2, 6, 3)),
            numbers(2, 6),
            3,
            np.array([-1, 2]),
            np.array([1, 3]),
            numbers(2, 2),
        ),
        "dense": DenseWeights(numbers(N, J, K), numbers(J, K)),
        "linear": LinearWeights(features, numbers(J), numbers(J, K), numbers(K)),
        "sparse": SparseWeights(sparse.csr_array(features), numbers(J), numbers(J, K), numbers(K)),
        "located": LocatedWeights(
            numbers(N, J, 2), numbers(J, 2, K), numbers(1, K), numbers(J, K), numbers(N, J)
        ),
        "linear errors": LinearErrors(
            features, numbers(J), numbers(K - 1, J + 1, K - 1, J + 1), sums, np.ones(N)
        ),
        "table errors": TableErrors(
            np.zeros((N, J + 1), dtype=int), numbers(2, 7, K), np.full(2, 0.5), sums, np.ones(N)
        ),
        "grid": GridLayout(2, 3),
        "regions": RegionLayout(np.array([[0, 1], [1, 2]]), ("sky", "tree", "ground")),
        "tokens": TokenLayout(7),
    }


EXAMPLES = examples()

# What may hold more than numbers or texts of one kind, and arrays of any shape.
ANYTHING = ("model", "options", "stand_ins", "conformal.by", "refits")
ANY_SHAPE = ("weights", "label_map")
LABELS = ("classes", "values")


def leaves(given: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Give the place and the value of everything that is not made of parts."""
    parts: Any = ()
    if isinstance(given, Mapping):
        parts = given.items()
    elif isinstance(given, tuple | list):
        parts = enumerate(given)
    if not parts:
        yield path, given
    for key, part in parts:
        yield from leaves(part, (*path, key))


def changed(given: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a copy with another value at a place."""
    if not path:
        return value
    key, *rest = path
    if isinstance(given, Mapping):
        return {**given, key: changed(given[key], tuple(rest), value)}
    items = list(given)
    items[key] = changed(items[key], tuple(rest), value)
    return type(given)(items)


def forgeries(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Give other values, none of which may be read."""
    yield "an object", object()
    if isinstance(value, np.ndarray) and name.endswith(LABELS):
        yield "more axes", value[None]
    elif isinstance(value, np.ndarray):
        yield "a text", "text"
        yield "texts", np.full(value.shape, "x")
        yield "complex", value.astype(complex)
        yield "masked", np.ma.masked_array(value)
        yield "objects", value.astype(object)
        if value.dtype.kind == "f":
            yield "NaN", np.full_like(value, np.nan)
            yield "half", value.astype(np.float16)
            yield "whole numbers", value.astype(int)
            yield "big endian", value.astype(">f8")
        if value.dtype.kind == "i":
            yield "negative", value - 10**6
        if name not in ANY_SHAPE and not name.startswith(("print.means", "print.beta")):
            yield "more axes", value[None]
    elif sparse.issparse(value):
        yield "a matrix", sparse.coo_array(value)
        if name != "sums.matrix":  # as large as the model, which the file checks
            yield "longer", sparse.csr_array(np.ones((20, 20)))
    elif isinstance(value, bool):
        yield "a number", 1
    elif isinstance(value, int | float):
        yield "a text", "1"
        yield "a truth value", True
        yield "NaN", np.nan
        yield "infinite", np.inf
        yield "very large", 10**400
    elif isinstance(value, str):
        yield "a number", 3
        yield "bytes", b"x"


def same(found: Any, expected: Any) -> None:
    """Compare stored objects field by field."""
    if is_dataclass(expected) and not isinstance(expected, type):
        assert type(found) is type(expected)
        for field in fields(expected):
            same(getattr(found, field.name), getattr(expected, field.name))
    elif isinstance(expected, tuple | list):
        assert type(found) is type(expected)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    elif isinstance(expected, np.ndarray):
        assert_array_equal(found, expected, strict=True)
    elif sparse.issparse(expected):
        assert_array_equal(found.toarray(), expected.toarray())
    else:
        assert (type(found), found) == (type(expected), expected)


def restored(name: str, given: Any) -> Any:
    sizes = {} if name in ("stream", "options") else SIZES
    return read(type(EXAMPLES[name]), given, sizes)


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_written_comes_back(name: str) -> None:
    plain = written(EXAMPLES[name])
    assert not any(is_dataclass(value) for _, value in leaves(plain))
    same(restored(name, plain), EXAMPLES[name])


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_damaged_value_is_refused(name: str) -> None:
    plain = written(EXAMPLES[name])
    tried = 0
    for path, value in leaves(plain):
        place = ".".join(map(str, path))
        if (
            value is None
            or isinstance(value, list | tuple | dict)
            or any(part in place for part in ANYTHING)
        ):
            continue
        for way, forged in forgeries(place if name != "print" else f"print.{place}", value):
            if place.startswith("conformal.threshold") and way == "more axes":
                forged = np.ones((1, 1, 1))
            with pytest.raises(ValueError, match=r"must ") as caught:
                restored(name, changed(plain, path, forged))
            assert "\n" not in str(caught.value), (place, way)
            tried += 1
    assert tried > 1


@pytest.mark.parametrize("name", EXAMPLES)
def test_missing_and_unknown_fields_are_refused(name: str) -> None:
    plain = written(EXAMPLES[name])
    parts = {path[:-1] for path, _ in leaves(plain) if path and isinstance(path[-1], str)}
    parts = {path for path in parts if "options" not in path and "groups" not in path}
    for path in parts:
        held = plain
        for key in path:
            held = held[key]
        with pytest.raises(ValueError, match="it holds"):
            restored(name, changed(plain, path, {**held, "extra": 1}))
        for field in set(held) - {"shares", "covered", "covariance"}:
            lacking = {key: value for key, value in held.items() if key != field}
            with pytest.raises(ValueError, match="it holds"):
                restored(name, changed(plain, path, lacking))
        place = ".".join(map(str, (name, *path)))
        for other in (3, "text", [held], *([] if place in OPTIONAL else [None])):
            with pytest.raises(ValueError, match="must be"):
                restored(name, changed(plain, path, other))


OPTIONAL = (
    *("explainer.conformal", "explainer.moderation", "explainer.missing", "explainer.profile"),
    *("explainer.inputs", "explainer.errors", "explainer.moderation.familiarity"),
    *("explainer.missing.gaussian", "explainer.missing.blocks", "explainer.inputs.values.0"),
    *("explainer.inputs.missing.gaussian", "explainer.inputs.missing.blocks", "reference.labels"),
)


@dataclass(frozen=True, eq=False)
class Inner:
    rows: Annotated[FloatArray, "n J"]
    centre: Annotated[FloatArray, "J"]


@dataclass(frozen=True, eq=False)
class Outer:
    """Every kind of declaration."""

    wide: Annotated[FloatArray, "... J", "J+1 r"]
    n: Annotated[int, "J"]
    parts: Annotated[tuple[Inner, ...], "p"]
    flags: Annotated[BoolArray, "p"]
    pair: tuple[int, int]
    how: Annotated[str, OneOf("one", "two"), Says("how is one or two; got {got}, for J={J}")]
    limit: Annotated[float, Limits(least=0.0, infinite=True)] = 0.0
    table: Annotated[dict[str, Annotated[FloatArray, "q"]] | None, LEFT_OUT] = None
    found: Annotated[Any, UNSTORED] = None


def outer(**changes: Any) -> dict[str, Any]:
    """What is written of an object whose parts have J = 2 and their own numbers of rows."""
    parts = (Inner(numbers(3, 2), numbers(2)), Inner(numbers(5, 2), numbers(2)))
    whole = Outer(numbers(4, 2), 2, parts, np.ones(2, bool), (1, 2), "one", found=print)
    return {**written(whole), **changes}


def test_small_letters_belong_to_one_object_and_capitals_to_all() -> None:
    assert [len(part.rows) for part in read(Outer, outer()).parts] == [3, 5]
    wider = {"rows": numbers(3, 3), "centre": numbers(3)}
    with pytest.raises(ValueError, match=r"parts\.1\.rows must have shape \(n, 2\); got \(3, 3\)"):
        read(Outer, outer(parts=(outer()["parts"][0], wider)))
    with pytest.raises(ValueError, match=r"flags must have shape \(2,\); got \(3,\)"):
        read(Outer, outer(flags=np.ones(3, bool)))
    with pytest.raises(ValueError, match="n must be 2; got 3"):
        read(Outer, outer(n=3))
    with pytest.raises(ValueError, match=r"wide must have shape \(\.\.\., 5\) or \(6, r\)"):
        read(Outer, outer(), {"J": 5})


def test_fields_that_are_left_out_or_never_written() -> None:
    assert "table" not in outer()
    assert "found" not in outer()
    assert read(Outer, outer()).table is None
    table = {"a": numbers(2), "b": numbers(2)}
    assert set(read(Outer, outer(table=table)).table or ()) == {"a", "b"}
    with pytest.raises(ValueError, match="it must hold the arrays and values"):
        read(Outer, outer(found=3))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"how": "three"}, r"^how is one or two; got 'three', for J=2$"),
        ({"limit": -1.0}, "limit must be a number of at least 0; got -1.0"),
        ({"limit": np.nan}, "limit must be a number"),
        ({"pair": (1, 2, 3)}, r"pair must hold 2 value\(s\); got 3"),
        ({"pair": (1, 2.5)}, r"pair\.1 must be a whole number; got 2.5"),
        ({"table": {1: numbers(2)}}, "table must be a mapping"),
        ({"table": {"a": "x"}}, r"table\.a must be an array; got str"),
        ({"parts": "ab"}, "parts must be a list of values; got str"),
        ({"parts": ()}, r"flags must have shape \(0,\)"),
    ],
)
def test_errors_name_the_field(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(Outer, outer(**changes))


def test_infinite_numbers_where_they_are_allowed() -> None:
    assert read(Outer, outer(limit=np.inf)).limit == np.inf


def test_older_formats_get_what_they_lack() -> None:
    format_ = StoredFormat(2, {1: {"a": None, "part.b": 3}})
    assert format_.completed({"format": 2}) == {"format": 2}
    old = {"format": 1, "part": {"c": 1}}
    new = {"format": 2, "a": None, "part": {"b": 3, "c": 1}}
    assert format_.completed(old) == new
    assert old == {"format": 1, "part": {"c": 1}}
    assert format_.completed({"format": 1, "a": 7, "part": None})["a"] == 7
    renamed = StoredFormat(2, {1: {}}, {1: {"part.groups": "by", "x": "y"}})
    assert renamed.completed({"format": 1, "part": {"groups": 3}, "x": 4}) == {
        "format": 2,
        "part": {"by": 3},
        "y": 4,
    }
    assert renamed.completed({"format": 1, "part": None}) == {"format": 2, "part": None}
    others: tuple[Any, ...] = (3, "1", None, [], {})
    for other in others:
        assert format_.completed({"format": other}) == {"format": other}


def test_an_explainer_of_another_version_is_refused() -> None:
    plain = EXAMPLES["explainer"].plain()
    others: tuple[Any, ...] = ({"format": 99}, {"format": "4"}, {"format": []}, {"extra": 1})
    for other in others:
        with pytest.raises(ValueError, match="another version of shafer, or is damaged"):
            ExplainerState.read({**plain, **other})
    older = {name: part for name, part in plain.items() if name != "deferral"}
    conformal = {n: p for n, p in plain["conformal"].items() if n not in ("by", "column")}
    older |= {"format": 3, "conformal": {**conformal, "threshold": 0.5}}
    assert ExplainerState.read(older).deferral is None
    with pytest.raises(ValueError, match="This saved Explainer is damaged: conformal must hold"):
        ExplainerState.read({**plain, "conformal": conformal})


_Scalar = TypeVar("_Scalar", bound=np.generic)
# Since NumPy 2.5, NDArray is such a name.
_Named = TypeAliasType(
    "_Named", np.ndarray[tuple[Any, ...], np.dtype[_Scalar]], type_params=(_Scalar,)
)


@dataclass(frozen=True)
class _OfNamedTypes:
    places: _Named[np.intp]
    sizes: Annotated[_Named[np.floating[Any]] | None, "J"]


def test_types_behind_a_name() -> None:
    given = {"places": np.arange(3), "sizes": numbers(J)}
    found = read(_OfNamedTypes, given, sizes=SIZES)
    assert_array_equal(found.places, np.arange(3))
    assert_array_equal(found.sizes, given["sizes"])
    with pytest.raises(ValueError, match="places must hold whole numbers; it holds float64"):
        read(_OfNamedTypes, {**given, "places": numbers(3)}, sizes=SIZES)
