"""Readers for boosting libraries, through their own exact contributions for each feature."""
