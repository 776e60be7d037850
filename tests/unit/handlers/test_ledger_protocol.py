"""The ledger's protocol holds under every order of commands, deaths, lost answers and late machines that is tried here."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.support.protocol import LedgerProtocol

TestLedgerProtocol = LedgerProtocol.TestCase
TestLedgerProtocol.settings = settings(
    max_examples=15,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
