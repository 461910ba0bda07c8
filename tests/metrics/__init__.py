"""Tests of shafer.metrics, one file per module; strategies.py draws random decisions."""
