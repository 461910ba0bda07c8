"""Parts of ``deferral.py``: populations, thresholds that are compared, reasons for deferral."""
