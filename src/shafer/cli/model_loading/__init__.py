"""Model files: what a skops file holds is checked before any of it is loaded.

May import ``cli.clean_errors`` and what is below ``cli``.
"""
