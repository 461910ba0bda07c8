"""Tests of the command line, one file for each module; running.py runs commands."""
