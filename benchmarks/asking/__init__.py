"""What ``make bench-ask`` measures: five questions to the evidence of a linear model.

- ``real_tables``, ``trial``: the data sets and how they are chosen; one split with its model.
- ``knowledge``, ``reference_recipes``: the recipes written a second time, in NumPy.
- ``library_recipes``: the same questions answered by the library. This is what is measured.
- ``next_input``, ``overturned``, ``fragile``, ``checked_cells``, ``guarded``: one question each.
  ``wrong_cells`` makes the errors of the last two.
- ``tables``: means over data sets and win:loss counts.
"""
