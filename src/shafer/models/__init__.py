"""Trained models in, components out: the only place that knows a framework.

One file per family turns a model into a :class:`LinearHead` and a way to compute its features;
``families.py`` is the door that picks the file. ``Explainer`` and ``EvidentialClassifier`` are what
users call. May import ``evidence`` and below, never ``plots`` or ``datasets``.
"""

from shafer.models.classifier import EvidentialClassifier
from shafer.models.explainer import Explainer
from shafer.models.heads import LinearHead

__all__ = ["EvidentialClassifier", "Explainer", "LinearHead"]
