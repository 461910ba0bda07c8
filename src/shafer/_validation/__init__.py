"""Checks of arguments, shared by every layer: arrays, class labels, names, sample weights.

Each function returns the argument in one standard form, or raises a ``ValueError`` that names the
argument, the value that was given, and what to do. May import ``_text`` and ``_typing`` only.
"""

from shafer._validation.arrays import (
    check_finite,
    check_overflow,
    check_overflows,
    float_array,
    frozen,
    same_library,
    to_numpy,
)
from shafer._validation.class_columns import class_columns, order_by_label
from shafer._validation.class_labels import (
    class_labels,
    is_missing,
    is_one_label,
    label_array,
    label_positions,
    one_position,
    positions_of,
)
from shafer._validation.component_names import component_names
from shafer._validation.data_frames import frame_columns, frame_of
from shafer._validation.deferred_checks import check_later, deferred_checks
from shafer._validation.group_labels import group_labels, group_positions
from shafer._validation.labelled_values import labelled
from shafer._validation.numbered_names import numbered
from shafer._validation.prior_logarithms import log_prior
from shafer._validation.row_weights import row_weights
from shafer._validation.true_classes import TrueClasses, column_labels, true_classes

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
