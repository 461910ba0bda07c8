"""Tests of model files, honest and forged."""
