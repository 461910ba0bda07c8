"""The reasons of one instance as a short list for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from shafer._text import cells
from shafer.evidence.io.frame_table import label_texts
from shafer.evidence.row_reasons import row_reasons
from shafer.report.answer_and_rival import UNIT, Pair
from shafer.report.study import Study
from shafer.report.terminal_text import harmless, label, padded


@final
@dataclass(frozen=True)
class ReasonsAsked:
    """How many reasons to list, and the user's codes for them."""

    top: int
    codes: Mapping[str, Any] | None = None


def reason_lines(study: Study, row: int, pair: Pair, asked: ReasonsAsked) -> list[str]:
    """Return the reasons for a class over another: rank, component, weight, share, code, text.

    The base rate is not a reason, nor is a component that favours the other class.
    """
    one = study.undiscounted[row]
    labels = one.classes.tolist()
    first, second = (label(label_texts(one.classes)[k]) for k in pair)
    found = row_reasons(
        one, asked.top, class_=labels[pair.class_], over=labels[pair.over], codes=asked.codes
    )
    head = f"Reasons for {first} over {second}, in log-odds: {UNIT}"
    count = sum(name is not None for name in found.component[0])
    if not count:
        return [head, "  none: no component favours it"]
    titles = [label(study.title_of(name, row)) for name in found.component[0, :count]]
    first_width = max(map(cells, titles))
    lines = []
    for rank, title in enumerate(titles):
        unclear = "cannot be told from zero" if found.lower[0, rank] <= 0 else None
        notes = [unclear, found.code[0, rank], found.text[0, rank]]
        note = "  ".join(harmless(str(part)) for part in notes if part is not None)
        lines.append(
            f"  {rank + 1}. {padded(title, first_width)}  +{found.weight[0, rank]:.2f}  "
            f"{found.share[0, rank]:4.0%} of what favours {first}  {note}".rstrip()
        )
    return [head, *lines]
