"""Hands that tests hand to handlers where the far service itself is not what is tested."""
