"""deferral."""
