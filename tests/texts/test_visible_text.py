from __future__ import annotations

import pytest

from shafer.texts.marked import visible


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("plain", "plain"),
        ("naïve 年 🫀", "naïve 年 🫀"),
        ("a\u202eb\u2066c\u200fd\u061ce", "a⟨U+202E⟩b⟨U+2066⟩c⟨U+200F⟩d⟨U+061C⟩e"),
        ("a\x00b\x1bc\x7fd\x9be", "a⟨U+0000⟩b⟨U+001B⟩c⟨U+007F⟩d⟨U+009B⟩e"),
        ("a\r\nb\tc", "a\nb\tc"),
        ("a\u2028b\u00a0c", "a b c"),
        ("👩\u200d👧", "👩\u200d👧"),
        ("half \ud800 pair", "half ⟨U+D800⟩ pair"),
    ],
)
def test_what_is_not_seen_is_written(given: str, shown: str) -> None:
    assert visible(given) == shown
    assert "\n" not in visible(given, lines=False)
