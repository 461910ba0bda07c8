from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shafer.texts.marked import MARKED, PLAIN, STOP, UNKNOWN, Segments, segments_of
from shafer.texts.spans import WordSpans


def spans_of(text: str, pieces: list[tuple[int, int]], **more: object) -> WordSpans:
    start, end = (np.array([p[i] for p in pieces], dtype=np.intp) for i in (0, 1))
    silent = np.array(more.get("silent", []), dtype=np.intp).reshape(-1, 2)
    return WordSpans(
        text,
        start,
        end,
        np.arange(len(pieces)),
        np.ones(len(pieces)),
        silent[:, 0],
        silent[:, 1],
        np.array(more.get("stops", [False] * len(silent)), dtype=bool),
        (),
        np.arange(len(pieces)),
    )


def strings(segments: Segments) -> list[str]:
    return [segments.string(s) for s in range(len(segments))]


def test_overlapping_pieces_are_cut_and_shared_by_length() -> None:
    found = segments_of(spans_of("abcd", [(0, 4), (1, 2)]), np.array([4.0, 10.0]))
    assert strings(found) == ["a", "b", "cd"]
    np.testing.assert_allclose(found.marks, [1.0, 11.0, 2.0])


def test_kinds() -> None:
    spans = spans_of("the cat, zebra", [(4, 7)], silent=[(0, 3), (9, 14)], stops=[True, False])
    found = segments_of(spans, np.array([2.0]))
    assert strings(found) == ["the", " ", "cat", ", ", "zebra"]
    assert found.kinds.tolist() == [STOP, PLAIN, MARKED, PLAIN, UNKNOWN]
    assert found.total(0, 5) == 2.0


def test_marks_stay_with_their_letters() -> None:
    text = "cafe\u0301s 👍🏽👩\u200d👧!"
    pieces = [(0, 4), (7, 8), (9, 10), (11, 12)]  # they end inside letters and emoji
    found = segments_of(spans_of(text, pieces), np.ones(4))
    assert strings(found) == ["cafe\u0301s ", "👍🏽", "👩\u200d👧", "!"]
    np.testing.assert_allclose(found.marks, [1.0, 1.0, 2.0, 0.0])


def test_weights_of_all_classes() -> None:
    weights = np.array([[1.0, -1.0], [0.5, 2.0]])
    found = segments_of(spans_of("ab", [(0, 1), (0, 2)]), weights)
    np.testing.assert_allclose(found.marks, [[1.25, 0.0], [0.25, 1.0]])


@settings(max_examples=200, deadline=None)
@given(
    st.text(st.sampled_from("ab \u0301\u200d🫀é"), min_size=1, max_size=30).flatmap(
        lambda text: st.tuples(
            st.just(text),
            st.lists(
                st.tuples(
                    st.integers(0, len(text) - 1), st.integers(1, len(text)), st.floats(-9, 9)
                ),
                max_size=8,
            ),
        )
    )
)
def test_nothing_is_lost(given_: tuple[str, list[tuple[int, int, float]]]) -> None:
    text, drawn = given_
    pieces = [(a, min(len(text), a + n)) for a, n, _ in drawn]
    found = segments_of(spans_of(text, pieces), np.array([w for *_, w in drawn]))
    assert "".join(strings(found)) == text
    np.testing.assert_allclose(found.marks.sum(), sum(w for *_, w in drawn), atol=1e-9)
    assert np.all((found.marks == 0.0) | (found.kinds == MARKED))
