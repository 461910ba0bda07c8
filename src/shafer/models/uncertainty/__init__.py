"""What the model does not know: coefficient uncertainty, distance from the data, missing inputs.

May import ``models.readers``, ``models.inputs``, ``evidence`` and below.
"""
