from __future__ import annotations

import numpy as np

from shafer.texts.marked import MARKED, Segments, stretches


def _words(marks: np.ndarray) -> Segments:  # type: ignore[type-arg]
    n = len(marks)
    return Segments("x" * n, np.arange(n + 1), marks, np.full(n, MARKED, dtype=np.int8))


def test_a_short_text_is_shown_in_full() -> None:
    [whole] = stretches(_words(np.zeros(30)), 30)
    assert (whole.first, whole.last, whole.shown, whole.words) == (0, 30, True, 30)


def test_strong_words_and_their_neighbours_are_shown() -> None:
    marks = np.zeros(1000)
    marks[[300, 700]] = 1.0, -2.0
    found = stretches(_words(marks), 100)
    shown = [(part.first, part.last) for part in found if part.shown]
    assert shown == [(0, 24), (288, 313), (688, 713)]
    assert sum(part.words for part in found) == 1000
    assert [part.first for part in found[1:]] == [part.last for part in found[:-1]]


def test_weights_of_all_classes_count() -> None:
    marks = np.zeros((1000, 3))
    marks[500, 2] = -1.0
    assert any(
        part.shown and part.first <= 500 < part.last for part in stretches(_words(marks), 60)
    )


def test_short_gaps_are_not_worth_leaving_out() -> None:
    marks = np.zeros(400)
    marks[[100, 140]] = 1.0
    shown = [(part.first, part.last) for part in stretches(_words(marks), 120) if part.shown]
    assert shown == [(0, 24), (88, 153)]
