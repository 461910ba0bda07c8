"""The first report: the bundled heart data under a logistic regression."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from shafer._files import replacing
from shafer._validation import to_numpy
from shafer.datasets import load_heart
from shafer.evidence import Evidence
from shafer.evidence.tables import columns
from shafer.models import Explainer
from shafer.report.text import Case, case_table, notable_cases

_LEGEND = """\
p          the model's probability: the normalised plausibilities
[bel, pl]  belief and plausibility of the class: what the evidence proves, what it does not exclude
ignorance  mass left to the whole frame: high where evidence is lacking
conflict   how far the pieces of evidence contradict each other
decided    the classes that no other one dominates (interval dominance)
for, against: the strongest weights of evidence, one unit of weight being a factor e in the odds of
the class against the geometric mean of all classes
"""


def _explained() -> tuple[NDArray[np.str_], float, Evidence]:
    """Return the true classes, the model's accuracy and the evidence of all patients."""
    heart = load_heart()
    target = heart.target_names[heart.target]
    # Unregularised maximum likelihood, as in the paper.
    model = LogisticRegression(C=np.inf, solver="newton-cholesky").fit(heart.data, target)
    explainer = Explainer(model, heart.data, names=heart.feature_names)
    return target, model.score(heart.data, target), explainer(heart.data)


def _as_csv(table: dict[str, Any]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))
    return text.getvalue()


def heart_report(out: Path, rows: Sequence[int] | None = None) -> str:
    """Train, write report.txt, evidence.csv and weights.csv to ``out``, and return the text.

    Parameters
    ----------
    out : Path
        Folder for the files; made if missing.
    rows : sequence of int, optional
        Patients to show; a few telling ones by default.
    """
    target, accuracy, evidence = _explained()
    focus = list(evidence.classes).index("chd")
    if rows is not None:
        wrong = [row for row in rows if not 0 <= row < len(evidence)]
        if wrong:
            raise ValueError(f"rows must lie between 0 and {len(evidence) - 1}; got {wrong}.")
    cases = notable_cases(evidence, focus) if rows is None else [Case(r, "asked for") for r in rows]
    text = (
        f"Heart disease data: {len(evidence)} men, {evidence.n_components} features as components, "
        f"classes {', '.join(evidence.classes)}.\n"
        f"Logistic regression by maximum likelihood; accuracy on these data {accuracy:.3f}.\n\n"
        f"{case_table(evidence, cases, focus)}\n{_LEGEND}"
    )
    weights = to_numpy(evidence.weights)[:, :, focus]
    files = {
        "report.txt": text,
        "evidence.csv": _as_csv({"true_class": target, **columns(evidence)}),
        "weights.csv": _as_csv(dict(zip(evidence.component_names, weights.T, strict=True))),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        with replacing(out / name) as file:
            file.write(content.encode())
    return text
