"""Readers for scikit-learn: linear models, naive Bayes, networks, SVMs, boosting, wrappers."""
