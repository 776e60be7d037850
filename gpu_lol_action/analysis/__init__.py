"""Decide, from a checkout, what environment its code needs."""
