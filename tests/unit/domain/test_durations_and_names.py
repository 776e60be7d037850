from __future__ import annotations

from datetime import timedelta

import pytest

from gpu_lol_action.domain.durations import format_duration, parse_duration
from gpu_lol_action.domain.names import MAX_NAME_LENGTH, environment_name, repository_prefix, user_hash


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("90m", 90), ("1.5h", 90), ("2h30m", 150), ("4", 240), ("45 min", 45), ("1d", 1440), ("2 hours", 120)],
)
def test_durations_are_read(text: str, minutes: int) -> None:
    assert parse_duration(text) == timedelta(minutes=minutes)


@pytest.mark.parametrize("text", ["", "0", "0h", "h", "-2h", "2h x", "1e9h", "∞", "2h30", "99999999999h"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    assert parse_duration(text) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (40, "40 s"),
        (95, "1 min 35 s"),
        (720, "12 min"),
        (7080, "1 h 58 min"),
        (7200, "2 h"),
        (183600, "2 d 3 h"),
        (-5, "0 s"),
    ],
)
def test_durations_are_written(seconds: int, text: str) -> None:
    assert format_duration(timedelta(seconds=seconds)) == text


def test_names_of_one_repository_share_a_prefix_that_no_other_has() -> None:
    assert environment_name(123456789, 128).startswith(repository_prefix(123456789))
    assert not environment_name(1234567890, 128).startswith(repository_prefix(123456789))


def test_names_fit_the_clouds() -> None:
    for repository_id in (1, 2**31, 2**40):
        for number in (1, 999_999, 10**9):
            for profile in ("", "a", "x" * 40):
                name = environment_name(repository_id, number, profile)
                assert len(name) <= MAX_NAME_LENGTH
                assert name.replace("-", "").isalnum()


def test_pull_requests_profiles_and_terminal_users_have_names_of_their_own() -> None:
    names = {
        environment_name(5, 1),
        environment_name(5, 11),
        environment_name(5, 1, "train"),
        environment_name(5, 1, "eval"),
        environment_name(5, None, "", "ada"),
        environment_name(5, None, "", "bob"),
    }
    assert len(names) == 6


def test_the_user_hash_is_eight_hexadecimal_digits_and_stable() -> None:
    assert user_hash(7) == user_hash(7)
    assert len(user_hash(7)) == 8
    assert int(user_hash(7), 16) >= 0
