r"""Bringing sources to one frame: classes matched by label, or refined, or ballooned.

*Match.* Weights of evidence are claims about single classes: for class k (focused on
:math:`\{k\}`) or against it (focused on the complement of :math:`\{k\}`). In a larger frame the
same claims are about the same classes, and a class that a source does not know has no weight. The
family is kept, at O(K). But a claim *for* k is then also a claim that it is none of the classes
the source has never heard of.

*Balloon.* A source trained on the classes F only ever learnt to tell them apart. Its mass function
is conditional on F, and the least committed mass function on the whole frame that gives it back
when conditioned on F adds all unknown classes to each focal set (Smets's ballooning extension):
:math:`m(A \cup (\Theta \setminus F)) = m_F(A)`. The source gives no evidence about the others.

*Coarser classes.* A class of one source that stands for several of another spreads to the set of
them: :math:`m(\bigcup_{\omega \in A} \rho(\omega)) = m_\Omega(A)`, the vacuous extension.

The last two leave the family, and are for small frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.labels import class_labels, is_one_label
from shafer._text import listed
from shafer._typing import Label

FRAMES = ("match", "balloon")


@final
@dataclass(frozen=True, eq=False)
class Alignment:
    """The joined frame, and where the classes of each source go.

    Attributes
    ----------
    classes : array of shape (K,)
    images : list of lists of lists of int
        For each source and each of its classes, the positions it stands for in the frame.
    """

    classes: NDArray[Any]
    images: list[list[list[int]]]

    @property
    def is_fine(self) -> bool:
        """Whether every class of every source is one class of the frame."""
        return all(len(image) == 1 for source in self.images for image in source)

    @property
    def is_complete(self) -> bool:
        """Whether every source knows every class."""
        return all(len(set().union(*source)) == len(self.classes) for source in self.images)

    def places(self, s: int) -> NDArray[np.intp]:
        """Return, for each class of the frame, its column in source s, or −1."""
        places = np.full(len(self.classes), -1, dtype=np.intp)
        for column, (position,) in enumerate(self.images[s]):
            places[position] = column
        return places

    def unknown(self, s: int) -> list[int]:
        """Return the positions of the classes that source s does not know."""
        return sorted(set(range(len(self.classes))).difference(*self.images[s]))

    def completed(self) -> Alignment:
        """Return the same with every source's unknown classes as further classes of its own."""
        grown = [[*images, *([k] for k in self.unknown(s))] for s, images in enumerate(self.images)]
        return Alignment(self.classes, grown)

    def masks(self, s: int, *, balloon: bool) -> NDArray[np.int64]:
        """Return the bitmask in the frame of every set of classes of source s."""
        unknown = sum(1 << k for k in self.unknown(s)) if balloon else 0
        masks = np.array([unknown], dtype=np.int64)
        for image in self.images[s]:
            masks = np.concatenate([masks, masks | sum(1 << k for k in image)])
        masks[0] = 0  # the empty set stays empty
        return masks


def align(
    labels: Sequence[Sequence[Label]],
    names: Sequence[str],
    coarse: Mapping[Any, Iterable[Any]] | None,
    classes: Any,
) -> Alignment:
    """Match the classes of all sources by label.

    A label that ``coarse`` explains, or a tuple or frozenset of labels that other sources use,
    stands for those. The frame is ``classes`` if given, else all fine labels as they first appear.
    """
    meaning = meanings(labels, coarse)
    fine: dict[Label, int] = {}
    for source in labels:
        for label in source:
            for member in meaning.get(label, (label,)):
                fine.setdefault(member, len(fine))
    if classes is not None:
        fine = _given(classes, fine)
    images = []
    for source, name in zip(labels, names, strict=True):
        image = [[fine[member] for member in meaning.get(label, (label,))] for label in source]
        _check_disjoint(image, source, name)
        images.append(image)
    if classes is None:
        _check_meet(images, labels, names)
    return Alignment(class_labels(list(fine), len(fine)), images)


def meanings(
    labels: Sequence[Sequence[Label]], coarse: Mapping[Any, Iterable[Any]] | None
) -> dict[Label, tuple[Label, ...]]:
    """Return what each coarse label stands for."""
    everywhere = {label for source in labels for label in source}
    meaning: dict[Label, tuple[Label, ...]] = {}
    for label in everywhere:
        if isinstance(label, tuple | frozenset) and label and set(label) <= everywhere:
            meaning[label] = tuple(label)
    for label, members in (coarse or {}).items():
        if label not in everywhere:
            raise ValueError(
                f"coarse has an entry for {label!r}, but no source has this class. Remove the "
                "entry, or check the label."
            )
        alone: Any = (members,)
        meaning[label] = alone if is_one_label(members) else tuple(members)
        if not meaning[label]:
            raise ValueError(f"coarse must name the classes that {label!r} stands for; got none.")
    for label, members in meaning.items():
        nested = [member for member in members if member in meaning and member != label]
        if nested:
            raise ValueError(
                f"{label!r} stands for {nested[0]!r}, which stands for other classes itself. Give "
                f"the classes that {nested[0]!r} stands for instead."
            )
    return meaning


def _given(classes: Any, fine: dict[Label, int]) -> dict[Label, int]:
    given = class_labels(classes, len(list(classes))).tolist()
    missing = [label for label in fine if label not in given]
    if missing:
        raise ValueError(
            f"classes must hold all classes of the sources; {missing} are missing from {given}. "
            "Add them. If they are other names of the same classes, give the sources the same "
            "labels: shafer.Explainer(model, X, classes=[...]), in the order of the model's own "
            "labels."
        )
    return {label: position for position, label in enumerate(given)}


def _check_meet(
    images: list[list[list[int]]], labels: Sequence[Sequence[Label]], names: Sequence[str]
) -> None:
    """Refuse a source that shares no class with any other: mostly 0 and 1 beside "0" and "1"."""
    known = [set().union(*source) for source in images]
    for s, name in enumerate(names):
        others = set().union(*known[:s], *known[s + 1 :])
        if len(names) > 1 and not known[s] & others:
            raise ValueError(
                f"Source {name!r} has the classes [{listed(labels[s])}], and no other source has "
                "any of them. Give all sources the same labels. To allow this, pass all classes "
                "with classes=."
            )


def _check_disjoint(image: list[list[int]], source: Sequence[Label], name: str) -> None:
    flat = [position for positions in image for position in positions]
    if len(set(flat)) < len(flat):
        raise ValueError(
            f"The classes of source {name!r} must not overlap; after replacing coarse classes, "
            f"some of {list(source)} do."
        )
