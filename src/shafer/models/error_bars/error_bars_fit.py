"""``ErrorBarsFit``: the user's choice of error bars, checked before the background is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

from shafer.models.error_bars.bag_bars import BagBars, read_bags
from shafer.models.error_bars.error_bars import KINDS, ErrorBars
from shafer.models.error_bars.laplace_bars import LaplaceBars, laplace_fit
from shafer.models.error_bars.refit_bars import RefitBars, checked_refits
from shafer.models.readers.adapted_model import AdaptedModel
from shafer.models.uncertainty.laplace import LaplaceFit
from shafer.models.weighed_model import WeighedModel


@final
class ErrorBarsFit:
    """Collects what error bars need from the background.

    Parameters
    ----------
    adapted : AdaptedModel
    model : the same as the user gave it
    errors, refits, background : as in ``Explainer``

    Attributes
    ----------
    laplace : LaplaceFit or None
        Takes in every batch of the background.
    refits : tuple of models
    """

    def __init__(
        self, adapted: AdaptedModel, model: Any, errors: Any, refits: Any, background: Any
    ) -> None:
        if errors is not None and (not isinstance(errors, str) or errors not in KINDS):
            raise ValueError(
                f"errors must be None or one of {', '.join(map(repr, KINDS))}; got {errors!r}."
            )
        if refits is not None and errors != "bootstrap":
            raise ValueError(
                f"refits were given, but errors={errors!r} does not use them. Pass "
                "errors='bootstrap', or leave refits out."
            )
        self._kind: str | None = errors
        self.laplace: LaplaceFit | None = None
        self.refits: tuple[Any, ...] = ()
        name = type(model).__name__
        if errors == "laplace":
            self.laplace = laplace_fit(adapted, name)
        elif errors == "bags":
            read_bags(adapted, name)
        elif errors == "bootstrap":
            self.refits = checked_refits(refits, background)

    def bars(self, weighed: WeighedModel, refits: Sequence[WeighedModel]) -> ErrorBars | None:
        """Return the error bars, given all batches, and the refits read like the model."""
        if self.laplace is not None:
            return LaplaceBars.fit(weighed, self.laplace)
        if self._kind == "bags":
            return BagBars.fit(weighed)
        if self._kind == "bootstrap":
            return RefitBars.fit(weighed, refits)
        return None


def restored_bars(
    given: Mapping[str, Any] | None, weighed: WeighedModel, refits: Sequence[WeighedModel]
) -> ErrorBars | None:
    """Make error bars from what ``ErrorBars.plain`` gave, and the refits."""
    if given is None:
        return None
    if given["kind"] == "laplace":
        return LaplaceBars.of_covariance(weighed, given["covariance"])
    if given["kind"] == "bags":
        return BagBars.fit(weighed)
    return RefitBars.fit(weighed, refits)
