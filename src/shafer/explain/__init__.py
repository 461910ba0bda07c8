"""``Explainer``: from a trained model and rows to evidence.

``explainer`` is the class. ``weighing`` turns the contributions of rows into weights of evidence,
``row_pass`` does one pass over rows, ``calibration`` holds the factors learnt on held-out rows,
``laplace`` and ``error_bars`` the errors of the weights, ``missing`` and ``unseen`` the gaps,
``self_check`` compares with the model's own probabilities, ``state`` what a file holds.
"""
