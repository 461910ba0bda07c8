"""Whatever can be asked of an explainer or a classifier, a loaded one answers alike, errors too."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer
from shafer.export import pyfunc, to_onnx
from shafer.monitor import Monitor

from . import fresh_process
from .families import BINARY, X, Y, families, linear

FAMILIES = families()


def _plain(value: Any) -> Any:
    """Return a result as something that == compares, NaN included."""
    if hasattr(value, "iloc"):
        return {name: _plain(column) for name, column in value.to_dict("list").items()}
    if type(value).__module__.startswith("torch"):
        value = value.detach().double().numpy()
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return value if isinstance(value, bytes) else repr(value)


def _answer(call: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _plain(call())
        except (ValueError, TypeError, AttributeError) as error:
            return f"{type(error).__name__}: {error}"


def _fields(result: Any) -> dict[str, Any]:
    held = vars(result)
    return {name: value for name, value in held.items() if not name.startswith("_")}


def answers(model: Any, rows: Any) -> dict[str, Any]:
    """Call every public method and export, and return what each gave."""
    clf = not isinstance(model, shafer.Explainer)
    explainer = getattr(model, "explainer_", None) if clf else model
    ev = model.evidence(rows) if clf else model(rows)
    calls: dict[str, Callable[[], Any]] = {
        "repr": lambda: repr(ev),
        "frame": lambda: ev.to_frame("pandas"),
        "reasons": lambda: ev.weighed.reasons(top=3, backend="pandas"),
        "clear reasons": lambda: ev.weighed.reasons(keep="clear", backend="pandas"),
        "fragility": lambda: ev.weighed.fragility(0.1),
        "base rate": lambda: ev.weighed.base_rate,
        "surprise": lambda: (ev.lack, ev.contradiction, ev.weighed.odds_for),
        "html": lambda: ev._repr_html_(),
        "contrast": lambda: ev.weighed.contrast(ev.classes[0], ev.classes[1]),
        "predict": lambda: model.predict(rows),
        "probability": lambda: model.predict_proba(rows),
        "decide": lambda: model.decide(rows, reject=0.3),
        "set": lambda: model.predict_set(rows),
        "utility set": lambda: model.predict_set(rows, "utility_set"),
        "defer": lambda: _fields(model.predict_or_defer(rows)),
        "columns": lambda: model.columns,
        "policy": lambda: model.policy,
        "promises": lambda: (model.promises.conformal is None, model.promises.deferral),
        "schema": lambda: shafer.scale.schema(model),
        "table": lambda: pyfunc(model).predict(None, rows),
        "signature": lambda: str(pyfunc(model).signature.outputs),
    }
    if explainer is not None:
        ask = explainer.ask
        calls |= {
            "typicality": lambda: explainer.typicality(rows),
            "names": lambda: explainer.component_names,
            "factor": lambda: explainer.factor,
            "next": lambda: ask.next_inputs(rows),
            "overturn": lambda: ask.overturn(rows),
            "cells": lambda: ask.check_cells(rows),
            "guard": lambda: _fields(ask.guard(rows)),
            "graph": lambda: to_onnx(explainer, rows=rows).SerializeToString(),
            "single graph": lambda: to_onnx(
                explainer, ["belief"], dtype="float32", check=False
            ).SerializeToString(),
        }
    found = {name: _answer(call) for name, call in calls.items()}
    label = model.predict(rows) if _answer(lambda: model.predict(rows)) else None
    found["recalibrated"] = _answer(lambda: model.conformalize(rows, label, 0.6).predict_set(rows))
    found["controlled"] = _answer(
        lambda: model.control_error(rows, label, 0.9).predict_or_defer(rows).deferred
    )
    found["budgeted"] = _answer(
        lambda: model.control_budget(rows, label, 0.3).predict_or_defer(rows).deferred
    )
    found["monitored"] = _answer(lambda: Monitor.fit(model, rows, label).check(rows, label))
    if explainer is model:
        found["tempered"] = _answer(lambda: model.temper(rows, label).factor)
    return found


@pytest.mark.filterwarnings("ignore::DeprecationWarning:optbinning")
@pytest.mark.filterwarnings("ignore:.*force_all_finite.*:FutureWarning")
@pytest.mark.parametrize("name", FAMILIES)
def test_a_loaded_object_answers_as_the_fresh_one(name: str, tmp_path: Path) -> None:
    saved = FAMILIES[name]()
    saved.model.save(tmp_path / "m.shafer")
    again = fresh_process.loaded(tmp_path / "m.shafer", *saved.needed[1:])
    wanted, found = answers(saved.model, saved.rows), answers(again, saved.rows)
    assert {name: found[name] for name in found if found[name] != wanted[name]} == {
        name: wanted[name] for name in found if found[name] != wanted[name]
    }
    assert sum(str(value).startswith("AttributeError") for value in found.values()) < 12


def test_advice_of_loaded_trees_is_that_of_fresh_ones(tmp_path: Path) -> None:
    from lightgbm import LGBMClassifier

    fresh = shafer.Explainer(LGBMClassifier(n_estimators=3, verbose=-1).fit(X, BINARY), X)
    fresh.save(tmp_path / "m.shafer")
    loaded = shafer.Explainer.load(tmp_path / "m.shafer")
    for explainer in (fresh, loaded):
        with pytest.raises(ValueError, match="works for linear models whose components are"):
            explainer.ask.next_inputs(X[:1])


def test_a_graph_of_a_loaded_explainer_is_compared_or_it_is_said(tmp_path: Path) -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Binarizer

    counts = np.random.default_rng(0).poisson(1.0, size=(100, 3)).astype(float)
    y = (counts[:, 0] + counts[:, 1] > 2).astype(int)
    wrong = make_pipeline(Binarizer(), LogisticRegression()).fit(counts, y)

    def reloaded(explainer: shafer.Explainer, *, rows: bool = False) -> shafer.Explainer:
        explainer.save(tmp_path / "m.shafer", rows=rows)
        return shafer.Explainer.load(tmp_path / "m.shafer")

    with pytest.raises(ValueError, match="does not give the numbers of this explainer"):
        to_onnx(reloaded(shafer.Explainer(wrong, counts), rows=True))
    loaded = reloaded(shafer.Explainer(wrong, counts))
    with pytest.warns(UserWarning, match="was not compared with the explainer"):
        to_onnx(loaded)
    with pytest.raises(ValueError, match="does not give the numbers of this explainer"):
        to_onnx(loaded, rows=counts)
    with pytest.raises(ValueError, match="check=False as well"):
        to_onnx(loaded, rows=counts, check=False)
    assert to_onnx(reloaded(shafer.Explainer(linear().fit(X, Y), X)), rows=X).graph.node
    assert to_onnx(loaded, check=False).graph.node
    head = LogisticRegression(max_iter=500).fit(X, Y)
    assert to_onnx(reloaded(shafer.Explainer(head, X))).graph.node  # compared at the means
    scaled = StandardScaler().fit(X)
    with pytest.warns(UserWarning, match="Pass rows=X"):
        to_onnx(reloaded(shafer.Explainer(make_pipeline(scaled, head).fit(X, Y), X)))


@pytest.mark.parametrize("text", ["object", "category", "str"])
def test_columns_that_are_selected_by_their_types(text: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=60), "n": rng.integers(0, 9, 60)})
    X["k"] = pd.Series(rng.choice(["u", "v"], 60)).astype(text)
    kinds = {"object": object, "category": "category", "str": ["str", "category"]}
    encode = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include=np.number)),
        (OneHotEncoder(), make_column_selector(dtype_include=kinds[text], pattern="k")),
    )
    model = make_pipeline(encode, LogisticRegression()).fit(X, X["a"] > 0)
    explainer = shafer.Explainer(model, X)
    explainer.save(tmp_path / "m.shafer")
    loaded = shafer.Explainer.load(tmp_path / "m.shafer")
    np.testing.assert_array_equal(loaded(X).weights, explainer(X).weights)
