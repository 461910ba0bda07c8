"""Categories that were not in the training data, behind a one-hot encoder that ignores them.

``OneHotEncoder(handle_unknown="ignore")`` encodes an unseen category as zeros in all of its
columns. Each of these values is common by itself, so the weights of such a row look typical.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy import sparse

from shafer._typing import BoolArray
from shafer.rows.access import values_of


@final
@dataclass(frozen=True, eq=False)
class UnseenCategories:
    """Finds rows with an unseen category among encoded rows.

    Attributes
    ----------
    blocks : tuple of slices
        The encoded columns of each categorical column, which are all zero for an unseen category.
    hidden : bool
        There are categorical columns whose unseen categories cannot be found: the encoder drops a
        category, or another transformer follows.
    """

    blocks: tuple[slice, ...]
    hidden: bool

    @classmethod
    def behind(cls, encoders: Sequence[Any]) -> UnseenCategories:
        """Look for one-hot encoders that ignore unseen categories."""
        if not encoders:
            return cls((), False)
        earlier = any(_found(encoder).ignores for encoder in encoders[:-1])
        last = _found(encoders[-1])
        return cls(last.blocks, last.hidden or earlier)

    def rows(self, encoded: Any) -> BoolArray:
        """Return which encoded rows hold an unseen category, boolean (n,)."""
        if self.hidden:
            warnings.warn(
                "typicality cannot detect all unseen categories: a OneHotEncoder ignores them, and "
                "drops a category or is followed by another transformer. Use drop=None, and make "
                "the encoder the last step before the model.",
                UserWarning,
                stacklevel=3,
            )
        values = encoded if sparse.issparse(encoded) else values_of(encoded)
        unseen = np.zeros(values.shape[0], dtype=bool)
        for block in self.blocks:
            sums = np.asarray(abs(values[:, block]).sum(axis=1)).reshape(-1)
            unseen |= sums == 0
        return unseen


@dataclass(frozen=True)
class _Found:
    blocks: tuple[slice, ...] = ()
    hidden: bool = False

    @property
    def ignores(self) -> bool:
        return bool(self.blocks) or self.hidden


def _found(encoder: Any, start: int = 0) -> _Found:
    """Find one-hot encoders in a transformer whose output starts at a column."""
    kinds = {base.__name__ for base in type(encoder).__mro__}
    if "Pipeline" in kinds:
        steps = [step for _, step in encoder.steps if step not in (None, "passthrough")]
        earlier = any(_found(step).ignores for step in steps[:-1])
        last = _found(steps[-1], start) if steps else _Found()
        return _Found(last.blocks, last.hidden or earlier)
    if "ColumnTransformer" in kinds:
        places = encoder.output_indices_
        parts = [
            _found(part, start + places[name].start)
            for name, part, _ in encoder.transformers_
            if places[name].start < places[name].stop  # without columns it is not fitted
        ]
        blocks = tuple(block for part in parts for block in part.blocks)
        return _Found(blocks, any(part.hidden for part in parts))
    if "OneHotEncoder" in kinds and encoder.handle_unknown != "error":
        return _one_hot(encoder, start)
    return _Found()


def _one_hot(encoder: Any, start: int) -> _Found:
    blocks, hidden = [], False
    infrequent = getattr(encoder, "infrequent_categories_", None)
    for j, categories in enumerate(encoder.categories_):
        rare = None if infrequent is None else infrequent[j]
        width = len(categories) - (0 if rare is None else len(rare) - 1)
        dropped = encoder.drop_idx_ is not None and encoder.drop_idx_[j] is not None
        if dropped:  # zeros mean the dropped category
            width, hidden = width - 1, True
        else:
            blocks.append(slice(start, start + width))
        start += width
    return _Found(tuple(blocks), hidden)
