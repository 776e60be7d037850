"""Decide what the code is for, and whether anything in it needs a GPU."""
