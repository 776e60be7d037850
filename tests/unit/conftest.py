"""Random inputs that are the same in every run, and no test that fails because a machine is slow."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
