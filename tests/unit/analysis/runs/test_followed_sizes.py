"""Sizes and models that a program's own words lead to, whatever these are called."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.formats.surest import best
from tests.unit.analysis.conftest import Build

XL, SMALL = "stabilityai/stable-diffusion-xl-base-1.0", "stable-diffusion-v1-5/stable-diffusion-v1-5"
HEAD = "import argparse\nfrom dataclasses import dataclass\nimport torch\nfrom diffusers import StableDiffusionXLPipeline\n"
DRAW = (
    "pipe = StableDiffusionXLPipeline.from_pretrained({model}, torch_dtype=torch.float16).to('cuda')\n"
    "pipe('a cat', height={rows}, width={cols}).images[0].save('a.png')\n"
)
FIELDS = f'@dataclass\nclass Config:\n    brain: str = "{SMALL}"\n    rows: int = 512\n    cols: int = 512\n\n\n'
OF = {"model": "cfg.brain", "rows": "cfg.rows", "cols": "cfg.cols"}
INSIDE = "".join(f"    {line}\n" for line in DRAW.format(model="brain", rows="rows", cols="cols").splitlines())
FIRE = f"def run(brain='{SMALL}', rows=512, cols=512):\n{INSIDE}\n\nfire.Fire(run)\n"


def drawn(checkout: Build, files: dict[str, str]) -> tuple[str, str]:
    found = analyze(checkout({"requirements.txt": "torch\ndiffusers\n", **files})).findings
    size, model = best(found, "media.image_size"), best(found, "model.id")
    return (size.value if size is not None else "", model.value if model is not None else "")


FORMS = {
    "an object that is made otherwise": {
        "draw.py": f"{HEAD}{FIELDS}cfg = Config(brain='{XL}', rows=832, cols=1216)\n{DRAW.format(**OF)}"
    },
    "what nobody says otherwise": {
        "draw.py": f"import yaml\n{HEAD}cfg = yaml.safe_load(open('config.yaml'))\n"
        + DRAW.format(model=f"cfg.get('brain', '{SMALL}')", rows="cfg.get('rows', 512)", cols="cfg.get('cols', 512)"),
        "config.yaml": f"brain: {XL}\nrows: 832\ncols: 1216\n",
    },
    "a function that a command calls": {
        "draw.py": f"import fire\n{HEAD}\n\n{FIRE}",
        "run.sh": f"python draw.py --brain={XL} --rows=832 --cols=1216\n",
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_what_is_said_goes_before_what_a_program_starts_with(checkout: Build, form: str) -> None:
    assert drawn(checkout, FORMS[form]) == ("832x1216", XL)


@pytest.mark.parametrize(
    "made",
    [
        "Config()",
        f"Config(brain='{XL}')\nother = Config(rows=640)",
        f"load()\n\n\ndef preset():\n    return Config(brain='{XL}')\n\n",
        "Config(brain=measured())",
    ],
)
def test_objects_that_are_made_in_several_ways_say_what_their_class_does(checkout: Build, made: str) -> None:
    program = f"{HEAD}{FIELDS}cfg = {made}\n{DRAW.format(**OF)}"
    assert drawn(checkout, {"draw.py": program})[1] == SMALL


TRAIN = """import argparse
import torch, yaml
from datasets import load_dataset
from diffusers import UNet2DConditionModel
from torchvision import transforms
{before}
cut = transforms.Compose([transforms.Resize({size}), transforms.ToTensor()])
model = UNet2DConditionModel.from_pretrained("stable-diffusion-v1-5/stable-diffusion-v1-5", subfolder="unet")
optimizer = torch.optim.AdamW(model.parameters())
for batch in torch.utils.data.DataLoader(load_dataset("a/b").with_transform(cut), batch_size=4):
    model(batch).sample.mean().backward()
    optimizer.step()
"""
PARSE = "p = argparse.ArgumentParser()\np.add_argument('--pxside', type=int, default=256)\nargs = p.parse_args()"


@pytest.mark.parametrize(
    ("before", "size", "others"),
    [
        ("cfg = yaml.safe_load(open('config.yaml'))", "cfg['pxside']", {"config.yaml": "pxside: 768\n"}),
        (
            "cfg = yaml.safe_load(open('config.yaml'))",
            "(cfg['pxside'], cfg['pxside'])",
            {"config.yaml": "pxside: 768\n"},
        ),
        (PARSE, "args.pxside", {"run.sh": "python train.py --pxside 768\n"}),
        ("from settings import PXSIDE", "PXSIDE", {"settings.py": "PXSIDE = 768\n"}),
    ],
)
def test_a_transform_is_followed(checkout: Build, before: str, size: str, others: dict[str, str]) -> None:
    files = {"train.py": TRAIN.format(before=before, size=size), **others}
    found = best(analyze(checkout(files)).findings, "media.image_size")
    assert found is not None
    assert found.value in {"768", "768x768"}


def test_a_long_command_keeps_all_its_options(checkout: Build) -> None:
    options = " ".join(f"--option_{number} {number}" for number in range(30))
    start = f"import os\nos.system('accelerate launch train.py {options} --use_8bit_adam --resolution 768 --learning_rate 1e-4 --pretrained_model_name_or_path {XL}')\n"
    found = analyze(
        checkout({"start.py": start, "train.py": TRAIN.format(before=PARSE, size="args.resolution")})
    ).findings
    named = best(found, "model.id")
    assert named is not None
    assert named.value == XL


SERVED = (
    HEAD + "pipe = StableDiffusionXLPipeline.from_pretrained('{model}', torch_dtype=torch.float16).to('cuda')\n\n\n"
)
DRAWS = "    return pipe(prompt, height=rows, width=cols).images[0]\n"


@pytest.mark.parametrize(
    ("before", "head"),
    [
        ("from cog import BasePredictor, Input\n", "def predict(prompt: str = Input(description='what'), rows: int = Input(description='of it', default=832, ge=64), cols: int = Input(default=1216)):\n"),
        ("from fastapi import FastAPI, Query\napp = FastAPI()\n", "@app.get('/draw')\ndef draw(prompt: str, rows: int = Query(832, ge=64), cols: int = Query(1216)):\n"),
    ],
)  # fmt: skip
def test_a_service_starts_with_what_its_parameters_do(checkout: Build, before: str, head: str) -> None:
    files = {"predict.py": before + SERVED.format(model=XL) + head + DRAWS}
    assert drawn(checkout, files)[0] == "832x1216"


ASKING = (
    f"import os\n{HEAD}MODEL_ID = os.environ.get('MODEL_ID', '{SMALL}')\nHEIGHT = int(os.getenv('HEIGHT', '512'))\n"
    "WIDTH = int(os.getenv('WIDTH', '512'))\n" + DRAW.format(model="MODEL_ID", rows="HEIGHT", cols="WIDTH")
)
IMAGE = 'FROM pytorch/pytorch\nCOPY . .\n{variables}CMD ["python", "draw.py"]\n'


@pytest.mark.parametrize(
    ("variables", "expected"),
    [(f"ENV MODEL_ID={XL}\nENV HEIGHT=832\nENV WIDTH=1216\n", ("832x1216", XL)), ("ENV PORT=8000\n", ("512x512", SMALL))],
)  # fmt: skip
def test_an_image_sets_what_its_program_asks_for(checkout: Build, variables: str, expected: tuple[str, str]) -> None:
    files = {"draw.py": ASKING, "Dockerfile": IMAGE.format(variables=variables)}
    assert drawn(checkout, files) == expected
