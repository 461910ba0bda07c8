"""Points of a scorecard from a model on bins: ``bins`` reads the bins, ``table`` writes points."""
