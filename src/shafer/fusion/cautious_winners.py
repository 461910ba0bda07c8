r"""The cautious combination in closed form: for each claim, only the strongest source counts.

The canonical weights of a source's mass function are its pooled weights for each class and against
each class (Denœux 2019, Prop. 1), and the cautious rule takes their maxima over the sources
(Denœux 2008). With two classes, "for one" and "against the other" are the same claim, so their
weights are added up in each source before they are compared.

The winner of a claim keeps the components that make it. The other sources get no weight there,
because they may repeat the same information. So the result has the components of all sources, and
their weights add up to the pooled ones. On a tie the first source counts: evidence combined with
itself is unchanged.
"""

from __future__ import annotations

from array_api_compat import array_namespace

from shafer._typing import Array
from shafer.kernels import Pooled


def winners(pooled: list[Pooled]) -> list[tuple[Array, Array]]:
    """Return for each source where it wins: 1 or 0 for and against each class, each (n, K)."""
    claims = [_claims(source) for source in pooled]
    xp = array_namespace(pooled[0].logits)
    best = [xp.zeros_like(claim) for claim in claims[0]]
    winner = [xp.zeros(claim.shape, dtype=xp.int32, device=claim.device) for claim in claims[0]]
    for s, source in enumerate(claims):
        for side, claim in enumerate(source):
            better = claim > best[side]
            best[side] = xp.where(better, claim, best[side])
            winner[side] = xp.where(better, s, winner[side])
    dtype = pooled[0].logits.dtype
    won = [tuple(xp.astype(side == s, dtype) for side in winner) for s in range(len(pooled))]
    if pooled[0].logits.shape[-1] == 2:  # against the one is for the other
        return [(sides[0], xp.flip(sides[0], axis=-1)) for sides in won]
    return [(sides[0], sides[1]) for sides in won]


def _claims(source: Pooled) -> tuple[Array, ...]:
    """Return the weights of the distinct claims: for and against, or for alone if K = 2."""
    if source.logits.shape[-1] == 2:
        xp = array_namespace(source.logits)
        return (source.weights_for + xp.flip(source.weights_against, axis=-1),)
    return source.weights_for, source.weights_against
