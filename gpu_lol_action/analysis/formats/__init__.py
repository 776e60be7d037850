"""Read texts and files by their format, none of them from a checkout yet: encodings, JSON, TOML, notebooks, tables, and small lists of names."""
