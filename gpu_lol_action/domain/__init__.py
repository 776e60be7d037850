"""Nouns that cross rooms: frozen values, no input or output."""
