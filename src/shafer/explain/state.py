"""What a saved ``Explainer`` holds: the model, arrays, and plain Python values.

A saved explainer holds no functions and no objects of this library other than the model. The model
is read again when the explainer is loaded, and everything else is checked: its types and shapes as
the fields declare them, and here whether the parts fit together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.labels import component_names
from shafer._files.codec import EXPLAINER, LABELS, Says, read, written
from shafer._typing import Array, FloatArray
from shafer.asking.inputs import LinearInputs
from shafer.conformal.split import ConformalSets
from shafer.decision.policy import AnswerRule, Cutoff, stored_rule
from shafer.deferral.control import DeferralControl, restored_deferral
from shafer.evidence.base_rate import has_own_base_rate
from shafer.evidence.typicality import WeightProfile
from shafer.explain.calibration import Moderation
from shafer.explain.error_bars import OF_COEFFICIENTS, StoredBars
from shafer.explain.missing import MissingInputs
from shafer.rows.blocks import InputBlocks
from shafer.rows.few_rows import FewRows
from shafer.rows.schema import InputSchema


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
    errors : StoredBars or None
    schema : InputSchema or None
        What the columns of the background held; None in files of older versions.
    refits : list of dicts
        The states of the explainers of the refits.
    rows : FewRows or None
        A few rows of the background, to compare exports with.
    threshold : Cutoff or None
        The threshold that the user stated; that of the model itself is read with the model.
    loss : array of shape (K, K) or None
        The loss of each answer (row) under each true class, if the user stated one for more than
        two classes; for two it is a threshold.
    """

    model: Any
    options: dict[str, Any]
    columns: tuple[str, ...] | None
    classes: Annotated[NDArray[Any], "K", LABELS]
    names: Annotated[tuple[str, ...] | None, "J"]
    groups: dict[str, list[int]] | None
    means: Annotated[Array, "J", "J K", "J l c"]
    factor: Annotated[float, Says("factor must be a finite number > 0; got {got}.")]
    conformal: ConformalSets | None
    moderation: Moderation | None
    missing: MissingInputs | None
    profile: WeightProfile | None
    inputs: LinearInputs | None
    prior: str
    errors: StoredBars | None
    refits: list[dict[str, Any]]
    deferral: dict[str, Any] | None = None
    threshold: Cutoff | None = None
    loss: Annotated[FloatArray | None, "K K"] = None
    schema: InputSchema | None = None
    rows: FewRows | None = None

    def restored_deferral(self) -> DeferralControl | None:
        """Return the thresholds of deferral."""
        n_classes = len(self.classes)
        return None if self.deferral is None else restored_deferral(self.deferral, n_classes)

    def answer_rule(self) -> AnswerRule | None:
        """Return what the user stated about the answers."""
        return stored_rule(self.threshold, self.loss, self.classes)

    def plain(self) -> dict[str, Any]:
        """Return the state as a dictionary of the model, arrays and plain Python values."""
        return {"format": EXPLAINER.current, **written(self)}

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> ExplainerState:
        """Check a dictionary that :meth:`plain` gave.

        Raises
        ------
        ValueError
            If it was written by another version, or does not fit together.
        """
        given = EXPLAINER.completed(given)
        wanted = {"format", *(field.name for field in fields(cls))}
        if given.get("format") != EXPLAINER.current or set(given) != wanted:
            raise ValueError(
                "This saved Explainer was written by another version of shafer, or is damaged: it "
                f"has format {given.get('format')!r}, and format {EXPLAINER.current} is needed. "
                "Make the Explainer again from the model and the background."
            )
        try:
            n_components = len(given["means"])
            held = {name: value for name, value in given.items() if name != "format"}
            state = read(cls, held, {"J": n_components})
            return _checked(state, n_components)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"This saved Explainer is damaged: {error}") from error


def checked_factor(value: Any, name: str) -> float:
    """Return a factor on weights as a float; it must be finite and positive."""
    number = isinstance(value, int | float | np.integer | np.floating)
    if not number or isinstance(value, bool) or not 0.0 < value < np.inf:
        raise ValueError(f"{name} must be a finite number > 0; got {value!r}.")
    return float(value)


def _checked(state: ExplainerState, n_components: int) -> ExplainerState:
    """Check what shapes do not tell, and whether the parts fit the model and each other."""
    factor = checked_factor(state.factor, "factor")
    names = None if state.names is None else component_names(state.names, n_components)
    has_own_base_rate(state.prior)  # an error if it is no known choice
    state.restored_deferral()  # an error if it is damaged
    state.answer_rule()  # the same
    members = sorted(member for group in (state.groups or {}).values() for member in group)
    if state.groups is not None and members != list(range(n_components)):
        raise ValueError(f"groups must hold each of the {n_components} components once.")
    if state.conformal is not None:
        _check_conformal(state.conformal)
    if state.missing is not None and state.missing.blocks is not None:
        _check_blocks(state.missing.blocks, n_components)
    if state.inputs is not None:
        _check_inputs(state.inputs, n_components)
    shown = n_components if state.groups is None else len(state.groups)
    wrong = []
    # The number of locations of a feature map may follow the rows.
    if state.profile is not None and np.ndim(state.means) != 3:
        wrong += ["profile"] * (len(state.profile.component_names) != shown)
    wrong += ["errors"] * (not _errors_fit(state))
    if wrong:
        raise ValueError(f"{', '.join(wrong)} must fit {n_components} components of the model.")
    return replace(state, factor=factor, names=names)


def _check_conformal(sets: ConformalSets) -> None:
    ndim = np.ndim(sets.threshold)
    if ndim not in ((0, 1) if sets.by is None else (2,)):
        raise ValueError("threshold must be a number for each class or for all, in each group.")


def _check_blocks(blocks: InputBlocks, n_features: int) -> None:
    found = [j for block in blocks.features for j in block]
    if len(set(found)) < len(found) or not set(found) <= set(range(n_features)):
        raise ValueError(f"the inputs must be made of {n_features} features, each at most once.")


def _check_inputs(inputs: LinearInputs, n_features: int) -> None:
    _check_blocks(inputs.blocks, n_features)
    if inputs.missing.gaussian is None or len(inputs.ranks) != len(inputs.blocks.names):
        raise ValueError("the ranks and values of the inputs must be as many as the inputs.")
    for decoder in inputs.values:
        if decoder is not None and decoder.values.dtype.kind not in "fU":
            raise ValueError(f"values must be numbers or texts; got {decoder.values.dtype}.")


def _errors_fit(state: ExplainerState) -> bool:
    """Return whether the error bars have what their kind needs: a covariance, or refits."""
    kind = None if state.errors is None else state.errors.kind
    covariance = None if state.errors is None else state.errors.covariance
    enough = len(state.refits) > 1 if kind == "bootstrap" else not state.refits
    return enough and (kind in OF_COEFFICIENTS) == (covariance is not None)
