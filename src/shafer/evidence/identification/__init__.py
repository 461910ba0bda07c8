"""Least commitment: from contributions or a linear head to weights of evidence (Prop. 2).

May import ``evidence.evidence``, ``evidence.weight_sources`` and what is below.
"""
