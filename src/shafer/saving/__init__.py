"""Saved models: one file with plain arrays, a description, and models in safe formats.

``savable`` is what users call; ``file`` writes and reads, ``values`` are the stored values,
``formats`` the table of formats, ``boosters``, ``torch`` and ``skops`` one each; ``trusted`` names
the classes that a file may hold. Knows no class of shafer: ``trusted`` finds them by name.
"""
