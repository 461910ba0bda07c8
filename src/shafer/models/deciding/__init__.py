"""Deciding for the rows of a table: what ``Explainer`` and both classifiers share.

May import ``evidence``, ``decision`` and what is below them; knows no model.
"""
