"""Read one Python program: its syntax tree, its imports and calls, and the values that it starts with."""
