"""XGBoost: a component is a feature, through exact Shapley contributions (TreeSHAP).

With numba they are computed here, many times faster than by the library and to the same numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import xgboost
from numpy.typing import NDArray
from scipy.special import softmax

from shafer._checks.frames import frame_columns
from shafer._kernels.trees import NAN_IS_MISSING, Forest
from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.models.boosting.categories import (
    refuse_unknown,
    with_exact_numbers,
    with_known_categories,
)
from shafer.models.boosting.tree_background import MOST_ROWS, TreeValues
from shafer.models.boosting.trees import (
    ShapleyTrees,
    TreeTable,
    contributions_with_bias,
    joined_trees,
)
from shafer.models.formula import Formula, Trees
from shafer.models.heads import Contributions
from shafer.models.live_parameters import LiveParameters
from shafer.models.read_model import AdditiveModel, both_probabilities
from shafer.rows.checks import check_table
from shafer.rows.schema import ColumnSchema, category_columns

_BINARY = ("binary:logistic", "reg:logistic")
_SOFTMAX = ("multi:softprob", "multi:softmax")
_VECTOR_LEAVES = (
    "XGBoost was trained with multi_strategy='multi_output_tree', for which it computes no "
    "contributions. Use multi_strategy='one_output_per_tree', the default."
)
_PLACE_IN_SOURCE = re.compile(r"^\[[\d:]+\] \S+:\d+: (Check failed: )?(valid: )?")


def adapt(
    model: Any,
    tree_values: str = "path",
    background_rows: int = MOST_ROWS,
    restored: Any = None,
) -> AdditiveModel:
    """Read a fitted ``XGBClassifier`` or a ``Booster``.

    After early stopping the classifier predicts with the trees up to the best round, and a bare
    ``Booster`` with all its trees. Both are read as they predict. The options are those of
    :class:`TreeValues`.
    """
    values = TreeValues.read(tree_values, background_rows, restored)
    bare = isinstance(model, xgboost.Booster)
    booster = _booster(model)
    _check_objective(booster)
    options = {} if bare else _matrix_options(model)
    rounds = (0, 0) if bare else _rounds(booster)
    trees = ShapleyTrees(
        booster.num_features(),
        partial(xgboost_trees, booster, rounds[1]),
        partial(_scores_of_array, booster, rounds),
    )
    function_of = partial(_contributions, booster, options, rounds)
    classes = None if bare else model.classes_
    live = LiveParameters.of(partial(_identity, model))
    adapted = AdditiveModel(
        Contributions(partial(function_of, trees), None, classes, booster.feature_names),
        live=(live,),
        formula=partial(_formula, booster, options, rounds),
    )
    rows_of = partial(_rows_of, booster, options)
    return values.applied(adapted, trees, partial(partial, function_of), rows_of)


def probabilities(model: Any, X: Any) -> FloatArray:
    """Return the probabilities that the library itself computes, (n, K)."""
    X = _with_categories(_booster(model), X)
    if not isinstance(model, xgboost.Booster):
        return np.asarray(model.predict_proba(X))
    if _learner(model)["objective"]["name"] == "multi:softmax":  # it predicts classes
        margin = model.predict(_matrix(model, {}, X), output_margin=True)
        return np.asarray(softmax(margin, axis=1))
    return both_probabilities(model.predict(_matrix(model, {}, X)))


def predictions(model: Any, X: Any) -> NDArray[Any]:
    """Return the labels that the library itself predicts, (n,)."""
    return np.asarray(model.predict(_with_categories(_booster(model), X)))


def _booster(model: Any) -> Any:
    return model if isinstance(model, xgboost.Booster) else model.get_booster()


def _learner(booster: Any) -> dict[str, Any]:
    learner: dict[str, Any] = json.loads(booster.save_config())["learner"]
    return learner


def _identity(model: Any) -> tuple[Any, ...]:
    """Return what tells one training of a model from another; a fit makes a new booster."""
    booster = _booster(model)
    # As text, because NaN, the usual value of ``missing``, does not equal itself.
    options = "" if model is booster else repr(_matrix_options(model))
    return booster, booster.num_boosted_rounds(), _rounds(booster), options


def _rounds(booster: Any) -> tuple[int, int]:
    """Return the rounds that a classifier predicts with; (0, 0) are all of them."""
    stopped_early = "best_iteration" in booster.attributes()
    return (0, booster.best_iteration + 1) if stopped_early else (0, 0)


def _matrix_options(model: Any) -> dict[str, Any]:
    return {
        "missing": model.missing,
        "enable_categorical": model.enable_categorical,
        "feature_types": model.feature_types,
    }


def _check_objective(booster: Any) -> None:
    learner = _learner(booster)
    objective = learner["objective"]["name"]
    n_classes = int(learner["learner_model_param"].get("num_class", "0"))
    n_targets = int(learner["learner_model_param"].get("num_target", "1"))
    strategy = learner.get("learner_train_param", {}).get("multi_strategy", "")
    if objective not in (*_BINARY, *_SOFTMAX):
        raise UnsupportedModelError(
            f"XGBoost was trained with objective {objective!r}. Its predictions are not a logistic "
            "or softmax of additive terms. Use objective='binary:logistic' or 'multi:softprob'."
        )
    if n_targets > 1 or (objective in _BINARY and n_classes > 1):
        raise UnsupportedModelError(
            f"XGBoost has {max(n_targets, n_classes)} outputs under objective {objective!r}: a "
            "sigmoid for each of them, not one set of classes. Use objective='multi:softprob' for "
            "classes; for separate labels train one model each."
        )
    if strategy == "multi_output_tree":
        raise UnsupportedModelError(_VECTOR_LEAVES)


def _contributions(
    booster: Any, options: dict[str, Any], rounds: tuple[int, int], trees: ShapleyTrees, X: Any
) -> FloatArray:
    check_table(X, booster.num_features(), "the XGBoost model")
    if isinstance(X, np.ndarray) and X.dtype.kind not in "biufO":
        raise ValueError(f"X must hold real numbers; got an array of {X.dtype}.")
    X = _with_categories(booster, X)
    try:
        data = _matrix(booster, options, X)
        ours = trees.contributions(_values(data), _scores(booster, rounds, data))
        if ours is not None:
            return contributions_with_bias(ours if ours.shape[1] > 1 else ours[:, 0])
        trees.refuse_library()
        given = booster.predict(data, pred_contribs=True, iteration_range=rounds)
    except xgboost.core.XGBoostError as error:  # a line of C++, then its stack
        # A model from a file has forgotten its strategy.
        if "IsVectorLeaf" in str(error) or "IsMultiTarget" in str(error):
            raise UnsupportedModelError(_VECTOR_LEAVES) from error
        reason = _PLACE_IN_SOURCE.sub("", str(error).splitlines()[0])
        raise ValueError(f"XGBoost cannot take X, of type {type(X).__name__}: {reason}") from error
    return contributions_with_bias(given)


def _rows_of(booster: Any, options: dict[str, Any], X: Any) -> FloatArray:
    """Return rows as the trees compare them."""
    check_table(X, booster.num_features(), "the XGBoost model")
    return _values(_matrix(booster, options, _with_categories(booster, X)))


def _scores(booster: Any, rounds: tuple[int, int], data: Any) -> FloatArray:
    """Return the scores of the library itself, (n, outputs)."""
    scores = booster.predict(data, output_margin=True, iteration_range=rounds)
    return np.reshape(scores, (data.num_row(), -1)).astype(np.float64)


def _scores_of_array(booster: Any, rounds: tuple[int, int], rows: FloatArray) -> FloatArray:
    names, types = booster.feature_names, booster.feature_types
    categories = types is not None and "c" in types
    data = xgboost.DMatrix(
        rows, feature_names=names, feature_types=types, enable_categorical=categories
    )
    return _scores(booster, rounds, data)


def _values(data: Any) -> FloatArray:
    """Return the rows as XGBoost holds them, in single precision; NaN where a value is missing."""
    stored = data.get_data()
    values = np.full(stored.shape, np.nan)
    rows = np.repeat(np.arange(stored.shape[0]), np.diff(stored.indptr))
    values[rows, stored.indices] = stored.data
    return values


def _with_categories(booster: Any, X: Any) -> Any:
    """Give the columns of a frame their categories of training."""
    types = booster.feature_types or ()
    if frame_columns(X) is None or "c" not in types:
        return X
    known = _categories(booster)
    given = with_known_categories(X, known, [kind == "c" for kind in types], "the XGBoost model")
    refuse_unknown(given, known, "the XGBoost model")
    return given


def _categories(booster: Any) -> list[list[Any] | None]:
    """Return the categories of each column; None where XGBoost does not keep them."""
    nothing: list[list[Any] | None] = [None] * booster.num_features()
    if not hasattr(booster, "get_categories") or find_spec("pyarrow") is None:
        return nothing  # before XGBoost 3.1, models keep codes only
    found = booster.get_categories(export_to_arrow=True).to_arrow()
    return [None if own is None else _names_of(own) for _, own in found] or nothing


def _names_of(categories: Any) -> list[Any] | None:
    """Return categories; None if some are not ASCII, of which XGBoost cuts the names wrongly."""
    try:
        found: list[Any] = categories.to_pylist()
    except UnicodeDecodeError:
        return None
    return found if all(str(value).isascii() for value in found) else None


def known_columns(model: Any, _: Sequence[str] | None) -> dict[int, ColumnSchema]:
    """Return the categories of the columns that have some."""
    booster = _booster(model)
    return category_columns(_categories(booster)) if "c" in (booster.feature_types or ()) else {}


def _formula(booster: Any, options: dict[str, Any], rounds: tuple[int, int], _: Any) -> Formula:
    forest = xgboost_trees(booster, rounds[1])
    if forest is None:
        raise UnsupportedModelError("XGBoost was trained without trees that can be read.")
    missing = options.get("missing", np.nan)
    terms = Trees(
        forest,
        booster.num_features(),
        single=True,
        missing=None if np.isnan(missing) else float(missing),
    )
    return Formula(partial(_numbers, booster, options), terms)


def _numbers(booster: Any, options: dict[str, Any], X: Any) -> FloatArray:
    """Return the rows before they are rounded to single precision; categories as their codes."""
    if isinstance(X, np.ndarray):
        return X.astype(np.float64)
    X = _with_categories(booster, X)
    values = _values(_matrix(booster, options, X))
    return with_exact_numbers(values, X)


def _matrix(booster: Any, options: dict[str, Any], X: Any) -> Any:
    # An array has no column names, but the booster asks for those of its training.
    names = booster.feature_names if frame_columns(X) is None else None
    if "c" in (booster.feature_types or ()):  # a bare booster was trained with them, too
        options = {**options, "enable_categorical": True}
    return xgboost.DMatrix(X, feature_names=names, **options)


# The trees of an XGBoost model, from its JSON form.


def xgboost_trees(booster: Any, n_rounds: int) -> Forest | None:
    """Read the trees of the first rounds, all if 0; None for a model that is not made of trees."""
    fitted = json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"]
    model = fitted["gbtree"]["model"] if "gbtree" in fitted else fitted.get("model", {})
    if "trees" not in model:
        return None
    trees = model["trees"]
    n_trees = model["iteration_indptr"][n_rounds] if n_rounds else len(trees)
    if n_trees == 0 or trees[0]["tree_param"]["size_leaf_vector"] not in ("0", "1"):
        return None
    factors = fitted.get("weight_drop", np.ones(n_trees))  # only for boosting with dropout
    tables = [
        _table(tree, output, float(factor))
        for tree, output, factor in zip(trees[:n_trees], model["tree_info"], factors, strict=False)
    ]
    return joined_trees(tables, set_goes_right=True)


def _table(tree: dict[str, Any], output: int, factor: float) -> TreeTable:
    # A row goes left where x < condition, both in single precision.
    condition = np.asarray(tree["split_conditions"], dtype=np.float32)
    n_nodes = len(condition)
    return TreeTable(
        int(output),
        np.asarray(tree["split_indices"], dtype=np.int64),
        np.nextafter(condition, np.float32(-np.inf)).astype(np.float64),
        np.asarray(tree["left_children"], dtype=np.int64),
        np.asarray(tree["right_children"], dtype=np.int64),
        np.full(n_nodes, NAN_IS_MISSING, dtype=np.uint8),
        np.asarray(tree["default_left"], dtype=bool),
        condition.astype(np.float64) * factor,
        np.asarray(tree["sum_hessian"], dtype=np.float64),
        _tree_categories(tree),
    )


def _tree_categories(tree: dict[str, Any]) -> list[tuple[int, Any]]:
    categories = np.asarray(tree["categories"], dtype=np.int64)
    spans = zip(
        tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
    )
    return [(node, categories[start : start + size]) for node, start, size in spans]
