"""``ModelColumns``: which columns of a frame an explainer takes, and in what form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

from shafer._text import listed


@final
@dataclass(frozen=True)
class ModelColumns:
    """The columns of a frame that a model takes.

    Attributes
    ----------
    names : tuple of strings
        In the order of the model.
    named : bool
        The model was trained on named columns; otherwise it gets an array.
    texts : bool
        The model takes the texts of a single column.
    """

    names: tuple[str, ...]
    named: bool
    texts: bool

    @classmethod
    def of(
        cls,
        known: Sequence[str] | None,
        columns: str | Iterable[str] | None,
        present: Sequence[str],
        *,
        texts: bool,
    ) -> Self:
        """Choose the columns of a frame.

        Parameters
        ----------
        known : sequence of strings or None
            The columns of the training data, if they had names.
        columns : string, iterable of strings, or None
            The user's choice; by default the columns of the training data.
        present : sequence of strings
            The columns of the frame.
        texts : bool
            Whether the model takes texts.
        """
        if columns is None and known is None:
            what = "the column with the texts" if texts else "the columns, in the order of training"
            raise ValueError(
                f"columns is needed: the model was trained without column names. Pass {what}; the "
                f"frame has {listed(present)}."
            )
        chosen = tuple(known or ()) if columns is None else column_choice(columns, "columns")
        if not chosen:
            raise ValueError(
                f"columns must name at least one column; the frame has {listed(present)}."
            )
        if texts and len(chosen) != 1:
            raise ValueError(
                f"columns must name the one column with the texts; got {listed(chosen)}."
            )
        check_present(chosen, present, "columns")
        missing = [] if known is None or texts else [name for name in known if name not in chosen]
        if missing:
            raise ValueError(
                f"columns must have all columns of the training data; {listed(missing)} "
                f"{'is' if len(missing) == 1 else 'are'} not among them. Leave columns out to use "
                "the columns of the training data."
            )
        return cls(chosen, named=known is not None, texts=texts)

    def rows(self, frame: Any) -> Any:
        """Return the rows of a pandas frame as the model takes them."""
        if self.texts:
            return frame[self.names[0]].tolist()
        chosen = frame[list(self.names)]
        return chosen if self.named else chosen.to_numpy(dtype=float)


def column_choice(given: Any, option: str) -> tuple[str, ...]:
    """Return the columns that a user named, one or several, each once."""
    if not isinstance(given, str | Iterable) or isinstance(given, bytes):
        raise ValueError(f"{option} must be a name of a column or a list of names; got {given!r}.")
    chosen = (given,) if isinstance(given, str) else tuple(str(name) for name in given)
    twice = [name for name, count in Counter(chosen).items() if count > 1]
    if twice:
        raise ValueError(f"{option} has {listed(twice)} twice. Name each column once.")
    return chosen


def check_present(wanted: Sequence[str], present: Sequence[str], option: str) -> None:
    """Raise an error if a frame lacks a column."""
    missing = [name for name in wanted if name not in present]
    if missing:
        raise ValueError(
            f"{option} has {listed(missing)}, which the frame lacks; it has {listed(present)}. "
            "Name the columns as in training."
        )
    twice = [name for name in wanted if present.count(name) > 1]
    if twice:
        raise ValueError(f"The frame has {listed(twice)} twice. Rename one of the columns.")
