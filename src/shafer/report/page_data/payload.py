"""The data of the page: one JSON object of limited size. Each section has its own function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from shafer.evidence import DiscountedEvidence
from shafer.evidence.degree_words import CONFLICTING, LACKING
from shafer.evidence.io.frame_table import label_texts
from shafer.kernels.pignistic import gauss_legendre, quadrature_size
from shafer.report import instance_sentence
from shafer.report.asking.row_questions import ask_rows
from shafer.report.grouped_study import grouped_study
from shafer.report.overview import overview
from shafer.report.page_data.component_payload import components_payload
from shafer.report.page_data.error_payload import errors_payload
from shafer.report.page_data.group_payload import group_entries, groups_payload
from shafer.report.page_data.image_payload import image_entries, images_payload
from shafer.report.page_data.json_text import as_json
from shafer.report.page_data.question_payload import question_entries, questions_payload
from shafer.report.page_data.row_payload import KEPT, rows_payload
from shafer.report.page_data.shown_rows import preferred
from shafer.report.page_data.text_payload import text_entries, texts_payload
from shafer.report.page_data.what_if_payload import what_if_payload
from shafer.report.study import Study


def payload(
    study: Study, rows: Sequence[int] | None, room: int, *, judge_first: bool = False
) -> dict[str, Any]:
    """Return all data of the page.

    Parameters
    ----------
    study : Study
    rows : sequence of int, optional
        Positions of the instances to show; by default all, or as many as there is room for.
    room : int
        Bytes for the instances.
    judge_first : bool
        Whether the page hides the model's answer until the reader has given one.
    """
    grouped = grouped_study(study)
    wanted = preferred(study if grouped is None else grouped.study, rows)
    shown = list(dict.fromkeys(wanted))
    answered = ask_rows(study.explainer, study.X, study.undiscounted, shown)
    model, why_not = study.what_if(sorted(shown))
    components = components_payload(study)
    head = {
        **_whole_study(study),
        "overview": asdict(overview(study)),
        **components,
        **what_if_payload(model, why_not),
        **errors_payload(study.undiscounted),
        **groups_payload(grouped),
        **questions_payload(answered),
        **images_payload(study),
        **texts_payload(study),
        "judgeFirst": judge_first,
    }
    left = room - len(as_json(head).encode())
    always = set(components["ranking"][:KEPT]) if model is None else None
    more = (
        group_entries(grouped, shown, store=model is None),
        question_entries(study, answered, shown),
        image_entries(study, shown),
        text_entries(study, shown),
    )
    written = rows_payload(study, shown, always, left, *more)
    return {**head, "rows": written, "asked": rows is not None, "wanted": len(shown)}


def _whole_study(study: Study) -> dict[str, Any]:
    """Return what every section needs: the names, and the constants of formulas and words."""
    ev = study.evidence
    nodes, node_weights = gauss_legendre(quadrature_size(ev.n_classes))
    return {
        "title": study.title,
        "classes": label_texts(ev.classes),
        "columns": list(study.columns),
        "truth": study.truth is not None,
        "discounted": isinstance(ev, DiscountedEvidence),
        "quadrature": {"nodes": nodes.tolist(), "weights": node_weights.tolist()},
        "limits": {
            "lacking": LACKING,
            "conflicting": CONFLICTING,
            "barely": instance_sentence.BARELY,
            "weakly": instance_sentence.WEAKLY,
            "moderately": instance_sentence.MODERATELY,
            "named": instance_sentence.NAMED,
        },
    }
