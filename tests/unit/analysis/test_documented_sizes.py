"""A size that a document states is the last resort for a model of one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.assemble import analyze, detect_all
from gpu_lol_action.analysis.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
RUNNER = "import jax\nfrom parts import InferenceRunner\ndef main():\n    InferenceRunner(local_mesh_config=(1, 8)).run()\nif __name__ == '__main__':\n    main()\n"
PARTS = "import jax\nimport haiku\nclass InferenceRunner:\n    pass\n"


def sizes(tree: Checkout) -> list[str]:
    return [finding.value for finding in detect_all(tree) if finding.field == "documented.parameters_b"]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Due to its size (314B parameters) it needs much memory.", ["314"]),
        ("A 1.6-billion parameter model for speech.", ["1.6"]),
        ("The model has 350M parameters.", ["0.35"]),
        ("It is better than models of 70B parameters.", []),
        ("Trained on 300B tokens.", []),
        ("News: the 671B parameter model is out.", []),  # no single machine's
    ],
)
def test_number_of_parameters_that_a_sentence_states(checkout: Build, sentence: str, expected: list[str]) -> None:
    assert sizes(checkout({"README.md": f"# M\n{sentence}\n", "run.py": RUNNER, "parts.py": PARTS})) == expected


def test_own_model_on_a_mesh_lies_over_its_devices(checkout: Build) -> None:
    tree = checkout({"README.md": "# M\nIt has 314B parameters.\n", "run.py": RUNNER, "parts.py": PARTS})
    spec = analyze(tree).spec
    assert (spec.meta.workload_type.value, spec.hardware.gpu_count) == ("inference", 8)
    assert 73 <= (spec.hardware.vram_required_gb or 0) <= 96  # 628 GB over eight


def test_a_model_that_is_named_needs_no_document(checkout: Build) -> None:
    run = "from transformers import AutoModelForCausalLM as A\nif __name__ == '__main__':\n    A.from_pretrained('openai-community/gpt2').cuda().generate(x)\n"
    tree = checkout({"README.md": "# M\nIt has 70B parameters.\n", "run.py": run})
    assert (analyze(tree).spec.hardware.needed_gib or 0) < 8


@pytest.mark.parametrize(
    ("title", "loaded", "expected"),
    [
        ("# TinyNet-300M", "me/TinyNet", ["0.3"]),
        ("# TinyNet-7B", "me/other", ["7"]),
        # Millions of what data hold: nothing of that name is loaded.
        ("# WebVid-10M", "me/TinyNet", []),
    ],
)
def test_a_title_s_size_is_the_model_s_that_is_loaded(
    checkout: Build, title: str, loaded: str, expected: list[str]
) -> None:
    run = f"from transformers import LlamaForCausalLM as L\nif __name__ == '__main__':\n    L.from_pretrained('{loaded}').cuda().generate(x)\n"
    assert sizes(checkout({"README.md": f"{title}\nTrained on 4 x 4090.\n", "run.py": run})) == expected


def test_a_title_s_size_goes_before_the_usual_one_of_a_class(checkout: Build) -> None:
    run = "from transformers import LlamaForCausalLM\nif __name__ == '__main__':\n    LlamaForCausalLM.from_pretrained('me/TinyNet').half().cuda().generate(x)\n"
    card = "I have trained this **300M Llama** for 4 days using 4 x RTX 4090.\n"
    small = analyze(checkout({"README.md": f"# TinyNet-300M\n{card}", "run.py": run})).spec.hardware
    usual = analyze(checkout({"README.md": f"# TinyNet\n{card}", "run.py": run})).spec.hardware
    assert (small.needed_gib or 0) < 4
    assert (usual.needed_gib or 0) > 12
