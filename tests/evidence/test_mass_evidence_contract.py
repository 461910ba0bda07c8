"""The contract of all evidence: every shared name, rows, tables, text and pickles."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal

from evidence_types import CLOSE, PAIRS, TYPES, Weights, every_type, made
from rule_oracle import members
from shafer import DiscountedEvidence, Evidence, MassEvidence, combine
from shafer.belief import MassFunction

# -- every shared name against the oracle -------------------------------------------------------

BY_CLASS: dict[str, Callable[[MassFunction], Any]] = {
    "belief": lambda m: [m.belief_of([k]) for k in m.frame],
    "plausibility": lambda m: m.contour,
    "probability": lambda m: m.probability,
    "pignistic": lambda m: m.pignistic,
    "ignorance": lambda m: m.masses[-1],
    "masses": lambda m: m.masses,
}
OF_SETS = ("mass_of", "belief_of", "plausibility_of", "commonality_of")
ELSEWHERE = {  # each has a test of its own below
    "classes",
    "n_classes",
    "index",
    "with_index",
    "betting_probability",
    "conflict",
    "weight_of_conflict",
    "focal_sets",
    "lower_risk",
    "upper_risk",
    "decide",
    "acts",
    "to_frame",
    "undiscounted",
    "weighed",
}


def test_every_shared_name_is_tested() -> None:
    public = {name for name in dir(MassEvidence) if not name.startswith("_")} | {"classes"}
    assert public == {*BY_CLASS, *OF_SETS, *ELSEWHERE}
    assert inspect.isabstract(MassEvidence)
    assert {cls.__name__ for cls in _concrete(MassEvidence)} == set(TYPES)


def _concrete(kind: type) -> list[type]:
    """Return all subclasses that instances can be made of."""
    below = [found for sub in kind.__subclasses__() for found in _concrete(sub)]
    return below if inspect.isabstract(kind) else [kind, *below]


@every_type
@given(pair=PAIRS)
@settings(max_examples=25)
def test_readings(kind: str, pair: tuple[Weights, Weights]) -> None:
    case = TYPES[kind](*pair)
    ev = case.evidence
    for name, by_definition in BY_CLASS.items():
        found = getattr(ev, name)
        found = found() if callable(found) else found
        assert_allclose(found, [by_definition(m) for m in case.rows], err_msg=name, **CLOSE)
    for name in OF_SETS:
        for inside in members(ev.n_classes):
            subset = np.flatnonzero(inside).tolist()
            expected = [getattr(m, name)(subset) for m in case.rows]
            assert_allclose(getattr(ev, name)(subset), expected, err_msg=name, **CLOSE)
    for found, m in zip(ev.focal_sets(5), case.rows, strict=True):
        largest = np.sort(m.masses)[::-1][: len(found)]
        assert_allclose([entry.mass for entry in found], largest, **CLOSE)
        assert_allclose([m.mass_of(entry.classes) for entry in found], largest, **CLOSE)
    assert_allclose(ev.betting_probability, [m.probability for m in case.bets], **CLOSE)


@every_type
def test_shape_and_conflict(kind: str) -> None:
    ev = made(kind).evidence
    assert (len(ev), ev.n_classes, ev.classes.tolist()) == (6, 3, [0, 1, 2])
    assert ev.conflict.shape == (6,)
    assert ((ev.conflict >= 0) & (ev.conflict <= 1)).all()
    assert_allclose(ev.weight_of_conflict, -np.log1p(-ev.conflict), rtol=1e-12)
    with pytest.raises(ValueError, match="top must be a positive integer; got 0"):
        ev.focal_sets(0)


def test_one_discount_two_ways() -> None:
    ev = Evidence.from_weights([[[0.9, -0.9], [-0.2, 0.2]]])
    one, other = ev.discounted(0.5), combine([ev], reliability=0.5)
    assert_allclose(one.probability, other.probability, rtol=1e-12)
    assert_allclose(one.probability, [[0.610, 0.390]], atol=5e-4)
    assert_allclose(one.betting_probability, [[0.802, 0.198]], atol=5e-4)


# -- rows, tables, text, pickles ----------------------------------------------------------------


@every_type
def test_rows(kind: str) -> None:
    ev = made(kind).evidence
    for rows in (3, -1, slice(1, 4), [5, 0, 0], np.array([True, False] * 3), np.int64(2)):
        part = ev[rows]
        assert type(part) is type(ev)
        assert_allclose(part.belief, np.atleast_2d(ev.belief[rows]), rtol=1e-14)
        assert_allclose(part.masses(), np.atleast_2d(ev.masses()[rows]), rtol=1e-14)
        assert_allclose(part.conflict, np.atleast_1d(ev.conflict[rows]), rtol=1e-14)
    assert len(ev[[]]) == 0
    assert ev[:0].belief.shape == (0, 3)
    with pytest.raises(IndexError, match="indexed by rows only"):
        ev[np.ones((2, 2), dtype=int)]
    with pytest.raises(IndexError):
        ev[17]


@every_type
def test_index_is_kept(kind: str) -> None:
    ev = made(kind).evidence
    assert ev.index is None
    assert ev.to_frame("pandas").index.tolist() == list(range(6))
    for index in (list("uvwxyz"), pd.Index(list("uvwxyz"), name="case")):
        named = ev.with_index(index)
        assert_array_equal(named.belief, ev.belief)
        assert named.to_frame("pandas").index.tolist() == list("uvwxyz")
        assert named[[4, 1]].to_frame("pandas").index.tolist() == ["y", "v"]
        assert named[2].index.tolist() == ["w"]
        assert named.with_index(None).index is None
        assert "<td>u</td>" in named._repr_html_()
    assert named.to_frame("pandas").index.name == "case"
    with pytest.raises(ValueError, match="one label for each of the 6 rows of evidence; got 2"):
        ev.with_index([1, 2])
    with pytest.raises(ValueError, match="read-only"):
        ev.with_index(list("uvwxyz")).index[0] = "other"


@every_type
@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_to_frame(kind: str, backend: str) -> None:
    ev = made(kind).evidence
    frame = ev.to_frame(backend)
    table = {
        name: np.asarray(frame[name]) for name in getattr(frame, "column_names", frame.columns)
    }
    for name in ("probability", "belief", "plausibility", "pignistic"):
        for k in range(3):
            assert_allclose(table[f"{name}_{k}"], getattr(ev, name)[:, k])
    for name in ("ignorance", "conflict", "weight_of_conflict"):
        assert_allclose(table[name], getattr(ev, name))
    kept = ["{" + ", ".join(map(str, row)) + "}" for row in ev.acts()]
    assert table["decision"].tolist() == kept


@every_type
def test_text_and_html(kind: str) -> None:
    ev = made(kind).evidence
    assert repr(ev).startswith(f"<{kind}: 6 instances")
    assert "3 classes (0, 1, 2)" in repr(ev)
    page = ev._repr_html_()
    assert page.count("<tr>") == 1 + 5
    assert f"{ev.betting_probability[0].max():.3f}" in page
    assert kind in ev[:0]._repr_html_()


@every_type
def test_pickled(kind: str) -> None:
    ev = made(kind).evidence.with_index(list("uvwxyz"))
    _ = ev.belief, ev.decide("e_admissible")  # what is cached goes along, or not
    again = pickle.loads(pickle.dumps(ev))
    assert type(again) is type(ev)
    assert_array_equal(again.masses(), ev.masses())
    assert again.acts("e_admissible") == ev.acts("e_admissible")
    assert again.index.tolist() == list("uvwxyz")


@every_type
def test_results_cannot_be_written_to(kind: str) -> None:
    ev = made(kind).evidence
    for name in ("belief", "plausibility", "probability", "pignistic"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(ev, name)[0] = 1.0
    with pytest.raises(AttributeError):
        ev.classes = np.arange(3)  # type: ignore[misc]


# -- weights belong to Evidence alone -----------------------------------------------------------


@every_type
def test_the_evidence_behind(kind: str) -> None:
    ev = made(kind).evidence
    plain = ev.evidence if isinstance(ev, DiscountedEvidence) else ev
    assert ev.undiscounted is plain
    assert_array_equal(ev.undiscounted.probability, ev.betting_probability)
    if isinstance(plain, Evidence):
        assert ev.weighed is plain
    else:
        with pytest.raises(ValueError, match=f"needed here, and {kind} has no weights"):
            ev.weighed  # noqa: B018 - the access is the test


def test_a_name_that_nothing_has() -> None:
    with pytest.raises(AttributeError, match="'Evidence' object has no attribute 'beleif'"):
        made("Evidence").evidence.beleif  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("kind", [kind for kind in TYPES if kind != "Evidence"])
def test_names_that_need_weights(kind: str) -> None:
    ev = made(kind).evidence
    advice = "ev.evidence.weights" if kind == "DiscountedEvidence" else "Ask the sources"
    with pytest.raises(AttributeError, match=f"{kind} has no weights. .*{advice}"):
        ev.weights  # type: ignore[attr-defined]  # noqa: B018 - the access is the test
    for name in (
        "component_names",
        "tempered",
        "save",
        "logits",
        "grouped",
        "top_weights",
        "layout",
    ):
        with pytest.raises(AttributeError, match=f"{kind} has no weights, so it has no '{name}'"):
            getattr(ev, name)
    with pytest.raises(AttributeError, match="no attribute 'beleif'"):
        ev.beleif  # type: ignore[attr-defined]  # noqa: B018
