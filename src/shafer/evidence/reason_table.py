"""The reasons of each row as columns of a table: texts and numbers, the same in every chunk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from shafer._typing import Label
from shafer.evidence.evidence import Evidence
from shafer.evidence.io.frame_table import label_texts
from shafer.evidence.row_reasons import row_reasons

_PARTS = ("value", "weight", "share")
_NUMBERS = ("weight", "share", "lower", "upper")


def reason_column_names(top: int, *, errors: bool, codes: bool) -> dict[str, bool]:
    """Return the names of the columns, and whether each one holds numbers rather than texts.

    Parameters
    ----------
    top : int
        Reasons for each row.
    errors, codes : bool
        Whether the evidence has errors, and whether there are codes.
    """
    parts = (*_PARTS, *(("lower", "upper") if errors else ()), *(("code", "text") if codes else ()))
    names = {"reasons_for": False, "reasons_over": False}
    for rank in range(1, top + 1):
        names[f"reason_{rank}"] = False
        names |= {f"reason_{rank}_{part}": part in _NUMBERS for part in parts}
    return names


def reason_columns(
    evidence: Evidence,
    top: int,
    *,
    class_: Label | None = None,
    codes: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the columns: for each rank the component, its value, weight, share and code.

    Evidence with error bars also gives the ends of the weight's interval. Texts are lists, numbers
    are arrays. Values are texts, so that all chunks of a table have the same types. Cells are empty
    where a row has fewer reasons.

    Parameters
    ----------
    evidence : Evidence
    top : int
        Reasons for each row.
    class_ : class label, optional
        The class that the reasons are for; by default each row's answer.
    codes : mapping, optional
        Component -> (code, text).
    """
    found = row_reasons(evidence, top, class_=class_, codes=codes)
    labels = np.array(label_texts(evidence.classes), dtype=object)
    columns: dict[str, Any] = {
        "reasons_for": labels[found.classes].tolist(),
        "reasons_over": labels[found.over].tolist(),
    }
    for r in range(top):
        name = f"reason_{r + 1}"
        columns[name] = found.component[:, r].tolist()
        columns[f"{name}_value"] = [_value(value) for value in found.value[:, r].tolist()]
        columns[f"{name}_weight"] = found.weight[:, r]
        columns[f"{name}_share"] = found.share[:, r]
        if evidence.errors is not None:
            columns[f"{name}_lower"] = found.lower[:, r]
            columns[f"{name}_upper"] = found.upper[:, r]
        if codes is not None:
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
