"""Every link, anchor and source path in the documentation resolves."""

import re
import unicodedata
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
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
