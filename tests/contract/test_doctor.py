"""`gpu-lol doctor`: real requests to the GitHub stand-in and the loopback RunPod; nothing that it tries stays behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest

from gpu_lol_action import cli
from gpu_lol_action.adapters.cloud_accounts import CloudAccounts
from gpu_lol_action.adapters.github import Connection, GitHubClient
from gpu_lol_action.adapters.github_probe import GitHubProbe
from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_refs import GitRefStore
from gpu_lol_action.domain.checkup import Account, CheckupFacts, Diagnosis, Health
from gpu_lol_action.domain.installation import CheckoutFacts
from gpu_lol_action.domain.permissions import BOT
from gpu_lol_action.domain.policy import POLICY_PATH
from gpu_lol_action.handlers.doctor import Instruments, check_up
from gpu_lol_action.intake.diagnosis import diagnose
from gpu_lol_action.rehearsal.cloud_account import Account as CloudAccount
from gpu_lol_action.rehearsal.cloud_server import open_servers
from gpu_lol_action.rehearsal.github_setting import BOT as BOT_LOGIN
from gpu_lol_action.rehearsal.github_setting import Setting
from tests.contract.github_setup import Place, started_place
from tests.support.web import Said, Web, web_server

ALL = {"actions": "read", "checks": "write", "contents": "write", "deployments": "write", "issues": "write",
       "pull_requests": "write"}  # fmt: skip
ROOT = Path(__file__).parents[2]
KEY = "rpa_0123456789ABCDEF0123456789ABCDEF0123456789"


def now() -> datetime:
    return datetime.now(timezone.utc)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A private repository, where a token sees only what it is granted."""
    with started_place(tmp_path, Setting(is_private=True)) as place:
        yield place


def instruments(place: Place, token: str | None = None, **changes: object) -> Instruments:
    """What a job on that repository looks with."""
    forge = place.forge(token)
    made = Instruments(
        now=place.clock.now,
        is_job=True,
        default_branch="main",
        accounts=lambda: {"runpod": Account(True, Decimal("40"))},
        skypilot=lambda: "0.14.1",
        skypilot_wanted="0.14.1",
        github=GitHubProbe(forge.client),
        ledger=RecordLedger(GitRefStore(forge.client)),
        read_policy=lambda: forge.read_file(POLICY_PATH, "main"),
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # keyword bag


def found(diagnoses: tuple[Diagnosis, ...], subject: str) -> list[Diagnosis]:
    return [one for one in diagnoses if one.subject == subject]


def swept(place: Place, ago: timedelta = timedelta(hours=1), *, at: datetime | None = None) -> None:
    """A sweep so long before the stand-in's own time, or before `at`: a terminal goes by the machine's clock."""
    RecordLedger(GitRefStore(place.forge().client)).note_sweep((at or place.clock.now()) - ago)


# --- in a job -----------------------------------------------------------------------------------------------------


def test_installation_that_lacks_nothing_is_well_and_nothing_stays_behind(place: Place) -> None:
    swept(place)
    refs = place.hub.repository.git.refs("refs/")
    diagnoses = check_up(instruments(place))
    assert {one.health for one in diagnoses} == {Health.GOOD}
    assert {one.subject for one in diagnoses} == {
        "token",
        "permissions",
        "policy",
        "ledger",
        "sweeper",
        "SkyPilot",
        "runpod",
    }
    assert place.hub.repository.git.refs("refs/") == refs
    assert place.hub.comments(place.number) == []
    assert not place.hub.repository.reactions
    assert place.hub.problems() == []


@pytest.mark.parametrize("permission", BOT, ids=lambda each: each.name)
def test_permission_that_lacks_is_named_with_the_block_to_paste(place: Place, permission: object) -> None:
    name = permission.name  # type: ignore[attr-defined]  # a TokenPermission
    token = place.hub.add_token(BOT_LOGIN, {key: level for key, level in ALL.items() if key != name.replace("-", "_")})
    diagnoses = found(check_up(instruments(place, token)), "permissions")
    (said,) = [one for one in diagnoses if one.health is not Health.GOOD]
    assert permission.line in said.sentence  # type: ignore[attr-defined]  # a TokenPermission
    if permission.is_optional:  # type: ignore[attr-defined]  # a TokenPermission
        assert said.health is Health.NOTE
        return
    assert said.health is Health.BAD
    pasted = said.fix.splitlines()
    assert pasted[0] == "permissions:"
    assert [line.split("#")[0].strip() for line in pasted[1:]] == [each.line for each in BOT if not each.is_optional]


def test_token_without_any_permission_writes_nothing_and_says_all(place: Place) -> None:
    diagnoses = check_up(instruments(place, place.hub.add_token(BOT_LOGIN, {"metadata": "read"})))
    (said,) = [one for one in found(diagnoses, "permissions") if one.health is Health.BAD]
    for each in BOT:
        assert each.is_optional or f"`{each.line}`" in said.sentence


def test_token_that_github_refuses_is_told_and_asked_no_further(place: Place) -> None:
    diagnoses = check_up(instruments(place, "ghs_of_nobody"))
    assert found(diagnoses, "token")[0].health is Health.BAD
    assert found(diagnoses, "permissions") == []


def test_github_that_does_not_answer_is_no_finding(place: Place) -> None:
    silent = GitHubClient(
        Connection("t", "acme/lab", "http://127.0.0.1:9", timeout=timedelta(seconds=1)), lambda _pause: None
    )
    diagnoses = check_up(instruments(place, github=GitHubProbe(silent)))
    assert [one.health for one in found(diagnoses, "token")] == [Health.UNKNOWN]


def test_repository_that_refuses_custom_refs_falls_back_to_branches(place: Place) -> None:
    place.hub.repository.refuses_custom_refs = True
    refs = place.hub.repository.git.refs("refs/")
    (said,) = found(check_up(instruments(place)), "ledger")
    assert said.health is Health.NOTE
    assert "refs/heads/gpu-lol/" in said.sentence
    assert place.hub.repository.git.refs("refs/") == refs


def test_repository_that_takes_no_ref_at_all_cannot_hold_records(place: Place) -> None:
    token = place.hub.add_token(BOT_LOGIN, {**ALL, "contents": "read"})
    (said,) = found(check_up(instruments(place, token)), "ledger")
    assert said.health is Health.BAD
    assert "no machine can be rented" in said.sentence


def test_policy_that_is_wrong_is_told_with_its_line(place: Place) -> None:
    place.hub.commit({POLICY_PATH: "enabled: true\nlimits: {price: 3}\n"})
    (said,) = found(check_up(instruments(place)), "policy")
    assert said.health is Health.BAD
    assert "line 2" in said.sentence


@pytest.mark.parametrize(
    ("ago", "health"),
    [(None, Health.NOTE), (timedelta(hours=1), Health.GOOD), (timedelta(hours=27), Health.BAD)],
)
def test_sweeper_is_judged_by_when_it_last_succeeded(place: Place, ago: timedelta | None, health: Health) -> None:
    if ago is not None:
        swept(place, ago)
    (said,) = found(check_up(instruments(place)), "sweeper")
    assert said.health is health


def test_few_requests_left_are_told(place: Place) -> None:
    token = place.hub.add_token(BOT_LOGIN, ALL)
    place.hub.use_up_requests(token, left=150)
    (said,) = found(check_up(instruments(place, token)), "token")
    assert said.health is Health.NOTE
    assert "149 requests left" in said.sentence


@pytest.mark.parametrize(
    ("version", "is_job", "health"),
    [("0.14.1", True, Health.GOOD), (None, True, Health.BAD), (None, False, Health.NOTE), ("0.13.0", True, Health.BAD)],
)
def test_skypilot_is_the_version_that_was_tried(
    place: Place, version: str | None, *, is_job: bool, health: Health
) -> None:
    diagnoses = check_up(instruments(place, skypilot=lambda: version, is_job=is_job, github=None))
    assert [one.health for one in found(diagnoses, "SkyPilot")] == [health]


# --- the cloud's account ------------------------------------------------------------------------------------------


@contextmanager
def serve(said: Said) -> Iterator[Web]:
    """A far service that says the same to everybody."""
    with web_server() as web:
        web.script = lambda _seen: said
        yield web


@contextmanager
def runpod() -> Iterator[str]:
    """The loopback RunPod's control side, without machines."""
    (server,) = open_servers(CloudAccount(KEY), lambda _port: None, ("127.0.0.1",), 0)  # type: ignore[arg-type,return-value]  # it has no pods
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_runpod_tells_whether_it_takes_the_key_and_what_is_left() -> None:
    with runpod() as address:
        assert CloudAccounts(now, {"runpod": KEY}, {"runpod": address}).ask() == {
            "runpod": Account(True, Decimal("100.0"), Decimal("0.0"))
        }
        assert CloudAccounts(now, {"runpod": "rpa_wrong"}, {"runpod": address}).ask() == {"runpod": Account(False)}


@pytest.mark.parametrize(
    ("said", "account"),
    [
        (Said(b'{"data": []}'), Account(True)),
        (Said(b"{}", 401), Account(False)),
        (Said(b"{}", 500), "it answered 500"),
    ],
)
def test_lambda_tells_whether_it_takes_the_key(said: Said, account: object) -> None:
    with serve(said) as web:
        assert CloudAccounts(now, {"lambda": "secret_x"}, {"lambda": web.address}).ask() == {"lambda": account}
    assert [(seen.method, seen.path) for seen in web.seen] == [("GET", "/api/v1/instances")]
    assert web.seen[0].headers["authorization"] == "Bearer secret_x"


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b'{"data": null}', b'{"data": {"myself": []}}', b"[" * 9000],
)
def test_answer_that_makes_no_sense_is_no_balance(body: bytes) -> None:
    with serve(Said(body)) as web:
        accounts = CloudAccounts(now, {"runpod": KEY}, {"runpod": web.address}).ask()
    assert accounts == {"runpod": "its answer lacks the account"}


def test_key_is_never_sent_unencrypted_over_a_network() -> None:
    assert CloudAccounts(now, {"runpod": KEY}, {"runpod": "http://192.0.2.1"}).ask() == {
        "runpod": "its key would cross the network unencrypted: the address needs https"
    }


@pytest.mark.parametrize(
    ("account", "health", "words"),
    [
        (Account(True, Decimal("40"), Decimal("0.44")), Health.GOOD, "Balance $40.00, $0.44/h running"),
        (Account(True, Decimal("1.5")), Health.BAD, "Balance $1.50"),
        (Account(True), Health.GOOD, "does not tell its balance"),
        (Account(False), Health.BAD, "refuses the key"),
        ("it could not be reached", Health.UNKNOWN, "could not be reached"),
    ],
)
def test_account_is_judged(place: Place, account: Account | str, health: Health, words: str) -> None:
    (said,) = found(check_up(instruments(place, github=None, accounts=lambda: {"runpod": account})), "runpod")
    assert said.health is health
    assert words in said.sentence


# --- in a terminal --------------------------------------------------------------------------------------------------


@pytest.fixture
def checkout(tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of the stand-in's repository, with a maintainer's token and a working key in the environment."""
    folder = tmp_path / "lab"
    folder.mkdir()
    for words in (["init", "-q"], ["remote", "add", "origin", f"git@github.com:{place.hub.setting.full_name}.git"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GITHUB_API_URL", place.hub.api_url)
    monkeypatch.setenv("GH_TOKEN", place.hub.add_token(place.hub.maintainer))
    monkeypatch.delenv("LAMBDA_API_KEY", raising=False)
    monkeypatch.delenv("RUNPOD_API_KEY", raising=False)
    assert cli.main(["init", "--private", "--level", "2", "--pin", "0" * 40]) == 0
    return folder


def test_terminal_reports_text_json_and_markdown(
    checkout: Path, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    swept(place, at=now())
    capsys.readouterr()
    assert cli.main(["doctor"]) == 0
    assert "Records can be written below refs/gpu-lol/" in capsys.readouterr().out
    assert cli.main(["doctor", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {one["subject"] for one in report["diagnoses"]} >= {"token", "workflows", "policy", "ledger", "sweeper"}
    assert cli.main(["doctor", "--format", "markdown"]) == 0
    assert capsys.readouterr().out.startswith("### ")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("      issues: write         # reactions to comments\n", "", "does not grant `issues: write`"),
        ("pull-requests: write  # answers", "pull-requests: read", "does not grant `pull-requests: write`"),
        ("  schedule:\n", "  unscheduled:\n", "has no schedule"),
        ("RUNPOD_API_KEY: ${{ secrets.RUNPOD_API_KEY }}", "OTHER: x", "passes no cloud's key"),
        ("issue_comment:", "issues:", "is never started by issue_comment"),
    ],
)
def test_workflow_that_could_not_run_is_told_before_it_does(
    checkout: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, says: str
) -> None:
    path = checkout / ".github" / "workflows" / "gpu-lol-bot.yml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    capsys.readouterr()
    assert cli.main(["doctor"]) == 2
    assert says.replace("`", "") in " ".join(capsys.readouterr().out.split())


def test_label_of_which_no_workflow_is_told_is_found(
    checkout: Path, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.hub.commit({POLICY_PATH: "smoke: {label: gpu-smoke}\n"})
    swept(place, at=now())
    path = checkout / ".github" / "workflows" / "gpu-lol-bot.yml"
    capsys.readouterr()
    assert cli.main(["doctor"]) == 2
    said = " ".join(capsys.readouterr().out.split())
    assert "The policy names the label gpu-smoke" in said
    assert "types: [closed, labeled]" in said
    path.write_text(path.read_text().replace("types: [closed]", "types: [closed, labeled]"))
    assert cli.main(["doctor"]) == 0
    assert "gpu-smoke" not in capsys.readouterr().out


@pytest.mark.parametrize("text", ["a: [", "&a [*a, *a]", "", "jobs: 3", "on: push\njobs: {a: {uses: 7}}"])
def test_file_that_is_no_workflow_is_passed_over(checkout: Path, text: str) -> None:
    (checkout / ".github" / "workflows" / "odd.yml").write_text(text)
    assert cli.main(["doctor"]) == 0


def test_checkout_without_a_workflow_is_sent_to_init(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (checkout / ".github" / "workflows").iterdir():
        path.unlink()
    assert cli.main(["doctor"]) == 2
    assert "gpu-lol init" in capsys.readouterr().out


def test_secret_that_is_not_set_is_told_with_where_to_add_it(place: Place) -> None:
    listed = json.dumps({"total_count": 1, "secrets": [{"name": "OTHER"}]}).encode()
    with serve(Said(listed, headers={"Content-Type": "application/json"})) as web:
        client = GitHubClient(Connection("t", "acme/lab", web.address), lambda _pause: None)
        assert GitHubProbe(client).secret_names() == {"OTHER"}
        client.close()


def test_doctor_loads_no_skypilot(checkout: Path) -> None:
    program = "import sys; from gpu_lol_action import cli; cli.main(['doctor']); sys.exit('sky' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SkyPilot" in done.stdout


def test_the_workflow_of_a_language_model_is_known(
    checkout: Path, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    swept(place, at=now())
    model = ["--llm-url", "https://api.example/v1", "--llm-model", "some-model"]
    assert cli.main(["init", "--private", "--force", "--pin", "0" * 40, *model]) == 0
    path = checkout / ".github" / "workflows" / "gpu-lol.yml"
    capsys.readouterr()
    assert cli.main(["doctor"]) == 0
    assert f"{path.relative_to(checkout)} calls the action with what it needs" in " ".join(
        capsys.readouterr().out.split()
    )
    text = path.read_text()
    path.write_text(text.replace("contents: write", "contents: read").replace(f"@{'0' * 40}", "@main"))
    assert cli.main(["doctor"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "does not keep what the language model answers" in said
    assert "calls the action at main, a name that can be moved" in said
    path.write_text(text.replace("pull-requests: write", "pull-requests: read"))
    assert cli.main(["doctor"]) == 2
    assert "does not grant pull-requests: write to the action: it fails" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("permission", "given", "is_told"),
    [
        ("copilot-requests: write", "llm-url: copilot", False),
        ("copilot-requests: read", "llm-url: copilot", True),
        ("checks: write", "llm-url: copilot", True),
        ("checks: write", "llm-url: Copilot", True),
        ("checks: write", "llm-url: copilot, llm-key: '${{ secrets.LLM_KEY }}'", False),
        ("checks: write", "llm-url: 'https://a.example'", False),
    ],
)
def test_a_job_that_may_not_ask_copilot_is_told(permission: str, given: str, is_told: bool) -> None:
    step = f"{{uses: gpu-lol/gpu-lol-action@v1, with: {{{given}}}}}"
    granted = f"permissions: {{contents: write, pull-requests: write, {permission}}}"
    workflows = {"a.yml": f"on: pull_request\njobs: {{a: {{{granted}, steps: [{step}]}}}}"}
    facts = CheckupFacts(now(), is_job=False, checkout=CheckoutFacts("acme/lab", workflows=workflows))
    told = [one for one in found(diagnose(facts), "workflows") if "GitHub Copilot" in one.sentence]
    assert [(one.health, one.fix) for one in told] == [(Health.BAD, "copilot-requests: write")] * is_told


@pytest.mark.parametrize(("names", "health"), [({"LLM_KEY"}, Health.GOOD), (set(), Health.NOTE)])
def test_a_language_model_may_want_no_key(names: set[str], health: Health) -> None:
    step = "{uses: gpu-lol/gpu-lol-action@v1, with: {llm-url: 'https://a.example', llm-key: '${{ secrets.LLM_KEY }}'}}"
    workflows = {"a.yml": f"on: pull_request\njobs: {{a: {{steps: [{step}]}}}}"}
    repository = CheckoutFacts("acme/lab", workflows=workflows)
    facts = CheckupFacts(now(), is_job=False, checkout=repository, secret_names=frozenset(names))
    assert [one.health for one in found(diagnose(facts), "secrets")] == [health]
