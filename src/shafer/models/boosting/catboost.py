"""CatBoost: a component is a feature, through exact Shapley contributions (TreeSHAP).

They are computed here for models that split on numbers only. For symmetric trees, the default, with
other splits they are the library's own; for other trees these do not add up to its predictions.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Self, final

import catboost
import numpy as np
from numpy.typing import NDArray

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
from shafer.models.formula import Formula, Trees
from shafer.models.heads import Contributions
from shafer.models.live_parameters import LiveParameters
from shafer.models.read_model import AdditiveModel
from shafer.rows.access import take_rows
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
    adapted = AdditiveModel(
        Contributions(partial(function_of, trees), None, model.classes_, _names(model)),
        live=(LiveParameters.of(partial(_identity, model)),),
        formula=partial(_formula, model),
    )
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
    stored = _stored(model)
    columns = stored["features_info"].get("float_features", [])
    symmetric = stored.get("oblivious_trees", [])
    if sum(len(tree["leaf_values"]) for tree in symmetric) > _MOST_LEAVES:
        return None
    trees = map(_nodes, stored.get("trees", [])) if not symmetric else map(_spread, symmetric)
    tables = [_tables(nodes, columns) for nodes in trees]
    if not tables or any(found is None for found in tables):
        return None
    return joined_trees([table for found in tables for table in found or ()], set_goes_right=False)


def _stored(model: Any) -> dict[str, Any]:
    """Return the JSON form of a model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        stored: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return stored


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


# The trees as data. A category is a position among those of the given rows. Splits on a combination
# of categories read a number of their own, which is unlike for unlike combinations.

_MOST_COMBINATIONS = 4096


def _formula(model: Any, rows: Any) -> Formula:
    categories = _Categories.of(model, rows)
    n_features = len(model.feature_names_)
    shared: tuple[tuple[int, ...], ...] = ()
    if _policy(model) != "SymmetricTree":
        forest = None if categories.known else _trees(model)
    else:
        stored = _stored(model)
        asked = _Asked.of(stored["features_info"])
        n_features += len(asked.combinations)
        shared = tuple(members for members, _ in asked.combinations)
        categories = replace(categories, combinations=[read for _, read in asked.combinations])
        sides = {at: categories.leaves(at) for at in asked.of_categories}
        scale, _ = model.get_scale_and_bias()
        tables = [
            table
            for t, tree in enumerate(stored["oblivious_trees"])
            for table in _symmetric_tables(tree, t, asked, sides, scale)
        ]
        forest = joined_trees(tables, set_goes_right=True)
    if forest is None:
        raise UnsupportedModelError("CatBoost was trained with trees that cannot be read.")
    trees = Trees(forest, n_features, single=True, shared=shared)
    return Formula(categories.numbers, trees)


@final
@dataclass(frozen=True, eq=False)
class _Categories:
    """The categories of the given rows, and what the model makes of each.

    Attributes
    ----------
    model : CatBoostClassifier
    rows : the rows
    known : dict of column to categories and their codes
    combinations : list of tuples of columns
        Each is read as one number.
    """

    model: Any
    rows: Any
    known: dict[int, dict[Any, int]]
    combinations: list[tuple[int, ...]] = field(default_factory=list)

    @classmethod
    def of(cls, model: Any, rows: Any) -> Self:
        if model.get_text_feature_indices() or model.get_embedding_feature_indices():
            raise UnsupportedModelError("CatBoost was trained on texts or embeddings.")
        columns = [int(j) for j in model.get_cat_feature_indices()]
        known = {
            j: {value: code for code, value in enumerate(dict.fromkeys(_column(rows, j)))}
            for j in columns
        }
        return cls(model, rows, known)

    def numbers(self, rows: Any) -> FloatArray:
        """Return the rows as numbers, with the codes of categories and of combinations."""
        columns: list[FloatArray] = []
        for j in range(rows.shape[1]):
            given, known = _column(rows, j), self.known.get(j)
            if known is not None and not set(given) <= set(known):
                raise ValueError("the rows have a category that is not known")
            coded = given if known is None else [known[value] for value in given]
            columns.append(np.array(coded, dtype=np.float64))
        for members in self.combinations:
            code = np.zeros(len(columns[0]))
            for j in members:
                code = code * len(self.known[j]) + columns[j]
            columns.append(code)
        return np.stack(columns, axis=1)

    def leaves(self, at: int) -> NDArray[np.int64]:
        """Return the leaf of each tree, (codes, trees), if one row has each code of a column."""
        n = self.rows.shape[1]
        members = (at,) if at < n else self.combinations[at - n]
        choices = list(product(*(self.known[j] for j in members)))
        if len(choices) > _MOST_COMBINATIONS:
            raise UnsupportedModelError(
                f"CatBoost was trained with combinations of categories, of which there are "
                f"{len(choices):,}. Train it with max_ctr_complexity=1."
            )
        one = take_rows(self.rows, [0] * len(choices))
        for place, j in enumerate(members):
            column = [choice[place] for choice in choices]
            if hasattr(one, "iloc"):
                given = type(one.iloc[:, j])(column, index=one.index)
                one = one.assign(**{one.columns[j]: given})
            else:
                one[:, j] = column
        found = self.model.calc_leaf_indexes(_pool(self.model, one))
        return np.asarray(found, dtype=np.int64)


def _column(rows: Any, j: int) -> list[Any]:
    column = rows.iloc[:, j] if hasattr(rows, "iloc") else rows[:, j]
    return list(column.tolist())


@final
@dataclass(frozen=True)
class _Asked:
    """What the splits ask about, by the place of the split among all.

    Attributes
    ----------
    columns : list of int
        The column of each split; −1 if it mixes categories and numbers.
    missing_left : list of bool
        Where a missing number goes; a category is never missing.
    of_categories : set of int
        The columns that hold codes.
    combinations : list of pairs of tuples of int
        Of each combination of categories the columns that share what it receives, and the columns
        that it reads. They come behind all columns.
    """

    columns: list[int]
    missing_left: list[bool]
    of_categories: set[int]
    combinations: list[tuple[tuple[int, ...], tuple[int, ...]]]

    @classmethod
    def of(cls, info: dict[str, Any]) -> Self:
        categories = info.get("categorical_features") or []
        numbers = info.get("float_features") or []
        flat = [one["flat_feature_index"] for one in categories]
        asked = [
            (one["flat_feature_index"], one.get("nan_value_treatment") != "AsTrue")
            for one in numbers
            for _ in one.get("borders") or ()
        ]
        of_categories = [
            j for j, one in zip(flat, categories, strict=True) for _ in one.get("values") or ()
        ]
        n_columns = len(flat) + len(numbers)
        found = [_counted(counter["elements"], flat) for counter in info.get("ctrs") or ()]
        read: dict[tuple[int, ...], set[int]] = {}
        for shares, members in found:
            read.setdefault(shares, set()).update(members)
        combinations = {
            s: tuple(sorted(own)) for s, own in read.items() if own != set(s) or len(s) > 1
        }
        place: dict[tuple[int, ...], int] = {(j,): j for j in flat}
        place |= {s: n_columns + c for c, s in enumerate(combinations)}
        of_categories = [place[j,] for j in of_categories]
        for counter, (shares, _) in zip(info.get("ctrs") or (), found, strict=True):
            of_categories += [place.get(shares, -1)] * len(counter["borders"])
        return cls(
            [column for column, _ in asked] + of_categories,
            [left for _, left in asked] + [True] * len(of_categories),
            set(of_categories) - {-1},
            list(combinations.items()),
        )


def _counted(parts: list[dict[str, Any]], flat: list[int]) -> tuple[tuple[int, ...], set[int]]:
    """Return the columns that share what a counter receives, and all columns that it reads.

    CatBoost leaves those out of which the counter reads one category only. The first are () if
    the counter reads numbers.
    """
    if not all("cat_feature_index" in part for part in parts):
        return (), set()
    members = {flat[part["cat_feature_index"]] for part in parts}
    whole = [part for part in parts if part["combination_element"] == "cat_feature_value"]
    return tuple(sorted({flat[part["cat_feature_index"]] for part in whole})), members


def _symmetric_tables(
    tree: dict[str, Any],
    t: int,
    asked: _Asked,
    sides: dict[int, NDArray[np.int64]],
    scale: float,
) -> list[TreeTable]:
    """Return one tree for each output, as a heap: the last split is the root."""
    splits = tree["splits"] or []
    places = [split["split_index"] for split in splits]
    column = np.array([asked.columns[place] for place in places], dtype=np.int64)
    if np.any(column < 0):
        raise UnsupportedModelError(
            "CatBoost was trained with combinations of categories and numbers. Train it with "
            "max_ctr_complexity=1."
        )
    depth, n_inner = len(splits), 2 ** len(splits) - 1
    heap = np.arange(n_inner)
    split = depth - 1 - np.log2(heap + 1).astype(np.int64)  # of each inner node
    cover = np.concatenate([np.zeros(n_inner), np.asarray(tree["leaf_weights"], dtype=np.float64)])
    for node in reversed(range(n_inner)):
        cover[node] = cover[2 * node + 1] + cover[2 * node + 2]
    numeric = [s["split_type"] == "FloatFeature" for s in splits]
    border = np.array([s["border"] if n else 0.0 for s, n in zip(splits, numeric, strict=True)])
    missing_left = np.array([asked.missing_left[place] for place in places], dtype=bool)
    sets = {
        i: np.flatnonzero(sides[int(column[i])][:, t] >> i & 1)
        for i in range(depth)
        if not numeric[i]
    }
    values = np.reshape(tree["leaf_values"], (n_inner + 1, -1)) * scale
    none, leaves = np.zeros(n_inner + 1), np.full(n_inner + 1, -1)
    return [
        TreeTable(
            output,
            np.concatenate([column[split], leaves]),
            np.concatenate([border[split], none]),
            np.concatenate([2 * heap + 1, leaves]),
            np.concatenate([2 * heap + 2, leaves]),
            np.full(len(cover), NAN_IS_MISSING, dtype=np.uint8),
            np.concatenate([missing_left[split], none.astype(bool)]),
            np.concatenate([np.zeros(n_inner), values[:, output]]),
            cover,
            [(node, sets[int(i)]) for node, i in enumerate(split) if int(i) in sets],
        )
        for output in range(values.shape[1])
    ]
