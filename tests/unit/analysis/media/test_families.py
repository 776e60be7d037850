"""Small repositories in the styles of families of programs: what they need is near what was counted or published."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.media import media
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.domain.spec import WorkloadType
from gpu_lol_action.estimation.media_facts import find_pipeline

Build = Callable[[Mapping[str, str]], Checkout]
STEP = "\nopt = torch.optim.AdamW(net.parameters())\nloss.backward()\nopt.step()\n"


def found(tree: Checkout) -> dict[str, str]:
    first: dict[str, str] = {}
    for finding in media.detect(tree, primary_run(tree)):
        first.setdefault(finding.field, finding.value)
    return first


@pytest.mark.parametrize(
    ("line", "parameters_m", "kept_mb"),
    [
        # diffusers' google/ddpm-cifar10-32: 35.75 M parameters, 48.7 MB counted at 32 bit
        (("from diffusers import UNet2DModel\nnet = UNet2DModel(sample_size=32, block_out_channels=(128, 256, 256, 256), "
         "down_block_types=('DownBlock2D', 'AttnDownBlock2D', 'DownBlock2D', 'DownBlock2D'))\nimage_size = 32"), 35.75, 48.7),
        # its google/ddpm-celebahq-256: 113.67 M, 2109 MB
        (("from diffusers import UNet2DModel\nnet = UNet2DModel(block_out_channels=(128, 128, 256, 256, 512, 512), down_block_types=("
         "'DownBlock2D', 'DownBlock2D', 'DownBlock2D', 'DownBlock2D', 'AttnDownBlock2D', 'DownBlock2D'))\nimage_size = 256"), 113.67, 2109),
    ],
)  # fmt: skip
def test_a_library_s_unet_is_counted_from_its_blueprint(
    checkout: Build, line: str, parameters_m: float, kept_mb: float
) -> None:
    values = found(checkout({"train.py": f"import torch\n{line}{STEP}"}))
    assert int(values["media.own_parameters"]) / 1e6 == pytest.approx(parameters_m, rel=0.005)
    assert int(values["media.own_outputs"]) * 4e-6 == pytest.approx(kept_mb, rel=0.16)


def test_a_segmenter_is_counted_with_its_encoder(checkout: Build) -> None:
    program = "import torch\nimport segmentation_models_pytorch as smp\nnet = smp.Unet(encoder_name='resnet34', classes=1)\nimage_size = 512"
    values = found(checkout({"train.py": program + STEP}))
    assert int(values["media.own_parameters"]) / 1e6 == pytest.approx(
        24.4, rel=0.04
    )  # the library's own figure; 0.5 M of classes besides


def test_keras_names_what_goes_in_and_what_comes_out(checkout: Build) -> None:
    program = "from tensorflow.keras.layers import Input, Conv2D, MaxPooling2D, UpSampling2D, concatenate\nfrom tensorflow.keras.models import Model\n"
    program += "def build():\n    x = Input((64, 64, 1))\n    a = Conv2D(8, 3, padding='same')(x)\n    b = Conv2D(16, 3, padding='same')(MaxPooling2D((2, 2))(a))\n"
    program += "    c = concatenate([a, UpSampling2D((2, 2))(b)], axis=3)\n    return Model(inputs=x, outputs=Conv2D(1, 1)(c))\n"
    values = found(
        checkout(
            {"train.py": program + "model = build()\nmodel.compile(optimizer='adam')\nmodel.fit(x, y, batch_size=16)\n"}
        )
    )
    assert int(values["media.own_parameters"]) == (9 + 1) * 8 + (9 * 8 + 1) * 16 + 24 + 1


def test_a_registry_is_asked_by_the_configuration(checkout: Build) -> None:
    main = "from absl import app, flags\nfrom ml_collections.config_flags import config_flags\nimport run_lib\nFLAGS = flags.FLAGS\n"
    main += "config_flags.DEFINE_config_file('config', None, 'x')\ndef main(argv):\n    run_lib.train(FLAGS.config)\napp.run(main)\n"
    run_lib = "import jax\nfrom models import get_model\nimport models_wide\ndef train(config):\n    net = get_model(config.model.name)(config=config)\n"
    run_lib += "    grads = jax.value_and_grad(loss)(params)\n"
    models = "_MODELS = {}\ndef register_model(cls=None, *, name=None):\n    def inner(cls):\n        _MODELS[name] = cls\n        return cls\n    return inner\n"
    models += "def get_model(name):\n    return _MODELS[name]\n"
    wide = "import flax.linen as nn\nimport models\n@models.register_model(name='wide')\nclass Wide(nn.Module):\n    config: dict\n    @nn.compact\n"
    wide += "    def __call__(self, x, t):\n        x = nn.Conv(self.config.model.nf, kernel_size=(3, 3))(x)\n        return nn.Conv(3, kernel_size=(3, 3))(x)\n"
    config = "import ml_collections\ndef get_config():\n    config = ml_collections.ConfigDict()\n    config.model = model = ml_collections.ConfigDict()\n"
    config += "    model.name = 'wide'\n    model.nf = 48\n    config.image_size = 32\n    return config\n"
    files = {
        "main.py": main,
        "run_lib.py": run_lib,
        "models.py": models,
        "models_wide.py": wide,
        "configs/default.py": config,
    }
    values = found(checkout(files))
    assert int(values["media.own_parameters"]) == (27 + 1) * 48 + (48 * 9 + 1) * 3
    assert int(values["media.own_outputs"]) == 51 * 32 * 32


@pytest.mark.parametrize(
    ("files", "low", "high"),
    [
        # OpenMMLab's model zoo: Faster R-CNN R50-FPN 1x with two pictures, 4.0 GB
        ({"configs/faster.py": "model = dict(type='FasterRCNN', backbone=dict(type='ResNet', depth=50))\ndata = dict(samples_per_gpu=2)\n"
          "train_pipeline = [dict(type='Resize', img_scale=(1333, 800))]\noptimizer = dict(type='SGD', lr=0.02)\nlr_config = dict(policy='step')\n",
          "requirements.txt": "torch\nmmdet\n"}, 4, 8),
        # kohya's scripts: an SDXL LoRA with cached latents and an 8-bit optimizer runs on cards of 8 to 12 GB
        ({"train.sh": "accelerate launch sdxl_train_network.py --pretrained_model_name_or_path=sd_xl_base_1.0.safetensors --resolution=1024,1024 "
          "--network_module=networks.lora --network_dim=32 --train_batch_size=1 --mixed_precision=bf16 --gradient_checkpointing --cache_latents "
          "--optimizer_type=AdamW8bit\n", "sdxl_train_network.py": "import torch\nfrom library import sdxl_train_util\nloss.backward()\n"}, 7, 13),
        # Kerbl et al. 2023, section 7.4: a peak over 20 GB for large scenes
        ({"train.py": "import torch\nfrom diff_gaussian_rasterization import GaussianRasterizer\nloss.backward()\nopt.step()\n"}, 18, 26),
        # DCGAN is small
        ({"train.py": "import torch\nimport torch.nn as nn\nnz, ngf = 100, 64\nclass G(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
          "        self.main = nn.Sequential(nn.ConvTranspose2d(nz, ngf * 8, 4, 1, 0, bias=False), nn.ConvTranspose2d(ngf * 8, 3, 4, 2, 1, bias=False))\n"
          "    def forward(self, x):\n        return self.main(x)\nnet = G().to('cuda')" + STEP}, 1, 3),
    ],
)  # fmt: skip
def test_need_is_near_what_was_published(checkout: Build, files: Mapping[str, str], low: int, high: int) -> None:
    need = analyze(checkout({"requirements.txt": "torch\n", **files})).spec.hardware.needed_gib
    assert need is not None
    assert low <= need <= high


def test_points_along_rays_are_the_batch(checkout: Build) -> None:
    program = "import torch\nimport configargparse\np = configargparse.ArgumentParser()\np.add_argument('--N_rand', type=int, default=1024)\n"
    program += "p.add_argument('--N_samples', type=int, default=64)\np.add_argument('--N_importance', type=int, default=128)\nloss.backward()\nopt.step()\n"
    assert found(checkout({"run_nerf.py": program}))["training.batch_size"] == str(1024 * (64 + 64 + 128))


def test_a_detector_of_ultralytics_is_trained_at_the_size_of_its_call(checkout: Build) -> None:
    program = "from ultralytics import YOLO\nmodel = YOLO('yolov8x.pt')\nmodel.train(data='coco.yaml', imgsz=1280, batch=16)\n"
    done = analyze(checkout({"train.py": program, "requirements.txt": "ultralytics\n"}))
    assert done.spec.meta.workload_type is WorkloadType.TRAINING
    assert 40 < (done.spec.hardware.needed_gib or 0) < 80  # 640 pixels and 16 pictures take 14 to 16 GB


def test_the_program_s_name_tells_generations_of_stable_diffusion_apart(checkout: Build) -> None:
    program = "import torch\nfrom diffusers import UNet2DConditionModel\nunet = UNet2DConditionModel.from_pretrained(args.path)\nloss.backward()\nopt.step()\n"
    sdxl, plain = (
        analyze(checkout({name: program})).findings
        for name in ("train_text_to_image_sdxl.py", "train_text_to_image.py")
    )
    family = [next(f.value for f in findings if f.field == "model.family") for findings in (sdxl, plain)]
    assert family == ["stabilityai/stable-diffusion-xl-base-1.0", "stable-diffusion-v1-5/stable-diffusion-v1-5"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"make.py": "from lab.pipe import AllegroPipeline\npipe = AllegroPipeline.from_pretrained(path)\npipe(prompt)"}, "rhymes-ai/Allegro"),
        ({"make.py": "from diffusers import HunyuanDiTPipeline\npipe = HunyuanDiTPipeline.from_pretrained(path)\npipe(prompt)"},
         "Tencent-Hunyuan/HunyuanDiT-v1.2-Diffusers"),
        ({"make.py": "from step import StepVideoPipeline\npipe = StepVideoPipeline.from_pretrained(path)\npipe(prompt)"}, "stepfun-ai/stepvideo-t2v"),
        # What encodes the prompt is another family's, and a part.
        ({"make.py": "from hyvideo.text_encoder import encode\nfrom hyvideo.pipe import HYVideoPipe\nHYVideoPipe.from_pretrained(path)(encode(prompt))",
          "hyvideo/text_encoder/__init__.py": "from transformers import LlavaForConditionalGeneration\ndef encode(prompt):\n"
          "    return LlavaForConditionalGeneration.from_pretrained(path)(prompt)\n",
          "hyvideo/pipe.py": "class HYVideoPipe:\n    pass\n"}, "tencent/HunyuanVideo"),
        # Near misses: the words of other things.
        ({"make.py": "from music import Allegro\nplayer = Allegro(path)\nplayer(prompt)"}, None),
        ({"make.py": "from lab import StepScheduler\npipe = StepScheduler.from_pretrained(path)\npipe(prompt)"}, None),
    ],
)  # fmt: skip
def test_a_published_pipeline_is_told_by_its_class(
    checkout: Build, files: Mapping[str, str], expected: str | None
) -> None:
    program = f"import torch\n{files['make.py']}.to('cuda')\n"
    findings = analyze(checkout({**files, "make.py": program})).findings
    assert next((f.value for f in findings if f.field == "model.family"), None) == expected


def test_what_was_followed_of_a_published_denoiser_is_not_the_whole(checkout: Build) -> None:
    """Its class starts with one layer; how many it has stands beside its weights."""
    net = "import torch\nclass AllegroTransformer3DModel(torch.nn.Module):\n    def __init__(self, layers=1):\n        super().__init__()\n"
    net += "        self.layers = torch.nn.ModuleList([torch.nn.Linear(64, 64) for _ in range(layers)])\n"
    net += "    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x)\n        return x\n"
    program = "import torch\nfrom net import AllegroTransformer3DModel\nimage_size = 64\nnet = AllegroTransformer3DModel.from_pretrained(path).cuda()"
    found_ = analyze(checkout({"train.py": program + STEP, "net.py": net}))
    assert found_.breakdown is not None
    assert found_.breakdown.expected_gib > 20
    other = analyze(
        checkout({"train.py": (program + STEP).replace("Allegro", "Own"), "net.py": net.replace("Allegro", "Own")})
    )
    assert other.breakdown is not None
    assert other.breakdown.expected_gib < 3


FLUX = "accelerate launch train_control_lora.py --pretrained_model_name_or_path=black-forest-labs/FLUX.1-dev --rank=64 --train_batch_size=1 --mixed_precision=bf16 --gradient_checkpointing --use_8bit_adam --resolution=1024"
CONTROL = (
    "import argparse, torch\nfrom diffusers import FluxTransformer2DModel\nfrom peft import LoraConfig\np = argparse.ArgumentParser()\n"
    "p.add_argument('--offload', action='store_true')\nargs = p.parse_args()\nnet = FluxTransformer2DModel.from_pretrained(args.pretrained_model_name_or_path)\n"
    "net.add_adapter(LoraConfig(r=args.rank))\n# Use 8-bit Adam to fine-tune the model in 16GB GPUs\nif args.use_8bit_adam:\n    import bitsandbytes\n"
    "loss.backward()\noptimizer.step()\nif args.offload:\n    text_encoding_pipeline = text_encoding_pipeline.to('cpu')\n"
)


def test_an_encoder_that_a_training_moves_away_takes_nothing_beside_the_denoiser(checkout: Build) -> None:
    def need(option: str, program: str) -> float:
        files = {"README.md": f"```\n{FLUX}{option}\n```\n", "train_control_lora.py": program}
        return (
            analyze(checkout({"requirements.txt": "torch\ndiffusers\npeft\n", **files})).spec.hardware.needed_gib or 0
        )

    assert need(" --offload", CONTROL) < need("", CONTROL) - 8  # T5 and CLIP: 4.9 billion numbers of 16 bit
    unmoved = CONTROL.replace("text_encoding_pipeline.to('cpu')", "text_encoding_pipeline")
    assert need(" --offload", unmoved) == need("", CONTROL)


def test_a_remark_on_less_than_the_weights_was_written_for_a_smaller_model(checkout: Build) -> None:
    files = {"README.md": f"```\n{FLUX}\n```\n", "train_control_lora.py": CONTROL}
    found = analyze(checkout({"requirements.txt": "torch\ndiffusers\npeft\n", **files}))
    assert found.breakdown is not None
    assert "16 GB" not in " ".join(found.breakdown.notes)
    smaller = {
        path: text.replace("black-forest-labs/FLUX.1-dev", "stabilityai/sdxl-turbo") for path, text in files.items()
    }
    assert (
        analyze(checkout({"requirements.txt": "torch\ndiffusers\npeft\n", **smaller})).spec.hardware.needed_gib or 0
    ) <= 16


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("nvidia/Cosmos-Predict2.5-2B", 10, 11),
        ("THUDM/CogView4-6B", 15, 17),
        ("warp-ai/wuerstchen-prior", 2, 3),
        ("stabilityai/stable-cascade", 5, 7),
    ],
)
def test_pipelines_have_the_parts_of_their_cards(name: str, least: float, most: float) -> None:
    pipeline = find_pipeline(name)
    assert pipeline is not None
    parts = pipeline.denoiser_m + pipeline.text_m + pipeline.decoder_m + pipeline.other_m
    assert least <= parts / 1000 <= most
