"""Class priors, by label or in the order of the classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._validation.arrays import float_array, to_numpy
from shafer._validation.labelled_values import labelled


def log_prior(prior: Any, classes: list[Any]) -> NDArray[np.float64]:
    """Return the logarithms of a prior, centred over the classes, (K,)."""
    prior = labelled(prior, classes)
    if isinstance(prior, Mapping):
        missing = [label for label in classes if label not in prior]
        if missing:
            raise ValueError(f"prior must have a probability for every class; none for {missing}.")
        unknown = [label for label in prior if label not in classes]
        if unknown:
            raise ValueError(f"prior has unknown classes {unknown}; the classes are {classes}.")
        prior = [prior[label] for label in classes]
    values = to_numpy(float_array(prior, "prior", ndim=(1,))).astype(np.float64)
    if values.shape != (len(classes),):
        raise ValueError(
            f"prior must have one probability for each of the {len(classes)} classes; got shape "
            f"{values.shape}."
        )
    if not (values > 0).all():
        raise ValueError(
            f"prior must be above 0 for every class; got {values.min()}. A class with a prior of 0 "
            "cannot be chosen with any evidence. Give it a small positive number."
        )
    logs = np.log(values)
    centred: NDArray[np.float64] = logs - logs.mean()
    return centred
