"""Do, in the order of the story, with hands that are handed in."""
