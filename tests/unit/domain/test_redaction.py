from __future__ import annotations

import base64
import unicodedata
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_lol_action.domain.redaction import MARK, clean_text, redact
from gpu_lol_action.render.markdown import html_code, inline, prose

PEM = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\nQyNTUxOQAAACDf\n-----END OPENSSH PRIVATE KEY-----"

# Put together here, so that scanners of this repository do not take them for leaks.
LEAKS = {
    "runpod": "rpa" + "_" + "A1B2C3D4E5F6G7H8I9J0K1L2M3N4O5P6Q7R8S9T0",
    "lambda": "secret" + "_ml-team_" + "0123456789abcdef" * 2 + "." + "Ab1" * 10 + "Zz",
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "github": "ghs" + "_" + "a1B2" * 9,
    "github_fine_grained": "github" + "_pat_" + "11ABCDEFG0" + "x" * 40,
    "hugging_face": "hf" + "_" + "AbCdEfGhIjKlMnOpQrStUvWxYz012345",
    "openai": "sk" + "-proj-" + "A1b2C3d4" * 5,
    "google": "AI" + "za" + "B" * 35,
    "slack": "xox" + "b-1234567890-abcdef",
    "gitlab": "glp" + "at-" + "x1" * 10,
    "age": "AGE-SECRET-KEY-" + "1QQPQQ" * 8,
    "json_web_token": "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0In0" + ".c2lnbmF0dXJl",
    "skypilot": "sky" + "_" + "a1b2c3d4" * 5,
    "private_key": PEM,
    "cut_private_key": PEM[:70],
    "escaped_private_key": PEM.replace("\n", "\\n"),
}


@pytest.mark.parametrize("leak", LEAKS.values(), ids=LEAKS.keys())
def test_redact_hides_key_by_shape(leak: str) -> None:
    text = redact(f"before: {leak} : after")

    assert text in {f"before: {MARK}: after", f"before: {MARK} : after"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://bob:hunter22@host/x", f"https://{MARK}@host/x"),
        ("git+https://x-access-token@host/x.git", f"git+https://{MARK}@host/x.git"),
        ("Authorization: Bearer abc.def-ghi", f"Authorization: Bearer {MARK}"),
        ("RUNPOD_API_KEY=Abcdef0123456789x", f"RUNPOD_API_KEY={MARK}"),
        ('{"aws_secret_access_key": "wJalrXUtnFEMI/K7MDENG/bPxRfiCY"}', '{"aws_secret_access_key": "' + MARK + '"}'),
        ("WANDB_API_KEY: 0123456789abcdef0123456789abcdef01234567", f"WANDB_API_KEY: {MARK}"),
    ],
)
def test_redact_keeps_what_says_which_secret_leaked(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "trained at 0123456789abcdef0123456789abcdef01234567 in 42 min",
        "ssh -p 22021 -o IdentitiesOnly=yes root@203.0.113.7",
        "pad_token = tokenizer.eos_token",
        "num_tokens: 1048576, max_position_embeddings=4096",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPZ3V1b4p0Y8vC7wJ3Zb",
        "see https://example.org/a/b?c=d and mail me@example.org",
        "task-sk-learn, risk-free, ask_me_anything_else_please",
        "sk-learn-contrib-imbalanced-learn and sky_cluster_name_on_the_cloud_of_us",
        "Ünïcödé, 日本語, 👩‍👩‍👧, tab\there\n",
    ],
)
def test_redact_leaves_ordinary_text_alone(text: str) -> None:
    assert redact(text) == text


def test_redact_finds_secret_split_by_invisible_marks() -> None:
    leak = LEAKS["hugging_face"]

    assert redact("\u200b".join(leak)) == MARK
    assert redact(f"\x1b[31m{leak[:9]}\x1b[0m{leak[9:]}") == MARK


def test_redact_ignores_known_values_too_short_to_protect() -> None:
    assert redact("a banana", ["a", "", "an"]) == "a banana"


def test_clean_text_drops_escape_sequences_and_marks_that_reorder_text() -> None:
    assert clean_text("\x1b]0;title\x07ok\x1b[2K\u202egnp.exe\u2069\x00\x08") == "okgnp.exe"
    assert clean_text("10%\r20%\r\ndone") == "10%\n20%\ndone"


secrets = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=6, max_size=40).filter(
    lambda secret: clean_text(secret) == secret and secret not in MARK
)


@given(before=st.binary(max_size=8), secret=secrets, after=st.binary(max_size=8))
def test_redact_finds_known_secret_in_base64_at_any_alignment(before: bytes, secret: str, after: bytes) -> None:
    raw = secret.encode()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(before + raw + after).decode()
        lead = -(-len(before) * 8 // 6)
        core = encoded[lead : (len(before) + len(raw)) * 8 // 6]

        assert core not in redact(f"x {encoded} y", [secret]).split(MARK)
        assert MARK in redact(f"x {encoded} y", [secret])


@given(before=st.text(max_size=20), secret=secrets, after=st.text(max_size=20))
def test_redact_finds_known_secret_in_any_text(before: str, secret: str, after: str) -> None:
    for form in (secret, quote(secret, safe=""), secret.encode().hex()):
        assert form not in "".join(redact(before + form + after, [secret]).split(MARK)) or form in before + after


fragments = st.lists(
    st.one_of(
        st.sampled_from([*LEAKS.values(), MARK, "TOKEN=", "https://", "@", ":", "sk-", "eyJ", "."]),
        st.text(max_size=12),
    )
).map("".join)


@settings(max_examples=300)
@given(
    text=fragments,
    known=st.lists(st.one_of(secrets, st.sampled_from(["redacted", "[redacted", "]x[redact"])), max_size=3),
)
def test_redact_twice_changes_nothing(text: str, known: list[str]) -> None:
    once = redact(text, known)

    assert redact(once, known) == once
    assert all(c in "\n\t" or unicodedata.category(c) not in {"Cc", "Cs"} for c in once)
    assert clean_text(once) == once


@given(text=st.text(alphabet=" abcdefgh\n", max_size=200))
def test_redact_keeps_text_without_secrets(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("beginning", ["sk-", "sky_.", "eyJ-", "secret=", "token:", "a://", "\n ", "AKIA"])
def test_redact_reads_a_log_of_nothing_but_beginnings_in_linear_time(beginning: str) -> None:
    # A set-up command prints what it likes while a machine is billed. Read with the square of its length, this takes hours.
    text = (beginning * 150_000)[:150_000]

    assert redact(text).strip() == text.strip()


@pytest.mark.parametrize("name", ["runpod", "github", "github_fine_grained", "hugging_face", "lambda"])
@pytest.mark.parametrize("escape", [inline, prose, html_code])
def test_redact_finds_a_secret_that_was_escaped_for_a_comment(name: str, escape: Callable[[str], str]) -> None:
    # A comment is redacted as it goes out, after its texts were escaped.
    leak = next(value for key, value in LEAKS.items() if key.startswith(name))
    body = leak.rpartition("_")[2]

    assert body not in redact(str(escape(f"refused: {leak}")))


@pytest.mark.parametrize("escape", [inline, prose, html_code])
def test_redact_finds_a_known_secret_that_was_escaped_for_a_comment(escape: Callable[[str], str]) -> None:
    secret = "ab_cd*ef.gh+ij#kl$mn|op"

    assert "kl" not in redact(str(escape(f"refused: {secret}")), [secret])


@pytest.mark.parametrize("escape", [inline, prose, html_code])
def test_redact_finds_a_password_in_an_escaped_address(escape: Callable[[str], str]) -> None:
    assert "hunter22" not in redact(str(escape("cannot clone git+https://bob:hunter22@example.org/x [y]")))


@pytest.mark.parametrize("escape", [inline, prose, html_code])
@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("sk-proj-", "A1b2_C3d4_E5f6_G7h8_I9j0"),
        ("AI" + "za", "B_1" * 11 + "zz"),
        ("eyJ", "hbGc_iOiJ.eyJzd_WIiO.c2l_nbmF"),
    ],
)
def test_redact_takes_a_whole_key_with_escaped_underscores(
    escape: Callable[[str], str], before: str, body: str
) -> None:
    shown = redact(str(escape(f"refused {before}{body}")))

    assert MARK in shown
    assert not any(part in shown for part in body.replace(".", "_").split("_") if len(part) > 2)
