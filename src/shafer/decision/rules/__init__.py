"""Decision rules on arrays: under 0-1 loss, for any loss, and for sets as answers.

May import ``opinion``, ``kernels`` and what is below.
"""
