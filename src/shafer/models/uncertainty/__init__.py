"""Uncertainty of the model: coefficients, out-of-distribution rows, missing inputs.

May import ``models.readers``, ``models.inputs``, ``evidence`` and below.
"""
