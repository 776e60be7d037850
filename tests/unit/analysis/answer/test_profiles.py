from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from gpu_lol_action.analysis.answer.as_json import analysis_json
from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.answer.profiles import MAX_IN_FILE
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.spec import WorkloadType
from gpu_lol_action.domain.spec_text import write_spec
from gpu_lol_action.domain.spec_yaml import parse_spec_file

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nfrom transformers import AutoModelForCausalLM, Trainer\nif __name__ == '__main__':\n    m = AutoModelForCausalLM.from_pretrained('{model}').cuda()\n    Trainer(m).train()\n"
CHAT = "import torch\nfrom transformers import AutoModelForCausalLM\nif __name__ == '__main__':\n    m = AutoModelForCausalLM.from_pretrained('{model}').cuda()\n    m.generate(x)\n"
FILES = {
    "README.md": "```\ntorchrun --nproc_per_node=8 train.py\npython chat.py --model small\n```\n",
    "train.py": TRAIN.format(model="meta-llama/Llama-2-7b-hf"),
    "chat.py": CHAT.format(model="meta-llama/Llama-2-7b-hf"),
}


def test_other_runs_are_estimated_by_the_same_detectors(checkout: Build) -> None:
    found = analyze(checkout(FILES))
    alone = analyze(
        checkout({**FILES, "README.md": "```\npython chat.py --model small\n```\n", "train.py": "import click\n"})
    )
    (profile,) = found.profiles
    assert (profile.name, profile.command, str(profile.evidence)) == (
        "chat",
        "python chat.py --model small",
        "README.md:3",
    )
    assert (profile.workload, profile.gpu_count) == (WorkloadType.INFERENCE, 1)
    assert profile.vram_required_gb == alone.spec.hardware.vram_required_gb
    assert profile.breakdown == alone.breakdown
    assert found.spec.hardware.gpu_count == 8


def test_json_shows_other_runs(checkout: Build) -> None:
    (profile,) = analysis_json(analyze(checkout(FILES)))["profiles"]
    assert {key: profile[key] for key in ("name", "command", "where", "workload_type", "gpu_count")} == {
        "name": "chat",
        "command": "python chat.py --model small",
        "where": "README.md:3",
        "workload_type": "inference",
        "gpu_count": 1,
    }
    assert profile["breakdown"]["method"] == "inference"
    assert profile["vram_required_gb"] > 0


def test_the_proposed_file_has_the_runs_that_want_another_machine(checkout: Build) -> None:
    found = analyze(checkout(FILES))
    (name,) = found.spec.profiles
    assert name == "chat"
    hardware = found.spec.profiles["chat"].hardware
    assert (hardware.gpu_count, hardware.vram_required_gb) == (1, found.profiles[0].vram_required_gb)
    again = parse_spec_file(write_spec(found.spec), ".gpu-lol.yaml").spec
    assert again.profiles["chat"].hardware == hardware
    assert again.profiles["chat"].meta.workload_type is WorkloadType.INFERENCE


def test_a_run_on_the_same_machine_is_no_profile_of_the_file(checkout: Build) -> None:
    same = {
        "README.md": "```\npython a.py\npython b.py\n```\n",
        "a.py": CHAT.format(model="gpt2"),
        "b.py": CHAT.format(model="gpt2"),
    }
    found = analyze(checkout(same))
    assert [profile.name for profile in found.profiles] == ["b"]
    assert found.spec.profiles == {}


def test_profiles_of_the_file_are_few(checkout: Build) -> None:
    files = {f"t{count}.py": TRAIN.format(model="gpt2") for count in range(1, 9)}
    commands = "\n".join(f"torchrun --nproc_per_node={count} t{count}.py" for count in range(1, 9))
    found = analyze(checkout({**files, "README.md": f"```\n{commands}\n```\n"}))
    assert len(found.profiles) == 7
    assert len(found.spec.profiles) == MAX_IN_FILE


def test_a_file_keeps_its_own_profiles(checkout: Build) -> None:
    own = "hardware: {gpu_type: A40}\nprofiles:\n  big:\n    hardware: {gpu_count: 2}\n"
    assert list(analyze(checkout(FILES), own).spec.profiles) == ["big"]


def test_a_profile_with_fewer_machines_is_written_so(checkout: Build) -> None:
    files = {
        **FILES,
        "README.md": "```\npython chat.py\n```\n",
        "go.sh": "torchrun --nnodes=2 --nproc_per_node=8 train.py\n",
    }
    spec = analyze(checkout(files)).spec
    many = replace(spec, hardware=replace(spec.hardware, num_nodes=2), profiles={"one": replace(spec, profiles={})})
    assert parse_spec_file(write_spec(many), ".gpu-lol.yaml").spec.profiles["one"].hardware.num_nodes == 1


def test_a_run_that_no_card_holds_is_no_choice(checkout: Build) -> None:
    huge = {**FILES, "chat.py": CHAT.format(model="deepseek-ai/DeepSeek-R1")}
    huge["README.md"] = "```\ntorchrun --nproc_per_node=8 train.py\ntorchrun --nproc_per_node=2 chat.py\n```\n"
    assert analyze(checkout(huge)).profiles == ()
