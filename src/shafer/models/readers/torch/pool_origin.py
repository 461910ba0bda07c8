"""Where a feature map and its pool come from: attention, or a map that is a single location."""

from __future__ import annotations

from shafer.models.readers.torch.op_trace import OpTrace

# Operations that only move, copy or multiply values.
_PASSING = (
    *("mul", "div", "view", "squeeze", "unsqueeze", "expand", "transpose", "permute", "clone"),
    *("to_copy", "bmm", "select", "slice", "alias", "detach", "reshape", "split", "unsafe_view"),
)
_LAYERS = ("convolution", "embedding", "addmm", "mm", "linear")
_MOST_NODES = 40


def pools_by_attention(trace: OpTrace, node: int, target: int) -> bool:
    """Return whether a softmax enters the pool beside the map, or was multiplied into the map."""
    return any(_from_softmax(trace, start) for start in (*trace.beside(node, target), node))


def _from_softmax(trace: OpTrace, start: int) -> bool:
    waiting, seen = [start], {start}
    while waiting and len(seen) < _MOST_NODES:
        made = trace.producer(waiting.pop())
        if made is None:
            continue
        name = trace.ops[made].name
        if "softmax" in name:
            return True
        if name == "t" or name.strip("_").startswith(_PASSING):
            more = [entered for entered in trace.ops[made].inputs.values() if entered not in seen]
            seen.update(more)
            waiting += more
    return False


def is_small_map(trace: OpTrace, node: int) -> bool:
    """Return whether a map of one location came so out of a layer, and not out of a pool."""
    made = trace.producer(node)
    while made is not None:
        op = trace.ops[made]
        if op.name in _LAYERS:
            return True
        if any(trace.values[node].is_nested for node in (*op.inputs.values(), *op.outputs)):
            return True
        size = trace.values[op.outputs[0]].numel()
        same = [entered for entered in op.inputs.values() if trace.values[entered].numel() == size]
        if not same:
            return False
        made = trace.producer(same[0])
    return True
