"""What a program calls and a newer release took out bounds a package that no list bounds."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis import packages
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
        ("import numpy as np\nx = np.zeros(3, dtype=np.bool)\n", "numpy>=1.17", "numpy>=1.17,<1.24"),
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
    ],
)  # fmt: skip
def test_the_last_release_that_has_it_is_asked_for(checkout: Build, program: str, listed: str, expected: str) -> None:
    files = {"train.py": f"{program}{RUN}", "requirements.txt": f"torch\n{listed}\n"}
    assert expected in _installed(checkout, files)


@pytest.mark.parametrize(
    ("program", "listed"),
    [
        ("import numpy as np\nx = y.astype(np.float32)\ny = np.float_(1)\nz = np.bool_(1)\n", "numpy"),
        ("import numpy as np\n# x = y.astype(np.float)\n", "numpy"),
        ("import numpy as np\nx = y.astype(np.float)\n", "numpy==1.19.5"),
        ("import numpy as np\nx = y.astype(np.float)\n", "numpy<2"),
        ("import numpy as np\nx = y.astype(np.float)\n", "numpy>=1.26"),
        ("import openai\nclient = openai.OpenAI()\n", "openai"),
        ("import librosa\nm = librosa.filters.mel(sr=sampling_rate, n_fft=n)\n", "librosa"),
        ("import pytorch_lightning as pl\nt = pl.Trainer(accelerator='gpu', devices=1)\n", "pytorch-lightning"),
        ("try:\n    import old\nexcept ImportError:\n    old = None\n", "numpy"),
    ],
)
def test_what_the_newest_has_or_a_list_bounds_stays(checkout: Build, program: str, listed: str) -> None:
    old = {"old.py": "import numpy as np\nx = np.float(1)\n"} if "import old" in program else {}
    files = {"train.py": f"{program}{RUN}", "requirements.txt": f"torch\n{listed}\n", **old}
    assert listed in _installed(checkout, files)
