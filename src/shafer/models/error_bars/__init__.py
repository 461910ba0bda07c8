"""Error bars of an explainer's weights: from the posterior of a head, from bags, from refits.

May import ``models.weighed_model``, ``models.uncertainty``, ``models.readers``, ``evidence`` and
below.
"""
