"""What a saved ``Explainer`` holds: the model, arrays, and plain Python values.

A saved explainer holds no functions and no objects of this library other than the model. The model
is read again when the explainer is loaded, and everything else is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import float_array
from shafer._checks.labels import class_labels, component_names
from shafer._typing import Array
from shafer.asking.inputs import LinearInputs, ValueDecoder
from shafer.conformal.split import ConformalSets
from shafer.deferral.control import DeferralControl, restored_deferral
from shafer.evidence.base_rate import has_own_base_rate
from shafer.evidence.typicality import ClassProfile, WeightProfile
from shafer.explain.calibration import Familiarity, Moderation
from shafer.explain.error_bars import KINDS
from shafer.explain.laplace import LaplacePosterior
from shafer.explain.missing import MISSING, ConditionalGaussian, MissingInputs
from shafer.rows.blocks import InputBlocks

_FORMAT = 4
_SINCE_3 = {"deferral": None}
"""What a state of format 3 lacks; such states can still be read."""

_Part = TypeVar("_Part")


@final
@dataclass(frozen=True, eq=False)
class ExplainerState:
    """Everything that an explainer needs besides what the model itself gives.

    Attributes
    ----------
    model : fitted model
    options : dict from str to plain values
        Options under which the model is read.
    columns : tuple of str or None
        The columns of the background, if it was a data frame.
    classes : array of shape (K,)
    names : tuple of str or None
        Names of the components before grouping; None if the model and the background have none.
    groups : dict from str to list of int, or None
        The components in each group.
    means : array of shape (J,), (G, K), or (G, 1, C) for feature maps
        Means of the model's terms over the background.
    factor : float
    deferral : dict or None
        The thresholds of deferral, as :func:`deferral_state` writes them.
    conformal, moderation, missing, profile
        The fitted parts, None where they were not asked for.
    inputs : LinearInputs or None
        What questions about inputs need; None for models that cannot be asked.
    prior : {"shared", "own"}
    errors : dict or None
        The kind of the error bars, and their arrays.
    refits : list of dicts
        The states of the explainers of the refits.
    """

    model: Any
    options: dict[str, Any]
    columns: tuple[str, ...] | None
    classes: NDArray[Any]
    names: tuple[str, ...] | None
    groups: dict[str, list[int]] | None
    means: Array
    factor: float
    conformal: ConformalSets | None
    moderation: Moderation | None
    missing: MissingInputs | None
    profile: WeightProfile | None
    inputs: LinearInputs | None
    prior: str
    errors: dict[str, Any] | None
    refits: list[dict[str, Any]]
    deferral: dict[str, Any] | None = None

    def restored_deferral(self) -> DeferralControl | None:
        """Return the thresholds of deferral."""
        n_classes = len(self.classes)
        return None if self.deferral is None else restored_deferral(self.deferral, n_classes)

    def plain(self) -> dict[str, Any]:
        """Return the state as a dictionary of the model, arrays and plain Python values."""
        shown = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}
        return {"format": _FORMAT, **shown}

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> ExplainerState:
        """Check a dictionary that :meth:`plain` gave.

        Raises
        ------
        ValueError
            If it was written by another version, or does not fit together.
        """
        wanted = {"format", *(field.name for field in fields(cls))}
        if given.get("format") == 3:
            given = {**_SINCE_3, **given, "format": _FORMAT}
        if given.get("format") != _FORMAT or set(given) != wanted:
            raise ValueError(
                "This saved Explainer was written by another version of shafer, or is damaged: "
                f"it has format {given.get('format')!r}, and format {_FORMAT} is needed. Make the "
                "Explainer again from the model and the background."
            )
        try:
            return _checked(given)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"This saved Explainer is damaged: {error}") from error


def checked_factor(value: Any, name: str) -> float:
    """Return a factor on weights as a float; it must be finite and positive."""
    number = isinstance(value, int | float | np.integer | np.floating)
    if not number or isinstance(value, bool) or not 0.0 < value < np.inf:
        raise ValueError(f"{name} must be a finite number > 0; got {value!r}.")
    return float(value)


def _plain(value: Any) -> Any:
    """Write the parts of this library as dictionaries; leave everything else."""
    ours = (ConformalSets, Moderation, MissingInputs, WeightProfile, ClassProfile)
    parts = (LaplacePosterior, Familiarity, ConditionalGaussian)
    asked = (LinearInputs, InputBlocks, ValueDecoder)
    if is_dataclass(value) and isinstance(value, (*ours, *parts, *asked)):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return tuple(_plain(part) for part in value)
    return value


def _checked(given: Mapping[str, Any]) -> ExplainerState:
    means = float_array(given["means"], "means", ndim=(1, 2, 3))
    n_components = int(means.shape[0])
    names, columns = given["names"], given["columns"]
    classes = np.asarray(given["classes"])
    state = ExplainerState(
        model=given["model"],
        options={str(name): value for name, value in given["options"].items()},
        columns=None if columns is None else tuple(str(name) for name in columns),
        classes=class_labels(classes, len(classes)),
        names=None if names is None else component_names(names, n_components),
        groups=_groups(given["groups"], n_components),
        means=means,
        factor=checked_factor(given["factor"], "factor"),
        conformal=_optional(given["conformal"], _conformal),
        moderation=_optional(given["moderation"], _moderation),
        missing=_optional(given["missing"], _missing),
        profile=_optional(given["profile"], _profile),
        inputs=_optional(given["inputs"], _inputs),
        prior=str(given["prior"]),
        errors=_optional(given["errors"], _errors),
        refits=[dict(refit) for refit in given["refits"]],
        deferral=_optional(given["deferral"], dict),
    )
    state.restored_deferral()  # an error if it is damaged
    _check_together(state, n_components)
    return state


def _optional(given: Any, read: Callable[[Mapping[str, Any]], _Part]) -> _Part | None:
    return None if given is None else read(given)


def _groups(given: Any, n_components: int) -> dict[str, list[int]] | None:
    if given is None:
        return None
    groups = {str(name): [int(member) for member in group] for name, group in given.items()}
    members = sorted(member for group in groups.values() for member in group)
    if members != list(range(n_components)):
        raise ValueError(f"groups must hold each of the {n_components} components once.")
    return groups


def _arrays(given: Mapping[str, Any], **shapes: Sequence[int]) -> dict[str, NDArray[np.float64]]:
    """Read finite arrays of the given shapes."""
    result = {}
    for name, shape in shapes.items():
        array = np.asarray(float_array(given[name], name), dtype=np.float64)
        if array.shape != tuple(shape):
            raise ValueError(f"{name} must have shape {tuple(shape)}; got {array.shape}.")
        result[name] = array
    return result


def _shape(given: Mapping[str, Any], name: str, ndim: int) -> tuple[int, ...]:
    shape: tuple[int, ...] = np.shape(given[name])
    if len(shape) != ndim:
        raise ValueError(f"{name} must have {ndim} dimension(s); got shape {shape}.")
    return shape


def _conformal(given: Mapping[str, Any]) -> ConformalSets:
    threshold = given["threshold"]
    limits = np.asarray(threshold, dtype=np.float64)
    n_classes, groups = int(given["n_classes"]), given.get("groups")  # format 3 has no groups
    shapes = ((), (n_classes,)) if groups is None else ((len(groups), 1), (len(groups), n_classes))
    if np.isnan(limits).any() or limits.shape not in shapes:
        raise ValueError(f"threshold must be a number for each class or for all; got {threshold!r}")
    return ConformalSets(
        str(given["score"]),
        float(given["coverage"]),
        float(limits) if limits.ndim == 0 else limits,
        int(given["n_calibration"]),
        n_classes,
        bool(given["allow_empty"]),
        None if groups is None else tuple(groups),
        given.get("column"),
    )


def _moderation(given: Mapping[str, Any]) -> Moderation:
    posterior = given["posterior"]
    rows, columns = _shape(posterior, "root", 2)
    arrays = _arrays(posterior, root=(rows, columns), centre=(rows - 1,))
    return Moderation(LaplacePosterior(**arrays), _optional(given["familiarity"], _familiarity))


def _familiarity(given: Mapping[str, Any]) -> Familiarity:
    n, n_inputs = _shape(given, "rows", 2)
    arrays = _arrays(given, rows=(n, n_inputs), centre=(n_inputs,), scale=(n_inputs,))
    return Familiarity(**arrays, q50=float(given["q50"]), q90=float(given["q90"]))


def _missing(given: Mapping[str, Any]) -> MissingInputs:
    if given["how"] not in MISSING[1:]:
        raise ValueError(f"missing must be one of {MISSING[1:]}; got {given['how']!r}.")
    n_inputs, n_classes = _shape(given, "beta", 2)
    arrays = _arrays(
        given, means=(n_inputs,), beta=(n_inputs, n_classes), offset_change=(n_classes,)
    )
    gaussian, blocks = given["gaussian"], _optional(given["blocks"], _blocks)
    if blocks is not None:
        _check_blocks(blocks, n_inputs)
    if gaussian is None:
        return MissingInputs(given["how"], **arrays, gaussian=None, blocks=blocks)
    square = (n_inputs, n_inputs)
    moments = _arrays(
        gaussian, mean=(n_inputs,), spread=(n_inputs,), correlation=square, precision=square
    )
    found = ConditionalGaussian(**moments)
    return MissingInputs(given["how"], **arrays, gaussian=found, blocks=blocks)


def _blocks(given: Mapping[str, Any]) -> InputBlocks:
    names = tuple(str(name) for name in given["names"])
    columns = tuple(int(column) for column in given["columns"])
    features = tuple(tuple(int(j) for j in block) for block in given["features"])
    stand_ins = tuple(given["stand_ins"])
    if not len(names) == len(columns) == len(features) or len(stand_ins) not in (0, len(names)):
        raise ValueError("the names, columns and features of the inputs must be as many.")
    return InputBlocks(names, columns, features, stand_ins)


def _check_blocks(blocks: InputBlocks, n_features: int) -> None:
    found = [j for block in blocks.features for j in block]
    if len(set(found)) < len(found) or not set(found) <= set(range(n_features)):
        raise ValueError(f"the inputs must be made of {n_features} features, each at most once.")


def _inputs(given: Mapping[str, Any]) -> LinearInputs:
    missing, blocks = _missing(given["missing"]), _blocks(given["blocks"])
    _check_blocks(blocks, len(missing.beta))
    ranks = tuple(int(rank) for rank in given["ranks"])
    values = tuple(_optional(part, _values) for part in given["values"])
    if missing.gaussian is None or not len(ranks) == len(values) == len(blocks.names):
        raise ValueError("the ranks and values of the inputs must be as many as the inputs.")
    return LinearInputs(missing, blocks, ranks, values)


def _values(given: Mapping[str, Any]) -> ValueDecoder:
    n, width = _shape(given, "encoded", 2)
    values = np.asarray(given["values"])
    if values.shape != (n,) or values.dtype.kind not in "fU":
        raise ValueError(f"values must be {n} numbers or texts; got {values.dtype}.")
    return ValueDecoder(values, **_arrays(given, encoded=(n, width)))


def _profile(given: Mapping[str, Any]) -> WeightProfile:
    classes = np.asarray(given["classes"])
    names = tuple(str(name) for name in given["component_names"])
    profiles = tuple(_class_profile(part, len(names)) for part in given["profiles"])
    return WeightProfile(class_labels(classes, len(profiles)), names, profiles)


def _errors(given: Mapping[str, Any]) -> dict[str, Any]:
    kind = given["kind"]
    if kind not in KINDS:
        raise ValueError(f"errors must be one of {KINDS}; got {kind!r}.")
    if kind != "laplace":
        return {"kind": kind}
    shape = _shape(given, "covariance", 4)
    return {"kind": kind, **_arrays(given, covariance=shape)}


def _class_profile(given: Mapping[str, Any], n_components: int) -> ClassProfile:
    _, n_axes = _shape(given, "axes", 2)
    (n_rows,) = _shape(given, "distances", 1)
    arrays = _arrays(
        given,
        mean=(n_components,),
        spread=(n_components,),
        axes=(n_components, n_axes),
        precision=(n_axes,),
        distances=(n_rows,),
    )
    return ClassProfile(**arrays, noise=float(given["noise"]), rest=float(given["rest"]))


def _check_together(state: ExplainerState, n_components: int) -> None:
    """Raise an error if the parts are of different sizes."""
    n_classes = len(state.classes)
    shown = n_components if state.groups is None else len(state.groups)
    has_own_base_rate(state.prior)
    sizes = {
        "means": state.means.ndim != 2 or state.means.shape[1] == n_classes,
        "conformal": state.conformal is None or state.conformal.n_classes == n_classes,
        "missing": state.missing is None or state.missing.beta.shape == (n_components, n_classes),
        "inputs": state.inputs is None or state.inputs.beta.shape == (n_components, n_classes),
        "profile": state.profile is None
        or len(state.means.shape) == 3  # the number of locations may follow the rows
        or (len(state.profile.profiles), len(state.profile.component_names)) == (n_classes, shown),
        "moderation": state.moderation is None
        or len(state.moderation.posterior.centre) == n_components,
        "errors": _errors_fit(state, n_components, n_classes),
    }
    wrong = [name for name, fits in sizes.items() if not fits]
    if wrong:
        raise ValueError(f"{', '.join(wrong)} must fit {n_components} components of the model.")


def _errors_fit(state: ExplainerState, n_components: int, n_classes: int) -> bool:
    """Return whether the error bars have the size of the model, and refits if they need them."""
    kind = None if state.errors is None else state.errors["kind"]
    if state.errors is not None and kind == "laplace":
        wanted = (n_classes - 1, n_components + 1) * 2
        if state.errors["covariance"].shape != wanted:
            return False
    return len(state.refits) > 1 if kind == "bootstrap" else not state.refits
