"""skops files: what one holds is checked before any of it is loaded.

May import the underscore modules of the package only.
"""
