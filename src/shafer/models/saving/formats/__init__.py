"""One file for each framework: how its trained models are stored in a saved file.

May import ``models.saving.object_format`` and what is below it. Frameworks are imported on use.
"""
