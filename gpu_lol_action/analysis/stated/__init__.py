"""Decide what documents and remarks state of the hardware of a run, and what that says beside a computed sum."""
