"""Write the graphs of exporters that are not among the tests' packages. Run by hand, one at a time.

Each graph is that of a small model on random numbers; beside it are rows, and what the framework
itself computes of them. For example: ``KERAS_BACKEND=torch python make_graphs.py keras``. It needs
the framework and its exporter: keras, jax with flax and jax2onnx, torch with onnxscript, lightgbm
or xgboost with onnxmltools.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx

HERE = Path(__file__).parent
_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(24, 4)).astype(np.float32).round(3)
Y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.3)
GAPS = X.copy()
GAPS[::7, 2], GAPS[:, 3] = np.nan, _RNG.integers(0, 4, len(X))


def keras() -> None:
    import keras

    keras.utils.set_random_seed(0)
    layers = [keras.layers.Dense(5, "relu"), keras.layers.Dense(3, "softmax")]
    model = keras.Sequential([keras.Input((4,)), *layers])
    probability = model.predict(X, verbose=0)
    path = HERE / "keras.onnx"
    model.export(str(path), format="onnx", verbose=False)
    write("keras", onnx.load(path), X, probability)


def jax() -> None:
    import jax.numpy as jnp
    from flax import nnx
    from jax2onnx import to_onnx

    class Network(nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.hidden, self.last = nnx.Linear(4, 5, rngs=rngs), nnx.Linear(5, 3, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            logits = self.last(nnx.tanh(self.hidden(x)))
            grown = jnp.exp(logits - logits.max(-1, keepdims=True))
            return grown / grown.sum(-1, keepdims=True)

    model = Network(nnx.Rngs(0))
    write("jax", to_onnx(model, [("B", 4)], opset=21), X, np.asarray(model(X)))


def torch() -> None:
    import torch as library
    from torch import nn

    library.manual_seed(0)
    layers = [nn.Linear(4, 5), nn.LayerNorm(5), nn.GELU(), nn.Linear(5, 3), nn.Softmax(-1)]
    model, rows = nn.Sequential(*layers).eval(), library.tensor(X)
    program = library.onnx.export(model, (rows[:2],), dynamo=True, dynamic_shapes=({0: "n"},))
    for node in program.model_proto.graph.node:  # where in the code each comes from
        node.ClearField("metadata_props")
        node.ClearField("doc_string")
    write("torch", program.model_proto, X, model(rows).detach().numpy())


def lightgbm() -> None:
    import lightgbm as library
    from onnxmltools import convert_lightgbm

    names = np.array(["low", "mid", "high"])[Y]
    model = library.LGBMClassifier(n_estimators=3, num_leaves=5, min_child_samples=3, verbose=-1)
    model.fit(GAPS, names, categorical_feature=[3])
    graph = convert_lightgbm(model, initial_types=_floats())
    contributions = np.asarray(model.predict(GAPS, pred_contrib=True)).tolist()
    known = {"classes": model.classes_.tolist(), "contributions": contributions}
    write("lightgbm", graph, GAPS, model.predict_proba(GAPS), **known)


def xgboost() -> None:
    import xgboost as library
    from onnxmltools import convert_xgboost

    model = library.XGBClassifier(n_estimators=3, max_depth=2).fit(GAPS, Y > 0)
    write(
        "xgboost", convert_xgboost(model, initial_types=_floats()), GAPS, model.predict_proba(GAPS)
    )


def _floats() -> list[Any]:
    from onnxmltools.convert.common.data_types import FloatTensorType

    return [("input", FloatTensorType([None, 4]))]


def write(name: str, graph: Any, rows: Any, probability: Any, **known: Any) -> None:
    graph.ir_version = min(graph.ir_version, 9)  # which older versions of onnxruntime read
    onnx.save(graph, HERE / f"{name}.onnx")
    numbers = {"X": rows.tolist(), "probability": probability.tolist()}
    (HERE / f"{name}.json").write_text(json.dumps({**numbers, **known}) + "\n")


if __name__ == "__main__":
    {made.__name__: made for made in (keras, jax, torch, lightgbm, xgboost)}[sys.argv[1]]()
