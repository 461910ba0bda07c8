"""The user's X: frames, arrays, sparse matrices, texts; its columns, gaps and blocks.

``access`` counts and takes rows, ``checks`` refuses bad ones, ``columns`` names them, ``blocks``
and ``partition`` group encoded columns by input, ``background`` is the set of rows that means are
taken over. May import ``evidence`` and what is below.
"""
