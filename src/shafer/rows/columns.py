"""Columns by their names: their order, those of encoded columns, and groups of them."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals as nw
import numpy as np
from scipy import sparse

from shafer._checks.frames import frame_columns, frame_of, numbered
from shafer._checks.labels import is_one_label
from shafer._text import listed
from shafer._typing import BoolArray, FloatArray
from shafer.errors import UnsupportedModelError
from shafer.evidence.groups import Groups
from shafer.rows.access import is_several_inputs, n_rows, take_rows, values_of

if TYPE_CHECKING:
    from shafer.models.read_model import ReadModel


# Where a model keeps the column names of its training data: scikit-learn and libraries that follow
# it, CatBoost, and bare boosters of XGBoost and LightGBM.
_NAMES = ("feature_names_in_", "feature_names_", "feature_names", "feature_name")


def trained_columns(model: Any) -> tuple[str, ...] | None:
    """Return the column names that a model was trained with; None if it does not know them."""
    for attribute in _NAMES:
        names = getattr(model, attribute, None)
        if names is not None:
            return tuple(str(name) for name in (names() if callable(names) else names))
    return None


def column_order(model: Any, background: Any) -> tuple[str, ...] | None:
    """Return the order that frames are brought to; None if neither model nor background has names.

    It is the order of training. Some libraries read the columns of a frame by position, so the
    order of the background counts only for a model that does not know the names.
    """
    trained, given = trained_columns(model), frame_columns(background)
    if trained is None or given is None:
        return given if trained is None else trained
    for spelled in (given, without_blanks(given)):
        name_of = dict(zip(spelled, given, strict=True))
        if len(set(given)) == len(given) and set(trained) <= set(name_of):
            return tuple(name_of[name] for name in trained)
    return given


def without_blanks(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return column names as LightGBM keeps them."""
    return tuple(name.replace(" ", "_") for name in columns)


def in_order(X: Any, columns: tuple[str, ...] | None) -> Any:
    """Return a frame with these columns in this order; other input as it is.

    Further columns, such as an identifier or the true class, are left out. A frame that lacks a
    column comes back as it is: the model's own check refuses it.
    """
    given = frame_columns(X)
    if columns is None or given is None or given == columns:
        return X
    if not set(columns) <= set(given) or len(set(given)) < len(given):
        return X
    place = {name: k for k, name in enumerate(given)}
    order = [place[name] for name in columns]
    return nw.from_native(X, eager_only=True)[:, order].to_native()


@contextmanager
def missing_columns_named(X: Any, columns: tuple[str, ...] | None, name: str) -> Iterator[None]:
    """Name the columns that a frame lacks, if the model cannot take it.

    Columns that a model ignores may be missing, so this is known only after the model has refused.
    Each library refuses in its own words, some of them with an unrelated error.
    """
    try:
        yield
    except Exception as error:
        if nw.dependencies.is_pandas_series(X) and columns and set(columns) <= set(X.index):
            raise ValueError(
                f"{name} must be a table; got one row of it as a Series. Take a table of one row: "
                "table.loc[[label]] or table.iloc[[0]], with two brackets."
            ) from error
        given = frame_columns(X)
        known = () if given is None else (*given, *without_blanks(given))
        missing = [] if given is None else [c for c in columns or () if c not in known]
        if not missing:
            raise
        source = "the background" if name == "X" else "the training data"
        raise ValueError(
            f"{name} must have the columns of {source}; got [{listed(given or ())}], without "
            f"{listed(missing)}. Name the columns as in training."
        ) from error


# Names of encoded columns, and the columns of the data that each of them came from.

Sources: TypeAlias = list[frozenset[str]]

# Private-use characters, which are not part of any category, token or column.
_MARK = "\ue000{}\ue001"
_MARKED = re.compile("\ue000(\\d+)\ue001")
_OWN = "\ue002{}.{}"  # a source that is no column: one output of a transformer that mixes columns
_TEXT = ("CountVectorizer", "HashingVectorizer")
# These name each output after one input, but compute it from the whole row.
_MIXES_ROWS = ("Normalizer", "KNNImputer", "IterativeImputer")


def encoded_names(encoders: Sequence[Any], columns: Sequence[str] | None) -> list[str] | None:
    """Return the names of the last transformer's outputs, equal ones numbered; None without any."""
    names = columns
    for encoder in encoders:
        given = None if hasattr(encoder, "feature_names_in_") else names
        try:
            names = list(encoder.get_feature_names_out(given))
        except (AttributeError, TypeError, ValueError):
            return None
    return None if names is None else numbered([str(name) for name in names])


def encoded_sources(
    encoders: Sequence[Any],
    columns: Sequence[str] | None,
    n_columns: int | None,
    mixing: list[str] | None = None,
) -> tuple[list[str], Sources]:
    """Return the columns of the data, and which of them each encoded column came from.

    Transformers that mix columns are refused. With ``mixing``, their names are added to it, and
    each of their outputs gets a source of its own besides the columns.
    """
    order = _source_names(encoders[0], columns, n_columns)
    sources: Sources = [frozenset([name]) for name in order]
    for encoder in encoders:
        sources = _traced(encoder, sources, mixing)
    return order, sources


def leaf_transformers(encoder: Any) -> Iterator[Any]:
    """Yield the transformers inside pipelines, unions and column transformers."""
    if encoder is None or isinstance(encoder, str):  # "passthrough", "drop"
        return
    parts = [
        *getattr(encoder, "steps", ()),
        *getattr(encoder, "transformer_list", ()),
        *getattr(encoder, "transformers_", ()),
    ]
    if not parts:
        yield encoder
    for _, part, *_ in parts:
        yield from leaf_transformers(part)


def _source_names(encoder: Any, columns: Sequence[str] | None, n_columns: int | None) -> list[str]:
    known = getattr(encoder, "feature_names_in_", columns)
    if known is not None:
        return numbered([str(name) for name in known])
    if n_columns is None:
        n_columns = getattr(encoder, "n_features_in_", None)
    return ["text"] if n_columns is None else [f"x{j}" for j in range(n_columns)]


def _traced(encoder: Any, inputs: Sources, mixing: list[str] | None) -> Sources:
    """Return the sources of each output of a transformer, given those of its inputs."""
    kinds = {base.__name__ for base in type(encoder).__mro__}
    if encoder is None or (isinstance(encoder, str) and encoder == "passthrough"):
        return inputs
    if "Pipeline" in kinds:
        for _, step in encoder.steps:
            inputs = _traced(step, inputs, mixing)
        return inputs
    if "ColumnTransformer" in kinds:
        return _traced_columns(encoder, inputs, mixing)
    if "FeatureUnion" in kinds:
        parts = [part for _, part in encoder.transformer_list if part != "drop"]
        return [found for part in parts for found in _traced(part, inputs, mixing)]
    if kinds & set(_TEXT):
        width = len(encoder.vocabulary_) if hasattr(encoder, "vocabulary_") else encoder.n_features
        return [frozenset().union(*inputs)] * width
    return _traced_by_name(encoder, inputs, kinds, mixing)


def _traced_columns(encoder: Any, inputs: Sources, mixing: list[str] | None) -> Sources:
    # Only this private attribute resolves names, slices, masks and selectors alike.
    positions = encoder._transformer_to_input_indices
    result: Sources = [frozenset()] * max(part.stop for part in encoder.output_indices_.values())
    for name, part, _ in encoder.transformers_:
        where = encoder.output_indices_[name]
        if where.stop > where.start:
            result[where] = _traced(part, [inputs[j] for j in positions[name]], mixing)
    return result


def _traced_by_name(
    encoder: Any, inputs: Sources, kinds: set[str], mixing: list[str] | None
) -> Sources:
    if "FunctionTransformer" in kinds and encoder.func is None:
        return inputs
    together = frozenset[str]().union(*inputs)
    mixes_rows = bool(kinds & set(_MIXES_ROWS)) and len(together) > 1
    if mixes_rows and mixing is None:
        raise mixed_columns(type(encoder).__name__)
    names = _marked_names(encoder, len(inputs))
    found = [{int(j) for j in _MARKED.findall(name)} for name in names]
    if not mixes_rows and (all(found) or "PolynomialFeatures" in kinds):
        return [frozenset().union(*(inputs[j] for j in members)) for members in found]
    if len(together) < 2:
        return [together] * len(names)
    if mixing is None:
        raise mixed_columns(type(encoder).__name__)
    mixing.append(type(encoder).__name__)
    return [together | {_OWN.format(len(mixing), g)} for g in range(len(names))]


def mixed_columns(encoder: str) -> UnsupportedModelError:
    """Return the error for a transformer whose outputs depend on several columns each."""
    return UnsupportedModelError(
        f"groups='source' cannot be used behind {encoder}, because each of its outputs depends on "
        "several columns. Use its outputs as components (groups=None), or pass groups by name."
    )


def _marked_names(encoder: Any, n_inputs: int) -> list[str]:
    anonymous = copy.copy(encoder)
    vars(anonymous).pop("feature_names_in_", None)  # it would accept no other names
    marks = np.array([_MARK.format(j) for j in range(n_inputs)], dtype=object)
    try:
        return [str(name) for name in anonymous.get_feature_names_out(marks)]
    except (AttributeError, TypeError, ValueError) as error:
        raise UnsupportedModelError(
            f"groups='source' needs names of the outputs of {type(encoder).__name__}, which does "
            "not provide them. For a FunctionTransformer set feature_names_out='one-to-one'; "
            "otherwise pass groups by name."
        ) from error


# A test on data whether encoded columns depend only on the columns they are named after.

_ROWS = 32
_ROUNDS = 12  # each finds a dependence on a column with probability 1/2
# Transformers of scikit-learn that are known to keep columns apart, or to name those they mix.
_KNOWN = {
    "Binarizer", "KBinsDiscretizer", "MaxAbsScaler", "MinMaxScaler", "MissingIndicator",
    "OneHotEncoder", "OrdinalEncoder", "PolynomialFeatures", "PowerTransformer",
    "QuantileTransformer", "RobustScaler", "SelectKBest", "SimpleImputer", "SplineTransformer",
    "StandardScaler", "TargetEncoder", "VarianceThreshold",
}  # fmt: skip


def check_unmixed(
    encoders: Sequence[Any],
    encode: Callable[[Any], Any],
    sources: Sources,
    order: list[str],
    X: Any,
) -> None:
    """Refuse transformers whose outputs depend on other columns than their names tell.

    In some rows of X, the values of a random half of the columns are exchanged between rows.
    Outputs whose sources are all in the other half must stay as they were. This is done only
    behind transformers that are not known to keep columns apart, and not for sparse X or several
    inputs.
    """
    unknown = [type(leaf).__name__ for encoder in encoders for leaf in leaf_transformers(encoder)]
    unknown = [name for name in unknown if name not in _KNOWN]
    several = isinstance(X, Mapping) or is_several_inputs(X)
    if not unknown or len(order) < 2 or sparse.issparse(X) or several:
        return
    rows = take_rows(X, slice(0, None, max(1, n_rows(X) // _ROWS)))
    before = _dense(encode(rows))
    choice = np.random.default_rng(0)
    for _ in range(_ROUNDS):
        moved = choice.random(len(order)) < 0.5
        after = _dense(encode(_exchanged(rows, moved)))
        names = {name for name, is_moved in zip(order, moved, strict=True) if is_moved}
        still = [g for g, members in enumerate(sources) if not members & names]
        if not np.array_equal(before[:, still], after[:, still], equal_nan=True):
            raise mixed_columns(" or ".join(sorted(set(unknown))))


def _dense(values: Any) -> FloatArray:
    array = values.toarray() if sparse.issparse(values) else values_of(values)
    return np.asarray(array, dtype=np.float64)


def _exchanged(rows: Any, moved: BoolArray) -> Any:
    """Return the rows with each value of the moved columns taken from the row before."""
    order = np.roll(np.arange(n_rows(rows)), 1)
    if hasattr(rows, "iloc"):  # pandas, whose columns keep their types
        result, other = rows.copy(), rows.iloc[order]
        for j in np.flatnonzero(moved):
            result.isetitem(int(j), other.iloc[:, int(j)].array)
        return result
    frame = frame_of(rows)
    if frame is not None:
        names = [name for name, is_moved in zip(frame.columns, moved, strict=True) if is_moved]
        return frame.with_columns(*(frame[name][order.tolist()] for name in names)).to_native()
    result = np.array(rows)
    result[:, moved] = result[order][:, moved]
    return result


# Groups of components by the column of the data that they came from, such as one-hot columns.


def components_by_column(
    adapted: ReadModel, background: Any, names: Sequence[str]
) -> dict[str, list[int]]:
    """Return column of the data -> positions of the components, ``names``, that came from it.

    A component of several columns, an interaction, is a group of its own, named ``a × b``.
    """
    return _gathered(*component_sources(adapted, background, names), names)


def source_groups(
    adapted: ReadModel, background: Any, names: Sequence[str], *, named: bool
) -> dict[str, list[int]] | None:
    """Return column of the data -> its components, or None if the components stay as they are.

    So they do without encoders, behind one whose outputs cannot be traced to columns, and in a
    model that reads texts, where words are components. A feature that mixes columns, as those of
    PCA, stays alone under its own name. With ``named``, all components do that are not joined.
    """
    by_column = adapted.by_column or adapted.term_columns is not None
    if not adapted.encoders or not by_column or reads_words(adapted.encoders):
        return None
    try:
        order, sources = component_sources(adapted, background, names, [])
    except (UnsupportedModelError, ValueError, TypeError):  # or it refuses the rows of the check
        return None
    return _gathered(order, sources, names, named=named)


def mixing_transformers(encoders: Sequence[Any], columns: Sequence[str] | None) -> list[str]:
    """Return the names of the transformers whose outputs depend on several columns each."""
    if not encoders or reads_words(encoders):
        return []
    mixing: list[str] = []
    try:
        encoded_sources(encoders, columns, None, mixing)
    except UnsupportedModelError:  # a transformer without names of its outputs
        leaves = [type(leaf).__name__ for one in encoders for leaf in leaf_transformers(one)]
        mixing += [name for name in leaves if name not in _KNOWN]
    return list(dict.fromkeys(mixing))


def reads_words(encoders: Sequence[Any]) -> bool:
    """Return whether a transformer makes words of texts."""
    leaves = (leaf for encoder in encoders for leaf in leaf_transformers(encoder))
    return any(base.__name__ in _TEXT for leaf in leaves for base in type(leaf).__mro__)


def component_sources(
    adapted: ReadModel, background: Any, names: Sequence[str], mixing: list[str] | None = None
) -> tuple[list[str], Sources]:
    """Return the columns of the data, and which of them each component came from.

    ``mixing`` is that of :func:`encoded_sources`.
    """
    if adapted.term_columns is not None:
        return _sources_of_terms(adapted, adapted.term_columns, background, names, mixing)
    if not adapted.by_column:
        raise UnsupportedModelError(
            "groups='source' needs components that were made from columns of the data; the "
            f"components of this model have names such as {names[0]!r}. Pass groups by name, or "
            "groups=None."
        )
    if not adapted.encoders:
        return list(names), [frozenset([name]) for name in names]
    order, sources = checked_sources(adapted, background, mixing)
    if len(sources) != len(names):
        raise UnsupportedModelError(
            f"groups='source' found {len(sources)} encoded columns, but the model has "
            f"{len(names)}. Pass the groups by name instead."
        )
    return order, sources


def with_columns(
    groups: Groups, adapted: ReadModel, background: Any, names: Sequence[str]
) -> Groups:
    """Return the user's groups with columns of the data replaced by their components.

    A name that a component has means the component; any other is looked for among the columns.
    """
    if isinstance(groups, str) or not (adapted.by_column and adapted.encoders):
        return groups
    if isinstance(groups, Mapping):
        given = [(str(name), _members(group)) for name, group in groups.items()]
    else:
        groups = list(groups)
        if any(map(is_one_label, groups)):  # not a sequence of groups
            return groups
        given = [(_joined(group, names), list(group)) for group in groups]
    columns_named = {m for _, group in given for m in group if _is_other(m, names)}
    if not columns_named:
        return groups
    by_column = _traceable(adapted, background, names)
    _check_known(columns_named, by_column, names)
    if len(dict(given)) < len(given):
        raise ValueError(f"groups must not overlap; got {[name for name, _ in given]}.")
    return {
        name: [g for m in group for g in (by_column[m] if _is_other(m, names) else [m])]
        for name, group in given
    }


def _members(group: Any) -> list[Any]:
    return [group] if is_one_label(group) else list(group)


def _joined(group: Any, names: Sequence[str]) -> str:
    """Name a group after its members, as the user names them."""
    in_range = range(-len(names), len(names))
    return "+".join(str(names[m] if m in in_range else m) for m in group)


def _is_other(member: Any, names: Sequence[str]) -> bool:
    return isinstance(member, str) and member not in names


def _check_known(wanted: Iterable[str], by_column: Mapping[str, Any], names: Sequence[str]) -> None:
    unknown = sorted(name for name in wanted if name not in by_column)
    if not unknown:
        return
    made_of = f"; they came from the columns {listed(by_column)}" if by_column else ""
    raise ValueError(
        f"Unknown component {unknown[0]!r}; the {len(names)} components are "
        f"{listed(names)}{made_of}."
    )


def _traceable(adapted: ReadModel, background: Any, names: Sequence[str]) -> dict[str, list[int]]:
    try:
        return components_by_column(adapted, background, names)
    except UnsupportedModelError:
        return {}


def _sources_of_terms(
    adapted: ReadModel,
    terms: Sequence[Sequence[int]],
    background: Any,
    names: Sequence[str],
    mixing: list[str] | None,
) -> tuple[list[str], Sources]:
    """Find the columns of the terms of an additive model, also behind transformers."""
    if adapted.encoders:
        order, inputs = checked_sources(adapted, background, mixing)
    else:
        n_columns = 1 + max(j for term in terms for j in term)
        order = list(frame_columns(background) or (f"x{j}" for j in range(n_columns)))
        alone = {term[0]: names[g] for g, term in enumerate(terms) if len(term) == 1}
        order = [alone.get(j, name) for j, name in enumerate(order)]  # as the model names them
        inputs = [frozenset([name]) for name in order]
    return order, [frozenset().union(*(inputs[j] for j in term)) for term in terms]


def checked_sources(
    adapted: ReadModel, background: Any, mixing: list[str] | None = None
) -> tuple[list[str], Sources]:
    """Return the columns of the data, and those that each encoded column depends on."""
    shape: tuple[int, ...] = getattr(background, "shape", ())
    n_columns = int(shape[1]) if len(shape) == 2 else None
    columns = frame_columns(background)
    order, sources = encoded_sources(adapted.encoders, columns, n_columns, mixing)
    check_unmixed(adapted.encoders, adapted.encoded, sources, order, background)
    return order, sources


def _gathered(
    order: Sequence[str], sources: Sources, names: Sequence[str], *, named: bool = False
) -> dict[str, list[int]]:
    """Join components of the same columns; ``named`` components that stay alone keep their name."""
    place = {name: j for j, name in enumerate(order)}
    groups: dict[frozenset[str] | int, list[int]] = {}
    for g, members in enumerate(sources):
        groups.setdefault(members if members <= place.keys() else g, []).append(g)
    # PolynomialFeatures calls its constant column "1".
    titles = [
        names[found[0]]
        if isinstance(members, int) or (named and len(found) == 1)
        else " × ".join(sorted(members, key=place.__getitem__)) or "1"
        for members, found in groups.items()
    ]
    return dict(zip(numbered(titles), groups.values(), strict=True))
