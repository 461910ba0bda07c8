"""The data of the page, as JSON: ``payload.py`` collects them, one file for each section's part.

``shown_rows.py`` chooses the rows, ``json_text.py`` writes JSON. May import ``report`` except its
pages and texts.
"""
