"""``RefitBars``: error bars from models that were trained again on other samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from shafer._text import listed
from shafer._validation import is_one_label
from shafer.evidence.weight_errors import SampledErrors
from shafer.models.error_bars.error_bars import ErrorBars
from shafer.models.readers.model_rows import ModelRows
from shafer.models.weighed_model import WeighedModel

_HOW = "shafer.models.bootstrap_refits(model, X, y)"


@final
@dataclass(frozen=True, eq=False)
class RefitBars(ErrorBars):
    """Error bars as the spread of the weights of refits, all read on the same background.

    Attributes
    ----------
    refits : tuple of WeighedModel
    """

    refits: tuple[WeighedModel, ...]

    @classmethod
    def fit(cls, weighed: WeighedModel, refits: Sequence[WeighedModel]) -> RefitBars:
        """Check that the refits have the classes and components of the model."""
        for r, refit in enumerate(refits):
            _check_alike(weighed, refit, r)
        return cls(tuple(refits))

    def __call__(self, X: Any, rows: ModelRows) -> SampledErrors:  # noqa: ARG002 - for others
        return SampledErrors(tuple(refit.unadjusted(X).source for refit in self.refits))

    def plain(self) -> dict[str, Any]:
        return {"kind": "bootstrap"}


def checked_refits(refits: Any, background: Any) -> tuple[Any, ...]:
    """Return the user's refits as a tuple of models."""
    if refits is None:
        raise ValueError(
            "errors='bootstrap' needs refits: models trained like the model, each on rows drawn "
            f"again from the training data. Pass refits={_HOW}."
        )
    if isinstance(background, Iterator):
        raise ValueError(
            "errors='bootstrap' reads the background once for each refit; got an iterator of "
            "batches, which can be read once. Pass the background as one array or data frame."
        )
    single = is_one_label(refits) or isinstance(refits, Mapping) or hasattr(refits, "predict")
    models = () if single else tuple(refits)
    if len(models) < 2:
        given = type(refits).__name__ if single else f"{len(models)} model(s)"
        raise ValueError(
            f"refits must be a list of at least 2 trained models, better 50; got {given}. Pass "
            f"refits={_HOW}."
        )
    return models


def _check_alike(weighed: WeighedModel, refit: WeighedModel, r: int) -> None:
    classes, others = weighed.pool.classes.tolist(), refit.pool.classes.tolist()
    if classes != others:
        raise ValueError(
            f"Refit {r} has the classes [{listed(others)}], the model [{listed(classes)}]. Draw "
            f"samples that hold every class, as {_HOW} does."
        )
    names, other_names = weighed.pool.component_names, refit.pool.component_names
    if names != other_names:
        wrong = sorted(set(names).symmetric_difference(other_names)) or list(other_names)
        raise ValueError(
            f"Refit {r} has other components than the model; they differ in [{listed(wrong)}]. "
            "Use groups='source' if an encoder found other categories, or fix the categories or "
            "the interactions of the model before training."
        )
