"""Decide what can be started and which of it is the run, and read the values that it starts with."""
