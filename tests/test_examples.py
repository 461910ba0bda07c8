"""The scripts of the gallery: their form, and the names they use. ``make docs`` runs them."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import shafer

EXAMPLES = Path(__file__).parent.parent / "docs" / "examples"
SCRIPTS = sorted(EXAMPLES.rglob("*.py"))


def _blocks(script: Path) -> list[str]:
    """Return the text of each block of a script, without its code; the first is the docstring."""
    first, *rest = re.split(r"^# %%$", script.read_text("utf-8"), flags=re.MULTILINE)
    texts = []
    for block in rest:
        lines = block.strip("\n").splitlines()
        end = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
        texts.append(" ".join(line.removeprefix("#").strip() for line in lines[:end]))
    return [ast.get_docstring(ast.parse(first)) or "", *texts]


def _code_lines(script: Path) -> int:
    lines = script.read_text("utf-8").split('"""', 2)[-1].splitlines()
    return sum(bool(line.strip()) and not line.startswith("#") for line in lines)


def _faults(script: Path) -> list[str]:
    """Return what makes a script something else than a short page."""
    introduction, *texts = _blocks(script)
    title, underline, empty, *words = introduction.splitlines()
    checks = {
        "only plot_*.py run in the build": script.name.startswith("plot_"),
        "the title is a question": title[-1] == "?",
        "the title is underlined": underline == "=" * len(title),
        "an empty line follows the title": not empty,
        "the introduction has two sentences": " ".join(words).count(". ") == 1,
        "there are three texts": len(texts) >= 3,
        "the last text says how to misread it": "**How to misread it.** " in texts[-1],
        "there are 15 to 50 lines of code": 15 <= _code_lines(script) <= 50,
        "the figure is shown": "pyplot.show()" in script.read_text("utf-8"),
    }
    return [rule for rule, kept in checks.items() if not kept]


def test_a_script_is_a_short_page() -> None:
    broken = {str(script.relative_to(EXAMPLES)): _faults(script) for script in SCRIPTS}
    assert {script: rules for script, rules in broken.items() if rules} == {}


def _names(tree: ast.AST) -> Iterator[tuple[ModuleType, list[str]]]:
    """Yield every attribute of shafer that a script names, as a module and a path from it."""
    aliases: dict[str, tuple[ModuleType, list[str]]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "shafer":
                    aliases[alias.asname or "shafer"] = (shafer, [])
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "shafer":
            for alias in node.names:
                found = importlib.import_module(node.module or ""), [alias.name]
                aliases[alias.asname or alias.name] = found
                yield found
    for node in ast.walk(tree):
        path: list[str] = []
        while isinstance(node, ast.Attribute):
            path.insert(0, node.attr)
            node = node.value
        if path and isinstance(node, ast.Name) and node.id in aliases:
            module, start = aliases[node.id]
            yield module, [*start, *path]


def _is_public(target: object, path: list[str]) -> bool:
    """Tell whether each part of a path exists, and is public where it is looked up."""
    for name in path:
        if isinstance(target, ModuleType):
            listed = name in {*target.__all__, *(dir(shafer) if target is shafer else ())}
        else:
            listed = True
        if name.startswith("_") or not listed or not hasattr(target, name):
            return False
        target = getattr(target, name)
    return True


def test_names_exist_and_are_public() -> None:
    wrong = []
    for script in SCRIPTS:
        found = list(_names(ast.parse(script.read_text("utf-8"))))
        assert found, script
        wrong += [(script.name, m.__name__, path) for m, path in found if not _is_public(m, path)]
    assert wrong == []


def test_every_section_has_a_header() -> None:
    folders = {script.parent for script in SCRIPTS}
    assert all((folder / "GALLERY_HEADER.rst").exists() for folder in folders)
    listed = re.findall(r'"examples/(\w+)"', (EXAMPLES.parent / "conf.py").read_text("utf-8"))
    assert sorted(listed) == sorted(folder.name for folder in folders)


def test_every_display_is_shown() -> None:
    shown = "".join(script.read_text("utf-8") for script in SCRIPTS)
    # monitor.display and ev.importance make them.
    names = set(shafer.plots.__all__) - {"MonitorDisplay", "ImportanceDisplay"}
    assert {name for name in names if f"plots.{name}." not in shown} == set()
    assert "monitor.display(" in shown
    assert "ev.importance(" in shown
    page = (EXAMPLES.parent / "guide" / "plots.md").read_text("utf-8")
    assert {name for name in shafer.plots.__all__ if f"`{name}`" not in page} == set()


def test_there_are_enough_scripts() -> None:
    assert len(SCRIPTS) >= 28
