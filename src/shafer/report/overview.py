"""The figures at the top of a report, the same in the terminal and on the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from shafer._validation import to_numpy
from shafer.evidence.degree_words import CONFLICTING, LACKING
from shafer.report.study import Study

OVERLAP = (
    "Evidence can be lacking, and components can disagree, whether one class is decided or several "
    "are left open. So these groups overlap."
)


@final
@dataclass(frozen=True)
class Overview:
    """Shares of the instances. ``decided`` and ``left_open`` add up to one; the others overlap.

    Attributes
    ----------
    instances : int
    held_out_error, error : float, optional
        Error on held-out rows, and on the rows of the study.
    decided, left_open : float
        Share of the instances whose decided set has one class, or several.
    lacking, disagreeing : float
        Share of the instances with much ignorance, and with much disagreement.
    """

    instances: int
    held_out_error: float | None
    error: float | None
    decided: float
    left_open: float
    lacking: float
    disagreeing: float


def overview(study: Study) -> Overview:
    """Return the figures of all instances of a study."""
    decided = float(np.mean(study.decided.sum(axis=1) == 1))
    return Overview(
        instances=len(study),
        held_out_error=study.held_out_error,
        error=None if study.truth is None else float(np.mean(study.wrong)),
        decided=decided,
        left_open=1.0 - decided,
        lacking=float(np.mean(to_numpy(study.evidence.ignorance) >= LACKING)),
        disagreeing=float(np.mean(to_numpy(study.undiscounted.disagreement) >= CONFLICTING)),
    )
