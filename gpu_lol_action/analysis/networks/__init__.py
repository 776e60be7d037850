"""Follow the classes of a network as far as its weights and what its layers keep; nothing is executed."""
