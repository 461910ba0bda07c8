"""Questions about the inputs of a row: what to measure next, what to check, would it stand.

``inputs`` turns rows into inputs of a linear model and ``known_cells`` says what is known of them;
``next_inputs``, ``next_measurements``, ``overturn``, ``check_cells`` and ``guard`` hold one
question each, ``input_questions`` all of them as methods. ``answers`` asks everything at once,
``sentences`` words it, ``columns`` writes it into tables. May import ``explain`` below the
explainer, and no other capability.
"""

from __future__ import annotations

from shafer.asking.guard import GuardedPrediction
from shafer.asking.input_questions import InputQuestions

__all__ = ["GuardedPrediction", "InputQuestions"]
