"""CLIP by the names of the packages that train and run it, in the program that is started alone."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.models.clip_names import published_clip
from gpu_lol_action.domain.tables import table_rows
from tests.unit.analysis.conftest import Build

TRAIN = """import torch, {package}
model, _, preprocess = {call}
model = model.cuda()
optimizer = torch.optim.AdamW(model.parameters())
for pictures, texts in torch.utils.data.DataLoader(data, batch_size=64):
    loss = model(pictures.cuda(), texts.cuda()).loss
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("package", "call", "model"),
    [
        ("open_clip", 'open_clip.create_model_and_transforms("ViT-B-32", pretrained="laion2b")', "openai/clip-vit-base-patch32"),
        ("open_clip", 'open_clip.create_model_and_transforms("ViT-L-14-quickgelu", "openai")', "openai/clip-vit-large-patch14"),
        ("clip", '*clip.load("ViT-L/14@336px"), None', "openai/clip-vit-large-patch14-336"),
        ("open_clip", 'open_clip.create_model_and_transforms("xlm-roberta-base-ViT-B-32")', ""),
    ],
)  # fmt: skip
def test_a_model_of_clip_is_known_by_its_own_name(checkout: Build, package: str, call: str, model: str) -> None:
    found = analyze(checkout({"train.py": TRAIN.format(package=package, call=call)}))
    assert next((f.value for f in found.findings if f.field == "model.id"), "") == model


@pytest.mark.parametrize(
    "beside",
    [
        'AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.1-8B", torch_dtype=torch.bfloat16)',
        "torchvision.models.resnet50()",
    ],
)
def test_clip_beside_another_model_looks_at_pictures_for_it(checkout: Build, beside: str) -> None:
    program = (
        "import clip, torch, torchvision\nfrom transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n"
    )
    program += f'eyes, _ = clip.load("ViT-B/32", device="cuda")\nmodel = {beside}\n'
    program += 'Trainer(model=model, args=TrainingArguments("o", bf16=True)).train()\n'
    found = analyze(checkout({"train.py": program}))
    assert not any("clip-vit" in f.value for f in found.findings if f.field == "model.id")


def test_what_a_module_asks_of_clip_is_not_what_is_trained(checkout: Build) -> None:
    helper = 'import clip\ndef looks():\n    return clip.load("ViT-L/14")[0]\n'
    program = "import torch, timm\nfrom looks import looks\n" + TRAIN.partition("\n")[2].format(
        call='timm.create_model("resnet50"), looks(), None'
    )
    found = analyze(checkout({"train.py": program, "looks.py": helper}))
    assert [f.value for f in found.findings if f.field == "model.id"] == ["resnet50"]


@pytest.mark.parametrize(
    "name",
    ["ViT-B-32", "ViT-B/16", "ViT-L-14", "ViT-H-14", "ViT-bigG-14", "hf-hub:laion/CLIP-ViT-H-14-laion2B-s32B-b79K"],
)
def test_every_published_name_is_of_a_known_size(name: str) -> None:
    assert published_clip(name) in {row["model_id"] for row in table_rows("model_params.csv")}
