"""Lazy frames, one file for each kind: their columns, their scores, sums over their rows.

No file imports its engine before a frame of it is there. May import ``shafer.scale.row_scorer`` and
``shafer.scale.model_columns``.
"""
