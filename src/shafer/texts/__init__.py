"""Texts as inputs: which words carry which weight, where they stand, how they are shown.

``spans`` and ``locate`` find words, ``inputs`` are the text columns of a model, ``marked`` a text
with its weights, drawn by ``html`` and ``terminal``; ``rows`` are the texts of a study.
"""
