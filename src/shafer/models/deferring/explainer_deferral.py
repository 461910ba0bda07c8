"""``ExplainerDeferral``: what deferral needs of an ``Explainer``."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from numpy.typing import NDArray

from shafer._typing import Array
from shafer.evidence import Evidence, MassEvidence
from shafer.evidence.profiles.weight_profile import WeightProfile
from shafer.models.deferring.deferral_control import DeferralControl
from shafer.models.deferring.deferring import Deferring
from shafer.models.weighed_model import WeighedModel


class ExplainerDeferral(Deferring):
    """Deferral by the evidence of one model."""

    _weighed: WeighedModel
    deferral: DeferralControl | None
    _background: Any
    _profile: WeightProfile | None

    @property
    @abstractmethod
    def classes(self) -> NDArray[Any]:
        """Class labels."""

    @abstractmethod
    def bet(self, X: Any) -> Evidence:
        """Return the evidence behind the probabilities."""

    @abstractmethod
    def typicality(self, X: Any) -> Array:
        """Return how typical each row's weights are."""

    def _deferral_classes(self) -> NDArray[Any]:
        return self.classes

    def _deferral_columns(self) -> tuple[str, ...] | None:
        return self._weighed.columns

    def _deferral_bet(self, X: Any) -> MassEvidence:
        return self.bet(X)

    def _deferral_plain(self, X: Any) -> MassEvidence:
        return self._weighed(X)[1]

    def _deferral_typicality(self, X: Any) -> Array | None:
        known = self._background is not None or self._profile is not None
        return self.typicality(X) if known else None

    def _deferral(self) -> DeferralControl | None:
        return self.deferral

    def _keep_deferral(self, control: DeferralControl) -> None:
        self.deferral = control
