"""CatBoost: a component is a feature, through exact Shapley contributions (TreeSHAP).

They are computed here for models that split on numbers only. For symmetric trees, the default, with
other splits they are the library's own; for other trees these do not add up to its predictions.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import catboost
import numpy as np

from shafer._kernels.trees import NAN_IS_MISSING, Forest
from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.models.boosting.tree_background import MOST_ROWS, TreeValues
from shafer.models.boosting.trees import (
    ShapleyTrees,
    TreeTable,
    contributions_with_bias,
    joined_trees,
)
from shafer.models.heads import Contributions
from shafer.models.live_parameters import LiveParameters
from shafer.models.read_model import AdditiveModel
from shafer.rows.checks import check_table
from shafer.rows.schema import ColumnSchema

_TOLERANCE = 1e-6  # of contributions and raw scores, relative; both are in double precision


def adapt(
    model: Any,
    tree_values: str = "path",
    background_rows: int = MOST_ROWS,
    restored: Any = None,
) -> AdditiveModel:
    """Read a fitted ``CatBoostClassifier``; the options are those of ``TreeValues``."""
    values = TreeValues.read(tree_values, background_rows, restored)
    if not model.is_fitted():
        raise UnsupportedModelError("CatBoostClassifier is not trained. Call fit(X, y) first.")
    _check_loss(model)
    symmetric = _policy(model) == "SymmetricTree"
    trees = ShapleyTrees(
        len(model.feature_names_), partial(_trees, model), partial(_scores, model), symmetric
    )
    function_of = partial(_contributions, model, partial(_library, model) if symmetric else None)
    head = Contributions(partial(function_of, trees), None, model.classes_, _names(model))
    adapted = AdditiveModel(head, live=(LiveParameters.of(partial(_identity, model)),))
    return values.applied(adapted, trees, partial(partial, function_of), partial(_rows_of, model))


def _check_loss(model: Any) -> None:
    given = model.get_metadata()
    if "params" in given:
        loss = str(model.get_all_params()["loss_function"])
    else:  # a sum of models keeps only this
        loss = str(json.loads(given["loss_function"])["type"]) if "loss_function" in given else ""
    loss = loss.partition(":")[0]
    if loss not in ("Logloss", "CrossEntropy", "MultiClass"):
        raise UnsupportedModelError(
            f"CatBoostClassifier was trained with loss_function={loss!r}. Its probabilities are "
            "not a logistic or softmax of additive terms. Use loss_function='Logloss' or "
            "'MultiClass'."
        )


def _policy(model: Any) -> str:
    """Return how the trees were grown."""
    if "params" not in model.get_metadata():
        return "SymmetricTree"
    return str(model.get_all_params().get("grow_policy", "SymmetricTree"))


def _trees(model: Any) -> Forest | None:
    """Read the trees; the scale belongs to their leaves."""
    forest = catboost_trees(model)
    scale, _ = model.get_scale_and_bias()
    return None if forest is None else forest._replace(value=forest.value * scale)


def _scores(model: Any, X: Any) -> FloatArray:
    raw = model.predict(X, prediction_type="RawFormulaVal")
    return np.reshape(raw, (-1, 1) if np.ndim(raw) == 1 else np.shape(raw))


def _contributions(
    model: Any, library: Callable[[Any], FloatArray] | None, trees: ShapleyTrees, X: Any
) -> FloatArray:
    check_table(X, len(model.feature_names_), "the CatBoost model")
    pool, rows = _pool(model, X), _numbers(X)
    ours = None if rows is None else trees.contributions(rows, _scores(model, pool))
    if ours is None:
        trees.refuse_library()
        if library is not None:
            return library(pool)
        raise UnsupportedModelError(
            f"CatBoostClassifier was trained with grow_policy={_policy(model)!r}. For such trees "
            "the SHAP values of CatBoost do not add up to its prediction, and shafer computes them "
            "only for models without categorical features. Use grow_policy='SymmetricTree', the "
            "default."
        )
    return contributions_with_bias(ours if ours.shape[1] > 1 else ours[:, 0])


def _rows_of(model: Any, X: Any) -> FloatArray | None:
    """Return rows as the trees compare them; None if they hold more than numbers."""
    check_table(X, len(model.feature_names_), "the CatBoost model")
    return _numbers(X)


def _numbers(X: Any) -> FloatArray | None:
    """Return a table of numbers in single precision, as CatBoost holds them."""
    try:
        return np.asarray(X, dtype=np.float32).astype(np.float64)
    except (TypeError, ValueError):
        return None


def _unscaled(model: Any, scale: float) -> Any:
    """Return the model without its scale, for which CatBoost computes no SHAP values."""
    if scale == 1.0:
        return model
    plain = model.copy()
    plain.set_scale_and_bias(1.0, np.zeros_like(model.get_scale_and_bias()[1]).tolist())
    return plain


def _identity(model: Any) -> tuple[Any, ...]:
    """Return what tells one training of a model from another."""
    scale, bias = model.get_scale_and_bias()
    return model.get_metadata()["model_guid"], model.tree_count_, scale, np.ravel(bias)


def _names(model: Any) -> list[str] | None:
    """Return the names it was trained with; without any it numbers the features."""
    names = list(model.feature_names_)
    return None if names == [str(j) for j in range(len(names))] else names


def _library(model: Any, pool: Any) -> FloatArray:
    """Return the contributions that the library computes for symmetric trees."""
    scale, bias = model.get_scale_and_bias()
    bias, unscaled = np.ravel(bias), _unscaled(model, scale)
    given = contributions_with_bias(unscaled.get_feature_importance(pool, type="ShapValues"))
    if scale != 1.0:
        given *= scale
        given[:, 0] += bias if given.ndim == 3 else bias[0]
    raw = model.predict(pool, prediction_type="RawFormulaVal")
    gap = np.abs(given.sum(axis=1) - raw)
    if np.any(gap > _TOLERANCE * (1.0 + np.abs(raw))):
        raise UnsupportedModelError(
            "CatBoost's SHAP values do not add up to its own prediction for this model: they are "
            f"off by up to {gap.max():.3g}. Train it with grow_policy='SymmetricTree', the default."
        )
    return given


def _pool(model: Any, X: Any) -> Any:
    try:
        return catboost.Pool(
            X,
            cat_features=model.get_cat_feature_indices(),
            text_features=model.get_text_feature_indices(),
            embedding_features=model.get_embedding_feature_indices(),
        )
    except catboost.CatBoostError as error:
        raise ValueError(
            f"CatBoost cannot take X, of type {type(X).__name__}: {_last_line(error)}"
        ) from error


def known_columns(model: Any, _: Sequence[str] | None) -> dict[int, ColumnSchema]:
    """Return the columns of categories and texts: CatBoost reads each value as it is written."""
    read = (*model.get_cat_feature_indices(), *model.get_text_feature_indices())
    return {int(j): ColumnSchema("written") for j in read}


def _last_line(error: Exception) -> str:
    """Return the message of an error without its place in CatBoost's source."""
    return str(error).splitlines()[-1].rpartition(".cpp:")[2].lstrip("0123456789: ")


# The trees of a CatBoost model, from its JSON form.

_MOST_LEAVES = 2**20


def catboost_trees(model: Any) -> Forest | None:
    """Read trees that split on numbers only; None if there are others, or too many leaves."""
    if model.get_cat_feature_indices() or model.get_text_feature_indices():
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        stored = json.loads(path.read_text("utf-8"))
    columns = stored["features_info"].get("float_features", [])
    symmetric = stored.get("oblivious_trees", [])
    if sum(len(tree["leaf_values"]) for tree in symmetric) > _MOST_LEAVES:
        return None
    trees = map(_nodes, stored.get("trees", [])) if not symmetric else map(_spread, symmetric)
    tables = [_tables(nodes, columns) for nodes in trees]
    if not tables or any(found is None for found in tables):
        return None
    return joined_trees([table for found in tables for table in found or ()], set_goes_right=False)


def _nodes(root: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the nodes of a tree, parents first."""
    nodes = [root]
    for node in nodes:  # it grows
        nodes += [node[side] for side in ("left", "right") if side in node]
    return nodes


def _spread(tree: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the nodes of a symmetric tree, parents first; bit i of a leaf is split i."""
    splits = tree.get("splits") or []
    n_leaves = 1 << len(splits)
    values = np.reshape(tree["leaf_values"], (n_leaves, -1))
    leaves: list[dict[str, Any]] = [
        {"value": value, "weight": weight}
        for value, weight in zip(values, tree["leaf_weights"], strict=True)
    ]
    level, found = leaves, [leaves]
    for split in splits:  # the first is the lowest
        level = [
            {"split": split, "left": level[i], "right": level[i + 1]}
            for i in range(0, len(level), 2)
        ]
        found.insert(0, level)
    return [node for nodes in found for node in nodes]


def _tables(nodes: list[dict[str, Any]], columns: list[dict[str, Any]]) -> list[TreeTable] | None:
    """Return one tree for each output, with the same splits."""
    splits = [node.get("split") for node in nodes]
    if any(split and split["split_type"] != "FloatFeature" for split in splits):
        return None
    place = {id(node): at for at, node in enumerate(nodes)}
    left, right = (
        np.array([place[id(node[side])] if side in node else -1 for node in nodes])
        for side in ("left", "right")
    )
    asked = [columns[split["float_feature_index"]] if split else {} for split in splits]
    cover = np.array([float(node.get("weight", 0.0)) for node in nodes])
    for at in reversed(np.flatnonzero(left >= 0)):
        cover[at] = cover[left[at]] + cover[right[at]]
    values = [np.atleast_1d(node.get("value", 0.0)) for node in nodes]
    n_outputs = max(map(len, values))
    values = [np.broadcast_to(value, n_outputs) for value in values]
    return [
        TreeTable(
            output,
            np.array([column.get("flat_feature_index", -1) for column in asked]),
            np.array([split["border"] if split else 0.0 for split in splits]),
            left,
            right,
            np.full(len(nodes), NAN_IS_MISSING, dtype=np.uint8),
            np.array([column.get("nan_value_treatment") != "AsTrue" for column in asked]),
            np.array([value[output] for value in values]),
            cover,
        )
        for output in range(n_outputs)
    ]
