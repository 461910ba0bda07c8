"""``with_weights``: the evidence behind a mass function that has weights and components."""

from __future__ import annotations

from shafer.evidence.discounted_evidence import DiscountedEvidence
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence


def with_weights(evidence: MassEvidence) -> Evidence:
    """Return the ``Evidence`` with the weights; for discounted evidence, the one it was made of.

    Parameters
    ----------
    evidence : MassEvidence
        ``Evidence`` or ``DiscountedEvidence``.

    Returns
    -------
    Evidence

    Raises
    ------
    ValueError
        If the evidence was combined in a way that leaves no weights.

    See Also
    --------
    shafer.DiscountedEvidence : Evidence without weights of its own.

    Examples
    --------
    >>> import shafer
    >>> from shafer.evidence import with_weights
    >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9]]])
    >>> with_weights(ev.discounted(0.5)) is ev
    True
    """
    plain = evidence.evidence if isinstance(evidence, DiscountedEvidence) else evidence
    if isinstance(plain, Evidence):
        return plain
    raise ValueError(
        f"Weights of evidence are needed here, and {type(evidence).__name__} has no weights. Pass "
        "the evidence of each source by itself, as it was before combine. IntervalDisplay, "
        "MassDisplay and UncertaintyDisplay work without weights."
    )
