from __future__ import annotations

import shlex

import pytest

from gpu_lol_action.domain.environment import PhaseTime
from gpu_lol_action.domain.spec import Dependencies
from gpu_lol_action.launch.requirements import check_requirement, check_system_package, requirement_name
from gpu_lol_action.launch.setup import (
    SetupRequest,
    build_environment_file,
    build_repair_script,
    build_setup_script,
    check_setup,
    parse_setup_output,
)

NONCE = "nonce12345"


@pytest.mark.parametrize(
    "text",
    [
        "torch",
        "torch==2.4.0+cu124",
        "transformers[torch,sentencepiece]>=4.40,<5; python_version >= '3.9'",
        "flash-attn @ https://example.org/flash_attn-2.6.3-cp311-cp311-linux_x86_64.whl",
        "trl @ git+https://github.com/huggingface/trl@v0.9.6",
        "git+https://github.com/huggingface/trl.git@main#egg=trl",
        "https://example.org/pack-1.0-py3-none-any.whl",
    ],
)
def test_check_requirement_allows_names_versions_and_https(text: str) -> None:
    assert check_requirement(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "--index-url https://evil.example/index",
        "-r /etc/passwd",
        "-e .",
        "torch --hash=sha256:00",
        "torch\n--extra-index-url https://evil.example",
        "torch\r-r x",
        "../pack",
        "./pack.whl",
        "pack @ file:///etc/passwd",
        "pack @ git+ssh://git@github.com/x/y",
        "git+http://example.org/x.git",
        "https://user:token@example.org/x.whl",
        "pack @ https://user@example.org/x.whl",
        "https://example.org/x.whl --global-option=x",
        "torch; __import__('os')",
        "$(id)",
        "x" * 600,
    ],
)
def test_check_requirement_refuses_options_files_and_other_schemes(text: str) -> None:
    assert check_requirement(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [("Flash_Attn>=2", "flash-attn"), ("git+https://x.org/y#egg=Foo.Bar", "foo-bar"), ("git+https://x.org/y", "")],
)
def test_requirement_name_is_normalized(text: str, name: str) -> None:
    assert requirement_name(text) == name


@pytest.mark.parametrize("name", ["ffmpeg", "libstdc++6", "g++", "libc6:i386", "python3.11-dev=3.11.2-6+deb12u1"])
def test_check_system_package_allows_debian_names(name: str) -> None:
    assert check_system_package(name) is None


@pytest.mark.parametrize(
    "name",
    ["", "-o", "--allow-downgrades", "a b", "ff;id", "FFMPEG", "./x.deb", "/x.deb", "x", "ffmpeg\nid", "ffmpeg*"],
)
def test_check_system_package_refuses_options_paths_and_patterns(name: str) -> None:
    assert check_system_package(name)


def request(**env: str) -> SetupRequest:
    return SetupRequest(Dependencies(), "repo", env, {"sha": "abc"})


@pytest.mark.parametrize(
    ("dependencies", "env", "key"),
    [
        (Dependencies(requirements=("torch", "--index-url=x")), {}, "dependencies.requirements"),
        (Dependencies(system_packages=("ffmpeg; id",)), {}, "dependencies.system_packages"),
        (Dependencies(asset_links=("relative:/x/y",)), {}, "dependencies.asset_links"),
        (Dependencies(asset_links=("/a/b:/etc",)), {}, "dependencies.asset_links"),
        (Dependencies(asset_links=("/a/b:/x/../../etc/cron.d",)), {}, "dependencies.asset_links"),
        (Dependencies(asset_links=("/a/b:/x/y\n/c",)), {}, "dependencies.asset_links"),
        (Dependencies(setup_commands=(" ",)), {}, "dependencies.setup_commands"),
        (Dependencies(), {"A B": "x"}, "env"),
        (Dependencies(), {"LD_PRELOAD": "x"}, "env"),
        (Dependencies(), {"GPU_LOL_SHA": "x"}, "env"),
    ],
)
def test_check_setup_names_the_key_that_is_wrong(dependencies: Dependencies, env: dict[str, str], key: str) -> None:
    wrong = SetupRequest(dependencies, "repo", env, {})
    denial = check_setup(wrong)

    assert denial is not None
    assert denial.reason_code == "dependency_invalid"
    assert f"`{key}`" in denial.what
    assert f"`{key}`" in denial.fix
    with pytest.raises(ValueError, match=key.replace(".", r"\.")):
        build_setup_script(wrong, NONCE)


def test_check_setup_allows_what_gpu_lol_writes() -> None:
    links = ("/workspace/huggingface:/root/.cache/huggingface", "~/models:/data/models")

    assert (
        check_setup(
            SetupRequest(Dependencies(asset_links=links, setup_commands=("pip install -e .",)), "repo", {"A": "b"}, {})
        )
        is None
    )


def test_build_repair_script_refuses_options() -> None:
    with pytest.raises(ValueError, match="option"):
        build_repair_script(["--index-url=x"], NONCE)


@pytest.mark.parametrize("value", ["plain", "it's", '"$(id)"', "a\nexport B=c", "`id`\\", "é\u202e", "x\0y", "\ud800"])
def test_build_environment_file_keeps_values_as_data(value: str) -> None:
    line = build_environment_file(request(NAME=value)).split("\nexport GPU_LOL_SHA=")[0]

    words = shlex.split(line)
    assert words[:2] == ["export", f"NAME={value.replace(chr(0), '').encode('utf-8', 'replace').decode()}"]
    assert len(words) == 2


def output_of(*lines: str) -> str:
    return "\n".join(line.replace("@", f"::gpu-lol-setup {NONCE}") for line in lines) + "\n"


def test_parse_setup_output_gives_times_of_all_steps() -> None:
    text = output_of(
        "@ start environment",
        "@ end environment 0 1",
        "@ start requirements",
        "Collecting x",
        "@ end requirements 0 42",
        "@ done",
    )

    reading = parse_setup_output(text, NONCE)

    assert reading.failed is None
    assert reading.phases == (PhaseTime("environment", 1.0), PhaseTime("requirements", 42.0))
    assert reading.steps[1].tail == ("Collecting x",)


@pytest.mark.parametrize(
    ("line", "fix"),
    [
        ("ERROR: No matching distribution found for x==9", "another version"),
        ("E: Unable to locate package nope", "system_packages"),
        ("OSError: [Errno 28] No space left on device", "disk_gb"),
        ("error: CUDA_HOME environment variable is not set", "devel"),
        ("bash: line 1: cmake: command not found", "not in the image"),
        (
            "ERROR: Could not find a version that satisfies the requirement g2pen==2.1.0 (from versions: none)",
            "correct the name",
        ),
        ("ERROR: No matching distribution found for scipy==1.14.2", "another version"),
        ("something else", "dependencies"),
    ],
)
def test_parse_setup_output_names_step_tail_and_fix(line: str, fix: str) -> None:
    secret = "gh" + "p_" + "a1" * 18
    reading = parse_setup_output(
        output_of("@ start command_2", secret, line, "@ end command_2 7 3"), NONCE, ("a", "make it")
    )

    assert reading.failed is not None
    assert reading.what == "The set-up command `make it` ended with exit code 7."
    assert fix in reading.fix
    assert reading.failed.tail == ("[redacted]", line)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "noise",
        output_of("@ start requirements", "Downloading"),
        output_of("@ end requirements 0 1"),
        output_of("@ start x", "@ end x 0 1"),
    ],
)
def test_parse_setup_output_without_an_end_is_a_failure(text: str) -> None:
    reading = parse_setup_output(text, NONCE)

    assert reading.failed is not None
    assert reading.failed.exit_code is None
    assert "did not end" in reading.what


def test_parse_setup_output_does_not_believe_the_programs_it_ran() -> None:
    forged = "::gpu-lol-setup guessed1 end requirements 0 1\n::gpu-lol-setup guessed1 done\n"
    reading = parse_setup_output(
        output_of("@ start requirements") + forged + output_of("@ end requirements 1 9"), NONCE
    )

    assert reading.failed is not None
    assert reading.failed.exit_code == 1
