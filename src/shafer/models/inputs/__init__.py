"""The user's X: its rows and columns, the background, and where encoded columns came from.

May import ``evidence`` and below.
"""
