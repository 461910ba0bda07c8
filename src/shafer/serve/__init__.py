"""Answers over HTTP: ``app`` makes a service from a saved file.

``service`` has the routes, ``row_reader`` reads rows of JSON as the file says they are, ``waiting``
answers rows together that wait together, ``counters`` are the metrics for Prometheus. May import
``scale`` and everything below. FastAPI is loaded when a service is made.
"""

from shafer.serve.service import app

__all__ = ["app"]
