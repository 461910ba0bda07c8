"""Doors: the same rows have the same numbers in Python, batches, files, graphs and services.

A seed draws a table of odd columns, a model and options. What each door gives for each row is
compared with what the model itself gives, and with what the explainer gives for all rows at once.
Doors whose package is missing are left out.
"""

from __future__ import annotations

import importlib.util
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from click.testing import CliRunner
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler, TargetEncoder

import shafer
from shafer.cli import main
from shafer.scale.inputs import model_inputs
from shafer.scale.tables import chunks_of, read_table, survey

N, TRIED = 90, 24
TEXTS = (
    *("NA", "None", "null", "nan", " ", "a", " a", "A", "01", "1", "1.0", "True", "False", "-"),
    *("2020-01-01", "1/1/2020", "\u00e9", "e\u0301", "1e3", "1_000", "9007199254740993", "a,b"),
    *(
        'a"b',
        "a\nb",
        "🙂",
        "yes",
        "inf",
        "-0",
        "0x1f",
        "<",
        "[x]",
        "other",
        "constant",
        "base rate",
    ),
)
NAMES = ("age", "a b", "Größe", "x", "0", "constant", "base rate", "answer", "weight", "class", "é")
TREES = (
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
)
LABELS = (("no", "yes"), (0, 1), ("None", "nan"), (False, True), ("a", "b", "c"), (2, 10, 7))


def doors(seed: int) -> int:
    """Ask about the same rows at every door."""
    rng = np.random.default_rng(seed)
    X, y = _table(rng)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        explainer, model = _explained(rng, X, y)
        rows = X.iloc[rng.permutation(N)[:TRIED]].reset_index(drop=True)
        whole = _asked(explainer, rows)
        answers = whole["answer"]
        own = model.predict_proba(rows)
        if _keeps_probabilities(explainer):
            # Where a booster computes in float32, so does its own answer.
            _same("the model", whole["probability"], own, 2e-6)
            assert (answers == np.asarray(model.predict(rows))).all(), "answers of the model"
        cases = TRIED
        # A network multiplies matrices; BLAS adds up in an order that depends on their shapes.
        rounding = 1e-14 if "MLPClassifier" in repr(model) else 0.0
        for name, found in _doors(rng, explainer, rows, Path(folder)):
            tolerance = TOLERANCE.get(name, rounding)
            for quantity, values in found.items():
                if quantity == "answer":
                    told = [str(value) for value in values]
                    assert told == [str(value) for value in answers], f"{name}: answers"
                else:
                    _same(f"{name}: {quantity}", values, whole[quantity], tolerance)
            cases += TRIED
    return cases


# Graphs compute in another order; the others in the same.
TOLERANCE = {"graph": 1e-5, "loaded graph": 1e-5}


def _same(name: str, found: Any, wanted: NDArray[Any], tolerance: float) -> None:
    found = np.asarray(found, dtype=np.float64)
    assert found.shape == wanted.shape, f"{name}: shape {found.shape}"
    wrong = ~(np.abs(found - wanted) <= tolerance)
    assert not wrong.any(), f"{name} differs by {np.abs(found - wanted).max()}"


def _keeps_probabilities(explainer: shafer.Explainer) -> bool:
    return explainer.factor == 1.0


def _table(rng: np.random.Generator) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Draw columns of numbers, texts, whole numbers and truth values, and classes."""
    names = rng.permutation(NAMES)[: int(rng.integers(2, 5))].tolist()
    columns, score = {}, 0.3 * rng.normal(size=N)
    for place, name in enumerate(names):
        kind = "number" if place == 0 else str(rng.choice(["number", "text", "whole", "bool"]))
        levels = int(rng.integers(2, 6))
        code = np.arange(N) % levels
        rng.shuffle(code)
        values = _values(rng, kind, code)
        columns[name] = pd.Series(values, dtype=object if kind == "text" else None)
        effect = np.asarray(values) / (np.std(values) + 1e-300) if kind == "number" else code
        score = score + rng.choice([-1.0, 1.0]) * effect
    labels = LABELS[int(rng.integers(len(LABELS)))]
    ranks = np.argsort(np.argsort(score)) * len(labels) // N
    return pd.DataFrame(columns), np.array(labels)[ranks]


def _values(rng: np.random.Generator, kind: str, code: NDArray[Any]) -> Any:
    if kind == "number":
        return rng.normal(size=N) * rng.choice([1e-3, 1.0, 1e6])
    if kind == "text":
        return np.array(rng.permutation(TEXTS)[: code.max() + 1], dtype=object)[code]
    if kind == "whole":
        return (code * int(rng.choice([1, 7, 2**53 // 8]))).astype(np.int64)
    return code % 2 == 0


def _explained(
    rng: np.random.Generator, X: pd.DataFrame, y: NDArray[Any]
) -> tuple[shafer.Explainer, Any]:
    """Train a model and read it, with options at random."""
    texts = [name for name in X if X[name].dtype == object]
    encoders: list[Callable[[], Any]] = [
        lambda: OneHotEncoder(handle_unknown="ignore"),
        lambda: OneHotEncoder(drop="if_binary"),
        lambda: OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        lambda: TargetEncoder(cv=2, random_state=0),
    ]
    encode = make_column_transformer(
        (encoders[int(rng.integers(len(encoders)))](), texts),
        (StandardScaler(), [name for name in X if name not in texts]),
    )
    ends: list[Callable[[], Any]] = [
        lambda: LogisticRegression(C=float(rng.choice([0.1, 10.0]))),
        lambda: HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5, random_state=0),
        lambda: GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0),
        lambda: MLPClassifier((3,), max_iter=20, random_state=0),
        *(_boosted(kind) for kind in ("xgboost", "lightgbm") if importlib.util.find_spec(kind)),
    ]
    weights = [5, 1, 1, 1, 1, 1][: len(ends)]
    end = ends[int(rng.choice(len(ends), p=np.array(weights) / sum(weights)))]()
    codes: Any = np.unique(y, return_inverse=True)[1] if "XGB" in type(end).__name__ else y
    model: Any = make_pipeline(encode, end)
    if len(set(y)) == 2 and rng.random() < 0.4:
        cut = float(rng.choice([0.1, 0.35, 0.5, 0.8]))
        model = FixedThresholdClassifier(model, threshold=cut, pos_label=sorted(set(codes))[-1])
    model.fit(X, codes)
    # A column that is called base rate cannot stand beside the component of that name.
    options: dict[str, Any] = {
        "prior": "shared" if "base rate" in X else str(rng.choice(["shared", "own"]))
    }
    if rng.random() < 0.5:
        options["groups"] = None
    explainer = shafer.Explainer(model, X, **options)
    extra = rng.random()
    if extra < 0.2:
        explainer.temper(X, codes)
    if rng.random() < 0.3:
        explainer.conformalize(X, codes, 0.8)
    if rng.random() < 0.3:
        explainer.control_error(X, codes, 0.4)
    return explainer, model


def _boosted(kind: str) -> Callable[[], Any]:
    def made() -> Any:
        module = importlib.import_module(kind)
        if kind == "xgboost":
            return module.XGBClassifier(n_estimators=3, max_depth=2, n_jobs=1)
        return module.LGBMClassifier(n_estimators=3, num_leaves=4, verbose=-1, n_jobs=1)

    return made


Found = dict[str, Any]


def _doors(
    rng: np.random.Generator, explainer: shafer.Explainer, rows: pd.DataFrame, folder: Path
) -> Iterator[tuple[str, Found]]:
    """Yield what each door says about the rows."""
    yield "again", _asked(explainer, rows)
    yield "one by one", _joined(_asked(explainer, rows[i : i + 1]) for i in range(len(rows)))
    order = rng.permutation(len(rows))
    shuffled = _asked(explainer, rows.iloc[order])
    yield (
        "another order",
        {name: np.asarray(values)[np.argsort(order)] for name, values in shuffled.items()},
    )
    cuts = np.sort(rng.choice(np.arange(1, len(rows)), int(rng.integers(1, 5)), replace=False))
    parts = [rows.iloc[part] for part in np.split(np.arange(len(rows)), cuts)]
    yield "batches", _joined(_asked(explainer, part) for part in parts)
    yield "categories", _asked(explainer, _as_categories(rng, rows))
    file = folder / "m.shafer"
    explainer.save(file)
    loaded = shafer.Explainer.load(file, trusted=TREES)
    yield "loaded", _asked(loaded, rows)
    asked = loaded if rng.random() < 0.5 else explainer
    rows.to_csv(folder / "rows.csv", index=False)
    rows.to_parquet(folder / "rows.parquet")
    for path in (folder / "rows.csv", folder / "rows.parquet"):
        table = read_table(path)
        yield path.name, _asked(asked, model_inputs(asked, table.kinds, path).read(table))
        size = int(rng.integers(1, 9))
        inputs = model_inputs(asked, survey(path, size).kinds, path)
        chunks = chunks_of(path, inputs.columns, size)
        yield f"chunks of {path.name}", _joined(_asked(asked, inputs.rows(part)) for part in chunks)
    yield "answer", _answered(asked, rows)
    yield "command", _commanded(folder, str(rng.choice(["rows.csv", "rows.parquet"])), explainer)
    if importlib.util.find_spec("mlflow"):
        yield "service", _of_table(shafer.export.pyfunc(asked).predict(None, rows), explainer)
    if importlib.util.find_spec("polars"):
        lazy = importlib.import_module("polars").DataFrame(rows.to_dict("list")).lazy()
        yield "lazy", _of_table(shafer.scale.score(lazy, asked).collect().to_pandas(), explainer)
    if importlib.util.find_spec("onnxruntime"):
        for name, one in (("graph", explainer), ("loaded graph", loaded)):
            found = _graph(one, rows)
            if found is not None:
                yield name, found


def _asked(explainer: shafer.Explainer, rows: Any) -> Found:
    """Return what an explainer says, with its sets and deferrals if they were promised."""
    evidence = explainer(rows)
    found = {
        "probability": np.asarray(evidence.probability),
        "belief": np.asarray(evidence.belief),
        "ignorance": np.asarray(evidence.ignorance),
        "answer": np.asarray(explainer.predict(rows)),
    }
    if explainer.promises.conformal is not None:
        found["set"] = explainer.predict_set(rows)
    if explainer.promises.deferral is not None:
        found["deferred"] = explainer.predict_or_defer(rows).deferred
    return found


def _answered(explainer: shafer.Explainer, rows: Any) -> Found:
    """Return what one pass gives."""
    answered = explainer.answer(rows)
    found = {"probability": answered.probability, "answer": answered.labels}
    promised = {"set": answered.sets, "deferred": answered.deferred}
    return found | {name: values for name, values in promised.items() if values is not None}


def _joined(parts: Iterator[Found]) -> Found:
    made = list(parts)
    return {name: np.concatenate([part[name] for part in made]) for name in made[0]}


def _as_categories(rng: np.random.Generator, rows: pd.DataFrame) -> pd.DataFrame:
    """Return texts as categories in an order of their own, with some that do not occur."""
    made = rows.copy()
    for name in rows:
        if rows[name].dtype == object:
            levels = rng.permutation([*dict.fromkeys(rows[name]), "never", "seen"]).tolist()
            made[name] = pd.Categorical(rows[name], levels)
    return made


def _of_table(table: pd.DataFrame, explainer: shafer.Explainer) -> Found:
    """Return the columns of a table of scores that stand in it."""
    names = [str(label) for label in explainer.classes]
    found: Found = {}
    for quantity in ("probability", "belief"):
        columns = [f"{quantity}_{name}" for name in names]
        if set(columns) <= set(table.columns):
            found[quantity] = table[columns].to_numpy()
    assert "probability" in found, f"no probabilities among {list(table.columns)}"
    if "ignorance" in table.columns:
        found["ignorance"] = table["ignorance"].to_numpy()
    for name in ("answer", "deferred"):
        if name in table.columns:
            found[name] = table[name].to_numpy()
    return found


def _commanded(folder: Path, name: str, explainer: shafer.Explainer) -> Found:
    out = folder / "out.parquet"
    options = ["--model", str(folder / "m.shafer"), "--out", str(out)]
    options += [word for name in TREES for word in ("--trust", name)]
    ended = CliRunner().invoke(main, ["score", str(folder / name), *options])
    assert ended.exit_code == 0, f"shafer score: {ended.output}"
    return _of_table(pd.read_parquet(out), explainer)


def _graph(explainer: shafer.Explainer, rows: pd.DataFrame) -> Found | None:
    """Run the explainer as an ONNX graph; None if it says that it cannot be written."""
    onnxruntime = importlib.import_module("onnxruntime")
    outputs = ("probability", "belief", "ignorance")
    try:
        graph = shafer.export.to_onnx(explainer, outputs, rows=rows)
    except (shafer.UnsupportedModelError, ValueError):
        return None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    kinds = {1: np.float32, 11: np.float64, 8: object, 7: np.int64, 9: np.bool_}
    types = {info.name: kinds[info.type.tensor_type.elem_type] for info in graph.graph.input}
    if list(types) == ["X"]:  # all inputs are numbers
        fed = {"X": rows.to_numpy().astype(types["X"])}
    else:
        fed = {name: rows[[name]].to_numpy().astype(kind) for name, kind in types.items()}
    return dict(zip(outputs, session.run(list(outputs), fed), strict=True))
