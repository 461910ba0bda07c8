"""The documentation: links resolve, every public name is listed, guide pages have one form."""

from __future__ import annotations

import importlib
import re
import runpy
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
from matplotlib import pyplot
from matplotlib.testing.compare import compare_images

import shafer

# Every link, anchor and source path in the documentation resolves.


ROOT = Path(__file__).parent.parent
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
ARCHITECTURE = ROOT / "docs" / "background" / "architecture.md"

_FENCE = re.compile(r"^ *(```|~~~).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]+`")
_MATHS = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", re.DOTALL)
# A picture inside a link is two links, so brackets may be nested once.
_LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_PATH = re.compile(r"(?<![\w/.-])src/[\w./-]*[\w/]")
_MODULE = re.compile(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`")


def _prose(text: str) -> str:
    """Take out code blocks, inline code and formulas, in which brackets are not links."""
    return _MATHS.sub("", _CODE.sub("", _FENCE.sub("", text)))


def _slug(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    kept = (c for c in heading if c in " -_" or unicodedata.category(c)[0] in "LNM")
    return "".join(kept).replace(" ", "-")


@cache
def _anchors(page: Path) -> frozenset[str]:
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    found: dict[str, int] = {}
    anchors = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", text, re.MULTILINE):
        slug = _slug(heading)
        times = found.get(slug, 0)
        found[slug] = times + 1
        anchors.add(f"{slug}-{times}" if times else slug)
    return frozenset(anchors)


def _broken(page: Path) -> list[str]:
    """Return the relative links of a page that lead nowhere."""
    broken = []
    for target in _LINK.findall(_prose(page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z][a-z+.-]*:", target):  # https:, mailto:
            continue
        path, _, anchor = unquote(target).partition("#")
        file = (page.parent / path).resolve() if path else page
        missing = not file.exists() or (anchor and anchor not in _anchors(file))
        if missing:
            broken.append(target)
    return broken


def test_links_resolve():
    assert len(PAGES) > 100
    assert [(str(page.relative_to(ROOT)), link) for page in PAGES for link in _broken(page)] == []


def test_source_paths_exist():
    named = [(page, path) for page in PAGES for path in set(_PATH.findall(page.read_text("utf-8")))]
    gone = [
        (str(page.relative_to(ROOT)), path) for page, path in named if not (ROOT / path).exists()
    ]
    assert gone == []


def test_architecture_names_existing_modules():
    named = set(_MODULE.findall(ARCHITECTURE.read_text(encoding="utf-8")))
    assert len(named) > 30
    assert [path for path in sorted(named) if not (ROOT / "src" / "shafer" / path).exists()] == []


def test_architecture_names_every_folder():
    text = ARCHITECTURE.read_text(encoding="utf-8")
    package = ROOT / "src" / "shafer"
    folders = {file.parent.relative_to(package) for file in package.rglob("__init__.py")}
    # Private folders, and the folders of single frameworks inside models/readers, need no line.
    wanted = {f for f in folders if f.parts and len(f.parts) <= 2 and f.parts[0][0] != "_"}
    assert [f.as_posix() for f in sorted(wanted) if f"`{f.as_posix()}/`" not in text] == []


def test_broken_links_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# One heading\n[ok](#one-heading) [no](#two) [no](gone.md) [ok](page.md#one-heading)\n"
        "[ok](https://example.org) `[code](gone.md)`\n```\n[code](gone.md)\n```\n",
        encoding="utf-8",
    )
    assert _broken(page) == ["#two", "gone.md"]


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("7. Combining, scaling and grouping weights", "7-combining-scaling-and-grouping-weights"),
        ("`EvidentialVotingClassifier`", "evidentialvotingclassifier"),
        ("λ is Δ", "λ-is-δ"),
    ],
)
def test_anchors_are_github_s(heading, slug):
    assert _slug(heading) == slug


# The documentation site lists every public name, and its pictures and citations are up to date.


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


# Guide pages have one form, and the glossary explains each word in two sentences.


FORM = (
    "What for",
    "The shortest example",
    "How to read the result",
    "How to misread it",
    "When to use a peer instead",
    "Measured",
)
# Lists to look things up in, not tasks.
LISTS = {"index", "metrics", "models", "plots", "production", "saving"}
TASKS = sorted(page for page in (DOCS / "guide").glob("*.md") if page.stem not in LISTS)


def _headings(text: str) -> list[str]:
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^## (.+)$", text, re.MULTILINE)


def _entries(text: str) -> dict[str, str]:
    """Return the first word of each entry of the glossary, and its explanation."""
    body = text.split(":::{glossary}\n")[1].split("\n:::")[0]
    entries = {}
    for entry in body.split("\n\n"):
        terms, _, explanation = entry.partition("\n  ")
        entries[terms.splitlines()[0].strip("*")] = explanation
    return entries


def test_a_task_has_the_form_of_the_guide():
    assert len(TASKS) > 10
    headings = {page.stem: _headings(page.read_text(encoding="utf-8")) for page in TASKS}
    found = {stem: [heading for heading in h if heading in FORM] for stem, h in headings.items()}
    assert {stem: form for stem, form in found.items() if form != list(FORM)} == {}


def test_the_glossary_has_two_sentences_for_each_word():
    entries = _entries((DOCS / "glossary.md").read_text(encoding="utf-8"))
    assert len(entries) > 60
    sentences = {word: len(re.findall(r"[.!?](?:\s|$)", text)) for word, text in entries.items()}
    assert {word: n for word, n in sentences.items() if n != 2} == {}


def test_the_glossary_is_in_order():
    words = list(_entries((DOCS / "glossary.md").read_text(encoding="utf-8")))
    assert words == sorted(words, key=str.lower)
