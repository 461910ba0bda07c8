"""Several classifiers, or several views of the data, combined as evidence.

May import ``models.explainer``, ``models.fitting``, ``fusion`` and below.
"""
