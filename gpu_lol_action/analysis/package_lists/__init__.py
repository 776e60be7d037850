"""Read lists of dependencies, each by its format: requirements, pyproject.toml, setup.py, conda."""
