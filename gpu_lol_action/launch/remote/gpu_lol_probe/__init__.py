"""Gathers facts on a rented machine and judges none of them; runs there, on any Python from 3.7, with nothing installed.

Each part is isolated and time-boxed: what fails says so in its place, and the others go on.
"""
