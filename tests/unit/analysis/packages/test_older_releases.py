"""What a program calls and a newer release took out bounds a package that no list bounds."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.packages import packages
from tests.unit.analysis.conftest import Build

README = "```\npython train.py\n```\n"
RUN = "import torch\nmodel = torch.nn.Linear(4, 4).cuda()\nloss = model(x).sum()\nloss.backward()\n"


def _installed(checkout: Build, files: dict[str, str]) -> list[str]:
    tree = checkout({"README.md": README, **files})
    return [f.value for f in packages.detect(tree) if f.field == "dependencies.requirements"]


@pytest.mark.parametrize(
    ("program", "listed", "expected"),
    [
        ("import numpy as np\nx = y.astype(np.float)\n", "numpy", "numpy<1.24"),
        ("import numpy as np\nx = np.zeros(3, dtype=np.int)\n", "numpy>=1.17", "numpy>=1.17,<1.24"),
        ("import numpy as np\nx = y.astype(np.float)\n", "numpy<2", "numpy<1.24"),
        ("import numpy as np\nx = y.astype(np.float)\n", "numpy >=1.17, <2, !=1.19.0", "numpy>=1.17,!=1.19.0,<1.24"),
        ("import openai\nopenai.ChatCompletion.create(model='a')\n", "openai", "openai<1"),
        ("from PIL import Image\nx = image.resize((2, 2), Image.ANTIALIAS)\n", "Pillow", "Pillow<10"),
        ("from moviepy.editor import VideoFileClip\n", "moviepy", "moviepy<2"),
        ("import gradio as gr\nx = gr.inputs.Textbox()\n", "gradio>=3.1.4", "gradio>=3.1.4,<4"),
        ("import pytorch_lightning as pl\nt = pl.Trainer(max_epochs=1, gpus=1)\n", "pytorch-lightning>=1.2.1", "pytorch-lightning>=1.2.1,<2"),
        ("from pytorch_lightning import Trainer\nt = Trainer.from_argparse_args(args)\n", "pytorch_lightning", "pytorch_lightning<2"),
        ("import networkx as nx\ng = nx.from_numpy_matrix(a)\n", "networkx", "networkx<3"),
        ("from datasets import load_dataset, load_metric\n", "datasets", "datasets<3"),
        ("import librosa\nm = librosa.filters.mel(sampling_rate, n_fft)\n", "librosa", "librosa<0.10"),
        ("from mmcv.runner import load_checkpoint\n", "mmcv-full", "mmcv-full<2"),
        ("from mmcv.runner import load_checkpoint\n", "mmcv>=1.3", "mmcv>=1.3,<2"),
        ("from mmcv.runner import load_checkpoint\nfrom mmcv.ops import nms\n", "mmcv", "mmcv-full<2"),
        ("import numpy as np\nbest = np.Inf\n", "numpy", "numpy<2"),
        ("import numpy as np\nbest = np.inf\nx = np.zeros(3, np.float)\ny = np.product(s)\n", "numpy", "numpy<1.24"),
        ("from transformers import AdamW, BertModel\n", "transformers>=4.30", "transformers>=4.30,<4.50"),
        ("from transformers import (\n    BertModel,\n    AdamW,\n)\n", "transformers", "transformers<4.50"),
        ("from transformers import TrainingArguments\na = TrainingArguments(out(1), evaluation_strategy='steps')\n", "transformers", "transformers<4.46"),
        ("from peft import LoraConfig, prepare_model_for_int8_training\n", "peft", "peft<0.10"),
        ("from langchain.llms import OpenAI\n", "langchain", "langchain<0.2"),
        ("from huggingface_hub import HfFolder, Repository\n", "huggingface_hub", "huggingface_hub<1"),
        ("import gradio as gr\ndemo.queue(concurrency_count=3).launch()\n", "gradio", "gradio<4"),
    ],
)  # fmt: skip
def test_the_last_release_that_has_it_is_asked_for(checkout: Build, program: str, listed: str, expected: str) -> None:
    files = {"train.py": f"{program}{RUN}", "requirements.txt": f"torch\n{listed}\n"}
    assert expected in _installed(checkout, files)


def test_libraries_beside_an_older_mmcv_are_of_its_time_and_have_its_operators(checkout: Build) -> None:
    program = f"import mmdet\nfrom mmcv.runner import load_checkpoint\n{RUN}"
    assert {"mmcv-full<2", "mmdet<3"} <= set(_installed(checkout, {"train.py": program}))


@pytest.mark.parametrize(
    ("program", "listed"),
    [
        ("import numpy as np\nx = y.astype(np.float32)\nz = np.bool_(1)\n", "numpy"),
        ("import numpy as np\nx = np.zeros(3, dtype=np.bool)\n", "numpy"),
        ("import numpy as np\n# x = y.astype(np.float)\n", "numpy"),
        ("import numpy as np\nx = y.astype(np.float)\n", "numpy==1.19.5"),
        ("import numpy as np\nx = y.astype(np.float)\n", "numpy<1.23"),
        ("import numpy as np\nx = y.astype(np.float)\n", "numpy>=1.26"),
        ("import openai\nclient = openai.OpenAI()\n", "openai"),
        ("import librosa\nm = librosa.filters.mel(sr=sampling_rate, n_fft=n)\n", "librosa"),
        ("import numpy as np\nbest = np.inf\nx = np.float32(np.nan)\n", "numpy"),
        ("from torch.optim import AdamW\nfrom transformers import BertModel\n", "transformers"),
        ("from transformers import TrainingArguments\na = TrainingArguments(eval_strategy='steps')\n", "transformers"),
        ("from langchain_community.llms import OpenAI\nfrom langchain.schema import Document\n", "langchain"),
        ("import pytorch_lightning as pl\nt = pl.Trainer(accelerator='gpu', devices=1)\n", "pytorch-lightning"),
        ("try:\n    import old\nexcept ImportError:\n    old = None\n", "numpy"),
    ],
)
def test_what_the_newest_has_or_a_list_bounds_stays(checkout: Build, program: str, listed: str) -> None:
    old = {"old.py": "import numpy as np\nx = np.float(1)\n"} if "import old" in program else {}
    files = {"train.py": f"{program}{RUN}", "requirements.txt": f"torch\n{listed}\n", **old}
    assert listed in _installed(checkout, files)


def test_an_option_of_the_command_tells_it_too(checkout: Build) -> None:
    readme = "```\npython train.py --evaluation_strategy steps\n```\n"
    program = "import transformers\nparser = transformers.HfArgumentParser(transformers.TrainingArguments)\n"
    tree = {"README.md": readme, "train.py": f"{program}{RUN}", "requirements.txt": "torch\ntransformers\n"}
    assert "transformers<4.46" in _installed(checkout, tree)


@pytest.mark.parametrize(
    ("own", "expected"), [("", "transformers<5.15"), ("    warmup_ratio: float = 0.1\n", "transformers")]
)
def test_an_option_that_the_program_does_not_have_of_its_own_does(checkout: Build, own: str, expected: str) -> None:
    readme = "```\npython train.py --output_dir out --warmup_ratio 0.03\n```\n"
    program = f"import transformers\nclass Arguments(transformers.TrainingArguments):\n    name: str = ''\n{own}"
    program += "parser = transformers.HfArgumentParser(Arguments)\n"
    tree = {"README.md": readme, "train.py": f"{program}{RUN}", "requirements.txt": "torch\ntransformers\n"}
    assert expected in _installed(checkout, tree)


@pytest.mark.parametrize(
    ("option", "expected"), [("evaluation_strategy steps", "transformers<4.46"), ("warmup_ratio 0.1", "transformers")]
)
def test_an_option_that_no_other_library_has_tells_it_wherever_it_is_read(
    checkout: Build, option: str, expected: str
) -> None:
    readme = f"```\npython train.py --{option}\n```\n"
    assert expected in _installed(
        checkout, {"README.md": readme, "train.py": RUN, "requirements.txt": "transformers\n"}
    )


def test_what_went_first_decides(checkout: Build) -> None:
    readme = "```\npython train.py --evaluation_strategy steps\n```\n"
    program = "from transformers import HfArgumentParser, TrainingArguments\nfrom transformers.utils import is_flax_available\n"
    tree = {"README.md": readme, "train.py": f"{program}{RUN}", "requirements.txt": "torch\ntransformers\n"}
    assert {"transformers<4.46", "huggingface-hub<1"} <= set(_installed(checkout, tree))


def test_what_pytorch_took_out_chooses_its_image(checkout: Build) -> None:
    program = f"from torch._six import inf\n{RUN}"
    chosen = analyze(checkout({"README.md": README, "train.py": program})).spec
    assert (chosen.environment.base_image or "").startswith("pytorch/pytorch:1.13")
    assert "torch<2" in (chosen.dependencies.requirements or ())
    listed = {"README.md": README, "train.py": program, "requirements.txt": "torch==2.1.0\n"}
    assert (analyze(checkout(listed)).spec.environment.base_image or "").startswith("pytorch/pytorch:2.1.0")
