"""Both doors with a Hub and a language model at hand: what is asked, what is shown, and where no key may turn up."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpu_lol_action.domain.policy import POLICY_PATH
from gpu_lol_action.rehearsal.stage import Stage, StepRun
from tests.support.web import Said, Seen, Web, said_json, web_server

PACKAGE_ROOT = Path(__file__).parents[2]
KEY = "sk-test-0123456789abcdefghij"
SSH_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
PULL = 1
TOKEN = "hf_" + "t" * 30
TRAIN = """\
import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

if __name__ == "__main__":
    model = AutoModelForCausalLM.from_pretrained("acme/secret-sauce", torch_dtype=torch.bfloat16)
    Trainer(model=model, args=TrainingArguments("out", per_device_train_batch_size=1, bf16=True)).train()
"""
FILES = {"train.py": TRAIN, "requirements.txt": "torch\ntransformers\n"}
PAGES = {
    "/api/models/acme/secret-sauce": {"safetensors": {"parameters": {"BF16": 1_300_000_000}}, "pipeline_tag": "text-generation"},
    "/acme/secret-sauce/resolve/main/config.json": {
        "architectures": ["LlamaForCausalLM"], "hidden_size": 2048, "num_attention_heads": 16, "num_hidden_layers": 24,
        "vocab_size": 32000,
    },
}  # fmt: skip
CLAIM = {"vram_required_gb": 75, "gpu_count": None, "reason": f"sequences are packed; {KEY}"}


@dataclass
class Far:
    """What lies outside: a Hub and an endpoint."""

    hub: Web
    llm: Web

    @property
    def variables(self) -> dict[str, str]:
        return {
            "HF_ENDPOINT": self.hub.address,
            "HF_TOKEN": TOKEN,
            "GPU_LOL_LLM_URL": f"{self.llm.address}/v1",
            "GPU_LOL_LLM_KEY": KEY,
            "GPU_LOL_LLM_MODEL": "some-model",
        }


@pytest.fixture
def far() -> Iterator[Far]:
    def pages(seen: Seen) -> Said:
        found = PAGES.get(seen.path.partition("?")[0])
        return said_json(found) if found else Said(status=404)

    with web_server() as hub, web_server() as llm:
        hub.script = pages
        llm.script = lambda _seen: said_json({"choices": [{"message": {"content": json.dumps(CLAIM)}}]})
        yield Far(hub, llm)


def terminal(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    (folder / "lab").mkdir(exist_ok=True)
    for name, text in FILES.items():
        (folder / "lab" / name).write_text(text)
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(PACKAGE_ROOT), **variables}
    return subprocess.run(
        [sys.executable, "-m", "gpu_lol_action.cli", "analyze", "lab", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        check=False,
    )


def test_the_terminal_asks_nobody_unless_it_is_told_to(tmp_path: Path, far: Far) -> None:
    done = terminal(tmp_path, **far.variables)
    assert done.returncode == 0, done.stderr
    assert far.hub.seen == far.llm.seen == []
    assert not (tmp_path / ".cache").exists()


def test_the_terminal_asks_both_and_shows_what_came_of_it(tmp_path: Path, far: Far) -> None:
    done = terminal(tmp_path, "--hub", "--llm", **far.variables)
    assert done.returncode == 0, done.stderr
    assert "1.3 B parameters" in done.stdout
    assert "The language model some-model changed this proposal" in done.stdout
    assert "sequences are packed" in done.stdout
    assert "75 GB" in done.stdout
    assert KEY not in done.stdout + done.stderr
    assert {seen.headers["authorization"] for seen in far.hub.seen} == {f"Bearer {TOKEN}"}
    assert {seen.headers["authorization"] for seen in far.llm.seen} == {f"Bearer {KEY}"}
    # The next run has the Hub's answers on disk.
    far.hub.seen.clear()
    assert "1.3 B parameters" in terminal(tmp_path, "--hub", **far.variables).stdout
    assert far.hub.seen == []


def by_copilot(folder: Path, far: Far) -> dict[str, str]:
    """Return the variables with which GitHub Copilot's program is asked, and the model behind it is the endpoint."""
    program = folder / "copilot-program"
    text = (PACKAGE_ROOT / "tests" / "support" / "copilot_program.py").read_text()
    program.write_text(text.replace("/usr/bin/env python3", sys.executable, 1))
    program.chmod(0o755)
    return {
        "GPU_LOL_LLM_URL": "copilot",
        "GPU_LOL_LLM_MODEL": "gpt-5.4",
        "GPU_LOL_LLM_KEY": "",
        "GPU_LOL_COPILOT": str(program),
        "COPILOT_PROVIDER_BASE_URL": f"{far.llm.address}/v1",
    }


def test_the_terminal_asks_github_copilot(tmp_path: Path, far: Far) -> None:
    done = terminal(tmp_path, "--llm", **{**far.variables, **by_copilot(tmp_path, far)})
    assert done.returncode == 0, done.stderr
    assert "The language model GitHub Copilot (gpt-5.4) changed this proposal" in " ".join(done.stdout.split())
    assert "75 GB" in done.stdout
    (seen,) = far.llm.seen
    assert "acme/secret-sauce" in seen.body.decode()
    assert "tools" not in seen.fields


def test_the_terminals_json_names_what_was_claimed(tmp_path: Path, far: Far) -> None:
    told = json.loads(terminal(tmp_path, "--llm", "--format", "json", **far.variables).stdout)
    assert told["vram_required_gb"] == 75
    assert told["llm_override"]["model"] == "some-model"
    assert KEY not in json.dumps(told)
    assert far.hub.seen == []


@pytest.mark.parametrize("missing", ["GPU_LOL_LLM_URL", "GPU_LOL_LLM_MODEL"])
def test_the_terminal_says_what_is_not_set_up(tmp_path: Path, far: Far, missing: str) -> None:
    done = terminal(tmp_path, "--llm", **{**far.variables, missing: ""})
    assert done.returncode == 0, done.stderr
    assert "GPU_LOL_LLM_URL and GPU_LOL_LLM_MODEL are not both set" in " ".join(done.stdout.split())


def test_the_terminal_works_offline(tmp_path: Path) -> None:
    nobody = {"HF_ENDPOINT": "http://127.0.0.1:1", "GPU_LOL_LLM_URL": "http://127.0.0.1:1", "GPU_LOL_LLM_MODEL": "m"}
    done = terminal(tmp_path, "--hub", "--llm", **nobody)
    assert done.returncode == 0, done.stderr
    shown = " ".join(done.stdout.split())
    assert "could not be looked up on the Hugging Face Hub: it could not be reached" in shown
    assert "the language model was asked and gave no answer: it could not be reached" in shown


def propose(
    stage: Stage, far: Far, policy: str = "", *, is_fork: bool = False, **variables: str
) -> tuple[StepRun, str]:
    """Open a pull request with a model that no table has, and return the run and the proposal."""
    hub = stage.hub
    hub.add_user(hub.maintainer, role="admin", ssh_keys=[SSH_KEY])
    hub.commit({"readme.txt": "nothing yet\n", **({POLICY_PATH: policy} if policy else {})})
    fork = hub.fork("stranger") if is_fork else None
    opened = hub.open_pull_request("stranger" if is_fork else "researcher", FILES, fork=fork)
    run_id = hub.start_run(opened.name, hub.maintainer)
    run = stage.run_step(
        opened, run_id, {"PYTHONPATH": str(PACKAGE_ROOT), "GPU_LOL_PHASE": "decide", **far.variables, **variables}
    )
    hub.finish_run(run_id)
    assert run.exit_code == 0, run.log
    comments = hub.comments(int(opened.number or 0), by=hub.bot.login)
    assert KEY not in comments[-1].body + run.summary + json.dumps(run.outputs)
    # The log masks the keys first, by the runner's own command; nowhere else do they stand.
    assert all("::add-mask::" in line for line in run.log.splitlines() if KEY in line or TOKEN in line)
    return run, comments[-1].body


def test_a_job_asks_the_language_model_where_one_is_set_up_and_the_hub_where_input_says_so(far: Far) -> None:
    with Stage() as stage:
        _, body = propose(stage, far, HUB="true")
    assert "1.3 B parameters" in body
    assert "changed this proposal" in body
    assert "\\[redacted\\]" in body
    # Nothing in the base names a model: the Hub is asked about the head's alone, the endpoint about each tree once.
    assert len(far.hub.seen) == 2
    assert len(far.llm.seen) == 2


def test_a_job_asks_github_copilot_with_its_own_token_and_no_secret(far: Far, tmp_path: Path) -> None:
    seen = tmp_path / "seen.json"
    with Stage() as stage:
        _, body = propose(stage, far, LANG=str(seen), **by_copilot(tmp_path, far))
    assert "changed this proposal" in body
    assert "GitHub Copilot (gpt-5.4)" in body
    environment = json.loads(seen.read_text())["environment"]
    assert environment["COPILOT_GITHUB_TOKEN"].startswith("ghs_")
    assert environment["COPILOT_GITHUB_TOKEN"] not in body
    assert not {"GITHUB_TOKEN", "HF_TOKEN", "RUNPOD_API_KEY", "GITHUB_WORKSPACE"} & set(environment)


def test_a_job_whose_token_copilot_refuses_proposes_what_the_code_says(far: Far, tmp_path: Path) -> None:
    far.llm.script = lambda _seen: Said(b"{}", 403)
    with Stage() as stage:
        _, body = propose(stage, far, **by_copilot(tmp_path, far))
    assert "changed this proposal" not in body
    assert "the job lacks `copilot-requests: write`" in body
    assert len(far.llm.seen) == 1, "who refused about the head is not asked about the base"


def test_a_forks_code_is_not_told_to_copilot(far: Far, tmp_path: Path) -> None:
    with Stage() as stage:
        propose(stage, far, is_fork=True, **by_copilot(tmp_path, far))
    assert far.llm.seen == []


def test_a_job_asks_the_hub_where_the_policy_says_so(far: Far) -> None:
    with Stage() as stage:
        _, body = propose(stage, far, "analysis: {hub: true}\n", GPU_LOL_LLM_URL="")
    assert "1.3 B parameters" in body
    assert far.llm.seen == []


def test_a_job_asks_nobody_by_itself(far: Far) -> None:
    with Stage() as stage:
        _, body = propose(stage, far, GPU_LOL_LLM_URL="")
    assert "1.3 B parameters" not in body
    assert far.hub.seen == far.llm.seen == []


def test_a_fork_spends_no_token_and_asks_no_language_model(far: Far) -> None:
    with Stage() as stage:
        _, body = propose(stage, far, HUB="true", is_fork=True)
    assert "1.3 B parameters" in body
    assert {seen.headers.get("authorization") for seen in far.hub.seen} == {None}
    assert far.llm.seen == []


def test_up_after_the_proposal_asks_the_language_model_nothing_and_says_the_same(far: Far) -> None:
    sizes = itertools.count(75, -30)  # another answer each time it is asked
    far.llm.script = lambda _seen: said_json(
        {"choices": [{"message": {"content": json.dumps({"vram_required_gb": next(sizes), "reason": KEY})}}]}
    )
    with Stage() as stage:
        _, body = propose(stage, far, HUB="true")
        asked = len(far.llm.seen)
        event = stage.hub.comment(PULL, stage.hub.maintainer, "/gpu-lol up --dry-run")
        run_id = stage.hub.start_run(event.name, stage.hub.maintainer)
        own = {
            "PYTHONPATH": str(PACKAGE_ROOT),
            "GPU_LOL_PHASE": "decide",
            "RUNPOD_API_KEY": "rpa_" + "k" * 40,
            "HUB": "true",
        }
        run = stage.run_step(event, run_id, {**far.variables, **own})
        stage.hub.finish_run(run_id)
        assert run.outputs["reason_code"] == "dry_run", run.log
        answer = stage.hub.comments(PULL, by=stage.hub.bot.login)[-1].body
    assert asked == 2
    assert len(far.llm.seen) == asked
    (needed,) = {f"{size} GB asked for" for size in (45, 75) if f"{size} GB asked for" in body}
    assert needed in answer
    assert KEY not in answer
