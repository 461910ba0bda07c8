r"""Conflict between sources: each pair, and all of them together.

The conflict of two mass functions, the mass their conjunctive sum gives to the empty set, is

.. math:: -\ln(1 - \kappa_{st}) = W_{st} - W_s - W_t,

with W the total weight of conflict of pooled evidence, inside the sources and between them, in
closed form. Weights of conflict add up, do not saturate, and the conflict inside each source is
left out of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer._validation import frozen, to_numpy
from shafer.evidence import Evidence
from shafer.fusion.frame_alignment import align
from shafer.fusion.named_sources import checked_sources, read_numbers
from shafer.fusion.source_pool import source_pool


@final
@dataclass(frozen=True, eq=False)
class SourceConflict:
    """Weights of conflict between S sources.

    Attributes
    ----------
    names : tuple of S strings
    weights : array of shape (n, S, S)
        Weight of conflict −ln(1 − κ) of each pair; 0 on the diagonal, whatever the
        conflict inside the source.
    total_weight : array of shape (n,)
        Weight of conflict between all sources at once: at least that of any pair.

    See Also
    --------
    conflict_between : Makes one.
    shafer.plots.SourceConflictDisplay : Draws it.

    Examples
    --------
    >>> import shafer
    >>> a = shafer.Evidence.from_weights([[[1.0, 0.0]]])
    >>> b = shafer.Evidence.from_weights([[[0.0, 1.0]]])
    >>> found = shafer.fusion.conflict_between({"a": a, "b": b})
    >>> found.names, found.total_weight.round(3)
    (('a', 'b'), array([0.51]))
    """

    names: tuple[str, ...]
    weights: FloatArray
    total_weight: FloatArray

    @property
    def degrees(self) -> FloatArray:
        """Degree of conflict κ of each pair, (n, S, S)."""
        return np.asarray(-np.expm1(-self.weights))

    @property
    def total(self) -> FloatArray:
        """Degree of conflict κ between all sources, (n,)."""
        return np.asarray(-np.expm1(-self.total_weight))


def conflict_between(
    evidences: Mapping[str, Any] | Iterable[Any], *, tempering: Any = None
) -> SourceConflict:
    """Measure the conflict between sources, per pair and in total.

    Parameters
    ----------
    evidences : mapping from source name to Evidence, or sequence of Evidence
    tempering : numbers ≥ 0, optional
        Factors on the weights of each source, as for :func:`shafer.combine`.

    Returns
    -------
    SourceConflict

    See Also
    --------
    influence : What changes if a source is left out.
    shafer.plots.SourceConflictDisplay : Draws the result.

    Examples
    --------
    >>> import shafer
    >>> a = shafer.Evidence.from_weights([[[1.0, 0.0]]])
    >>> b = shafer.Evidence.from_weights([[[0.0, 1.0]]])
    >>> conflict = shafer.fusion.conflict_between({"a": a, "b": b, "c": a})
    >>> conflict.degrees[0].round(3)
    array([[0. , 0.4, 0. ],
           [0.4, 0. , 0.4],
           [0. , 0.4, 0. ]])
    >>> conflict.total.round(3)
    array([0.547])
    """
    sources = checked_sources(evidences)
    if not sources.are_weights or sources.reliability is not None:
        raise ValueError(
            "conflict_between needs sources of type Evidence; at least one of "
            f"{', '.join(sources.names)} has another type. For discounted evidence, pass "
            "ev.evidence, the evidence before discounting."
        )
    factors = read_numbers(tempering, sources, "tempering")
    labels = [evidence.classes.tolist() for evidence in sources.evidences]
    alignment = align(labels, sources.names, None, None)
    if not alignment.is_fine:
        raise ValueError(
            "conflict_between needs sources with the same kind of classes; here a class of one "
            "source stands for several classes of another. Give all sources the same classes."
        )
    pool = source_pool(sources, alignment, factors)
    n_sources = len(sources.names)
    inner = [_weight(pool.dempster([s])) for s in range(n_sources)]
    weights = np.zeros((sources.n, n_sources, n_sources))
    for s in range(n_sources):
        for t in range(s):
            between = _weight(pool.dempster([s, t])) - inner[s] - inner[t]
            weights[:, s, t] = weights[:, t, s] = np.maximum(between, 0.0)
    total = np.maximum(_weight(pool.dempster()) - np.sum(inner, axis=0), 0.0)
    return SourceConflict(sources.names, frozen(weights), frozen(total))


def _weight(evidence: Evidence) -> NDArray[np.float64]:
    return to_numpy(evidence.weight_of_conflict).astype(np.float64)
