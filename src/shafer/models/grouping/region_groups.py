"""Groups that are a segmentation of an image: an option of the model's reader."""

from __future__ import annotations

from typing import Any

from shafer.evidence.image_segmentation import is_label_map, read_regions


def with_regions(groups: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the groups and the options; a label map of image locations becomes an option."""
    if options.get("components") != "locations" or not is_label_map(groups):
        return groups, options
    return None, {**options, "regions": read_regions(groups).plain()}
