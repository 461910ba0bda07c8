"""What is kept of rows: scores of components, quantities, losses. May import ``sample_tests``."""
