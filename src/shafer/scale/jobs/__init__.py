"""Units of work for an engine: the same function everywhere, so the same numbers.

One file for each engine, and one for this process. May import ``shafer.scale.worker_threads``.
"""
