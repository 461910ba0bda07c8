"""Classifiers in the form of scikit-learn that are trained here and answer with evidence.

``evidential_classifier`` wraps one model, ``evidential_voting`` pools several,
``neighbour_evidence`` and ``rbf_layer`` are the distance-based classifiers, ``bootstrap_refits``
gives models for error bars. May import ``explain`` and what is below.
"""
