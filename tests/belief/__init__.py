"""Tests of shafer.belief, one file per module; strategies.py draws random mass functions."""
