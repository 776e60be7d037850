"""How many samples a run takes at a time that trains nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
DEMO = """import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("mistralai/Mistral-7B-v0.1")
model = AutoModelForCausalLM.from_pretrained("mistralai/Mistral-7B-v0.1", torch_dtype=torch.float16).cuda()
print(tokenizer.decode(model.generate(**tokenizer("Hello", return_tensors="pt").to("cuda"), max_length=2048)[0]))
"""
README = "# Talk\n```\npython demo.py{}\n```\n"


def test_a_batch_that_only_stands_somewhere_is_a_training_s(checkout: Build) -> None:
    files = {"demo.py": DEMO, "README.md": README.format("")}
    alone = analyze(checkout(files)).spec.hardware
    beside = analyze(checkout({**files, "config/train_config.yaml": "lr: 0.1\nbatch_size: 512\n"})).spec.hardware
    assert (beside.vram_required_gb, beside.gpu_count) == (alone.vram_required_gb, alone.gpu_count)


def test_a_network_that_is_loaded_by_a_name_from_elsewhere_is_more_than_its_tokenizer(checkout: Build) -> None:
    program = """from transformers import AutoTokenizer, AutoModelForCausalLM
tokenizer = AutoTokenizer.from_pretrained("acme/sage-7B")
model = {}.from_pretrained("acme/sage-7B")
print(tokenizer.decode(model.generate(**tokenizer("Hello", return_tensors="pt"))[0]))
"""
    files = {"requirements.txt": "transformers\n"}
    loads = checkout({**files, "sample.py": program.format("SageForCausalLM")})
    assert analyze(loads).spec.meta.workload_type.value == "inference"
    splits = checkout({**files, "sample.py": program.format("Words")})
    assert analyze(splits).spec.meta.workload_type.value == "cpu-only"
