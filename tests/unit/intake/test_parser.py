from __future__ import annotations

from datetime import timedelta

import pytest

from gpu_lol_action.domain.command_spec import DoorKind
from gpu_lol_action.domain.commands import COMMANDS
from gpu_lol_action.domain.corrections import Correction, Corrections
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


# --- words of the form name=value -----------------------------------------------------------------------------------


def test_set_reads_every_word_and_the_last_one_wins() -> None:
    parsed = command("/gpu-lol set vram=22.5GB gpu=4090:2 count=4 image=`ghcr.io/acme/img:1` VRAM=48")
    assert Corrections().with_changes(parsed.corrections) == Corrections(48, "RTX4090", 4, "ghcr.io/acme/img:1")


def test_auto_takes_a_correction_back_and_a_card_with_its_number() -> None:
    parsed = command("/gpu-lol set gpu=auto vram=auto")
    assert parsed.corrections == (Correction("gpu", None), Correction("count", None), Correction("vram", None))
    assert Corrections(48, "A40", 2, "x").with_changes(parsed.corrections) == Corrections(image="x")
    assert Corrections(48).with_changes(parsed.corrections).is_empty


@pytest.mark.parametrize(
    ("body", "suggestion"),
    [
        ("/gpu-lol set", "vram=48"),
        ("/gpu-lol set vrma=48", "vram=48"),
        ("/gpu-lol set --vram=48", "vram=48"),
        ("/gpu-lol set --gpu A40", "gpu=A100-80GB"),
        ("/gpu-lol set vram 48", "vram=48"),
        ("/gpu-lol set gpu=A10O", "A100"),
        ("/gpu-lol set gpu=A40:99", "A40:10"),
    ],
)
def test_words_that_set_does_not_take_get_the_nearest_that_it_does(body: str, suggestion: str) -> None:
    assert suggestion in problem(body).did_you_mean


@pytest.mark.parametrize(
    "word",
    ["vram=", "vram=0", "vram=9999", "vram=-1", "vram=1e3", "count=17", "count=two", "image=-v", "image=$(x)", "="],
)
def test_values_that_no_machine_has_change_nothing(word: str) -> None:
    assert problem(f"/gpu-lol set vram=48 {word}").command == "set"


# --- what a reader would not take as said ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "| a |\n|---|\n/gpu-lol up",
        "~~never\n/gpu-lol up\nagain~~",
        "[a link\n/gpu-lol up\nits end](https://example.org)",
        "**bold\n/gpu-lol up\nends**",
        "\\/gpu-lol up",
        "&#47;gpu-lol up",
        "<details><summary>old</summary>\n\n/gpu-lol up\n\n</details>",
        "<details>\n<!-- </details> -->\n\n/gpu-lol up",
        "so <del>\n/gpu-lol up\n</del>",
        "<blockquote>\n\n/gpu-lol up\n\n</blockquote>",
        "[^1]: a note\n/gpu-lol up",
        "> quoted\n/gpu-lol up",
        "1. one\n\n   /gpu-lol up",
        "- [ ] todo\n/gpu-lol up",
        "<!-- a\n\n/gpu-lol up\n-->",
        "![alt\n/gpu-lol up](x.png)",
        "\u200b/gpu-lol up",
        "\u2044gpu-lol up",
        "/gpu\u2011lol up",
        "/GPU-LOL up",
    ],
)
def test_what_is_set_apart_or_only_looks_alike_never_fires(body: str) -> None:
    assert isinstance(parse_comment(body), Ignore)


@pytest.mark.parametrize(
    "body",
    [
        "<details><summary>old</summary>\n\ntext\n\n</details>\n\n/gpu-lol up",
        "It is a List<String> now.\n\n/gpu-lol up",
        "<p align=center>\n\n/gpu-lol up",
        "> quoted\n\n/gpu-lol up",
        "/gpu-lol\u00a0up",
        "hi\r\n/gpu-lol up\r\nbye",
        "hi\r/gpu-lol up",
        "/gpu-lol   up\t",
    ],
)
def test_what_is_said_fires_whatever_stands_around_it(body: str) -> None:
    assert command(body).name == "up"


@pytest.mark.parametrize(
    ("body", "mark"),
    [
        ("/gpu-lol u\u0440", "U+0440"),
        ("/gpu-lol up\u200b", "U+200B"),
        ("/gpu-lol up --hours \uff12", "U+FF12"),
        ("/gpu-lol down \u202e--all", "U+202E"),
        ("/gpu-lol status\u2028/gpu-lol up", "U+2028"),
        ("/gpu-lol up \0", "U+FFFD"),
        ("/gpu-lol up \x1b[31m", "U+001B"),
    ],
)
def test_foreign_characters_in_a_command_launch_nothing_and_are_named(body: str, mark: str) -> None:
    assert mark in problem(body).what


def test_an_option_that_is_given_twice_is_refused() -> None:
    assert "twice" in problem("/gpu-lol up --gpu A40 --gpu=H100").what
    assert command("/gpu-lol up --share a --share b").share == ("a", "b")


def test_behind_two_hyphens_no_word_is_an_option() -> None:
    assert command("/gpu-lol up -- train").profile == "train"
    assert problem("/gpu-lol up -- --spot").command == "up"
