"""Decide how much memory a card must offer."""
