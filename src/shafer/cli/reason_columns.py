"""The columns of reasons that ``shafer score`` writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from shafer.cli.target_labels import label_named
from shafer.evidence import MassEvidence, with_weights
from shafer.evidence.io.frame_table import label_texts
from shafer.report.row_reasons import row_reasons


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
        """Return the columns: for each rank the component, its value, weight, share and code.

        An explainer with error bars also gives the ends of the weight's interval.

        Values are texts, so that all chunks of a table have the same types. Cells are empty where a
        row has fewer reasons.
        """
        weighted = with_weights(evidence)
        class_ = None
        if self.class_text is not None:
            class_ = label_named(self.class_text, weighted.classes, "--reasons-for")
        found = row_reasons(weighted, self.top, class_=class_, codes=self.codes)
        labels = label_texts(weighted.classes)
        columns: dict[str, Any] = {
            "reasons_for": [labels[k] for k in found.classes],
            "reasons_over": [labels[k] for k in found.over],
        }
        for r in range(self.top):
            name = f"reason_{r + 1}"
            columns[name] = found.component[:, r].tolist()
            columns[f"{name}_value"] = [_value(value) for value in found.value[:, r]]
            columns[f"{name}_weight"] = found.weight[:, r]
            columns[f"{name}_share"] = found.share[:, r]
            if weighted.errors is not None:
                columns[f"{name}_lower"] = found.lower[:, r]
                columns[f"{name}_upper"] = found.upper[:, r]
            if self.codes is not None:
                columns[f"{name}_code"] = [_text(code) for code in found.code[:, r]]
                columns[f"{name}_text"] = [_text(text) for text in found.text[:, r]]
        return columns


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _value(value: Any) -> str | None:
    """Write a value of an input: whole numbers without a point, missing ones as nothing."""
    if value is None or value != value:
        return None
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)
