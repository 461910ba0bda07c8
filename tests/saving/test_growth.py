"""Time grows in proportion to a model, and sparse rows stay sparse: in files and in answers."""

from __future__ import annotations

import cProfile
import pickle
import pstats
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer
from shafer.saving.file import loaded_bytes, saved_bytes

RNG = np.random.default_rng(0)
N_ROWS, N_COLUMNS = 2000, 20_000
N_VALUES = 120_000  # 0.3 % of the cells
CELLS = RNG.integers(0, N_ROWS, N_VALUES), RNG.integers(0, N_COLUMNS, N_VALUES)
SPARSE = sparse.csr_matrix((RNG.random(N_VALUES), CELLS), shape=(N_ROWS, N_COLUMNS))
LABELS = RNG.integers(0, 3, N_ROWS)
IN_FULL = N_ROWS * N_COLUMNS * 8  # bytes


def steps(call: Callable[[], Any]) -> int:
    """Count the functions that are called: time without the noise of a busy machine."""
    profile = cProfile.Profile()
    profile.runcall(call)
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]  # typeshed


def most_memory(call: Callable[[], Any]) -> int:
    """Return the largest number of bytes held at a time."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def texts(n_words: int) -> tuple[Any, list[str]]:
    words = np.array([f"w{i}" for i in range(n_words)])
    rows = [" ".join(part) for part in np.array_split(words, 40)]
    labels = np.arange(40) % 2
    return make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(rows, labels), rows


def categories(n: int) -> tuple[Any, Any]:
    rows = pd.DataFrame({"key": [f"v{i}" for i in range(n)], "other": ["a", "b"] * (n // 2)})
    encoder = OneHotEncoder(handle_unknown="ignore")
    return make_pipeline(encoder, LogisticRegression()).fit(rows, np.arange(n) % 2), rows


@pytest.mark.parametrize("made", [texts, categories])
def test_files_take_time_in_proportion_to_words_and_categories(
    made: Callable[[int], tuple[Any, Any]],
) -> None:
    found = []
    saved_bytes(shafer.Explainer(*made(40)))  # libraries are imported
    for size in (200, 2000):
        explainer = shafer.Explainer(*made(size))
        explainer.typicality(explainer.background)
        content = saved_bytes(explainer)
        found.append(
            (steps(lambda e=explainer: saved_bytes(e)), steps(lambda c=content: loaded_bytes(c)))
        )  # type: ignore[misc]
    (save, load), (save_more, load_more) = found
    assert save_more < 12 * save
    assert load_more < 12 * load


def linear(n: int, **options: Any) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    X["k"] = np.where(rng.random(n) > 0.5, "u", "v")
    y = (X["a"] + rng.logistic(size=n) > 0).to_numpy()
    encode = make_column_transformer((OneHotEncoder(), ["k"]), (StandardScaler(), list("abc")))
    model = make_pipeline(encode, LogisticRegression()).fit(X, y)
    return shafer.Explainer(model, X, **options), X, y


def promised(n: int) -> Any:
    explainer, X, y = linear(n, moderate="laplace", errors="sandwich")
    return explainer.conformalize(X, y, by=X["k"]).control_error(X, y, error=0.4)


def classified(n: int) -> Any:
    _, X, y = linear(n)
    return shafer.EvidentialClassifier(guard=True, temper="cv").fit(X[list("abc")], y)


@pytest.mark.parametrize("made", [promised, classified])
def test_files_do_not_grow_with_the_rows(made: Callable[[int], Any]) -> None:
    """Of 500,000 rows a file had 4 MB of distances, one for each row."""
    small, large = (len(saved_bytes(made(n))) for n in (8000, 48_000))
    assert large < 1.1 * small


def test_a_forged_file_cannot_make_the_check_quadratic() -> None:
    """Each of many dictionaries names the same list of the types of its keys."""
    from shafer.saving.skops import _Tree

    def check(n: int) -> None:
        key = {"__loader__": "TypeNode", "__module__": "builtins", "__class__": "str", "__id__": 1}
        lists = [{"__loader__": "ListNode", "content": [key], "__id__": 2} for _ in range(n)]
        tree = _Tree(None, {1: [key] * n, 2: lists})  # type: ignore[arg-type]  # reads no member
        for types in lists:
            tree._check_keys({"__loader__": "DictNode", "key_types": types})

    assert steps(lambda: check(1000)) < 12 * steps(lambda: check(100))


def wide(n_columns: int) -> Any:
    rows = RNG.normal(size=(10, n_columns))
    return shafer.Explainer((RNG.normal(size=n_columns) / 50, 0.0), rows)(rows)


def test_reasons_take_time_in_proportion_to_the_columns() -> None:
    """A column is looked up by its name; its place is not counted for each component."""
    for n_columns in (500, 5000):
        ev = wide(n_columns)
        counting = _Counting(ev.inputs.trace.order)
        vars(ev.inputs.trace)["order"] = counting
        _Counting.reads = 0
        assert len(ev.reasons(class_=1, over=0, top=1)) == 10
        assert 0 < _Counting.reads <= 3 * n_columns


class _Counting(tuple[str, ...]):
    """Names that count how many of them are read one after the other."""

    reads = 0

    def __iter__(self) -> Any:
        _Counting.reads += len(self)
        return super().__iter__()


def sparse_explainer() -> shafer.Explainer:
    return shafer.Explainer((RNG.normal(size=(3, N_COLUMNS)), np.zeros(3)), SPARSE)


@pytest.mark.parametrize(
    "ask",
    [
        saved_bytes,
        pickle.dumps,
        lambda explainer: explainer.typicality(SPARSE),
        lambda explainer: explainer.control_error(SPARSE, LABELS, 0.9).predict_or_defer(SPARSE),
        lambda explainer: explainer.conformalize(SPARSE, LABELS).predict_set(SPARSE),
        lambda explainer: explainer(SPARSE).reasons(top=1),
        lambda explainer: explainer(SPARSE).to_frame("pandas"),
        lambda explainer: shafer.evidence.WeightProfile.fit(explainer(SPARSE)),
    ],
    ids=["save", "pickle", "typicality", "defer", "sets", "reasons", "frame", "profile"],
)
def test_sparse_rows_stay_sparse(ask: Callable[[shafer.Explainer], Any]) -> None:
    explainer = sparse_explainer()
    assert most_memory(lambda: ask(explainer)) < IN_FULL / 2


def test_typicality_of_sparse_rows_is_that_of_dense_rows() -> None:
    X = SPARSE[:300, :2500].tolil()
    X[:, 3] = 1.5  # constant, and never zero
    X[:, 4] = 0.0  # constant zeros
    X = X.tocsr()
    head = RNG.normal(size=(3, 2500)), np.zeros(3)
    of_sparse, of_dense = (shafer.Explainer(head, rows) for rows in (X, X.toarray()))
    new = X[:50].tolil()
    new[0, 3], new[1, 4], new[2, :] = 0.0, 1.0, 3.0
    found = of_sparse.typicality(new.tocsr())
    assert_allclose(found, of_dense.typicality(new.toarray()), rtol=1e-9, atol=1e-300)
    assert (found[:2] < 1e-300).all()  # a constant that moved
    again = loaded_bytes(saved_bytes(of_sparse))
    assert_array_equal(again.typicality(new.tocsr()), found)


def test_a_profile_in_blocks_is_the_profile_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    X = RNG.normal(size=(200, 5)) @ RNG.normal(size=(5, 5))
    explainer = shafer.Explainer((RNG.normal(size=5), 0.0), X)
    at_once = explainer.typicality(X[:20])
    monkeypatch.setattr(sys.modules["shafer.evidence.typicality"], "_BLOCK", 64)
    in_blocks = shafer.evidence.WeightProfile.fit(explainer(X)).typicality(explainer(X[:20]))
    assert_allclose(in_blocks, at_once, rtol=1e-9)


def test_reasons_in_blocks_are_the_reasons_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    X = RNG.normal(size=(50, 4))
    ev = shafer.Explainer((RNG.normal(size=4), 0.0), X, errors=None)(X)
    at_once = ev.reasons(keep="positive")
    monkeypatch.setattr(sys.modules["shafer.evidence.reasons"], "_CELLS", 12)
    pd.testing.assert_frame_equal(ev.reasons(keep="positive"), at_once)
