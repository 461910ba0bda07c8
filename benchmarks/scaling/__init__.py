"""What ``scale.py`` measures: one file for each question."""
