"""Fuzzing: random and hostile input for engine, decisions, fusion, files, doors and commands.

``make fuzz`` runs all areas for ten minutes; ``test_fuzz.py`` runs a short, fixed part of the same
in ``make test``. An area is a function from a seed to the number of cases that it tried. It raises
AssertionError on the first one that is wrong.
"""
