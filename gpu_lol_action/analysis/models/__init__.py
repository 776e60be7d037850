"""Decide which models a run loads, how large they are and how wide their weights lie."""
