"""What the graph of a model gives: the features of a linear head, or contributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from shafer.export.graph.graph_values import Value


@final
@dataclass(frozen=True, eq=False)
class ModelTerms:
    """The terms of a model as a value of a graph.

    Attributes
    ----------
    value : Value of shape (n, J) or (n, G, K)
        The features of a linear head, or what each component adds to the logits.
    centred : bool
        Whether contributions are centred over the classes already.
    """

    value: Value
    centred: bool = False
