"""Lazy frames and jobs on real engines: two worker processes each."""
