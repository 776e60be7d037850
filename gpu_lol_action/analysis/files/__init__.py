"""Hold a checkout as values: what of a tree is read, for what each file may speak, and its configuration as settings."""
