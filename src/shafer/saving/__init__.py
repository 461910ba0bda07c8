"""Saved models: one file with plain arrays, a description, and models in safe formats.

Classes of ``shafer.models`` are found by their exact names when a file is read. May import the
underscore modules of the package only.
"""

from __future__ import annotations

from shafer.saving.file import load_object, loaded_bytes, save_object, saved_bytes
from shafer.saving.savable import Savable

__all__ = ["Savable", "load_object", "loaded_bytes", "save_object", "saved_bytes"]
