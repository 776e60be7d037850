"""Decide how many GPUs a run takes."""
