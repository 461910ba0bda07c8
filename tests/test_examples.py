"""The scripts of the gallery: their form, and the names they use. ``make docs`` runs them."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import shafer

EXAMPLES = Path(__file__).parent.parent / "docs" / "examples"
SCRIPTS = sorted(EXAMPLES.rglob("*.py"))
each_script = pytest.mark.parametrize(
    "script", SCRIPTS, ids=lambda path: str(path.relative_to(EXAMPLES))
)


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


@each_script
def test_a_script_is_a_short_page(script: Path) -> None:
    assert script.name.startswith("plot_")  # others would not run in the build
    introduction, *texts = _blocks(script)
    title, underline, empty, *words = introduction.splitlines()
    assert title[-1] == "?"
    assert underline == "=" * len(title)
    assert not empty
    assert " ".join(words).count(". ") == 1, "the introduction has two sentences"
    assert len(texts) >= 3
    assert "**How to misread it.** " in texts[-1]
    assert 15 <= _code_lines(script) <= 50
    assert "pyplot.show()" in script.read_text("utf-8")


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


@each_script
def test_names_exist_and_are_public(script: Path) -> None:
    found = list(_names(ast.parse(script.read_text("utf-8"))))
    assert found
    for module, path in found:
        target: object = module
        for name in path:
            assert not name.startswith("_")
            if isinstance(target, ModuleType):
                assert name in {*target.__all__, *(dir(shafer) if target is shafer else ())}
            assert hasattr(target, name), f"{target} has no attribute {name!r}"
            target = getattr(target, name)


def test_every_section_has_a_header() -> None:
    folders = {script.parent for script in SCRIPTS}
    assert all((folder / "GALLERY_HEADER.rst").exists() for folder in folders)
    listed = re.findall(r'"examples/(\w+)"', (EXAMPLES.parent / "conf.py").read_text("utf-8"))
    assert sorted(listed) == sorted(folder.name for folder in folders)


def test_every_display_is_shown() -> None:
    shown = "".join(script.read_text("utf-8") for script in SCRIPTS)
    names = set(shafer.plots.__all__) - {"MonitorDisplay"}  # monitor.display makes it
    assert {name for name in names if f"plots.{name}." not in shown} == set()
    assert "monitor.display(" in shown
    page = (EXAMPLES.parent / "guide" / "plots.md").read_text("utf-8")
    assert {name for name in shafer.plots.__all__ if f"`{name}`" not in page} == set()


def test_there_are_enough_scripts() -> None:
    assert len(SCRIPTS) >= 28
