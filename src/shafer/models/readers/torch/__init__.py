"""Readers for PyTorch modules."""
