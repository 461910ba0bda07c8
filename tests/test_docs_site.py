"""The documentation site lists every public name, and its pictures and citations are up to date."""

from __future__ import annotations

import importlib
import re
import runpy
from collections import Counter
from pathlib import Path

import pytest
from matplotlib import pyplot
from matplotlib.testing.compare import compare_images

import shafer

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PACKAGES = [*shafer._SUBPACKAGES]


def _listed_names() -> list[str]:
    """Return every name of the tables of the reference, with its module."""
    names = []
    for page in sorted((DOCS / "reference").glob("*.rst")):
        module = ""
        for line in page.read_text("utf-8").splitlines():
            if line.startswith(".. currentmodule:: "):
                module = line.removeprefix(".. currentmodule:: ")
            elif (name := re.fullmatch(r"(?:   |\.\. py:data:: )([A-Za-z_]\w*)", line)) and module:
                names.append(f"{module}.{name[1]}")
    return names


def _object(name: str) -> object:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def test_no_name_is_listed_twice() -> None:
    assert [name for name, times in Counter(_listed_names()).items() if times > 1] == []


def test_every_public_name_is_in_the_reference() -> None:
    """A missing name belongs into the table of its task, in ``docs/reference``."""
    listed = {id(_object(name)) for name in _listed_names()}
    modules = [importlib.import_module(f"shafer.{package}") for package in PACKAGES]
    public = [(module, name) for module in modules for name in module.__all__]
    missing = [(m.__name__, name) for m, name in public if id(getattr(m, name)) not in listed]
    assert missing == []


def test_every_name_of_the_package_is_in_the_reference() -> None:
    listed = set(_listed_names())
    names = [name for name in shafer.__all__ if name not in PACKAGES]
    assert [name for name in names if f"shafer.{name}" not in listed] == []


@pytest.mark.parametrize("narrow", [False, True])
def test_the_two_men_are_drawn_as_the_library_sees_them(tmp_path: Path, narrow: bool) -> None:
    """After a change that is meant: ``python docs/figures/two_men.py``, and look at the result."""
    picture = runpy.run_path(str(DOCS / "figures" / "two_men.py"))
    name = f"two-men{'-narrow' * narrow}.png"
    with pyplot.style.context("default"):
        picture["draw"](picture["two_men"](), narrow).savefig(
            tmp_path / name, dpi=150, transparent=True
        )
    pyplot.close("all")
    different = compare_images(str(DOCS / "figures" / name), str(tmp_path / name), tol=4)
    assert different is None, different


@pytest.mark.parametrize("file", ["CITATION.cff", "docs/cite.md"])
def test_citations_name_the_version(file: str) -> None:
    text = (ROOT / file).read_text("utf-8")
    assert re.findall(r"^ *version *[:=] *\{?([\w.]+)\}?,?$", text, re.MULTILINE) == [
        shafer.__version__
    ]


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 150


def test_limits_come_before_the_second_example() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert 0 < text.index("## Limits") < text.index("## A second example")
