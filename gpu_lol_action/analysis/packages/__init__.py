"""Decide what is installed, and into which image."""
