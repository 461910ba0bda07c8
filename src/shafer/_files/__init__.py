"""_files."""
