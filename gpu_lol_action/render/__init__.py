"""Decide what to say: domain values in, Markdown out."""
