"""Decide who asks for what, and whether they may."""
