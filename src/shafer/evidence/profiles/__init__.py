"""What the weights of the training rows look like, and how typical a new row is.

May import ``evidence.evidence``, ``evidence.weight_sources`` and what is below.
"""
