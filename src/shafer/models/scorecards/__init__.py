"""The table of a scorecard: the weight of each component in each of finitely many bins.

``encoder_bins.py`` finds the bins of a column, ``probe_rows.py`` makes rows with one value of each,
and ``finite_components.py`` asks the model for their weights. May import ``models.weighed_model``,
``models.grouping``, ``models.readers``, ``models.inputs``, ``evidence`` and below.
"""
