from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.launch.code import (
    CodeNotShipped,
    CodeRequest,
    CodeShipped,
    build_code_script,
    build_origin_url,
    build_push_url,
    folder_name,
    parse_code_output,
)

SHA, TREE, NONCE = "ab" * 20, "cd" * 20, "nonce12345"
REQUEST = CodeRequest("octo/repo", SHA, TREE, "main", "https://github.com/octo/repo.git")


@pytest.mark.parametrize(
    ("repository", "folder"),
    [
        ("octo/repo", "repo"),
        ("octo/My.Repo_2", "My.Repo_2"),
        ("octo/.github", "github"),
        ("octo/..", "code"),
        ("octo/-rf", "rf"),
        ("octo/a b$(id)", "a-b--id-"),
        ("octo/x.git", "x"),
        ("x/", "code"),
    ],
)
def test_folder_name_is_plain(repository: str, folder: str) -> None:
    assert folder_name(repository) == folder


@given(st.text())
def test_folder_name_never_leaves_the_home_folder(text: str) -> None:
    name = folder_name(f"octo/{text}")

    assert name
    assert name[0] not in ".-"
    assert all(character.isascii() and (character.isalnum() or character in "._-") for character in name)


@pytest.mark.parametrize(
    ("server", "url"),
    [
        ("https://github.com", "https://github.com/octo/repo.git"),
        ("https://token@ghe.example.org/", "https://ghe.example.org/octo/repo.git"),
    ],
)
def test_build_origin_url_holds_no_token(server: str, url: str) -> None:
    assert build_origin_url(server, "octo/repo") == url


@pytest.mark.parametrize(
    ("server", "url"),
    [
        ("https://github.com", "ssh://git@github.com/octo/repo.git"),
        ("https://token@ghe.example.org:8443/", "ssh://git@ghe.example.org/octo/repo.git"),
    ],
)
def test_build_push_url_is_one_for_an_agent(server: str, url: str) -> None:
    assert build_push_url(server, "octo/repo") == url


@pytest.mark.parametrize(
    "request_",
    [
        replace(REQUEST, sha="HEAD"),
        replace(REQUEST, tree_id="$(id)"),
        replace(REQUEST, origin_url="https://user:token@github.com/octo/repo.git"),
        replace(REQUEST, origin_url="ext::sh -c id"),
        replace(REQUEST, origin_url="--upload-pack=x"),
        replace(REQUEST, push_url="ssh://-oProxyCommand=id/octo/repo.git"),
        replace(REQUEST, push_url="ssh://git@github.com/octo/repo.git; id"),
        replace(REQUEST, gitlinks={"../x": SHA}),
        replace(REQUEST, gitlinks={"/etc": SHA}),
        replace(REQUEST, gitlinks={"a/.GIT/b": SHA}),
        replace(REQUEST, gitlinks={"lib": "main"}),
    ],
)
def test_build_code_script_refuses_what_is_no_id_or_address(request_: CodeRequest) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each has a sentence of its own
        build_code_script(request_, NONCE)


@pytest.mark.parametrize("branch", ["-x", "a b", "a\nb", "x" * 300, "a:b"])
def test_build_code_script_replaces_odd_branch_names(branch: str) -> None:
    assert "\nbranch=gpu-lol\n" in "\n" + build_code_script(replace(REQUEST, branch=branch), NONCE)


def said(*lines: str) -> str:
    return "".join(f"::gpu-lol-code {NONCE} {line}\n" for line in lines)


def test_parse_code_output_reads_what_arrived() -> None:
    output = "noise\n" + said(f"tree {TREE}", f"head {SHA}", "links 2", "branch main", "done")

    assert parse_code_output(output, REQUEST, NONCE) == CodeShipped("repo", TREE, SHA, "main", 2, is_exact_commit=True)


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("", "ended before"),
        (said("failed wrong tree: x"), "wrong tree"),
        (said(f"tree {'ef' * 20}", f"head {SHA}", "done"), "arrived, the commit has"),
        (said("done"), "did not say"),
        (said(f"tree {TREE}", f"head {SHA}", "done").replace(NONCE, "guessed123"), "ended before"),
    ],
)
def test_parse_code_output_says_why_not(output: str, why: str) -> None:
    outcome = parse_code_output(output, REQUEST, NONCE)

    assert isinstance(outcome, CodeNotShipped)
    assert why in outcome.why
