"""From encoded rows to the terms of a model, as graphs: one file for each family of models."""
