"""Decide what fits, what it costs, and in which order to try it."""
