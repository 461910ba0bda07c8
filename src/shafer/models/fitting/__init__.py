"""Training helpers of both classifiers: sample weights, folds, and the model inside a wrapper.

May import ``models.explainer``, ``models.readers``, ``evidence`` and below.
"""
