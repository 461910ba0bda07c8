"""One component taken out of the evidence, in the order of its values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shafer._typing import FloatArray
from shafer._validation import float_array, to_numpy
from shafer.evidence import Evidence
from shafer.evidence.component_groups import component_positions
from shafer.plots.drawing.evidence_arrays import Readable, of_instances


class Component(NamedTuple):
    """A component's name, its values in ascending order, and its own evidence in that order."""

    name: str
    values: FloatArray
    evidence: Evidence


def component_alone(evidence: Readable, component: str | int, values: Any) -> Component:
    """Take one component, by name or position, with its value in each row of the evidence."""
    (position,) = component_positions([component], of_instances(evidence).component_names)
    array = to_numpy(float_array(values, "values", ndim=(1,)))
    if array.shape != (len(evidence),):
        raise ValueError(
            f"values must have one value for each of the {len(evidence)} rows of evidence; "
            f"got shape {array.shape}."
        )
    name = evidence.component_names[position]
    if isinstance(evidence, Evidence):
        source = evidence.unchanged_source().keep([position])  # without the others' weights
        own = Evidence.from_source(source, evidence.classes, (name,))
    else:
        weights = evidence.weights[:, position : position + 1, :]
        own = Evidence.from_weights(weights, classes=evidence.classes, names=[name])
    order = np.argsort(array, kind="stable")
    return Component(name, array[order], own[order])
