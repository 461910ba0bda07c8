"""One file for each model family: a trained model in, a sum of contributions out.

``registry.py`` picks the file; ``unsupported.py`` says why some models have none. May import
``models.inputs``, ``evidence`` and below. A framework is loaded only with one of its models.
"""
