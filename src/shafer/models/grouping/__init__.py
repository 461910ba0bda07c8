"""Names of the components, and their groups: one-hot columns by the column that they came from.

May import ``models.readers``, ``models.inputs``, ``evidence`` and below.
"""
