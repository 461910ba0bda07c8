"""``OpTrace``: the tensor operations of one forward pass, and how to repeat a part of them.

The operations are those of the dispatcher, below all Python spellings: ``AdaptiveAvgPool2d(1)``,
``x.mean((2, 3))`` and ``torch.mean(x.flatten(2), -1)`` are the same few of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, final

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_unflatten

# PyTorch adds these from time to time, so they do not count.
_UNCOUNTED = ("detach", "alias", "lift_fresh", "empty")


class Op(NamedTuple):
    """One operation: what was called, on which nodes, and the nodes that came out."""

    function: Any
    leaves: list[Any]  # arguments and keyword arguments, flat
    structure: Any
    inputs: dict[int, int]  # position among the leaves -> node
    outputs: tuple[int, ...]
    number: int  # which operation of the forward pass it is, from 1

    @property
    def name(self) -> str:
        """The name without its overload, such as ``mean`` or ``native_layer_norm``."""
        return str(self.function.overloadpacket.__name__)

    @property
    def in_place(self) -> bool:
        """Whether it writes into its first argument."""
        return self.name.endswith("_") and not self.name.endswith("__")


@final
class OpTrace(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Records the operations of a forward pass; a tensor that is written to is a new node.

    Attributes
    ----------
    ops : list of Op
    values : list of tensors
        The tensor of each node. Those that came out of no operation are parameters or inputs.
    first : int
        Operations before this number are counted, but not kept.
    constants : set of int
        The ids of parameters and buffers.
    """

    def __init__(self, first: int = 0, constants: Iterable[Tensor] = ()) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.constants = {id(tensor) for tensor in constants}
        self.ops: list[Op] = []
        self.values: list[Tensor] = []
        self.count = 0
        self.first = first
        self._nodes: dict[int, int] = {}  # id of a tensor, which ``values`` keeps alive -> node
        self._producers: dict[int, int] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run one operation and record it."""
        del types
        self.count += func.overloadpacket.__name__ not in _UNCOUNTED
        if self.count < self.first:
            return func(*args, **(kwargs or {}))
        leaves, structure = tree_flatten((args, dict(kwargs or {})))
        inputs = {i: self._seen(x) for i, x in enumerate(leaves) if isinstance(x, Tensor)}
        result = func(*args, **(kwargs or {}))
        op = Op(func, leaves, structure, inputs, (), self.count)
        known = set(inputs.values()) if not op.in_place else set()
        outputs = []
        for x in tree_flatten(result)[0]:
            if isinstance(x, Tensor):
                node = self._nodes.get(id(x))
                outputs.append(node if node in known else self._new(x, len(self.ops)))
        self.ops.append(op._replace(outputs=tuple(n for n in outputs if n is not None)))
        return result

    def clear(self) -> None:
        """Forget everything, for another forward pass."""
        self.ops.clear()
        self.values.clear()
        self.count = 0
        self._nodes.clear()
        self._producers.clear()

    def node_of(self, tensor: Tensor) -> int | None:
        """Return the node that a tensor is now."""
        return self._nodes.get(id(tensor))

    def is_current(self, node: int) -> bool:
        """Return whether the tensor of a node was not written to afterwards."""
        return self._nodes.get(id(self.values[node])) == node

    def producer(self, node: int) -> int | None:
        """Return the position of the operation that a node came out of."""
        return self._producers.get(node)

    def parents(self, node: int) -> list[int]:
        """Return the nodes that a node was computed from in one operation."""
        made = self._producers.get(node)
        return [] if made is None else list(dict.fromkeys(self.ops[made].inputs.values()))

    def before(self, node: int, most: int) -> Iterator[int]:
        """Yield a node and those it was computed from, the nearest first."""
        waiting, seen = [node], {node}
        for _ in range(most):
            if not waiting:
                return
            here = waiting.pop(0)
            yield here
            more = [parent for parent in self.parents(here) if parent not in seen]
            seen.update(more)
            waiting += more

    def between(self, source: int, target: int) -> list[Op]:
        """Return the operations through which a node reaches another, in their order."""
        reached, found = {source}, []
        for op in self.ops:
            if reached.intersection(op.inputs.values()) and source not in op.outputs:
                reached.update(op.outputs)
                found.append(op)
        needed, kept = {target}, []
        for op in reversed(found):
            if needed.intersection(op.outputs):
                needed.update(op.inputs.values())
                kept.append(op)
        return kept[::-1] if target in reached else []

    def beside(self, source: int, target: int) -> list[int]:
        """Return the nodes that enter between two others, and do not come from the first."""
        between = self.between(source, target)
        inner = {output for op in between for output in op.outputs} | {source}
        entered = [node for op in between for node in op.inputs.values()]
        return [node for node in dict.fromkeys(entered) if node not in inner]

    def comes_from_rows(self, node: int) -> bool:
        """Return whether a node was computed from the rows, and not from parameters alone."""
        origins = (n for n in self.before(node, len(self.values)) if self.producer(n) is None)
        return any(id(self.values[origin]) not in self.constants for origin in origins)

    def replay(self, source: int, value: Tensor, target: int) -> Tensor | None:
        """Return what a node would have been with another value of an earlier one.

        All else keeps its value; None if the later node does not depend on the earlier one.
        """
        known: dict[int, Tensor] = {source: value}
        for op in self.between(source, target):
            leaves = list(op.leaves)
            for position, node in op.inputs.items():
                leaves[position] = known.get(node, self.values[node])
            if op.in_place:
                leaves[0] = leaves[0].clone()
            args, kwargs = tree_unflatten(leaves, op.structure)
            results = tree_flatten(op.function(*args, **kwargs))[0]
            tensors = [x for x in results if isinstance(x, Tensor)]
            known.update(zip(op.outputs, tensors, strict=True))
        return known.get(target)

    def _seen(self, tensor: Tensor) -> int:
        node = self._nodes.get(id(tensor))
        return self._new(tensor, None) if node is None else node

    def _new(self, tensor: Tensor, producer: int | None) -> int:
        node = len(self.values)
        self.values.append(tensor)
        self._nodes[id(tensor)] = node
        if producer is not None:
            self._producers[node] = producer
        return node
