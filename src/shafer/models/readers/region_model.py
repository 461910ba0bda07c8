"""A model of the locations of images, read as a model of the regions of one segmentation."""

from __future__ import annotations

from functools import partial
from typing import Any

import array_api_compat
import numpy as np

from shafer._errors import UnsupportedModelError
from shafer._typing import Array
from shafer.evidence import GridLayout, RegionLayout
from shafer.evidence.component_layout import read_layout
from shafer.evidence.image_segmentation import read_regions, region_shares
from shafer.models.heads import Contributions
from shafer.models.readers.adapted_model import AdditiveModel
from shafer.models.readers.located_model import LocatedModel


def by_region(model: LocatedModel, regions: Any) -> AdditiveModel:
    """Return a model whose components are the regions of a label map (H, W)."""
    layout = read_layout(regions) if isinstance(regions, dict) else read_regions(regions)
    if not isinstance(layout, RegionLayout) or not isinstance(model.layout, GridLayout):
        raise UnsupportedModelError(
            "A label map as groups= needs components='locations', whose components lie on a grid."
        )
    if layout.label_map.ndim != 2:
        raise ValueError(
            "groups= takes one label map of shape (H, W) for all images; got shape "
            f"{layout.label_map.shape}. For a map of each image, group the evidence: "
            "explainer(X).grouped(labels)."
        )
    _, intercept = model.centred()
    function = partial(_contributions, model, layout)
    return AdditiveModel(
        Contributions(function, intercept, None, layout.names),
        by_column=False,
        live=model.live,
        options={**model.options, "regions": layout.plain()},
        layout=layout,
    )


def _contributions(model: LocatedModel, regions: RegionLayout, X: Any) -> Array:
    """Return what each region adds to the logits, (n, R, K)."""
    parts = []
    for terms in model.batches(X):
        cells = model.contributions(terms)
        xp = array_api_compat.array_namespace(cells)
        grid = terms.layout
        assert isinstance(grid, GridLayout)
        shares = np.ascontiguousarray(region_shares(regions, grid).T)
        parts.append(xp.asarray(shares, dtype=cells.dtype, device=cells.device) @ cells)
    return array_api_compat.array_namespace(parts[0]).concat(parts, axis=0)
