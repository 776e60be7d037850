"""A size that a document states is the last resort for a model of one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze, detect_all
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.stated.documented_sizes import documented_model
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

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
        ("It ranks second, surpassed only by the 32B-parameter Other.", []),
        ("With only **6B parameters**, it surpasses larger models.", ["6"]),
        ("It surpasses models with 13B parameters.", []),
        ("Trained on 300B tokens.", []),
        ("News: the 671B parameter model is out.", []),  # no single machine's
    ],
)
def test_number_of_parameters_that_a_sentence_states(checkout: Build, sentence: str, expected: list[str]) -> None:
    assert sizes(checkout({"README.md": f"# M\n{sentence}\n", "run.py": RUNNER, "parts.py": PARTS})) == expected


@pytest.mark.parametrize(
    ("heading", "expected"),
    [("## 🚧 References", []), ("### Acknowledgements", []), ("## Related works", []), ("## Model", ["176"])],
)
def test_works_of_others_are_not_the_size_of_this_one(checkout: Build, heading: str, expected: list[str]) -> None:
    readme = f"# M\n{heading}\n+ [Other: A 176B-Parameter Language Model](https://arxiv.org/abs/2211.05100)\n"
    assert sizes(checkout({"README.md": readme, "run.py": RUNNER, "parts.py": PARTS})) == expected


def test_own_model_on_a_mesh_lies_over_its_devices(checkout: Build) -> None:
    tree = checkout({"README.md": "# M\nIt has 314B parameters.\n", "run.py": RUNNER, "parts.py": PARTS})
    spec = analyze(tree).spec
    assert (spec.meta.workload_type.value, spec.hardware.gpu_count) == ("inference", 8)
    assert 73 <= (spec.hardware.vram_required_gb or 0) <= 96  # 628 GB over eight


def test_a_model_that_is_named_needs_no_document(checkout: Build) -> None:
    run = "from transformers import AutoModelForCausalLM as A\nif __name__ == '__main__':\n    A.from_pretrained('openai-community/gpt2').cuda().generate(x)\n"
    tree = checkout({"README.md": "# M\nIt has 70B parameters.\n", "run.py": run})
    assert (analyze(tree).spec.hardware.needed_gib or 0) < 8


def test_a_server_whose_model_nobody_names_has_the_size_that_a_document_states(checkout: Build) -> None:
    script = "CUDA_VISIBLE_DEVICES=0 vllm serve $MODEL_PATH --port 6001\n"
    told = analyze(checkout({"README.md": "# M\nIt has 30.5 billion total parameters.\n", "run.sh": script}))
    untold = analyze(checkout({"README.md": "# M\n", "run.sh": script}))
    assert (told.spec.hardware.vram_required_gb, untold.spec.hardware.vram_required_gb) == (80, 48)


NET = "from transformers import AutoModelForCausalLM\nif __name__ == '__main__':\n    AutoModelForCausalLM.from_pretrained('us/{}').generate()\n"
LINKS = "* [Net-7B weights](https://huggingface.co/us/Small)\n* [Net-13B 模型权重](https://huggingface.co/us/Net)\n```\npython demo.py\n```\n"


@pytest.mark.parametrize(
    ("readme", "loaded", "expected"),
    [
        (LINKS, "Net", ["13"]),
        (LINKS, "Small", ["7"]),
        (LINKS, "Other", []),
        (LINKS.replace("13B", "13B/70B"), "Net", []),
        (LINKS.replace("huggingface.co/us", "example.com/us"), "Net", []),
    ],
)
def test_the_words_of_a_link_to_the_weights_say_their_size(
    checkout: Build, readme: str, loaded: str, expected: list[str]
) -> None:
    assert sizes(checkout({"README.md": readme, "demo.py": NET.format(loaded)})) == expected


def test_cards_that_trained_a_model_are_no_count_of_what_runs_it(checkout: Build) -> None:
    """A configuration beside it shards a training."""
    files = {
        "README.md": "```\npython demo.py\n```\n# Training\nWe trained it on 8 x A100 80GB GPUs.\n",
        "demo.py": NET.format("Net"),
        "sft.yaml": "deepspeed: ds_z3.json\nlearning_rate: 1e-5\nstage: sft\n",
        "ds_z3.json": '{"zero_optimization": {"stage": 3}}',
    }
    assert analyze(checkout(files)).spec.hardware.gpu_count == 1


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


WEIGHTS = "* [Net2-7B](https://huggingface.co/us/Net2-7b) of [Base-7B](https://huggingface.co/them/Base-7B-Chat)\n"
OTHER = "We also have [Net-34b](https://huggingface.co/us/Net-34b).\n"
RUN = "```\npython run.py\n```\n"


@pytest.mark.parametrize(
    ("readme", "expected"),
    [
        (WEIGHTS + RUN, ["7"]),
        # Of several sizes the one shortly above the command; without one there, none.
        (OTHER + "\n" * 30 + WEIGHTS + RUN, ["7"]),
        (OTHER + WEIGHTS + "\n" * 30 + RUN, []),
        # Data have sizes too, and a small part is no model of this kind.
        ("[Rows-7B](https://huggingface.co/datasets/us/Rows-7B)\n" + RUN, []),
        ("[Tiny-0.1B](https://huggingface.co/us/Tiny-0.1B)\n" + RUN, []),
    ],
)
def test_the_weights_that_a_document_links_to_bear_their_size(
    checkout: Build, readme: str, expected: list[str]
) -> None:
    assert sizes(checkout({"README.md": f"# M\n{readme}", "run.py": RUNNER, "parts.py": PARTS})) == expected


def test_linked_weights_go_before_what_a_copied_configuration_starts_with(checkout: Build) -> None:
    copied = "class NetConfig:\n    def __init__(self, vocab_size=152064, hidden_size=8192, num_hidden_layers=80, num_attention_heads=64):\n        pass\n"
    run = "from transformers import AutoModel\nfrom net.modeling_net import NetConfig, LlamaNetForCausalLM\nif __name__ == '__main__':\n    LlamaNetForCausalLM.from_pretrained(path).cuda().generate(x)\n"
    files = {"run.py": run, "net/modeling_net.py": "import torch\n" + copied}
    told = analyze(checkout({"README.md": f"# M\n{WEIGHTS}{RUN}", **files})).spec.hardware
    untold = analyze(checkout({"README.md": f"# M\n{RUN}", **files})).spec.hardware
    assert (told.gpu_count, (told.needed_gib or 0) < 30) == (1, True)
    assert untold.gpu_count > 1


@pytest.mark.parametrize("size_b", [0.0504, 0.1234, 0.35, 1.6, 6.74, 314.0])
def test_model_of_a_documented_size_is_of_that_size(size_b: float) -> None:
    said = Finding("documented.parameters_b", f"{size_b:g}", "", Confidence.LOW, Evidence("README.md", 1))
    model = documented_model([said])
    assert model is not None
    assert model.parameters_b == pytest.approx(size_b, rel=0.05)


def test_millions_with_decimals_stay_millions(checkout: Build) -> None:
    tree = checkout({"README.md": "# M\nIt has 50.4M parameters.\n", "run.py": RUNNER, "parts.py": PARTS})
    assert (analyze(tree).spec.hardware.needed_gib or 0) < 6


@pytest.mark.parametrize(
    ("readme", "expected"),
    [
        ("<div>\n<h1>\n  Sage-65B\n</h1>\n</div>\nBeside models of 176B parameters.\n", ["65"]),
        ("# Sage\nText.[^1]\n\n[^1]: A 176B-Parameter open model by others.\n", []),
        ("# Sage\nA 176B-Parameter open model.\n", ["176"]),
    ],
)
def test_a_title_on_a_line_of_its_own_and_a_footnote(checkout: Build, readme: str, expected: list[str]) -> None:
    assert sizes(checkout({"README.md": readme, "run.py": RUNNER, "parts.py": PARTS})) == expected
