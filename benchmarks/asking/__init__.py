"""What ``make bench-ask`` measures: five questions to the evidence of a linear model.

- ``real_tables``, ``table_rules``, ``trial``: the data sets, how they were chosen, and one split
  with its model.
- ``library_answers``: the answers of the library. These are what is measured.
- ``knowledge``, ``reference_recipes``: the recipes written a second time, in NumPy; ``agreement``
  compares both.
- ``next_input``, ``overturned``, ``fragile``, ``checked_cells``, ``guarded``: one question each.
  ``gaps`` and ``wrong_cells`` hide inputs and make errors.
- ``pooled_pair``: what ignorance and conflict are not good for.
- ``categorical_gaps``: missing inputs that are one-hot encoded.
- ``scores``, ``tables``, ``targets``: figures of merit, means and win:loss counts, targets.
"""
