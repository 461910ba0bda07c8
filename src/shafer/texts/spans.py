"""``WordSpans``: where in a text the components of its evidence are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import BoolArray, FloatArray

Positions = NDArray[np.intp]


@final
@dataclass(frozen=True, eq=False)
class WordSpans:
    """The pieces of a text that belong to components, and the words that belong to none.

    Attributes
    ----------
    text : str
        As the user gave it: positions count its characters.
    start, end : arrays of shape (m,)
        The pieces, ``text[start:end]``. Several may lie on the same characters: a word is part of
        several n-grams.
    component : array of shape (m,)
        The component of each piece.
    share : array of shape (m,)
        The part of the component's weight that the piece gets; 1 in total for each component.
    silent_start, silent_end : arrays of shape (s,)
        Words without a component.
    stop_word : boolean array of shape (s,)
        Whether the word is left out on purpose; otherwise the model does not know it.
    unlocated : tuple of (int, str)
        Components that the text has, and a word of each, whose place was not found.
    of_text : array of positions
        All components that stand for words of such a text, in this text or not.
    """

    text: str
    start: Positions
    end: Positions
    component: Positions
    share: FloatArray
    silent_start: Positions
    silent_end: Positions
    stop_word: BoolArray
    unlocated: tuple[tuple[int, str], ...]
    of_text: Positions

    @property
    def present(self) -> Positions:
        """The components that the text has."""
        return np.unique([*self.component.tolist(), *(g for g, _ in self.unlocated)]).astype(
            np.intp
        )

    @property
    def absent(self) -> Positions:
        """The components of words that are not in the text."""
        there = np.zeros(int(self.of_text.max(initial=-1)) + 1, dtype=bool)
        there[self.present] = True
        return self.of_text[~there[self.of_text]]
