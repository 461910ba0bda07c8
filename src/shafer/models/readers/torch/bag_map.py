"""The feature map of an embedding bag: the embedding of each token, which the bag never makes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from shafer._errors import UnsupportedModelError
from shafer.models.readers.torch.map_reading import as_flatten
from shafer.models.readers.torch.op_trace import Op, OpTrace

_SUM, _MEAN = 0, 1
_MOST_OPS = 16


def bag_behind(trace: OpTrace, target: int) -> int | None:
    """Return the position of the embedding bag whose output enters the head; None without one."""
    for node in trace.before(target, _MOST_OPS):
        made = trace.producer(node)
        op = None if made is None else trace.ops[made]
        if op is not None and op.name.startswith("_embedding_bag") and node == op.outputs[0]:
            same = node == target or as_flatten(trace, node, target, 1) is not None
            return made if same else None
    return None


def bag_locations(op: Op) -> tuple[Tensor, Tensor]:
    """Return the embeddings of the tokens of each bag, (n, T, C), and their weights, (n, T).

    Tokens that a shorter bag lacks, and the padding token, have weight 0 and embedding 0.
    """
    given = _arguments(op)
    if given["mode"] not in (_SUM, _MEAN):
        raise UnsupportedModelError(
            "The embedding bag takes the maximum over the tokens, which is not a sum over them. "
            "Train it with mode='mean' or 'sum', or use components='units'."
        )
    indices, offsets = given["indices"], given["offsets"]
    stops = torch.cat([offsets[1:], offsets.new_tensor([len(indices)])])
    if given["include_last_offset"]:
        offsets, stops = offsets[:-1], offsets[1:]
    length = max(1, int((stops - offsets).max()))
    places = offsets[:, None] + torch.arange(length, device=offsets.device)
    inside = places < stops[:, None]
    chosen = indices[places.clamp(max=max(len(indices) - 1, 0))]
    padding = given["padding_idx"]
    used = inside if padding is None or padding < 0 else inside & (chosen != padding)
    weights = used.double()
    if given["per_sample_weights"] is not None:
        each = given["per_sample_weights"].double()
        weights = weights * each[places.clamp(max=len(each) - 1)]
    elif given["mode"] == _MEAN:
        weights = weights / used.sum(1, keepdim=True).clamp(min=1)
    embedded = given["weight"][chosen] * used[..., None]
    return embedded, weights


def _arguments(op: Op) -> dict[str, Any]:
    """Return the arguments of an embedding bag by name, with their defaults."""
    names = [argument.name for argument in op.function._schema.arguments]
    defaults = {a.name: a.default_value for a in op.function._schema.arguments}
    positional, named = torch.utils._pytree.tree_unflatten(op.leaves, op.structure)
    given = {**defaults, **dict(zip(names, positional, strict=False)), **named}
    return {**given, "padding_idx": given.get("padding_idx", -1)}
