"""Training helpers that both classifiers share: sample weights, folds, unwrapping.

May import ``models.readers``, ``models.inputs``, ``evidence`` and below.
"""
