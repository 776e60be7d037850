"""Weights that wait in main memory: what switches say, what programs do by themselves, and what documentation then means."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.documents.documented_amounts import memory_phrases
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.media import media
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.analysis.stated import documented
from gpu_lol_action.analysis.stated.reconcile import reconcile, statements
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

Build = Callable[[Mapping[str, str]], Checkout]
HEAD = """import argparse
from diffusers import FluxPipeline

def main(args):
    pipe = FluxPipeline.from_pretrained('black-forest-labs/FLUX.1-dev')
"""
TAIL = """    image = pipe('a').images[0]

if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--save_memory', action='store_true')
    parser.add_argument('--keep_on_gpu', type=bool, default=True)
    main(parser.parse_args())
"""
SWITCHED = """    if args.save_memory:
        pipe.enable_sequential_cpu_offload()
    elif args.keep_on_gpu:
        pipe.to('cuda')
"""
OWN = """
def unload_models(models):
    for model in models:
        model.to('cpu')

def offload_model_from_device(model):
    model.to('cpu')
"""


def values(tree: Checkout) -> dict[str, str]:
    return {finding.field: finding.value for finding in media.detect(tree, primary_run(tree))}


@pytest.mark.parametrize(
    ("lines", "command", "kind"),
    [
        ("    pipe.enable_model_cpu_offload()\n", "", "parts"),
        (SWITCHED, "", None),
        (SWITCHED, " --save_memory", "layers"),
        ("    if args.keep_on_gpu:\n        pass\n    else:\n        pipe.enable_model_cpu_offload()\n", "", None),
        ("    if not args.keep_on_gpu:\n        pipe.enable_model_cpu_offload()\n", "", None),
        # What nothing tells is as if it were done.
        ("    if low_on_memory():\n        pipe.enable_model_cpu_offload()\n", "", "parts"),
        ("    with quiet():\n        if args.save_memory:\n            pipe.enable_model_cpu_offload()\n", "", None),
    ],
)
def test_an_offload_that_an_option_leaves_off_is_none(checkout: Build, lines: str, command: str, kind: str) -> None:
    tree = checkout({"infer.py": HEAD + lines + TAIL, "README.md": f"```\npython infer.py{command}\n```\n"})
    assert values(tree).get("media.offload") == kind


def test_helpers_that_move_models_are_memory_management(checkout: Build) -> None:
    moves = "    unload_models([pipe])\n    offload_model_from_device(pipe)\n"
    assert values(checkout({"infer.py": OWN + HEAD + moves + TAIL}))["memory.managed"] == "yes"


@pytest.mark.parametrize(
    "lines",
    [
        "    unload_models([pipe])\n",
        "    if args.save_memory:\n        unload_models([pipe])\n        offload_model_from_device(pipe)\n",
    ],
)
def test_cleaning_up_once_or_when_told_is_none(checkout: Build, lines: str) -> None:
    assert "memory.managed" not in values(checkout({"infer.py": OWN + HEAD + lines + TAIL}))


def test_what_the_documentation_demands_is_the_need_of_a_program_that_moves_its_weights(checkout: Build) -> None:
    moves = "    unload_models([pipe])\n    offload_model_from_device(pipe)\n"
    text = "## Requirements\n- At least 8GB GPU memory.\n"
    managed = analyze(checkout({"infer.py": OWN + HEAD + moves + TAIL, "README.md": text}))
    assert managed.spec.hardware.vram_required_gb == 8
    plain = analyze(checkout({"infer.py": OWN + HEAD + TAIL, "README.md": text}))
    assert (plain.spec.hardware.vram_required_gb or 0) > 16


def test_parts_that_a_program_moves_by_itself_do_not_lie_side_by_side(checkout: Build) -> None:
    moves = "    unload_models([pipe])\n    offload_model_from_device(pipe)\n"
    plain = analyze(checkout({"infer.py": OWN + HEAD + TAIL})).spec.hardware.vram_required_gb or 0
    assert 0 < (analyze(checkout({"infer.py": OWN + HEAD + moves + TAIL})).spec.hardware.vram_required_gb or 0) < plain


def test_a_demand_above_the_sum_is_weighed_as_ever() -> None:
    demand = Finding("documented.memory_gb", "30", "", Confidence.HIGH, Evidence("README.md", 3))
    stated = statements([demand], trains=False)
    plain = reconcile(20, stated, is_rough=False)
    assert plain is not None
    assert reconcile(20, stated, is_rough=False, is_managed=True) == plain


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("`--offload` runs it with about 9G of GPU memory, compared to 27.5G if offload is not enabled.", [(9, True), (27.5, False)]),
        ("6GB of VRAM is enough without offloading.", [(6, False)]),
        ("Sequential offload needs less than 3GB of VRAM.", [(3, True)]),
        ("It needs 24GB of VRAM.", [(24, False)]),
        ("It has 2 parts, compared to 3G of files.", []),
    ],
)  # fmt: skip
def test_each_amount_has_the_words_on_offloading_that_stand_with_it(
    line: str, expected: list[tuple[float, bool]]
) -> None:
    assert [(phrase.size_gb, phrase.is_offloaded) for phrase in memory_phrases(line)] == expected


def test_what_holds_with_offloading_is_not_said_of_a_run_without(checkout: Build) -> None:
    text = (
        "```\npython infer.py\n```\n\nNeeds **17GB of VRAM**. With **CPU offload** at least 3GB of VRAM are needed.\n"
    )
    tree = checkout({"infer.py": HEAD + TAIL, "README.md": text})
    found = {(f.field, f.value) for f in documented.detect(tree, primary_run(tree))}
    assert found == {("documented.memory_gb", "17"), ("documented.offloaded.memory_gb", "3")}
    three = [
        Finding("documented.offloaded.memory_gb", "3", "", Confidence.HIGH, Evidence("README.md", 1)),
        Finding("documented.memory_gb", "8", "", Confidence.HIGH, Evidence("README.md", 2)),
    ]
    kept = reconcile(5, statements(three, trains=False), is_rough=False)
    moved = reconcile(4, statements(three, trains=False, is_offloaded=True), is_rough=False)
    assert kept is not None
    assert moved is not None
    assert (kept.finding.value, moved.finding.value) == ("8", "3")


STAGED = "import argparse\nimport torch\nimport torch.distributed as dist\np = argparse.ArgumentParser()\np.add_argument('--stage', default='3')\ndist.init_process_group('nccl')\nmodel = Net().cuda()\nloss.backward()\noptimizer.step()\nif __name__ == '__main__': pass\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        # Which stages of the work, and of a network.
        ({"README.md": "```\ntorchrun --nproc_per_node=2 train.py --stage 03\n```\n"}, []),
        ({"README.md": "```\ntorchrun --nproc_per_node=2 train.py --stage 2\n```\n"}, []),
        ({"README.md": "```\ntorchrun --nproc_per_node=2 train.py --zero_stage 02\n```\n"}, ["zero-2"]),
        (
            {
                "README.md": "```\ndeepspeed --num_gpus 2 train.py --deepspeed ds.json\n```\n",
                "ds.json": '{"zero_optimization": {"stage": 2}}',
            },
            ["zero-2"],
        ),
    ],
)
def test_a_stage_is_zero_s_where_zero_is_spoken_of(
    checkout: Build, files: Mapping[str, str], expected: list[str]
) -> None:
    findings = analyze(checkout({"train.py": STAGED, **files})).findings
    assert [f.value for f in findings if f.field == "training.sharding"] == expected


ZERO = '{"zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}}}'
ASKS = "import torch\nfrom transformers import AutoModelForCausalLM\n{}if __name__ == '__main__':\n    AutoModelForCausalLM.from_pretrained('facebook/opt-6.7b').cuda().generate(1)\n"


@pytest.mark.parametrize(("first", "is_offloaded"), [("", False), ("import deepspeed\n", True)])
def test_a_training_s_configuration_keeps_no_weights_of_what_only_asks(
    checkout: Build, first: str, is_offloaded: bool
) -> None:
    readme = "```\npython ask.py --deepspeed zero.json\n```\n"
    tree = checkout({"README.md": readme, "ask.py": ASKS.format(first), "zero.json": ZERO})
    found = [finding.value for finding in analyze(tree).findings if finding.field == "training.offload"]
    assert found == (["parameters"] if is_offloaded else [])


@pytest.mark.parametrize(
    ("lines", "waits"),
    [
        (("pipe = pipe.to('cuda')", "pipe.enable_model_cpu_offload()"), False),
        (('pipe.to("cuda")  # all of it', "", "pipe.enable_model_cpu_offload()"), False),
        (("pipe.enable_model_cpu_offload()", "pipe.to('cuda')"), True),  # diffusers moves nothing any more
        (("other.to('cuda')", "pipe.enable_model_cpu_offload()"), True),
        (("if large:", "    pipe.to('cuda')", "pipe.enable_model_cpu_offload()"), True),
        (("pipe.to('cpu')", "pipe.enable_model_cpu_offload()"), True),
        (("pipe = Some.from_pretrained(", "    given,", ").to('cuda')", "pipe.enable_model_cpu_offload()"), False),
        (("device = 'cuda' if has_card() else 'cpu'", "pipe.to(device)", "pipe.enable_model_cpu_offload()"), False),
        (("pipe.to(device)", "pipe.enable_model_cpu_offload()"), True),
        # What is put on the card is another one, or one that had its name before.
        (("other = Some.from_pretrained(", "    given,", ").to('cuda')", "pipe.enable_model_cpu_offload()"), True),
        (
            ("pipe.to('cuda')", "del pipe", "pipe = Some.from_pretrained(given)", "pipe.enable_model_cpu_offload()"),
            True,
        ),
    ],
)
def test_a_pipeline_that_was_put_on_the_card_whole_needs_the_room(
    checkout: Build, lines: tuple[str, ...], waits: bool
) -> None:
    program = HEAD + "".join(f"    {line}\n" for line in lines) + TAIL
    assert ("media.offload" in values(checkout({"sample.py": program}))) is waits


@pytest.mark.parametrize(
    ("sentence", "amounts"),
    [
        ("The commands are for machines with 32GB of system RAM and 24 GB of VRAM.", [24]),
        ("Commands for the two models on machines with 32GB of system RAM and 24 GB of VRAM.", [24]),
        ("Tried on a workstation with 12 GB of GPU memory.", [12]),
        ("It was written on a machine with 64 GB of RAM.", []),
        # What holds on a smaller one, and is not what the commands are for.
        ("On a machine with 8 GB of VRAM, pass `--lowvram`.", []),
        ("It is large. For machines with 8 GB of VRAM there is another.", []),
    ],
)
def test_the_machine_that_commands_are_for(sentence: str, amounts: list[float]) -> None:
    assert [phrase.size_gb for phrase in memory_phrases(sentence)] == amounts


CHOSEN = """    if args["memory"] == "parts":
        pipe.enable_model_cpu_offload()
    elif args.get("memory") == "layers":
        pipe.enable_sequential_cpu_offload()
    else:
        pipe.to("cuda")
"""


@pytest.mark.parametrize(("said", "kind"), [("parts", "parts"), ("layers", "layers"), ("none", None)])
def test_a_key_of_the_configuration_switches_it(checkout: Build, said: str, kind: str | None) -> None:
    program = (HEAD + CHOSEN + TAIL).replace("main(parser.parse_args())", "main(yaml.safe_load(open('config.yaml')))")
    tree = checkout({"infer.py": f"import yaml\n{program}", "config.yaml": f"memory: {said}\n"})
    assert values(tree).get("media.offload") == kind
