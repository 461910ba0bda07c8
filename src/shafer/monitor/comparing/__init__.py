"""A batch against the reference: checks, and decisions moved. May import ``rows`` and below."""
