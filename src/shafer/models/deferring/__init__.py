"""Deferral: which rows a model decides, and which it hands to a person, with a promise.

``Deferring`` has the methods ``control_error`` and ``predict_or_defer``, which ``Explainer`` and
both classifiers inherit. May import ``models.inputs``, ``evidence``, ``decision`` and below.
"""
