"""Evidence as data frames and in notebooks."""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace
from typing import Any

import narwhals as nw
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import shafer

# Evidence as data frames of every kind.


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frame(pool: Any, X: Any, backend: str) -> None:
    ev = pool(X)
    frame = nw.from_native(ev.to_frame(backend), eager_only=True)
    assert str(frame.implementation) == backend
    assert frame.columns[0] == "answer"
    assert frame.shape == (6, 4 * 3 + 6)
    assert_array_equal(frame["belief_b"].to_numpy(), ev.belief[:, 1])
    assert_array_equal(frame["ignorance"].to_numpy(), ev.ignorance)
    assert frame["answer"].to_list() == ev.classes[ev.probability.argmax(axis=1)].tolist()


def test_frame_of_components(pool: Any, X: Any) -> None:
    frame = nw.from_native(pool(X).components.to_frame("polars"), eager_only=True)
    assert frame.shape[0] == 6 * 4
    assert frame["component"].to_list()[:5] == ["w", "x", "y", "z", "w"]


def test_labels_that_read_alike_keep_their_columns() -> None:
    ev = shafer.Evidence.from_weights(np.ones((1, 1, 3)), classes=[1, "1", 2])
    frame = nw.from_native(ev.to_frame("polars"), eager_only=True)
    assert frame.shape == (1, 4 * 3 + 6)
    assert "belief_'1'" in frame.columns


def test_default_backend(pool: Any, X: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ev = pool(X[:1])
    loaded = SimpleNamespace(modules={"pyarrow": None})
    monkeypatch.setattr("shafer.evidence.table.sys", loaded)
    assert type(ev.to_frame()).__module__.startswith("pyarrow")
    loaded.modules.clear()
    real = importlib.util.find_spec
    missing: set[str] = set()
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name in missing else real(name)
    )
    missing.add("pandas")
    with pytest.raises(ValueError, match="pip install pandas"):
        ev.to_frame("pandas")
    assert type(ev.to_frame()).__module__.startswith("polars")
    missing.update({"polars", "pyarrow"})
    with pytest.raises(ValueError, match="to_frame needs a data-frame library"):
        ev.to_frame()


def test_unknown_backend(pool: Any, X: Any) -> None:
    with pytest.raises(ValueError, match="backend must be one of pandas, polars, pyarrow"):
        pool(X).to_frame("excel")


# Notebook display.


def test_the_page_says_what_it_leaves_out() -> None:
    many = shafer.Evidence.from_weights(np.zeros((6, 1, 7)))
    assert "Shown: the first 5 instances, the 6 most probable classes of each." in (
        many._repr_html_()
    )
    assert "Shown" not in shafer.Evidence.from_weights(np.zeros((5, 1, 6)))._repr_html_()


def test_names_are_no_mathematics() -> None:
    ev = shafer.Evidence.from_weights(np.zeros((1, 1, 2)), classes=["$x$", "$y$"])
    for page in (ev._repr_html_(), ev.components._repr_html_()):
        assert page.startswith('<div class="tex2jax_ignore mathjax_ignore">')
        assert page.endswith("</div>")


def test_long_names_are_cut() -> None:
    ev = shafer.Evidence.from_weights(np.zeros((1, 1, 2)), classes=["a" * 500, "b"])
    assert len(repr(ev)) < 200
    assert "a" * 100 not in ev._repr_html_()
