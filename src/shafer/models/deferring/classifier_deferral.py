"""``ClassifierDeferral``: what deferral needs of a classifier that holds an explainer."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shafer._typing import Array
from shafer.evidence import MassEvidence
from shafer.models.deferring.deferral_control import DeferralControl
from shafer.models.deferring.deferring import Deferring
from shafer.models.deferring.explainer_deferral import ExplainerDeferral


class ClassifierDeferral(Deferring):
    """Deferral by the evidence of a trained classifier; its explainer keeps the thresholds."""

    explainer_: ExplainerDeferral
    classes_: NDArray[Any]

    @abstractmethod
    def _deferral_bet(self, X: Any) -> MassEvidence:
        """Return the evidence that predictions are made from."""

    @property
    def deferral_(self) -> DeferralControl | None:
        """The thresholds of :meth:`predict_or_defer`; None before :meth:`control_error`."""
        check_is_fitted(self)
        return self.explainer_.deferral

    def _deferral(self) -> DeferralControl | None:
        return self.deferral_

    def _keep_deferral(self, control: DeferralControl) -> None:
        self.explainer_.deferral = control

    def _deferral_classes(self) -> NDArray[Any]:
        check_is_fitted(self)
        return np.asarray(self.classes_)

    def _deferral_columns(self) -> tuple[str, ...] | None:
        return self.explainer_._deferral_columns()

    def _deferral_plain(self, X: Any) -> MassEvidence:
        return self.explainer_._deferral_plain(X)

    def _deferral_typicality(self, X: Any) -> Array | None:
        return self.explainer_._deferral_typicality(X)
