"""How research programs name and start their networks: modules by name, options from a table, batches for all cards."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import Analysis, analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.networks.sources import only_judges
from gpu_lol_action.analysis.programs.import_graph import local_imports

Build = Callable[[Mapping[str, str]], Checkout]
NET = """import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.net = nn.Conv2d(3, width, 1)

    def forward(self, x):
        return self.net(x)
"""
TRAIN = "net = net.cuda()\nopt = torch.optim.Adam(net.parameters())\nimage_size = 64\nloss.backward()\n"


def value(analysis: Analysis, field: str) -> str:
    found = [f for f in analysis.findings if f.field == field]
    return max(found, key=lambda f: f.confidence).value if found else ""


@pytest.mark.parametrize("line", ["importlib.import_module(args.model)", "importlib.import_module(f'models.{args.model}')", "__import__(args.model)"])  # fmt: skip
def test_a_module_that_an_option_names_builds_the_network(checkout: Build, line: str) -> None:
    program = (
        "import argparse, importlib, torch\nparser = argparse.ArgumentParser()\nparser.add_argument('--model', default='plain')\n"
        f"args = parser.parse_args()\nmodule = {line}\nnet = module.Net()\n{TRAIN}"
    )
    other = NET.replace("width=32", "width=999")
    files = {
        "train.py": program,
        "models/plain.py": NET,
        "models/wide.py": other,
        "README.md": "```\npython train.py\n```\n",
    }
    assert value(analyze(checkout(files)), "media.own_parameters") == str(3 * 32 + 32)
    files["README.md"] = "```\npython train.py --model wide\n```\n"
    assert value(analyze(checkout(files)), "media.own_parameters") == str(3 * 999 + 999)


def test_options_that_the_program_makes_from_a_table_start_with_its_values(checkout: Build) -> None:
    program = NET + (
        "import argparse\n\ndef defaults():\n    return dict(width=48)\n\nparser = argparse.ArgumentParser()\n"
        "for key, start in defaults().items():\n    parser.add_argument(f'--{key}', default=start, type=type(start))\n"
        "args = parser.parse_args()\nnet = Net(**{key: getattr(args, key) for key in defaults().keys()})\n" + TRAIN
    )
    analysis = analyze(checkout({"train.py": program}))
    assert value(analysis, "media.own_parameters") == str(3 * 48 + 48)


def test_mpiexec_starts_a_process_per_card(checkout: Build) -> None:
    files = {
        "scripts/train.py": NET + "net = Net()\n" + TRAIN + "\nif __name__ == '__main__':\n    pass\n",
        "scripts/launch.sh": "mpiexec -n 4 python train.py --batch_size 7\n",
    }
    analysis = analyze(checkout(files))
    assert analysis.spec.hardware.gpu_count == 4
    assert value(analysis, "training.batch_size") == "7"


def test_data_parallel_cuts_the_batch_into_a_part_per_card(checkout: Build) -> None:
    program = NET + "net = nn.DataParallel(Net())\nbatch_size = 64\n" + TRAIN
    command = "```\nCUDA_VISIBLE_DEVICES=0,1,2,3 python train.py\n```\n"
    analysis = analyze(checkout({"train.py": program, "README.md": command}))
    assert value(analysis, "training.batch_spread") == "all"
    assert analysis.breakdown is not None
    assert any("batch 16" in term.basis for term in analysis.breakdown.terms)
    single = analyze(checkout({"train.py": program.replace("nn.DataParallel", "nn.parallel.DistributedDataParallel")}))
    assert value(single, "training.batch_spread") == ""


def test_a_step_of_an_optimizer_that_somebody_else_takes_trains(checkout: Build) -> None:
    """Scalers of libraries do the backward pass; what is left in the program is that gradients are cleared."""
    program = NET + "net = Net().cuda()\nnet.load_state_dict(s)\noptimizer.zero_grad()\nscaler(loss, optimizer)\n"
    assert analyze(checkout({"main.py": program})).spec.meta.workload_type.value == "training"


def test_a_network_of_which_little_was_reached_is_not_believed(checkout: Build) -> None:
    hidden = NET.replace("nn.Conv2d(3, width, 1)", "nn.Conv2d(3, width, 1)\n        self.rest = nn.Linear(4096, 4096)")
    analysis = analyze(checkout({"train.py": hidden + "net = Net()\n" + TRAIN}))
    assert analysis.breakdown is None
    assert analysis.spec.hardware.vram_required_gb == 12


def test_a_batch_that_no_card_holds_is_as_large_as_the_largest_holds(checkout: Build) -> None:
    layers = "nn.Sequential(*[nn.Conv2d(3 if i == 0 else 512, 512, 3, padding=1) for i in range(40)])"
    program = NET.replace("nn.Conv2d(3, width, 1)", layers) + "net = Net()\nbatch_size = 4096\n" + TRAIN
    analysis = analyze(checkout({"train.py": program}))
    need = analysis.spec.hardware.vram_required_gb
    assert need is not None
    assert 80 < need <= 141
    assert any("a batch of" in sentence and "no card holds" in sentence for sentence in analysis.not_understood)


def test_networks_that_judge_are_not_what_is_trained(checkout: Build) -> None:
    files = {
        "train.py": "import torch\nfrom metrics.inception import score\n" + NET + "net = Net()\n" + TRAIN,
        "metrics/__init__.py": "",
        "metrics/inception.py": "import torchvision\n\ndef score(x):\n    return torchvision.models.inception_v3()(x)\n",
    }
    analysis = analyze(checkout(files))
    assert value(analysis, "media.network") == ""
    assert value(analysis, "media.own_network") == "Net"


@pytest.mark.parametrize(
    ("path", "judges"),
    [("metrics/fid.py", True), ("inception_utils.py", True), ("lpips/__init__.py", True), ("eval/perceptual_loss.py", True),
     ("models/inception_resnet.py", False), ("model.py", False), ("fidelity.py", False)],
)  # fmt: skip
def test_what_judges_is_told_by_its_name(checkout: Build, path: str, judges: bool) -> None:
    tree = checkout({path: "import torch\n"})
    source = tree.find(path)
    assert source is not None
    assert only_judges(source) is judges


def test_imports_of_a_larger_tree_mean_the_folder_that_is_here(checkout: Build) -> None:
    tree = checkout({"tools/run.py": "from company.group.video.tools.steps import step\nimport torch.nn.modules.conv\n",
                     "tools/steps.py": "def step(): pass\n", "modules/conv.py": "x = 1\n"})  # fmt: skip
    run = tree.find("tools/run.py")
    assert run is not None
    assert [source.path for source in local_imports(tree, run)] == ["tools/steps.py"]


def test_what_is_spawned_builds_the_network_with_what_it_is_handed(checkout: Build) -> None:
    program = NET + (
        "import torch.multiprocessing as mp\n\ndef work(rank, width):\n    net = Net(width).cuda()\n    loss.backward()\n\n"
        "mp.spawn(work, nprocs=2, args=(40,))\nimage_size = 64\n"
    )
    assert value(analyze(checkout({"train.py": program})), "media.own_parameters") == str(3 * 40 + 40)


@pytest.mark.parametrize(("key", "count"), [("train_gpu", 8), ("gpu_ids", 8), ("seeds", 1)])
def test_cards_that_a_configuration_lists_are_counted(checkout: Build, key: str, count: int) -> None:
    listed = ", ".join(str(number) for number in range(8))
    files = {
        "train.py": NET + "net = Net()\n" + TRAIN,
        "a.yaml": f"TRAIN:\n  {key}: [{listed}]\n  base_lr: 0.1\n",
        "README.md": "```\npython train.py --config a.yaml\n```\n",
    }
    assert analyze(checkout(files)).spec.hardware.gpu_count == count


def test_networks_of_which_one_counts_by_position_do_not_add_up(checkout: Build) -> None:
    text = "class Reader(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.net = nn.Embedding(100, 64)\n    def forward(self, x):\n        return self.net(x)\n"
    analysis = analyze(checkout({"train.py": NET + text + "other = Reader()\nnet = Net()\n" + TRAIN}))
    found = [f for f in analysis.findings if f.field == "media.own_outputs"]
    assert [f.confidence.name for f in found] == ["LOW"]


def test_a_network_of_graphs_is_no_language_model_for_its_layers_and_width(checkout: Build) -> None:
    net = (
        NET.replace("nn.Conv2d(3, width, 1)", "nn.Linear(9, 64)")
        + "num_layers = 5\nhidden_size = 600\nbatch_size = 256\n"
    )
    analysis = analyze(checkout({"train.py": net + "net = Net()\n" + TRAIN.replace("image_size = 64\n", "")}))
    assert any(f.why.startswith("Net (") for f in analysis.findings if f.field == "hardware.vram_required_gb")


def test_of_cards_that_were_used_alike_the_smallest_that_holds_the_sum_counts(checkout: Build) -> None:
    net = NET.replace(
        "nn.Conv2d(3, width, 1)",
        "nn.Sequential(*[nn.Conv2d(3 if i == 0 else 64, 64, 3, padding=1) for i in range(40)])",
    )
    program = net + "net = Net()\nbatch_size = 128\n" + TRAIN
    said = "# Results\nTraining was run on 8x A100 80GB GPUs.\nTraining was run on 8x V100 16GB GPUs.\n## Training\n```\npython train.py\n```\n"
    need = analyze(checkout({"train.py": program, "README.md": said})).spec.hardware.vram_required_gb
    assert need is not None
    assert 8 <= need <= 16


def test_layers_that_a_program_builds_infer_at_32_bit(checkout: Build) -> None:
    program = NET.replace("nn.Conv2d(3, width, 1)", "nn.Linear(20000, 50000)") + (
        "\ndef main():\n    net = Net().cuda().eval()\n    net.load_state_dict(torch.load('a.pt'))\n    net(x)\n\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    analysis = analyze(checkout({"demo.py": program}))
    assert analysis.spec.meta.workload_type.value == "inference"
    assert analysis.breakdown is not None
    weights = next(term for term in analysis.breakdown.terms if term.name == "weights")
    assert weights.gib == pytest.approx(4e9 / 2**30, rel=0.05)
    half = analyze(checkout({"demo.py": program.replace(".eval()", ".eval().half()")})).breakdown
    assert half is not None
    assert next(term for term in half.terms if term.name == "weights").gib == pytest.approx(2e9 / 2**30, rel=0.05)


def test_width_stands_in_the_section_of_the_layers(checkout: Build) -> None:
    settings = (
        "stage1:\n  embed_dim: 256\nstage2:\n  hparams:\n    embed_dim: 1536\n    n_layers: 42\n    n_heads: 24\n"
    )
    files = {
        "train.py": "import torch\nfrom elsewhere import build\nnet = build(cfg).cuda()\nloss.backward()\n",
        "a.yaml": settings,
        "README.md": "```\npython train.py --config a.yaml\n```\n",
    }
    assert value(analyze(checkout(files)), "model.hidden_size") == "1536"


@pytest.mark.parametrize(("model", "pictures"), [("UNet3DConditionModel", 16), ("UNet2DConditionModel", 1)])
@pytest.mark.parametrize("step", ["", "loss.backward()\ntorch.optim.AdamW(unet.parameters()).step()\n"])
def test_a_denoiser_for_pictures_that_is_taken_to_clips_has_all_of_one_at_once(
    checkout: Build, model: str, pictures: int, step: str
) -> None:
    program = (
        "import argparse\nfrom omegaconf import OmegaConf\nfrom diffusers import AutoencoderKL\n"
        f"from clips import {model}\nparser = argparse.ArgumentParser()\nparser.add_argument('--config')\n"
        "parser.add_argument('--model', default='runwayml/stable-diffusion-v1-5')\nparser.add_argument('--video_length', type=int, default=16)\n"
        "args = parser.parse_args()\nvae = AutoencoderKL.from_pretrained(args.model, subfolder='vae').to('cuda')\n"
        f"unet = {model}.from_pretrained(args.model, subfolder='unet').to('cuda')\n{step}"
    )
    files = {
        "animate.py": program,
        "a.yaml": f"size: 512\nsteps: 25\nguidance_scale: 7.5\n{'train_batch_size: 1' if step else ''}\n",
        "README.md": "```\npython animate.py --config a.yaml\n```\n",
    }
    analysis = analyze(checkout(files))
    assert value(analysis, "media.image_size") == "512"
    assert analysis.breakdown is not None
    assert any(f" {pictures} x 512 x 512" in f" {term.basis}" for term in analysis.breakdown.terms)


def test_a_configuration_beside_the_program_sizes_what_nothing_else_does(checkout: Build) -> None:
    program = (
        "import argparse, json, torch\n"
        + NET.replace("nn.Conv2d(3, width, 1)", "nn.ModuleList([nn.Conv2d(3, w, 1) for w in width])").replace(
            "return self.net(x)", "return [net(x) for net in self.net]"
        )
        + (
            "parser = argparse.ArgumentParser()\nparser.add_argument('--config', default='')\nargs = parser.parse_args()\n"
            "h = json.load(open(args.config))\nnet = Net(h.widths)\ntrain_loader = DataLoader(trainset, batch_size=h.batch_size)\n"
            "valid_loader = DataLoader(validset, batch_size=1)\n"
        )
    )
    files = {"train.py": program + TRAIN, "config_v1.json": '{"widths": [5, 7], "batch_size": 24}'}
    analysis = analyze(checkout(files))
    assert value(analysis, "media.own_parameters") == str(12 * 4)
    assert value(analysis, "training.batch_size") == "24"


def test_a_loader_that_validates_says_nothing_of_the_batch(checkout: Build) -> None:
    loaders = "train = DataLoader(trainset, batch_size=48)\nvalid = DataLoader(val_dataset, batch_size=1)\n"
    for lines in (loaders, "\n".join(reversed(loaders.splitlines())) + "\n"):
        assert (
            value(analyze(checkout({"train.py": NET + "net = Net()\n" + lines + TRAIN})), "training.batch_size") == "48"
        )
    alone = "test = DataLoader(test_set, batch_size=5)\n"
    assert value(analyze(checkout({"train.py": NET + "net = Net()\n" + alone + TRAIN})), "training.batch_size") == "5"


def test_a_batch_that_is_divided_in_place_is_for_all_cards(checkout: Build) -> None:
    lines = "net = Net()\nargs.batch_size //= distrib.world_size\nbatch_size = 64\n"
    assert value(analyze(checkout({"train.py": NET + lines + TRAIN})), "training.batch_spread") == "all"


@pytest.mark.parametrize(("module", "is_default"), [("conditioners", True), ("backbones", False)])
def test_an_encoder_of_conditions_is_not_what_is_trained(checkout: Build, module: str, is_default: bool) -> None:
    files = {
        "train.py": "import torch\nfrom parts.builders import build\nnet = build(cfg).cuda()\nloss.backward()\n",
        "parts/__init__.py": "",
        "parts/builders.py": f"from parts.{module} import Sounds\n\ndef build(cfg):\n    return cfg.model(Sounds())\n",
        f"parts/{module}.py": "from transformers import AutoModel\n\nclass Sounds:\n    def __init__(self):\n"
        "        self.net = AutoModel.from_pretrained('m-a-p/MERT-v1-95M')\n",
    }
    assert (analyze(checkout(files)).breakdown is None) is is_default


def test_layers_that_are_cut_over_cards_have_weights_too(checkout: Build) -> None:
    program = "from fairscale.nn.model_parallel.layers import ColumnParallelLinear, ParallelEmbedding\n" + NET.replace(
        "nn.Conv2d(3, width, 1)",
        "nn.Sequential(ParallelEmbedding(1000, 64), ColumnParallelLinear(64, 256, bias=False))",
    )
    analysis = analyze(checkout({"train.py": program + "net = Net()\n" + TRAIN.replace("image_size = 64\n", "")}))
    assert value(analysis, "media.own_parameters") == str(1000 * 64 + 64 * 256)
    assert value(analysis, "media.own_sequence") == "yes"


def test_a_family_that_is_named_comes_before_the_little_that_was_followed(checkout: Build) -> None:
    program = NET.replace("nn.Conv2d(3, width, 1)", "nn.Linear(9, 9)") + (
        "from transformers import LlamaForCausalLM\n\ndef main():\n    net = Net().cuda()\n    model = LlamaForCausalLM.from_pretrained(path)\n"
        "    model.generate(x)\n\nif __name__ == '__main__':\n    main()\n"
    )
    need = analyze(checkout({"demo.py": program})).spec.hardware.vram_required_gb
    assert need is not None
    assert need > 12


def test_a_script_beside_the_run_adds_to_a_librarys_list(checkout: Build) -> None:
    files = {
        "setup.py": "from setuptools import setup\nsetup(name='lib', packages=['lib'], install_requires=['torch', 'numpy', 'pyyaml', 'tqdm'])\n",
        "lib/__init__.py": "import torch\ndef read():\n    import lib.tables\n",
        "lib/more.py": "import torch, scipy\n",
        "lib/tables.py": "import pandas\n",
        "tools/run.py": "import lib.more\nfrom steps import step\n\nif __name__ == '__main__':\n    step()\n",
        "tools/steps.py": "import torch\nimport fvcore\n\ndef step():\n    loss.cuda().backward()\n",
        "README.md": "```\npython tools/run.py\n```\n",
    }
    found = [f.value for f in analyze(checkout(files)).findings if f.field == "dependencies.requirements"]
    assert {"fvcore", "scipy"} <= set(found)  # without which it ends as it starts
    assert "pandas" not in found


def test_what_judges_is_not_trained_where_nothing_else_was_followed(checkout: Build) -> None:
    files = {
        "train.py": "import torch\nfrom inception_utils import score\nnet = elsewhere.build(cfg).cuda()\n"
        + TRAIN
        + "score(net)\n",
        "inception_utils.py": NET + "\ndef score(net):\n    return Net()(net)\n",
    }
    analysis = analyze(checkout(files))
    assert value(analysis, "media.own_network") == ""
    assert analysis.spec.hardware.vram_required_gb == 12
