"""Why the input of a head is not a sum over the locations of a feature map, and what to do."""

from __future__ import annotations

import math

from shafer.models.readers.torch.op_trace import OpTrace
from shafer.models.readers.torch.pool_origin import pools_by_attention

_MOST_NODES = 100
# Beginnings of the names of operations -> the reason, and the remedy. The first found counts.
_REASONS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("softmax", "bmm", "scaled_dot_product", "native_multi_head_attention"),
        "pools with weights that depend on the features, as attention does",
        "Train the module with a mean in its place",
    ),
    (
        ("max", "amax", "adaptive_max", "topk", "logsumexp", "median", "quantile", "kthvalue"),
        "takes a maximum over the locations",
        "Train the module with a mean in its place",
    ),
    (
        ("native_layer_norm", "native_group_norm", "fused_rms_norm", "rms_norm", "linalg_vector"),
        "normalises the pooled features",
        "Put the normalisation before the mean",
    ),
    (
        ("addmm", "mm", "linear", "convolution", "baddbmm", "matmul"),
        "has another layer between its feature map and the head",
        "Name the layer behind the map with layer=, if it is the last one",
    ),
    (
        ("select", "slice", "index", "gather", "narrow"),
        "takes some of the locations, such as a CLS token",
        "Train the module with a mean over the tokens",
    ),
)
_LINEAR = (
    *("mean", "sum", "view", "reshape", "permute", "transpose", "squeeze", "unsqueeze", "expand"),
    *("clone", "to_copy", "dropout", "detach", "alias", "add", "mul", "div", "sub", "avg_pool"),
    *("native_batch_norm", "cudnn_batch_norm", "cat", "empty", "unsafe_view", "adaptive_avg"),
)


def why_no_map(trace: OpTrace, target: int, n: int, components: str) -> str:
    """Return the error for a head whose input cannot be taken apart by location."""
    names = _names_behind_map(trace, target, n)
    if names is None:
        return (
            f"components={components!r} needs a feature map, but what enters the last layer comes "
            "from no tensor with locations. Use components='units'."
        )
    cause, remedy = _explained(names)
    return (
        f"components={components!r} needs a head on a mean, a sum or a flattening of a feature "
        f"map, because only these are sums over its locations. This module {cause}. "
        f"{remedy}, or use components='units'."
    )


def why_not_placed(moved: str, components: str) -> str:
    """Return the error for a map whose locations cannot be followed to the input."""
    what = f"moves them ({moved})" if moved else "cuts, joins or mixes its axes on the way"
    return (
        f"components={components!r} found a feature map, but not where its locations lie in the "
        f"input: the module {what}. If they lie on a grid, row by row, pass "
        "grid=(height, width); otherwise use components='units'."
    )


def _explained(names: list[str]) -> tuple[str, str]:
    for words, cause, remedy in _REASONS:
        if any(_begins(name, words) for name in names):
            return cause, remedy
    other = [name for name in names if not _begins(name, _LINEAR)]
    if other:
        return (
            f"applies a non-linear operation ({other[0]}) after the pool",
            "Put the non-linearity before the pool",
        )
    return (
        "combines the locations in another way before its last layer",
        "Let the head follow the pool",
    )


def _begins(name: str, words: tuple[str, ...]) -> bool:
    return name.strip("_").startswith(words)


def _names_behind_map(trace: OpTrace, target: int, n: int) -> list[str] | None:
    """Name the operations between the nearest tensor with locations and the head."""
    width = trace.values[target].numel() // n
    for node in trace.before(target, _MOST_NODES):
        values = trace.values[node]
        if values.is_nested:
            continue
        tokens = values.ndim >= 3 and len(values) == n and values.is_floating_point()
        if tokens and math.prod(values.shape[1:]) > width:
            between = [op.name for op in trace.between(node, target)]
            if between:
                return ["softmax"] if pools_by_attention(trace, node, target) else between
    return None
