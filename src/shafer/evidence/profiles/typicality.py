"""``typicality``: how usual the weights of an instance are."""

from __future__ import annotations

from typing import Any

from shafer._typing import Array
from shafer.evidence.discounted_evidence import DiscountedEvidence
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.profiles.weight_profile import WeightProfile
from shafer.evidence.with_weights import with_weights


def typicality(ev: Evidence | DiscountedEvidence, background: Evidence | WeightProfile) -> Array:
    """Return how usual each instance's weights of evidence are for its most plausible class.

    A novelty score (plain ignorance is not one). A small value means that the weights are unusual
    for this class. Read it like a p-value; below the rank of the least usual background row it
    only orders. The typicality of the background rows themselves is optimistic, because they
    define what is usual.

    Parameters
    ----------
    ev : Evidence or DiscountedEvidence
        Of the instances; a discount makes no difference. Best the plain one: a factor on all
        weights of an instance, as moderation has it, hides how unusual they are.
    background : Evidence or WeightProfile
        Evidence of the training rows, from the same model; or what
        :meth:`shafer.evidence.WeightProfile.fit` has learnt from it, if asked more than once.

    Returns
    -------
    array of shape (n,), in (0, 1]

    See Also
    --------
    shafer.Explainer.typicality : The same for rows of data.
    shafer.evidence.WeightProfile : What is usual, learnt once.
    shafer.Monitor : Compares whole batches of rows.

    Examples
    --------
    >>> import shafer
    >>> from shafer.evidence import typicality
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> explainer = shafer.Explainer(LogisticRegression(max_iter=1000).fit(X, y), X)
    >>> ev = explainer([[5.0, 3.4, 1.5, 0.2], [9.0, 1.0, 2.0, 4.0]])
    >>> typicality(ev, explainer(X)).round(3)
    array([1.   , 0.001])
    """
    profile = background
    if not isinstance(profile, WeightProfile):
        profile = WeightProfile.fit(_weights(background, "background"))
    return profile.typicality(_weights(ev, "ev"))


def _weights(given: Any, name: str) -> Evidence:
    if not isinstance(given, MassEvidence):
        raise ValueError(
            f"{name} must be evidence, explainer(X); got {type(given).__name__}. For rows use "
            "explainer.typicality(X)."
        )
    return with_weights(given)
