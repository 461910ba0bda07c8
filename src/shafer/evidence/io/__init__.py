"""Evidence as a data frame, as text and HTML, and on disk.

May import ``evidence.weight_sources`` and what is below.
"""
