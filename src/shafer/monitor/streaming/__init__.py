"""Rows one after another: ranks, bets, and the state on disk. May import ``reporting``."""
