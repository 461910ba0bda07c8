"""The graph of an explainer, from the bottom: values, terms of models, weights, closed forms.

``graph_values.py`` writes operators as Python expressions. ``terms`` has one file for each family
of models. Everything is computed in double precision. May import ``models`` and what is below.
"""
