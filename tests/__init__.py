"""gpu-lol tests."""
