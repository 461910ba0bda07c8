"""Guide pages have one form, and the glossary explains each word in two sentences."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
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
