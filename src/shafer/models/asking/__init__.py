"""Questions about the inputs of a linear model: what to measure, what to check, what would change.

One file per question; ``asked_model.py`` gets the rows ready, and the closed forms are functions of
arrays. All questions use the conditional Gaussian of the inputs, as ``missing="conditional"`` does.
May import ``models.weighed_model``, ``models.uncertainty`` and what is below.
"""
