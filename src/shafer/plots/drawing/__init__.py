"""Drawing helpers that several Displays share: style, labels, arrows, curves.

May import ``evidence``, ``metrics`` and below.
"""
