"""The report as one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import shafer
from shafer._files import replacing
from shafer.evidence.degree_words import CONFLICTING, LACKING
from shafer.report.payload import as_json, payload
from shafer.report.study import Study

_LARGEST = 5_900_000  # bytes of the whole file
_LEAST_ROOM = 100_000
# In this order: each may use what stands before it, and functions of any.
_SCRIPTS = (
    "evidence.js",
    "words.js",
    "theme.js",
    "charts.js",
    "state.js",
    "weights.js",
    "list.js",
    "plane.js",
    "instance.js",
    "bars.js",
    "sliders.js",
    "components.js",
    "report.js",
)


def _source(name: str) -> str:
    return resources.files("shafer.report").joinpath("templates", name).read_text("utf-8")


def _plotly() -> str:
    place = resources.files("plotly").joinpath("package_data", "plotly.min.js")
    try:
        return place.read_text("utf-8")
    except FileNotFoundError as error:
        raise ValueError(f"This plotly cannot be put into a page: {place} is missing.") from error


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def render(study: Study, rows: Sequence[int] | None = None) -> str:
    """Return the page.

    Parameters
    ----------
    study : Study
        What the report is about.
    rows : sequence of int, optional
        Instances to show; by default all, or as many as keep the file below six megabytes.
    """
    environment = Environment(
        loader=PackageLoader("shafer.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    plotly = _plotly()
    own = "(() => {\n" + "\n".join(_source(name) for name in _SCRIPTS) + "})();"
    style = _source("page.css")
    room = _LARGEST - sum(len(part.encode()) for part in (plotly, own, style)) - 40_000
    data = payload(study, rows, max(room, _LEAST_ROOM))
    # What follows is ours or plotly's, and as_json escapes what is the user's: none is markup.
    return environment.get_template("page.html.jinja").render(
        study=study,
        data=data,
        json=Markup(as_json(data)),
        plotly=Markup(plotly),
        script=Markup(own),
        style=Markup(style),
        hashes=f"{_hash(plotly)} {_hash(own)}",
        lacking=LACKING,
        conflicting=CONFLICTING,
        version=shafer.__version__,
    )


def write_report(study: Study, path: Path, rows: Sequence[int] | None = None) -> None:
    """Write the page to a file, which appears whole or not at all.

    Parameters
    ----------
    study : Study
    path : Path
        An HTML file; its folder is made if missing.
    rows : sequence of int, optional
        Instances to show.
    """
    html = render(study, rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(html.encode())
