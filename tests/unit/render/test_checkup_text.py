from __future__ import annotations

import json

from gpu_lol_action.domain.checkup import Diagnosis, Health
from gpu_lol_action.domain.permissions import BOT, block
from gpu_lol_action.render.checkup_text import checkup_json, checkup_markdown, checkup_text
from gpu_lol_action.render.screen import Screen, columns_of

DIAGNOSES = (
    Diagnosis("token", Health.GOOD, "GitHub accepts it."),
    Diagnosis("permissions", Health.BAD, "The job's token lacks `issues: write`.", block(BOT)),
    Diagnosis("sweeper", Health.NOTE, "No sweep has succeeded here yet.", "Run the workflow by hand once."),
    Diagnosis("policy", Health.UNKNOWN, "A key is </details> @everyone <!-- x -->.", "```\n</details>"),
)


def test_block_to_paste_keeps_every_letter_and_sentences_wrap() -> None:
    text = checkup_text(DIAGNOSES, Screen(width=60))
    for line in block(BOT).splitlines():
        assert f"                      {line}" in text.splitlines()
    assert all(columns_of(line) <= 60 for line in text.splitlines() if "#" not in line)
    assert text.endswith("1 thing to mend.")
    assert "\x1b[31mwrong" in checkup_text(DIAGNOSES, Screen(has_color=True))


def test_summary_neither_breaks_its_fence_nor_calls_anybody() -> None:
    text = checkup_markdown(DIAGNOSES)
    assert text.startswith("### 🔴 Check-up: 1 thing to mend.")
    assert "@everyone" not in text
    assert "<!--" not in text
    fences = [line.strip() for line in text.splitlines() if line.strip().startswith("```")]
    assert fences == ["```", "```", "````", "```", "````"], "the fence is longer than what stands in it"


def test_json_has_one_entry_for_each_thing_and_the_worst_of_all() -> None:
    report = json.loads(checkup_json(DIAGNOSES))
    assert report["health"] == "wrong"
    assert [one["subject"] for one in report["diagnoses"]] == ["token", "permissions", "sweeper", "policy"]
    assert report["diagnoses"][0]["fix"] is None


def test_verdict_says_what_could_not_be_seen() -> None:
    assert checkup_text(DIAGNOSES[:1], Screen()).endswith("all is well.")
    assert "1 could not be seen" in checkup_markdown((DIAGNOSES[0], DIAGNOSES[3]))
