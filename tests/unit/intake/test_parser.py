from __future__ import annotations

from datetime import timedelta

import pytest

from gpu_lol_action.domain.commands import COMMANDS, DoorKind
from gpu_lol_action.domain.request import Command, Ignore, ParseProblem
from gpu_lol_action.intake.parser import MAX_COMMANDS_PER_COMMENT, parse_comment, parse_words


def only(body: str) -> Command | ParseProblem:
    parsed = parse_comment(body)
    assert isinstance(parsed, list), parsed
    assert len(parsed) == 1, parsed
    return parsed[0]


def command(body: str) -> Command:
    parsed = only(body)
    assert isinstance(parsed, Command), parsed
    return parsed


def problem(body: str) -> ParseProblem:
    parsed = only(body)
    assert isinstance(parsed, ParseProblem), parsed
    return parsed


def test_up_reads_every_option() -> None:
    parsed = command(
        "/gpu-lol up train --gpu a100-80gb:2 --hours 2h30m --spot --cloud RunPod --region US "
        "--image ghcr.io/acme/img:1.0 --sha ABCDEF1 --share @octo-cat --share hubot --dry-run"
    )
    assert parsed.profile == "train"
    assert (parsed.gpu, parsed.gpu_count) == ("A100-80GB", 2)
    assert parsed.lease == timedelta(hours=2, minutes=30)
    assert parsed.use_spot
    assert parsed.is_dry_run
    assert (parsed.cloud, parsed.region) == ("runpod", "US")
    assert parsed.image == "ghcr.io/acme/img:1.0"
    assert parsed.sha == "abcdef1"
    assert parsed.share == ("octo-cat", "hubot")


@pytest.mark.parametrize(
    "body",
    [
        "hello",
        "> /gpu-lol up",
        "```\n/gpu-lol up\n```",
        "~~~\n/gpu-lol up\n~~~",
        "    /gpu-lol up",
        "`/gpu-lol up`",
        "<!-- /gpu-lol up -->",
        "<!--\n/gpu-lol up\n-->",
        "<details>\n/gpu-lol up\n</details>",
        "- /gpu-lol up",
        "# /gpu-lol up",
        "text /gpu-lol up",
        "/gpu-lolly up",
        "[/gpu-lol up](https://example.org)",
        "**/gpu-lol up**",
        "and ```/gpu-lol up```",
    ],
)
def test_quotes_code_and_prose_never_fire(body: str) -> None:
    assert isinstance(parse_comment(body), Ignore)


def test_a_command_between_prose_fires() -> None:
    assert command("Looks good, let us see:\n/gpu-lol up\nthanks").name == "up"


def test_several_commands_keep_their_order() -> None:
    parsed = parse_comment("/gpu-lol status\n\n/gpu-lol up\n")
    assert isinstance(parsed, list)
    assert [c.name for c in parsed if isinstance(c, Command)] == ["status", "up"]


def test_too_many_commands_are_cut_and_said() -> None:
    parsed = parse_comment("/gpu-lol status\n" * 50)
    assert isinstance(parsed, list)
    assert len(parsed) == MAX_COMMANDS_PER_COMMENT + 1
    assert isinstance(parsed[-1], ParseProblem)


def test_bare_prefix_means_help() -> None:
    assert command("/gpu-lol").name == "help"


def test_alias_and_case_lead_to_the_command() -> None:
    assert command("/gpu-lol LS").name == "status"
    assert command("/gpu-lol stop --all").is_all


def test_typed_dashes_of_phones_count_as_hyphens() -> None:
    assert command("/gpu-lol up —spot").use_spot


def test_backticks_around_a_value_are_dropped() -> None:
    assert command("/gpu-lol up --image `repo/img:tag`").image == "repo/img:tag"


def test_value_can_be_attached_with_an_equals_sign() -> None:
    assert command("/gpu-lol up --cloud=lambda").cloud == "lambda"


@pytest.mark.parametrize(
    ("body", "suggestion"),
    [
        ("/gpu-lol upp", "up"),
        ("/gpu-lol donw", "down"),
        ("/gpu-lol up --gpus A40", "--gpu"),
        ("/gpu-lol up --cloud runpodd", "runpod"),
        ("/gpu-lol up --gpu A10O", "A100"),
    ],
)
def test_unknown_words_get_the_nearest_ones(body: str, suggestion: str) -> None:
    assert suggestion in problem(body).did_you_mean


@pytest.mark.parametrize(
    "body",
    [
        "/gpu-lol up --hours soon",
        "/gpu-lol up --hours",
        "/gpu-lol up --gpu",
        "/gpu-lol up --gpu A40:99",
        "/gpu-lol up --sha zzz",
        "/gpu-lol up --region ../../etc",
        "/gpu-lol up --image $(reboot)",
        "/gpu-lol up --image -v",
        "/gpu-lol up --share a--b",
        "/gpu-lol up one two",
        "/gpu-lol up --spot=yes",
        "/gpu-lol up ;reboot",
        "/gpu-lol down --yes",
        "/gpu-lol sweep",
        "/gpu-lol up " + "x" * 600,
    ],
)
def test_bad_values_are_problems_and_never_commands(body: str) -> None:
    assert problem(body).what


def test_every_example_of_the_table_parses_at_its_door() -> None:
    for spec in COMMANDS:
        for example in spec.examples:
            door = DoorKind.TERMINAL if spec.doors is DoorKind.TERMINAL else DoorKind.COMMENT
            parsed = parse_words(example.split(), door)
            assert isinstance(parsed, Command), (example, parsed)
            assert parsed.name == spec.name


def test_terminal_options_do_not_work_in_comments() -> None:
    assert isinstance(parse_words(["analyze", "--format", "json"], DoorKind.COMMENT), ParseProblem)
    parsed = parse_words(["analyze", "repo", "--format", "json"], DoorKind.TERMINAL)
    assert isinstance(parsed, Command)
    assert (parsed.path, parsed.output_format) == ("repo", "json")
