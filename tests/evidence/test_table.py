"""Evidence as data frames and in notebooks."""

from __future__ import annotations

import dataclasses
import importlib.util
from types import SimpleNamespace
from typing import Any

import narwhals as nw
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import shafer
from shafer.decision.policy import Cutoff
from shafer.evidence.table import set_names

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
    assert "Shown: the first 5 instances." in many._repr_html_()
    assert "Shown: the first 5 instances, the 6 most probable classes of each." in (
        many.discounted(0.5)._repr_html_()
    )
    few = shafer.Evidence.from_weights(np.zeros((5, 1, 6)))
    assert "Shown" not in few._repr_html_() + few.discounted(0.5)._repr_html_()


def test_answers_and_three_reasons() -> None:
    weights = np.zeros((7, 5, 2))
    weights[:, :, 1] = [[0.5, -0.2, 0.1, 0.05, 0.02]]
    weights[6] = -weights[6]
    names = ["age", "<b>", "ldl", "sbp", "typea"]
    ev = shafer.Evidence.from_weights(weights - weights.mean(-1, keepdims=True), names=names)
    ev = ev.with_index([f"pat{i}" for i in range(7)])
    page = ev._repr_html_()
    assert page.count("<tr>") == 6
    assert "<td>pat4</td>" in page
    assert "pat5" not in page
    assert f"<td>{ev.probability[0, 1]:.3f}</td>" in page
    assert "<strong>× 1.6</strong>&ensp;age" in page
    assert "sbp" in page
    assert "typea" not in page  # the fourth reason
    assert str(ev).splitlines()[1:4] == [
        "pat0  1  0.615  × 1.6  age",
        "                × 1.1  ldl",
        "                × 1.05 sbp",
    ]
    assert str(ev).splitlines()[-2] == "..."
    assert str(ev).splitlines()[-1].startswith("× 2 doubles the odds of the answer")
    decided = dataclasses.replace(ev, cutoff=Cutoff(0.7))
    assert "The answer is 1 from a probability of 0.7 on." in decided._repr_html_()
    assert "&lt;b&gt;" in decided._repr_html_()
    assert str(decided).splitlines()[1] == "pat0  0  0.385  × 1.2 <b>"
    zero = shafer.Evidence.from_weights(np.zeros((1, 2, 2)))
    assert "no component favours it" in zero._repr_html_()


def test_lost_weights_do_not_stop_the_page() -> None:
    features = np.ones((3, 2))
    ev = shafer.least_commitment([1.0, -1.0], 0.0, [0.0, 0.0])(features)
    features[0, 0] = 7.0
    assert repr(ev) in ev._repr_html_().replace("&lt;", "<").replace("&gt;", ">")
    assert str(ev) == repr(ev)


def test_names_are_no_mathematics() -> None:
    ev = shafer.Evidence.from_weights(np.zeros((1, 1, 2)), classes=["$x$", "$y$"])
    for page in (ev._repr_html_(), ev.components._repr_html_()):
        assert page.startswith('<div class="tex2jax_ignore mathjax_ignore">')
        assert page.endswith("</div>")


def test_long_names_are_cut() -> None:
    ev = shafer.Evidence.from_weights(np.zeros((1, 1, 2)), classes=["a" * 500, "b"])
    assert len(repr(ev)) < 200
    assert "a" * 100 not in ev._repr_html_()


@pytest.mark.parametrize(
    "labels",
    [["", "a", "b"], ["a", "b", "a, b"], ["{a, b}", "a", "b"], ["'a'", "a", "'a', 'b'"], [" ", ""]],
)
def test_every_set_is_written_in_its_own_way(labels: list[str]) -> None:
    """An empty label, or one with a comma, must not read as an empty set or as two classes."""
    n = len(labels)
    chosen = np.array([[m >> k & 1 for k in range(n)] for m in range(2**n)], dtype=bool)
    assert len(set(set_names(chosen, np.array(labels)))) == 2**n
    assert set_names(chosen[:1], np.array(labels)) == ["{}"]


def test_ordinary_sets_are_written_plainly() -> None:
    labels = np.array(["no", "it's", "a,b"])
    assert set_names(np.ones((1, 3), dtype=bool), labels) == ["{no, it's, a,b}"]
