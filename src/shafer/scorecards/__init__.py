"""scorecards."""
