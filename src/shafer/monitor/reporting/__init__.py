"""Reports as tables, texts, pictures and pages. May import ``comparing`` and what is below."""
