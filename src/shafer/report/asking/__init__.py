"""What to do about a row: what to measure, whether its answer would stand, what to check.

``row_questions.py`` asks the explainer, ``question_sentences.py`` writes the answers as sentences.
May import ``models`` and below, and ``report`` except its pages and ``page_data``.
"""
