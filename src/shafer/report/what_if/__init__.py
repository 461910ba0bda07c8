"""What-if sliders: the model in a form that the page can compute, or why it has none.

``learning`` finds the form and checks it, with ``inputs`` for what each raw input adds, and
``cells`` for copies of rows with other values. ``written`` writes it for ``terms.js`` and
``trees.js``, its twins. May import ``explain``, ``estimators``, ``models`` and below.
"""

from __future__ import annotations

from shafer.report.what_if.cells import NoSlidersError
from shafer.report.what_if.inputs import Input
from shafer.report.what_if.learning import Explains, WhatIf, learn
from shafer.report.what_if.written import written_model

__all__ = ["Explains", "Input", "NoSlidersError", "WhatIf", "learn", "written_model"]
