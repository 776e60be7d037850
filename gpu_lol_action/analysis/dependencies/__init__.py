"""Decide which lists of dependencies and which commands that install count for the run."""
