"""The weights of regions of an image: those of the grid cells, by the area that each covers."""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace

from shafer._typing import Array, FloatArray
from shafer.evidence.component_layout import ComponentLayout, GridLayout, RegionLayout
from shafer.evidence.image_segmentation import is_label_map, read_regions, region_shares
from shafer.evidence.weight_sources import DenseWeights, WeightSource

# Elements of the weights (rows, G, K) held at a time.
_BLOCK = 2**22


def grid_regions(groups: Any, layout: ComponentLayout | None, n: int) -> RegionLayout | None:
    """Return groups as regions of an image; None if they are other groups, or there is no grid."""
    if not isinstance(layout, GridLayout) or not is_label_map(groups):
        return None
    regions = read_regions(groups)
    if regions.label_map.ndim == 3 and len(regions.label_map) != n:
        raise ValueError(
            f"Label maps of each image must be as many as the {n} rows of evidence; got "
            f"{len(regions.label_map)}. One map of shape (H, W) serves all rows."
        )
    return regions


def region_weights(source: WeightSource, layout: GridLayout, regions: RegionLayout) -> DenseWeights:
    """Return the weights of regions; components after the grid, as the base rate, stay."""
    n, n_components, n_classes = source.shape
    shares = region_shares(regions, layout)
    step = max(1, _BLOCK // (n_components * n_classes))
    blocks, bases = [], []
    for start in range(0, n, step):
        rows = range(start, min(start + step, n))
        some = source.rows(rows)
        here = shares if shares.ndim == 2 else shares[start : rows.stop]
        blocks.append(_mixed(some.dense(), here, layout.n_components))
        bases.append(_base(some, here, layout.n_components, len(rows)))
    xp = array_namespace(blocks[0])
    return DenseWeights(xp.concat(blocks, axis=0), xp.concat(bases, axis=0))


def _base(some: WeightSource, shares: FloatArray, n_cells: int, n: int) -> Array:
    base = some.base_shares()
    xp = array_namespace(base)
    return _mixed(xp.broadcast_to(base, (n, *some.shape[1:])), shares, n_cells)


def _mixed(weights: Array, shares: FloatArray, n_cells: int) -> Array:
    """Add up the weights of cells by the shares (G, R) or (n, G, R) of the regions."""
    xp = array_namespace(weights)
    wide = xp.astype(weights[:, :n_cells, :], xp.float64)
    mix = xp.asarray(shares, dtype=xp.float64, device=weights.device)
    regions = xp.matrix_transpose(mix) @ wide
    return xp.concat([xp.astype(regions, weights.dtype), weights[:, n_cells:, :]], axis=1)
