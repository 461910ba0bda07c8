"""``ExplainerPrint``: tells whether an explainer is the one that a monitor was fitted with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._text import listed
from shafer._typing import FloatArray
from shafer._validation import to_numpy
from shafer.evidence import AdditivePool
from shafer.evidence.identification.located_pool import LocatedPool
from shafer.models import Explainer

_SLACK = 1e-6  # relative: another machine may round otherwise


@final
@dataclass(frozen=True, eq=False)
class ExplainerPrint:
    """What an explainer makes weights with: names, classes, means, coefficients, tempering.

    Attributes
    ----------
    component_names : tuple of strings
    classes : array of shape (K,)
    means, offset : arrays
        What the background means give, as the pool of the explainer holds it.
    beta : array
        Coefficients; empty if the model is not linear.
    factor : float
    """

    component_names: tuple[str, ...]
    classes: NDArray[Any]
    means: FloatArray
    offset: FloatArray
    beta: FloatArray
    factor: float

    @classmethod
    def of(cls, explainer: Explainer) -> ExplainerPrint:
        """Take the print of an explainer."""
        pool = explainer.pool
        if isinstance(pool, LocatedPool):
            means, offset = pool.at_means, pool.logits_at_means
        else:
            means, offset = pool.means, pool.offset
        beta = np.zeros(0) if isinstance(pool, AdditivePool) else to_numpy(pool.beta)
        return cls(
            explainer.component_names,
            explainer.classes,
            to_numpy(means).astype(np.float64),
            to_numpy(offset).astype(np.float64),
            beta.astype(np.float64),
            explainer.factor,
        )

    def check(self, explainer: Explainer) -> None:
        """Refuse an explainer with other weights."""
        other = ExplainerPrint.of(explainer)
        if other.component_names != self.component_names:
            self._refuse("components", self.component_names, other.component_names)
        if other.classes.tolist() != self.classes.tolist():
            self._refuse("classes", self.classes.tolist(), other.classes.tolist())
        if not np.isclose(other.factor, self.factor, rtol=_SLACK, atol=0.0):
            self._refuse("tempering factors", [self.factor], [other.factor])
        for name in ("means", "offset", "beta"):
            ours, theirs = getattr(self, name), getattr(other, name)
            slack = _SLACK * float(np.abs(ours).max(initial=0.0))
            if ours.shape != theirs.shape or not np.allclose(ours, theirs, rtol=0.0, atol=slack):
                raise ValueError(
                    "The explainer is not the one that the monitor was fitted with: its weights "
                    "are relative to other means, or come from another model. Fit a new monitor."
                )

    def _refuse(self, what: str, ours: Any, theirs: Any) -> None:
        raise ValueError(
            f"The explainer is not the one that the monitor was fitted with: its {what} are "
            f"{listed(theirs)}, those of the monitor are {listed(ours)}. Fit a new monitor."
        )
