"""What experts state: about one case in words, or about each row of a data frame.

``stated_certainty`` turns a certainty into a weight of evidence, ``expert_statements`` reads single
statements, ``row_statements`` the columns of a frame, ``stated_weights`` both. May import
``decision`` and what is below.
"""
