"""Saved models: one file with plain arrays, a description, and models in safe formats.

``savable`` is what users call; ``file`` writes and reads, with digests and the table of formats;
``contents`` tells what a file holds. ``values`` are the stored values, ``formats`` what a format
is; ``boosters``, ``torch``, ``onnx`` and ``skops`` have those of frameworks. Boosters are checked
before they are loaded: ``xgboost_json``, ``lightgbm_text``, ``checked_trees``, ``catboost_trial``.
``canonical`` gives equal models equal bytes. ``trusted`` names the classes that a file may hold.
Knows no class of shafer: ``trusted`` finds them by name.
"""
