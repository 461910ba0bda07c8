"""The report as one HTML file that works offline."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from markupsafe import Markup

import shafer
from shafer._files.atomic import replacing
from shafer._files.templates import html_templates
from shafer._json import as_json
from shafer.evidence.words import CONFLICTING, LACKING
from shafer.report.payload import payload
from shafer.report.sentences import OVERLAP
from shafer.report.study import Study

_LARGEST = 5_900_000  # bytes of the whole file
_LEAST_ROOM = 100_000
# In this order: the top level of each may use only what comes before it.
_SCRIPTS = (
    "evidence.js",
    "sentence.js",
    "theme.js",
    "axes.js",
    "charts.js",
    "curves.js",
    "pointing.js",
    "state.js",
    "records.js",
    "answers.js",
    "trees.js",
    "terms.js",
    "weights.js",
    "comparison.js",
    "errors.js",
    "judging.js",
    "cohort.js",
    "list.js",
    "plane.js",
    "odds.js",
    "why.js",
    "next.js",
    "case.js",
    "pinned.js",
    "questions.js",
    "text.js",
    "bars.js",
    "image.js",
    "intervals.js",
    "sliders.js",
    "components.js",
    "overview.js",
    "report.js",
)


def _source(name: str) -> str:
    return resources.files("shafer.report").joinpath("templates", name).read_text("utf-8")


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def render(
    study: Study,
    rows: Sequence[int] | None = None,
    *,
    judge_first: bool = False,
    alone: bool = False,
) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    study : Study
        The model and the instances, from ``make_study``.
    rows : sequence of int, optional
        Positions of the instances to show; by default all, or as many as fit into six megabytes.
    judge_first : bool
        Hide the model's answer about a row until the reader has given one, as in
        :func:`write_report`.
    alone : bool
        One case alone, the first row, without the overview and the list of cases.

    Returns
    -------
    str

    See Also
    --------
    write_report : Writes the page to a file.
    make_study : Makes the study.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> study = shafer.report.make_study(shafer.Explainer(([1.0, -2.0], 0.5), X), X)
    >>> shafer.report.render(study)[:15]
    '<!doctype html>'
    """
    environment = html_templates("shafer.report")
    own = "(() => {\n" + "\n".join(_source(f"scripts/{name}") for name in _SCRIPTS) + "})();"
    style = _source("page.css")
    room = _LARGEST - sum(len(part.encode()) for part in (own, style)) - 40_000
    data = payload(study, rows, max(room, _LEAST_ROOM), judge_first=judge_first, alone=alone)
    # The script and the style are ours; as_json escapes the user's texts.
    return environment.get_template("page.html.jinja").render(
        study=study,
        data=data,
        json=Markup(as_json(data)),
        script=Markup(own),
        style=Markup(style),
        hashes=_hash(own),
        lacking=LACKING,
        disagreeing=CONFLICTING,
        overlap=OVERLAP,
        version=shafer.__version__,
    )


def write_report(
    study: Study,
    path: str | os.PathLike[str],
    rows: Sequence[int] | None = None,
    *,
    judge_first: bool = False,
    alone: bool = False,
) -> None:
    """Write the page to a file. If something fails, no file is left behind.

    Parameters
    ----------
    study : Study
    path : str or Path
        The HTML file to write. A missing folder is made.
    rows : sequence of int, optional
        Positions of the instances to show.
    judge_first : bool
        Hide the model's answer about a row until the reader has given one. The reader picks a
        class, or a pair of classes, sees the evidence for and against it, and then answers. In
        the experiments of Le, Miller, Sonenberg and Singh (ECAI 2024, arXiv:2402.01292) people
        decided more accurately with such evidence than with a recommendation, and relied less on
        the model, with a small increase in under-reliance.
    alone : bool
        One case alone, the first row, without the overview and the list of cases.

    See Also
    --------
    render : The page as text.
    make_study : Makes the study.
    summary : The report for the terminal.

    Examples
    --------
    >>> import numpy as np, shafer, tempfile
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> study = shafer.report.make_study(shafer.Explainer(([1.0, -2.0], 0.5), X), X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     shafer.report.write_report(study, f"{folder}/report.html")
    """
    html = render(study, rows, judge_first=judge_first, alone=alone)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(html.encode())
