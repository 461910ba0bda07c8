"""Files that are written whole or not at all, archives of arrays, and page templates."""
