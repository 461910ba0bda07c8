"""The page: every table and figure beside what the paper printed, in one self-contained file."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import shafer
from shafer._files.atomic import replacing
from shafer._files.templates import html_templates
from shafer.paper import printed_numbers
from shafer.paper.findings import GAUSSIAN_NAMES, HEART_NAMES, verdict

_PLUS, _MINUS = "+ (θ₁)", "− (θ₂)"
_CLASSES = ("θ₁", "θ₂", "θ₃")
_SETS = (*_CLASSES, "{θ₁, θ₂}", "{θ₂, θ₃}", "Θ", "{θ₁, θ₃}")


def _matrix(
    caption: str,
    rows: Sequence[str],
    columns: Sequence[str],
    paper: Sequence[Sequence[float]],
    here: Sequence[Sequence[float]],
    spread: Sequence[Sequence[float]] | None = None,
) -> dict[str, Any]:
    """Lay out a table of the paper, ours, and the differences; rows the paper lacks stay empty."""
    missing = [None] * len(columns)
    padded = [*paper, *[missing] * (len(rows) - len(paper))]
    difference = [
        [None if p is None else h - p for h, p in zip(ours, theirs, strict=True)]
        for ours, theirs in zip(here, padded, strict=True)
    ]
    return {
        "caption": caption,
        "rows": rows,
        "columns": columns,
        "paper": padded,
        "here": here,
        "spread": spread,
        "difference": difference,
    }


def _tables(results: dict[str, Any]) -> dict[str, dict[str, Any]]:
    heart, gaussian = results["heart"], results["gaussian"]
    signs = (_PLUS, _MINUS)
    return {
        "heart_mp": _matrix(
            "Table 1: what the MP rule decides, in % of the heart data",
            signs,
            signs,
            printed_numbers.HEART_MP,
            heart["mp"],
            heart["mp_sd"],
        ),
        "heart_id": _matrix(
            "Table 2: what the ID rule decides, in % of the heart data",
            (*signs, "{θ₁, θ₂}"),
            signs,
            printed_numbers.HEART_ID,
            heart["id"],
            heart["id_sd"],
        ),
        "gaussian_mp": _matrix(
            "Table 3: what the MP rule decides, in % of the Gaussian data",
            _CLASSES,
            _CLASSES,
            printed_numbers.GAUSSIAN_MP,
            gaussian["mp"],
        ),
        "gaussian_id": _matrix(
            "Table 4: what the ID rule decides, in % of the Gaussian data",
            _SETS,
            _CLASSES,
            printed_numbers.GAUSSIAN_ID,
            gaussian["id"],
        ),
    }


def _signed(value: float, digits: int) -> str:
    """Write a difference with its sign; what rounds to zero has none."""
    text = f"{value:+.{digits}f}"
    return text.replace("-", "−") if float(text) else text[1:]


def _image(folder: Path, name: str) -> str:
    """Return a figure as a data URI."""
    content = base64.b64encode((folder / f"{name}.png").read_bytes()).decode("ascii")
    return f"data:image/png;base64,{content}"


def _figure(folder: Path, name: str, findings: dict[str, str]) -> dict[str, Any]:
    figure = printed_numbers.FIGURES.get(name)
    return {
        "name": name,
        "image": _image(folder, name),
        "number": None if figure is None else figure.number,
        "caption": "" if figure is None else figure.caption,
        "claim": "" if figure is None else figure.claim,
        "here": findings.get(name, ""),
    }


def write_page(folder: Path, results: dict[str, Any], findings: dict[str, str]) -> None:
    """Write index.html from the results and the figures already in the folder.

    Parameters
    ----------
    folder : Path
        Where the figures are and the page goes.
    results : dict
        The content of results.json.
    findings : dict of figure name to str
        Our findings about the paper's claims, by figure name.
    """
    environment = html_templates("shafer.paper")
    environment.filters["signed"] = _signed
    names = [*printed_numbers.FIGURES, "hidden-units", "epochs"]
    html = environment.get_template("page.html.jinja").render(
        results=results,
        heart=results["heart"],
        gaussian=results["gaussian"],
        cutoffs=[
            (
                "age ξ₁ (years)",
                printed_numbers.HEART_CUTOFFS["age"],
                results["heart"]["cutoffs"]["age"],
            ),
            (
                "LDL ξ₂ (mmol/L)",
                printed_numbers.HEART_CUTOFFS["ldl"],
                results["heart"]["cutoffs"]["ldl"],
            ),
        ],
        tables=_tables(results),
        figures={name: _figure(folder, name, findings) for name in names},
        heart_names=HEART_NAMES,
        gaussian_names=GAUSSIAN_NAMES,
        verdict=verdict,
        version=shafer.__version__,
    )
    with replacing(folder / "index.html") as file:
        file.write(html.encode())
