"""Decide what is launched, what is installed, and how it is proven to work."""
