"""How ``shafer score`` makes its columns, and how it writes many files: units, plan, folder.

May import the other files of ``cli``, but not the commands.
"""
