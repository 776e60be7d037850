from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from gpu_lol_action.domain.environment import SshEndpoint, State
from gpu_lol_action.render.views import billing_view, cost_until_lease_end_usd, ssh_view, total_billing_view
from tests.golden.cases import CLAIMED, CLOSED, ENDING, LAUNCHING, NOW, READY


def test_billing_follows_the_state() -> None:
    assert billing_view(None, NOW).kind == "nothing_launched"
    assert billing_view(CLAIMED, NOW).kind == "not_yet"
    assert billing_view(LAUNCHING, NOW).kind == "running"
    assert billing_view(ENDING, NOW).kind == "ending"
    assert billing_view(CLOSED, NOW).kind == "nothing_running"
    assert billing_view(replace(CLOSED, pull_request=None), NOW).kind == "none_running"


def test_unknown_counts_as_running_even_without_a_price() -> None:
    unknown = replace(READY, state=State.UNKNOWN)
    assert billing_view(unknown, NOW).kind == "unknown"
    assert billing_view(replace(unknown, price_usd_per_hour=None), NOW).kind == "unknown_price"


def test_total_adds_what_is_open_and_says_what_cannot_be_read() -> None:
    assert total_billing_view([CLOSED], NOW).kind == "none_running"
    both = total_billing_view([READY, LAUNCHING, CLOSED], NOW)
    assert (both.kind, both.count, both.price) == ("total", "2 machines", "$3.18/h")
    assert total_billing_view([], NOW, unreadable=1).kind == "total_unreadable"


def test_cost_until_the_end_counts_from_the_request_and_earlier_tries() -> None:
    asked = replace(READY, launch_asked_at=NOW, earlier_cost_usd=Decimal("0.12"))
    asked = replace(asked, lease=replace(asked.lease, expires_at=NOW + timedelta(hours=2)))
    assert cost_until_lease_end_usd(asked, NOW) == Decimal("3.30")
    late = NOW + timedelta(hours=5)
    assert cost_until_lease_end_usd(asked, late) == asked.cost_so_far_usd(late)


def test_ssh_values_cannot_leave_their_word() -> None:
    view = ssh_view(SshEndpoint("h; rm -rf ~\nProxyCommand x", 22, "root$(id)", "ssh-ed25519 AAAA\nevil"), "a b", "~/x")
    assert view.command == "ssh -p 22 -o IdentitiesOnly=yes -i ~/.ssh/id_ed25519 rootid@hrm-rfProxyCommandx"
    assert len(view.config.splitlines()) == 6
    assert view.known_hosts == ""
    assert view.fingerprint is None


def test_fingerprint_is_what_openssh_prints() -> None:
    # ssh-keygen -lf on this public key prints the same digest.
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIsdgBMCJBsVLpKOVtzfQ3wMCfp0QgHPYNwkd3ZMFOJJ"
    view = ssh_view(SshEndpoint("203.0.113.7", 22, "root", key), "a", "~/x")
    assert view.fingerprint == "`SHA256:V+/Fxsu1jMInWvd2tagvRZMtLEYND+5Y8ZqiIvwaPgc`"
    assert view.known_hosts == f"[203.0.113.7]:22 {key}"
