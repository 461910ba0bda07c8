"""``in_order``: a data frame read by its column names, whatever their order."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from shafer._validation import frame_columns


def in_order(X: Any, columns: tuple[str, ...] | None) -> Any:
    """Return a frame with its columns in the order of the background; other input as it is.

    Some libraries read the columns of a frame by position. A frame with other columns than the
    background comes back as it is: the model's own check refuses it.
    """
    given = frame_columns(X)
    if columns is None or given is None or given == columns or set(given) != set(columns):
        return X
    place = {name: k for k, name in enumerate(given)}
    order = [place[name] for name in columns]
    return nw.from_native(X, eager_only=True)[:, order].to_native()
