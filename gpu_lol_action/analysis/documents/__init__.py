"""Read documents: how they are laid out, what they show, and the phrases and tables in which they state hardware."""
