"""The columns of reasons that ``shafer score`` writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from shafer.cli.target_labels import label_named
from shafer.evidence import MassEvidence, with_weights
from shafer.evidence.reason_table import reason_columns


@final
@dataclass(frozen=True)
class ReasonColumns:
    """The reasons to write for each row.

    Attributes
    ----------
    top : int
        How many.
    class_text : str, optional
        The class that the reasons are for, as the user wrote it; by default each row's answer.
    codes : mapping, optional
        Component -> (code, text).
    """

    top: int
    class_text: str | None = None
    codes: Mapping[str, Any] | None = None

    def of(self, evidence: MassEvidence) -> dict[str, Any]:
        """Return the columns, as :func:`shafer.evidence.reason_table.reason_columns` does."""
        weighted = with_weights(evidence)
        class_ = None
        if self.class_text is not None:
            class_ = label_named(self.class_text, weighted.classes, "--reasons-for")
        return reason_columns(weighted, self.top, class_=class_, codes=self.codes)
