"""Rows that are texts: vectorizers among the transformers, and places of words in a text.

May import ``models.inputs``, ``evidence`` and below.
"""
