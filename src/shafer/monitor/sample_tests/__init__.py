"""Two-sample tests, PSI and p-values: arrays in, numbers out. Knows no rows and no models."""
