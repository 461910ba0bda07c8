"""The vocabularies of text vectorizers, whose indices compiled code follows without checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer


def check_vocabularies(model: Any, source: str) -> None:
    """Refuse a model with a vocabulary that does not number its words from 0 without gaps."""
    for part in _parts(model):
        if isinstance(part, CountVectorizer):
            words = getattr(part, "vocabulary_", {})
            if not isinstance(words, dict) or set(words.values()) != set(range(len(words))):
                raise ValueError(f"{source} cannot be loaded: the vocabulary in it is damaged.")


def _parts(model: Any) -> Iterator[Any]:
    """Give every object in a model's attributes, lists and dictionaries once."""
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, str | bytes | int | float):
            continue
        seen.add(id(part))
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list | tuple | set):
            waiting.extend(part)
        else:
            yield part
            waiting.extend(getattr(part, "__dict__", {}).values())
