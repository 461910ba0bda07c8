"""The frame of discernment: labels of which one is true, and their subsets as bitmasks."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from shafer._checks.labels import positions_of
from shafer._typing import Label
from shafer.errors import FrameTooLargeError

Subset: TypeAlias = Hashable | Iterable[Hashable]
"""A subset as an argument: one label, or any collection of labels."""

MAX_LABELS = 16
"""The largest frame whose 2**K subsets this package enumerates."""


@final
@dataclass(frozen=True, repr=False)
class Frame:
    """An ordered set of labels, of which exactly one is true.

    A subset is an integer: bit k is 1 if label k belongs to it. So ``0`` is the empty set and
    ``2**K - 1`` the whole frame.

    Parameters
    ----------
    labels : ordered iterable of hashable
        Between 2 and 16 distinct labels. NumPy scalars become plain Python ones.

    See Also
    --------
    MassFunction : Masses on the subsets of a frame.

    Examples
    --------
    >>> frame = Frame(["cat", "dog", "owl"])
    >>> frame.subset(["cat", "owl"])
    5
    >>> frame.labels_in(5)
    ('cat', 'owl')
    >>> len(frame)
    3
    """

    labels: tuple[Label, ...]

    def __init__(self, labels: Iterable[Label]) -> None:
        object.__setattr__(self, "labels", _checked_labels(labels))

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Label]:
        return iter(self.labels)

    def __repr__(self) -> str:
        return f"Frame({list(self.labels)!r})"

    @property
    def n_subsets(self) -> int:
        """The number of subsets, 2**K."""
        return 1 << len(self.labels)

    @property
    def full(self) -> int:
        """The bitmask of the whole frame Θ."""
        return self.n_subsets - 1

    def subset(self, labels: Subset) -> int:
        """Return the bitmask of a subset.

        Parameters
        ----------
        labels : label or iterable of labels
            A known label is read as itself, even if it is a tuple; a string or any other scalar
            is always one label; anything else is a collection of labels.

        Returns
        -------
        int
            Bit k is 1 if label k belongs to the subset.

        Examples
        --------
        >>> frame = Frame(["cat", "dog", "owl"])
        >>> frame.subset("dog"), frame.subset(("dog", "cat")), frame.subset([])
        (2, 3, 0)
        """
        return sum(1 << k for k in positions_of(labels, self.labels))

    def labels_in(self, mask: int) -> tuple[Label, ...]:
        """Return the labels of a bitmask, in the order of the frame.

        Parameters
        ----------
        mask : int
            The subset: bit k is 1 if label k belongs to it.

        Returns
        -------
        tuple of labels

        Examples
        --------
        >>> Frame(["cat", "dog", "owl"]).labels_in(6)
        ('dog', 'owl')
        """
        if not 0 <= mask <= self.full:
            raise ValueError(f"mask must be between 0 and {self.full} for {self!r}; got {mask}.")
        return tuple(label for k, label in enumerate(self.labels) if mask >> k & 1)

    def position(self, label: Label) -> int:
        """Return the position k of a label in the frame.

        Parameters
        ----------
        label : label
            A label of the frame.

        Returns
        -------
        int
            From 0 to K − 1.

        Examples
        --------
        >>> Frame(["cat", "dog", "owl"]).position("owl")
        2
        """
        return positions_of([label], self.labels)[0]


def _checked_labels(labels: Iterable[Label]) -> tuple[Label, ...]:
    if isinstance(labels, str | bytes | set | frozenset):
        raise ValueError(
            f"labels must be an ordered collection; got {labels!r}, which is one string or has "
            "no order. Pass a list."
        )
    plain = tuple(label.item() if isinstance(label, np.generic) else label for label in labels)
    if len(plain) < 2:
        raise ValueError(f"labels must hold at least 2 labels; got {list(plain)!r}.")
    if len(plain) > MAX_LABELS:
        raise FrameTooLargeError(
            f"labels must hold at most {MAX_LABELS} labels, because all 2**K subsets are listed; "
            f"got {len(plain)}."
        )
    if len(set(plain)) < len(plain):
        raise ValueError(f"labels must be distinct; got {list(plain)!r}.")
    return plain
