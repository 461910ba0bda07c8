"""A text with the weights of its words: as segments, as HTML, and for the terminal.

May import ``evidence.word_spans`` and layers below ``evidence``.
"""
