"""LightGBM: a component is a feature, through exact Shapley contributions (TreeSHAP).

With numba they are computed here, many times faster than by the library and to the same numbers.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shafer._checks.frames import frame_columns
from shafer._kernels.trees import NAN_IS_MISSING, Forest
from shafer._text import listed
from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.models.boosting.categories import with_known_categories
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
from shafer.rows.columns import without_blanks
from shafer.rows.schema import ColumnSchema, category_columns


def adapt(
    model: Any,
    tree_values: str = "path",
    background_rows: int = MOST_ROWS,
    restored: Any = None,
) -> AdditiveModel:
    """Read a fitted ``LGBMClassifier`` or a ``Booster``, with the options of ``TreeValues``."""
    values = TreeValues.read(tree_values, background_rows, restored)
    bare = isinstance(model, lightgbm.Booster)
    booster = model if bare else model.booster_
    classes = None if bare else model.classes_
    names = model.feature_name() if bare else getattr(model, "feature_names_in_", None)
    _check_leaves(booster)
    summary = booster.dump_model(num_iteration=1)
    slope = _slope(summary)
    if summary.get("average_output"):  # boosting="rf": contributions are of the sum of its trees
        slope /= (
            booster.best_iteration if booster.best_iteration > 0 else booster.current_iteration()
        )
    n_logits = int(summary["num_tree_per_iteration"])
    names_trained = tuple(booster.feature_name())
    averaged = bool(summary.get("average_output"))
    trees = ShapleyTrees(
        len(names_trained),
        partial(_trees, booster, averaged),
        partial(_scores, booster, n_logits),
    )
    function_of = partial(_contributions, model, n_logits, names_trained)
    live = LiveParameters.of(partial(_identity, model))
    adapted = AdditiveModel(
        Contributions(partial(function_of, trees), None, classes, names),
        live=(live,),
        formula=partial(_formula, model, booster),
    )
    adapted = values.applied(
        adapted, trees, partial(partial, function_of), partial(_rows_of, model, names_trained)
    )
    return adapted if slope == 1.0 else adapted.rescaled(slope)


def probabilities(model: Any, X: Any) -> FloatArray:
    """Return the probabilities that the library itself computes, (n, K)."""
    bare = isinstance(model, lightgbm.Booster)
    X = with_lightgbm_categories(model, X)
    # For an objective of the user's the classifier returns its scores, one for each row.
    return both_probabilities(model.predict(X) if bare else model.predict_proba(X))


def predictions(model: Any, X: Any) -> NDArray[Any]:
    """Return the labels that the library itself predicts, (n,)."""
    return np.asarray(model.predict(with_lightgbm_categories(model, X)))


def _identity(model: Any) -> tuple[Any, ...]:
    """Return the number of trees, and a leaf of the first and of the last tree."""
    booster = model if isinstance(model, lightgbm.Booster) else model.booster_
    n_trees = booster.num_trees()
    leaves = [booster.get_leaf_output(tree, 0) for tree in ((0, n_trees - 1) if n_trees else ())]
    return (n_trees, booster.best_iteration, *leaves)


def _check_leaves(booster: Any) -> None:
    # Only the text form of a model tells, for one trained here and one read from a file alike.
    text = booster.model_to_string(num_iteration=1)
    if "\nis_linear=1\n" in text or "[linear_tree: 1]" in text:
        raise UnsupportedModelError(
            "This LightGBM model was trained with linear_tree=True, for which LightGBM computes no "
            "contributions. Train with linear_tree=False."
        )


def _slope(summary: dict[str, Any]) -> float:
    """Return the factor between scores and log-odds, or refuse the objective."""
    # Such as "binary sigmoid:1", "multiclass num_class:3", "cross_entropy"; none if it is a
    # function of the user's.
    objective, *settings = str(summary.get("objective") or "custom").split()
    if objective == "binary":
        return next((float(s[8:]) for s in settings if s.startswith("sigmoid:")), 1.0)
    if objective in ("multiclass", "cross_entropy"):
        return 1.0
    raise UnsupportedModelError(
        f"This LightGBM model was trained with objective {objective!r}. Its predictions are not a "
        "logistic or softmax of additive terms. Use objective='binary' or 'multiclass'."
    )


_FEW_ROWS = 256


def _trees(booster: Any, averaged: bool) -> Forest | None:
    return None if averaged else lightgbm_trees(booster)  # scores of averages are not sums


def _scores(booster: Any, n_logits: int, X: Any) -> FloatArray:
    # Waking threads takes longer than few rows.
    options = {"num_threads": 1} if X.shape[0] <= _FEW_ROWS else {}
    scores = booster.predict(X, raw_score=True, **options)
    return np.reshape(scores, (-1, n_logits)).astype(np.float64)


def _contributions(
    model: Any, n_logits: int, names: tuple[str, ...], trees: ShapleyTrees, X: Any
) -> FloatArray:
    _check_input(names, X)
    X = with_lightgbm_categories(model, X)
    rows = lightgbm_rows(model, X)
    # The numbers are those that LightGBM makes of the frame, so it need not make them again.
    same = rows is not None and _has_known_categories(model, X)
    ours = None if rows is None else trees.contributions(rows, trees.score(rows if same else X))
    if ours is not None:
        return contributions_with_bias(ours if n_logits > 1 else ours[:, 0])
    trees.refuse_library()
    given = model.predict(X, pred_contrib=True)
    if isinstance(given, list):  # one sparse matrix for each class
        given = np.stack([part.toarray() for part in given], axis=1)
    elif sparse.issparse(given):
        given = given.toarray()
    if n_logits > 1:
        given = given.reshape(len(given), n_logits, -1)
    return contributions_with_bias(given)


def _rows_of(model: Any, names: tuple[str, ...], X: Any) -> FloatArray | None:
    """Return rows as the trees compare them; None if they are of another kind."""
    _check_input(names, X)
    return lightgbm_rows(model, with_lightgbm_categories(model, X))


def _check_input(names: tuple[str, ...], X: Any) -> None:
    """Refuse columns in another order, which LightGBM would read by position, and other shapes."""
    columns = frame_columns(X)
    spelled = columns and without_blanks(columns)
    if spelled and columns and spelled != names and set(spelled) == set(names):
        raise ValueError(
            f"X must have its columns in the order of training, [{listed(names)}], because "
            f"LightGBM reads them by position; got [{listed(columns or ())}]."
        )
    check_table(X, len(names), "the LightGBM model")


def _formula(model: Any, booster: Any, _: Any) -> Formula:
    forest = lightgbm_trees(booster)
    if forest is None:
        raise UnsupportedModelError("This LightGBM model has no trees.")
    # Contributions of boosting="rf" are those of the sum of its trees.
    return Formula(partial(_numbers_of, model), Trees(forest, booster.num_feature()))


def _numbers_of(model: Any, X: Any) -> FloatArray:
    rows = lightgbm_rows(model, with_lightgbm_categories(model, X))
    if rows is None:
        raise ValueError(f"LightGBM holds a table of {type(X).__name__} in another way.")
    return rows


# A table as LightGBM holds it, in double precision.

_CATEGORY_COLUMNS = re.compile(r"^\[categorical_feature: ([\d,]+)\]$", re.MULTILINE)


def lightgbm_rows(model: Any, X: Any) -> FloatArray | None:
    """Return the numbers that the trees compare; None for a table of another kind."""
    if sparse.issparse(X):
        return np.asarray(X.toarray(), dtype=np.float64)
    if isinstance(X, np.ndarray):
        return X.astype(np.float64) if X.ndim == 2 and X.dtype.kind in "biuf" else None
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(X, pandas.DataFrame):
        return None
    return _frame_rows(model, X)


def with_lightgbm_categories(model: Any, X: Any) -> Any:
    """Give the columns of a frame their categories of training."""
    booster = model if isinstance(model, lightgbm.Booster) else model.booster_
    if frame_columns(X) is None or not booster.pandas_categorical:
        return X
    typed = hasattr(X, "iloc") and sum(kind.name == "category" for kind in X.dtypes)
    if typed == len(booster.pandas_categorical):
        return X  # as in training
    known, coded = _known_categories(booster)
    return with_known_categories(X, known, coded, "the LightGBM model")


def known_columns(model: Any, _: Sequence[str] | None) -> dict[int, ColumnSchema]:
    """Return the categories of the columns that have some."""
    booster = model if isinstance(model, lightgbm.Booster) else model.booster_
    return category_columns(_known_categories(booster)[0]) if booster.pandas_categorical else {}


def _known_categories(booster: Any) -> tuple[list[list[Any] | None], list[bool]]:
    """Return the categories of each column, None if they are not known, and whether it has some.

    Categories are listed without the names of their columns. There are more of them than columns
    if some are ordered: LightGBM takes those as numbers, and which they were is not known.
    """
    coded = _category_columns(booster)
    known: list[list[Any] | None] = [None] * len(coded)
    if sum(coded) == len(booster.pandas_categorical):
        for j, categories in zip(np.flatnonzero(coded), booster.pandas_categorical, strict=True):
            known[j] = list(categories)
    return known, coded


def _category_columns(booster: Any) -> list[bool]:
    """Return whether each column has categories."""
    text = booster.model_to_string(num_iteration=1)
    found = _CATEGORY_COLUMNS.search(text)
    places = {int(place) for place in found[1].split(",")} if found else set()
    return [j in places for j in range(booster.num_feature())]


def _has_known_categories(model: Any, X: Any) -> bool:
    """Return whether as many columns have categories as in training, which LightGBM checks."""
    booster = model if isinstance(model, lightgbm.Booster) else model.booster_
    typed = sum(kind.name == "category" for kind in X.dtypes) if hasattr(X, "iloc") else 0
    return typed == len(booster.pandas_categorical or [])


def _frame_rows(model: Any, frame: Any) -> FloatArray | None:
    """Write categories as their codes in training; one that training did not have is NaN."""
    booster = model if isinstance(model, lightgbm.Booster) else model.booster_
    trained = iter(booster.pandas_categorical or [])
    if all(isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in frame.dtypes):
        return np.asarray(frame.to_numpy(dtype=np.float64))
    columns = []
    for j in range(frame.shape[1]):
        column = frame.iloc[:, j]
        if column.dtype.name == "category":
            known: list[Any] = next(trained, [])
            if column.dtype.categories.tolist() != known:
                column = column.cat.set_categories(known)
            codes = column.array.codes.astype(np.float64)
            columns.append(np.where(codes < 0, np.nan, codes))
        elif column.dtype.kind in "biuf":
            columns.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
        else:
            return None
    return np.stack(columns, axis=1)


# The trees of a LightGBM model, from its text form.

# Bits of LightGBM's decision_type; the two bits from the third on are the kind of missing value.
_CATEGORICAL, _DEFAULT_LEFT, _MISSING_SHIFT = 1, 2, 2


def lightgbm_trees(booster: Any) -> Forest | None:
    """Read the trees that the model predicts with; None if there are none."""
    text = booster.model_to_string()
    head, *blocks = text.partition("\nend of trees")[0].split("\nTree=")
    if not blocks:
        return None
    n_outputs = int(_fields(head)["num_tree_per_iteration"])
    tables = [_table(_fields(block), t % n_outputs) for t, block in enumerate(blocks)]
    return joined_trees(tables, set_goes_right=False)


def _fields(block: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in block.splitlines())
    return {name: value for name, equals, value in pairs if equals}


def _numbers(fields: dict[str, str], name: str, kind: type) -> NDArray[Any]:
    return np.array(fields.get(name, "").split(), dtype=kind)


def _table(fields: dict[str, str], output: int) -> TreeTable:
    """Return one tree; its splits come first, then its leaves, which the text calls −1, −2 …."""
    n_splits = int(fields["num_leaves"]) - 1
    decision = _numbers(fields, "decision_type", int)[:n_splits]
    categorical = (decision & _CATEGORICAL) > 0
    threshold = _numbers(fields, "threshold", float)[:n_splits]
    missing = np.where(categorical, NAN_IS_MISSING, decision >> _MISSING_SHIFT & 3)
    leaves = np.full(n_splits + 1, -1)
    none = np.zeros(n_splits + 1)
    return TreeTable(
        output,
        np.concatenate([_numbers(fields, "split_feature", int)[:n_splits], leaves]),
        np.concatenate([threshold, none]),
        np.concatenate([_children(fields, "left_child", n_splits), leaves]),
        np.concatenate([_children(fields, "right_child", n_splits), leaves]),
        np.concatenate([missing, none]).astype(np.uint8),
        np.concatenate([((decision & _DEFAULT_LEFT) > 0) & ~categorical, none]).astype(bool),
        np.concatenate([np.zeros(n_splits), _numbers(fields, "leaf_value", float)]),
        np.concatenate(
            [
                _numbers(fields, "internal_count", float)[:n_splits],
                _numbers(fields, "leaf_count", float) if n_splits else np.ones(1),
            ]
        ),
        _categories(fields, np.flatnonzero(categorical), threshold),
    )


def _children(fields: dict[str, str], name: str, n_splits: int) -> NDArray[np.int64]:
    child = _numbers(fields, name, int)[:n_splits]
    return np.where(child < 0, n_splits + ~child, child)


def _categories(
    fields: dict[str, str], nodes: NDArray[np.intp], threshold: NDArray[np.float64]
) -> list[tuple[int, NDArray[np.int64]]]:
    """Return the sets of categories; their "threshold" is a position among the sets."""
    bounds, words = _numbers(fields, "cat_boundaries", int), _numbers(fields, "cat_threshold", int)
    sets = []
    for node in nodes:
        place = int(threshold[node])
        own = words[bounds[place] : bounds[place + 1]]
        bits = own[:, None] >> np.arange(32) & 1
        sets.append((int(node), np.flatnonzero(bits.ravel())))
    return sets
