"""Types shared by every layer."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = Any
"""An array of any array-API library (NumPy, PyTorch, ...): the standard has no static type yet."""

FloatArray: TypeAlias = NDArray[np.floating[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
Label: TypeAlias = Hashable
"""A class label: whatever the user calls a class."""
