"""The documents say what the code does: generated tables, links, examples, names and figures."""

from __future__ import annotations

import dataclasses
import importlib.machinery
import importlib.util
import os
import re
from datetime import timedelta
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from gpu_lol_action.adapters.archive import Bounds
from gpu_lol_action.adapters.github_archive import MAX_BYTES
from gpu_lol_action.domain import policy_keys, spec_keys
from gpu_lol_action.domain.command_spec import DoorKind
from gpu_lol_action.domain.policy import MAX_SWEEP_AGE, Policy
from gpu_lol_action.domain.policy_yaml import parse_policy
from gpu_lol_action.domain.request import Command
from gpu_lol_action.intake.parser import MAX_COMMANDS_PER_COMMENT, MAX_LINE_CHARACTERS, parse_words

pytestmark = pytest.mark.docs

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md"]
PAGES += [str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").glob("*.md"))]
HOUR = timedelta(hours=1)
MEGABYTE = 1024 * 1024
BOUNDS = Bounds()
# One backtick on each side: code quotes a name so for people; two are a docstring's.
QUOTED = re.compile(r"(?<!`)`([a-z_]+(?:\.[a-z_]+)?)`(?!`)")


def load_script() -> ModuleType:
    """Return scripts/render-docs as a module; its name has no suffix by which Python would know it."""
    path = str(ROOT / "scripts" / "render-docs")
    spec = importlib.util.spec_from_loader("render_docs", importlib.machinery.SourceFileLoader("render_docs", path))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = load_script()


def text(page: str) -> str:
    """Return a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def prose(page: str) -> str:
    """Return a page without its blocks of code, with any white space as one space."""
    return " ".join(re.sub(r"^```.*?^```", "", text(page), flags=re.DOTALL | re.MULTILINE).split())


def blocks(page: str, language: str) -> list[str]:
    """Return a page's blocks of code in a language."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text(page), flags=re.DOTALL | re.MULTILINE)
    return [block for name, block in found if name == language]


def anchors(page: str) -> set[str]:
    """Return what can be linked to on a page: its headings as GitHub names them, and its ids."""
    headings = re.findall(r"^#+ (.+)$", text(page), flags=re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r'<a id="([^"]+)">', text(page)))


# --- what is generated ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", SCRIPT.PAGES)
def test_generated_parts_are_what_the_code_says(page: str) -> None:
    assert SCRIPT.render(page) == text(page), "run: .venv/bin/python scripts/render-docs"


def test_every_part_stands_on_some_page_and_no_page_is_left_out() -> None:
    found = {page: [match[2] for match in SCRIPT.PART.finditer(text(page))] for page in PAGES}
    assert {page for page, names in found.items() if names} == set(SCRIPT.PAGES)
    assert sorted(name for names in found.values() for name in names) == sorted(SCRIPT.PARTS)


def test_check_names_a_page_that_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- inputs: generated -->\nold\n<!-- /inputs -->\nafter\n", encoding="utf-8")
    monkeypatch.setattr(SCRIPT, "ROOT", tmp_path)
    monkeypatch.setattr(SCRIPT, "PAGES", ("page.md",))
    assert SCRIPT.main(["--check"]) == 1
    assert "page.md" in capsys.readouterr().out
    assert SCRIPT.main([]) == 0
    assert SCRIPT.main(["--check"]) == 0
    written = page.read_text(encoding="utf-8")
    assert "\nold\n" not in written
    assert written.startswith("before\n<!-- inputs: generated -->\n| input |")
    assert written.endswith("<!-- /inputs -->\nafter\n")


# --- links and pages ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\((?!https?://)([^)\s]+)\)", text(page)):
        path, _, anchor = target.partition("#")
        other = os.path.normpath(Path(page).parent / path) if path else page
        assert (ROOT / other).exists(), f"{page} links to {target}"
        assert not anchor or anchor in anchors(other), f"{page} links to {target}"


@pytest.mark.parametrize("page", PAGES)
def test_pictures_are_there_in_both_themes_and_say_what_they_show(page: str) -> None:
    for dark, said, light in re.findall(r'<picture>.*?srcset="([^"]*)".*?alt="([^"]*)" src="([^"]*)"', text(page)):
        assert dark == light.replace("-light.", "-dark.") != light
        assert all((ROOT / Path(page).parent / shown).is_file() for shown in (dark, light)), page
        assert len(said.split()) > 3
    assert text(page).count("<picture>") == text(page).count('alt="')


def test_readme_shows_a_proposal() -> None:
    assert "docs/pictures/proposal-light.png" in text("README.md").partition("\n## ")[0]


def test_readme_leads_to_every_page() -> None:
    linked = set(re.findall(r"\]\(([^)#\s]+)", text("README.md")))
    assert {page for page in PAGES if page.startswith("docs/")} - linked == set()


@pytest.mark.parametrize("page", PAGES)
def test_named_files_and_targets_exist(page: str) -> None:
    for name in re.findall(
        r"`((?:docs|tests|scripts|examples|templates|requirements|benchmarks)/[\w./-]+)`", text(page)
    ):
        assert (ROOT / name).exists(), f"{page} names {name}"
    targets = set(re.findall(r"^([a-z0-9-]+):", text("Makefile"), flags=re.MULTILINE))
    for target in re.findall(r"`make ([a-z0-9-]+)", text(page)):
        assert target in targets, f"{page} names make {target}"


# --- README ---------------------------------------------------------------------------------------------------------


def test_readme_names_the_two_commands_alone_in_a_block() -> None:
    assert blocks("README.md", "") == ["make demo\n", ".ci/run\n"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_levels_are_as_short_as_promised() -> None:
    level_one, level_two = blocks("README.md", "yaml")[:2]
    assert "propose.yml@" in level_one
    assert "secrets" not in level_one
    assert len(level_one.splitlines()) <= 12
    assert "bot.yml@" in level_two
    assert len(re.findall(r"secrets\.", level_two)) == 1
    assert len(level_two.splitlines()) <= 30


def test_levels_listen_to_what_the_called_workflows_answer() -> None:
    # YAML 1.1 reads the key `on` as true.
    level_one, level_two = (yaml.safe_load(block)[True] for block in blocks("README.md", "yaml")[:2])
    assert level_one == {"pull_request": {"types": ["opened", "reopened", "synchronize", "ready_for_review"]}}
    answered = text(".github/workflows/bot.yml")
    assert {name for name in level_two if f"'{name}'" in answered} == set(level_two)


def test_readme_sums_up_the_default_policy() -> None:
    policy, page = Policy(), prose("README.md")
    assert policy.clouds == ("runpod", "lambda")
    assert not policy.may_forks_launch
    words = {2: "two", 4: "four"}
    assert (
        f"RunPod and Lambda, at most ${policy.max_price_usd_per_hour}/h, a lease of {policy.lease // HOUR} hours "
        f"(at most {policy.max_lease // HOUR}), {words[policy.environments_per_person]} machines per person and "
        f"{words[policy.environments_per_repository]} per repository, ${policy.month_usd} a month, no machines for forks"
    ) in page


# --- policy ---------------------------------------------------------------------------------------------------------


def test_whole_policy_file_says_what_holds_without_one() -> None:
    whole, *others = blocks("docs/policy.md", "yaml")
    for other in others:
        assert parse_policy(other) != Policy()
    assert parse_policy(whole) == Policy()


def test_every_key_of_the_whole_file_counts() -> None:
    whole = blocks("docs/policy.md", "yaml")[0]
    for key, default in SCRIPT.policy_keys().items():
        name = key.rpartition(".")[2]
        assert len(re.findall(rf"^ *{name}: {re.escape(default)}$", whole, flags=re.MULTILINE)) == 1


def test_small_policy_file_is_one() -> None:
    small = blocks("docs/policy.md", "yaml")[1]
    policy = parse_policy(small)
    assert policy.roles == ("maintain", "admin")
    assert policy.lease == timedelta(minutes=90)


def test_keys_that_messages_and_pages_name_exist() -> None:
    # The spec has a section of the same name.
    keys = {*SCRIPT.policy_keys(), *(f"smoke.{key.name}" for key in spec_keys.SMOKE)}
    sections = {name for name in policy_keys.TOP if policy_keys.section(name)}
    fields = {field.name for field in dataclasses.fields(Policy)} - keys - {"problem"}
    texts = [*(ROOT / page for page in PAGES), *(ROOT / "templates").rglob("*.j2")]
    texts += (ROOT / "gpu_lol_action").rglob("*.py")
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in texts
        for name in QUOTED.findall(path.read_text(encoding="utf-8"))
        if (name.partition(".")[0] in sections and "." in name and name not in keys) or name in fields
    ]
    assert wrong == []


# --- commands -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_commands_that_pages_show_are_commands(page: str) -> None:
    shown = re.findall(r"(?<!`)`(/?gpu-lol(?: [^`]+)?)`(?!`)", text(page))
    lines = [line for block in blocks(page, "text") for line in block.splitlines() if "[" not in line]
    shown += [line.removeprefix("$ ") for line in lines if re.match(r"(?:\$ )?/?gpu-lol ", line)]
    for line in shown:
        prefix, *words = line.split()
        if not words or words[0] == "COMMAND" or words[0].startswith("--"):
            continue
        door = DoorKind.COMMENT if prefix.startswith("/") else DoorKind.TERMINAL
        assert isinstance(parse_words(words, door), Command), f"{page} shows {line}"


# --- figures --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ("README.md", f"the last sweep is more than {MAX_SWEEP_AGE // HOUR} hours old"),
        ("docs/policy.md", f"the last successful sweep is more than {MAX_SWEEP_AGE // HOUR} hours old"),
        ("docs/commands.md", f"At most { {5: 'five'}[MAX_COMMANDS_PER_COMMENT] } commands of a comment are run"),
        ("docs/commands.md", f"a command has at most {MAX_LINE_CHARACTERS} characters"),
        ("docs/security.md", f"At most {MAX_BYTES // MEGABYTE} MB packed"),
        (
            "docs/security.md",
            f"{BOUNDS.total_bytes // MEGABYTE // 1024} GiB and {BOUNDS.files // 1000} 000 files unpacked",
        ),
        ("docs/security.md", f"{BOUNDS.file_bytes // MEGABYTE} MB a file, {BOUNDS.ratio} times the packed size"),
    ],
)
def test_figure_is_the_codes(page: str, sentence: str) -> None:
    assert sentence in prose(page)


# --- architecture ---------------------------------------------------------------------------------------------------


def test_architecture_names_every_adapter_and_only_modules_that_are_there() -> None:
    page = text("docs/architecture.md")
    table = page.partition("## Adapters\n")[2].partition("\n## ")[0]
    present = {path.stem for path in (ROOT / "gpu_lol_action" / "adapters").glob("*.py")} - {"__init__"}
    assert present - set(re.findall(r"`([a-z_]+)`", table)) == {"clock", "progress"}
    for name in re.findall(r"\b((?:handlers|adapters|intake|launch|domain)/[a-z_]+)\b", page):
        assert (ROOT / "gpu_lol_action" / f"{name}.py").exists(), name


def test_architecture_leads_to_every_handler_of_the_story() -> None:
    named = set(re.findall(r"handlers/([a-z_]+)", text("docs/architecture.md")))
    present = {path.stem for path in (ROOT / "gpu_lol_action" / "handlers").glob("*.py")}
    assert present - named - {"__init__", "answers", "context", "down", "status"} == set()
