"""``shafer inspect``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shafer._terminal import say
from shafer._text import listed, printable
from shafer.cli.options import careful, examples

if TYPE_CHECKING:
    from shafer.saving.contents import SavedContents


@click.command(epilog=examples("shafer inspect model.shafer", "shafer inspect m.shafer --json"))
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Write the same as JSON, for programs.")
def inspect(model: Path, as_json: bool) -> None:
    """Say what a saved file holds, who can load it, and what it promises.

    MODEL is a file of shafer save or of Explainer.save. Every member is compared with its digest.
    No model is loaded, and nothing needs to be trusted.
    """
    with careful():
        import json

        from shafer.saving.contents import contents_of

        found = facts(contents_of(model))
        if as_json:
            click.echo(json.dumps({"file": str(model), **found}, indent=1, default=str))
            return
        for name, text in lines(found):
            say(f"{name:<10} {printable(text)}")


_IN_FILES = {"scikit-learn": "sklearn", "interpret-core": "interpret"}  # as they are imported


def facts(held: SavedContents) -> dict[str, Any]:
    """Return what a saved file holds as plain values."""
    from shafer._files.codec import EXPLAINER

    parts = [held.state, held.state.get("explainer_")]
    inner = [EXPLAINER.completed(part) for part in parts if isinstance(part, Mapping)]
    classes = _first(inner, "classes", "classes_")
    columns = _first(inner, "columns", "feature_names_in_")
    rows = [_first([part["rows"]], "numbers") for part in inner if part.get("rows")]
    packages = {
        name: {
            "here": here,
            "file": held.libraries.get({"scikit-learn": "sklearn"}.get(name, name)),
        }
        for name, here in held.packages.items()
    }
    return {
        "bytes": held.size,
        "holds": held.class_name,
        "models": list(held.models),
        "classes": None if classes is None else _labels(classes),
        "columns": None if columns is None else [str(name) for name in _labels(columns)],
        "promises": _promises(inner, 0 if classes is None else len(classes)),
        "answer": _answer(inner, classes),
        "rows_of_training_data": max((len(part) for part in rows if part is not None), default=0),
        "format": held.format,
        "digest": None if held.digest is None else f"sha256:{held.digest}",
        "written_by": dict(held.libraries),
        "to_load": {
            "trusted": list(held.trusted),
            "module": held.needs_module,
            "packages": packages,
        },
        "members": dict(held.members),
    }


def _labels(values: Any) -> list[Any]:
    import numpy as np

    found: list[Any] = np.asarray(values).tolist()
    return found


def _first(parts: list[Any], *names: str) -> Any:
    """Return the first value that is there, of the object or of the explainer in it."""
    return next((p[n] for p in parts for n in names if p.get(n) is not None), None)


def _promises(parts: list[Any], n_classes: int) -> list[str]:
    """Return the promises in words, as the loaded object does."""
    from shafer.conformal.cross import CrossConformalSets
    from shafer.conformal.split import ConformalSets
    from shafer.deferral.control import restored_deferral
    from shafer.saving.trusted import FORMER_FIELDS

    found = []
    sets = _first(parts, "conformal", "conformal_", "cross_conformal_")
    if sets is not None:
        kind = CrossConformalSets if "fold_scores" in sets else ConformalSets
        former = FORMER_FIELDS.get(f"{kind.__module__}.{kind.__qualname__}", {})
        given = {former.get(name, name): value for name, value in sets.items() if name != "class"}
        found.append(kind(**given).text)
    deferral = _first(parts, "deferral", "deferral_state_")
    if deferral is not None:
        control = restored_deferral(deferral, n_classes)
        found += [] if control is None else [control.text]
    return found


def _answer(parts: list[Any], classes: Any) -> str | None:
    """Return by which threshold or losses the model answers, if the user stated any."""
    import numpy as np

    stated = parts[-1]
    if isinstance(stated.get("threshold"), Mapping):
        from shafer.decision.policy import Cutoff

        return Cutoff(**stated["threshold"]).text(np.asarray(classes))
    return "answers with the least expected loss" if stated.get("loss") is not None else None


def lines(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the facts as names and texts, for the terminal."""
    needs = found["to_load"]
    packages = [_package(name, **told) for name, told in needs["packages"].items()]
    trust = " ".join(f"--trust {name}" for name in needs["trusted"])
    load = [f"needs {', '.join(packages)}"]
    load += [f"classes to trust: {trust}"] if trust else ["no class needs to be trusted"]
    load += ["a torch module, load(path, module=...)"] if needs["module"] else []
    n_rows = found["rows_of_training_data"]
    shown = [
        ("holds", f"{found['holds']}, {found['bytes']:,} bytes"),
        ("model", "; ".join(found["models"]) or "arrays"),
        ("classes", listed(map(str, found["classes"] or []), written=str) or "not named"),
        ("columns", listed(found["columns"] or [], written=str) or "not named"),
        ("promises", "; ".join(found["promises"]) or "none"),
        ("rows", f"{n_rows} rows of the training data" if n_rows else "no rows of the data"),
        ("written by", ", ".join(f"{name} {v}" for name, v in found["written_by"].items())),
        ("to load", "; ".join(load)),
        ("format", str(found["format"])),
        ("digest", found["digest"] or "none: files of format 1 have no digests. Save it again."),
    ]
    if found["answer"]:
        shown.insert(4, ("answer", found["answer"]))
    return shown


def _package(name: str, here: str | None, file: str | None) -> str:
    """Return a package with the version that wrote the file, and another one that is here."""
    if here is None:
        return f"{name} {file or ''}".strip() + " (not installed here)"
    return f"{name} {file}" + f" (here {here})" * (here != file) if file else name
