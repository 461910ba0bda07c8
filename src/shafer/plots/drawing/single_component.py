"""One component taken out of the evidence, in the order of its values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shafer._typing import FloatArray
from shafer._validation import float_array, to_numpy
from shafer.evidence import Evidence, MassEvidence, with_weights
from shafer.evidence.component_groups import component_positions
from shafer.plots.drawing.evidence_arrays import of_instances


class Component(NamedTuple):
    """A component's name, its values in ascending order, and its own evidence in that order."""

    name: str
    values: FloatArray
    evidence: Evidence


def component_alone(evidence: MassEvidence, component: str | int, values: Any) -> Component:
    """Take one component, by name or position, with its value in each row of the evidence."""
    plain = of_instances(with_weights(evidence))
    (position,) = component_positions([component], plain.component_names)
    array = to_numpy(float_array(values, "values", ndim=(1,)))
    if array.shape != (len(plain),):
        raise ValueError(
            f"values must have one value for each of the {len(plain)} rows of evidence; "
            f"got shape {array.shape}."
        )
    name = plain.component_names[position]
    source = plain.unchanged_source().keep([position])  # without the others' weights
    own = Evidence.from_source(source, plain.classes, (name,))
    order = np.argsort(array, kind="stable")
    return Component(name, array[order], own[order])
