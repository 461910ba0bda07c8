"""Checks of arguments, shared by every layer: arrays, class labels, names, sample weights.

Each function returns the argument in one standard form, or raises a ``ValueError`` that names the
argument, the value that was given, and what to do. May import ``_text`` and ``_typing`` only.
"""

from shafer._checks.arrays import (
    check_finite,
    check_later,
    check_overflow,
    check_overflows,
    deferred_checks,
    float_array,
    frozen,
    row_weights,
    same_library,
    to_numpy,
)
from shafer._checks.frames import frame_columns, frame_of, numbered
from shafer._checks.labels import (
    TrueClasses,
    class_columns,
    class_labels,
    column_labels,
    component_names,
    group_labels,
    group_positions,
    is_missing,
    is_one_label,
    label_array,
    label_positions,
    labelled,
    log_prior,
    one_position,
    order_by_label,
    positions_of,
    true_classes,
)

__all__ = [
    "TrueClasses",
    "check_finite",
    "check_later",
    "check_overflow",
    "check_overflows",
    "class_columns",
    "class_labels",
    "column_labels",
    "component_names",
    "deferred_checks",
    "float_array",
    "frame_columns",
    "frame_of",
    "frozen",
    "group_labels",
    "group_positions",
    "is_missing",
    "is_one_label",
    "label_array",
    "label_positions",
    "labelled",
    "log_prior",
    "numbered",
    "one_position",
    "order_by_label",
    "positions_of",
    "row_weights",
    "same_library",
    "to_numpy",
    "true_classes",
]
