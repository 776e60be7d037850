"""What programs and READMEs for language models say in words of their own: adapters, servers beside a training, lost backslashes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import Analysis, analyze
from gpu_lol_action.analysis.commands.launch_lines import command_lines
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.estimation.model_facts import find_model

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "from transformers import AutoModelForCausalLM\nimport torch\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-7B')\n"
STEP = "opt = torch.optim.AdamW(model.parameters())\nloss.backward()\nopt.step()\n"


def value(analysis: Analysis, field: str) -> str:
    found = [f for f in analysis.findings if f.field == field]
    return max(found, key=lambda f: f.confidence).value if found else ""


@pytest.mark.parametrize(
    "freeze",
    [
        "for name, param in model.named_parameters():\n    if 'lora' in name:\n        param.requires_grad = True\n    else:\n        param.requires_grad = False\n",
        'for n, p in model.named_parameters():\n    p.requires_grad = "lora_" in n\n',
        "for n, p in model.named_parameters():\n    p.requires_grad_('lora_' in n)\n",
        "for n, p in model.named_parameters():\n    if 'lora_' not in n:  # the rest\n        p.requires_grad = False\n",
    ],
)
def test_parameters_frozen_by_their_names_are_adapters(checkout: Build, freeze: str) -> None:
    assert value(analyze(checkout({"train.py": TRAIN + freeze + STEP})), "training.method") == "lora"


def test_other_names_that_freeze_are_none(checkout: Build) -> None:
    freeze = (
        "for name, param in model.named_parameters():\n    if 'bias' in name:\n        param.requires_grad = False\n"
    )
    assert value(analyze(checkout({"train.py": TRAIN + freeze + STEP})), "training.method") == "full"


def test_adapters_that_an_imported_module_could_freeze_do_not_speak_for_the_run(checkout: Build) -> None:
    module = (
        "def only_lora(model):\n    for n, p in model.named_parameters():\n        p.requires_grad = 'lora_' in n\n"
    )
    files = {"train.py": f"from lora import only_lora\n{TRAIN}{STEP}", "lora.py": module}
    assert value(analyze(checkout(files)), "training.method") == "full"


def test_a_server_that_the_training_asks_is_started_beside_it(checkout: Build) -> None:
    server = "from transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-7B')\nmodel.generate(x)\n"
    readme = "# x\n## Usage\n```\npython ref_server.py\n```\nthen\n```\ndeepspeed --num_gpus 4 grpo.py\n```\n"
    files = {"README.md": readme, "ref_server.py": server, "grpo.py": f"from ref_server import encode\n{TRAIN}{STEP}"}
    analysis = analyze(checkout(files))
    assert analysis.spec.meta.workload_type.value == "training"
    assert analysis.spec.hardware.gpu_count == 4


def test_options_below_a_command_belong_to_it_where_a_backslash_is_missing(checkout: Build) -> None:
    text = "```\npython train.py \\\n    --do_train=True\n    --train_batch_size=32   \\\n    --epochs 3\n\npython eval.py\n--- a rule ---\n```\n"
    source = checkout({"README.md": text}).find("README.md")
    assert source is not None
    lines = [line.text for line in command_lines(source)]
    assert [" ".join(line.split()) for line in lines][:2] == [
        "python train.py --do_train=True --train_batch_size=32 --epochs 3",
        "python eval.py",
    ]


def test_a_shell_script_goes_on_only_where_it_says_so(checkout: Build) -> None:
    source = checkout({"run.sh": "python train.py\n--epochs 3\n"}).find("run.sh")
    assert source is not None
    assert next(command_lines(source)).text == "python train.py"


@pytest.mark.parametrize(("name", "billions"), [("org/bloomz-7b1-mt", 7.1), ("org/rwkv-1b5", 1.5), ("org/rwkv-4-raven-7b", 7), ("org/mixed-14b2-chat", 14.2)])  # fmt: skip
def test_a_size_with_its_point_in_the_middle_is_read(name: str, billions: float) -> None:
    facts = find_model(name)
    assert facts is not None
    assert facts.parameters_b == pytest.approx(billions, rel=0.01)


def test_the_batch_of_a_training_is_not_what_a_server_holds_at_most(checkout: Build) -> None:
    files = {
        "train.py": f"import argparse\nfrom serve import Server\nparser = argparse.ArgumentParser()\nparser.add_argument('--batch_size', type=int, default=64)\n{TRAIN}{STEP}",
        "serve.py": "import argparse\n\nclass Server:\n    pass\n\ndef parse():\n    parser = argparse.ArgumentParser()\n    parser.add_argument('--max_batch_size', type=int, default=1024)\n",
    }
    assert value(analyze(checkout(files)), "training.batch_size") == "64"


def test_options_below_a_bare_command_belong_to_it_across_remarks_and_empty_lines(checkout: Build) -> None:
    text = "```\n\npython train.py\n\n## main parameters\n--emb_dim 1024   # width\n--n_layers 6     # layers\n\n## optimization\n--bptt 256       # length\n```\n\npython eval.py\n"
    source = checkout({"README.md": text}).find("README.md")
    assert source is not None
    first = next(line for line in command_lines(source) if "train" in line.text)
    assert " ".join(first.text.split()).startswith("python train.py --emb_dim 1024 --n_layers 6 --bptt 256")


def test_a_remark_between_options_of_a_script_does_not_end_the_command(checkout: Build) -> None:
    text = "deepspeed train.py \\\n    # the model\n    --model x \\\n    # the batch\n    --batch_size 4\n"
    source = checkout({"run.sh": text}).find("run.sh")
    assert source is not None
    assert " ".join(next(command_lines(source)).text.split()) == "deepspeed train.py --model x --batch_size 4"


def test_what_nobody_hands_a_script_is_its_own_fallback(checkout: Build) -> None:
    text = 'MODEL=${1}\nMODEL=${MODEL:-"org/own-1b"}\npython train.py --model_name_or_path ${MODEL}\n'
    source = checkout({"run.sh": text}).find("run.sh")
    assert source is not None
    line = next(each for each in command_lines(source) if "python" in each.text)
    assert line.variables["MODEL"] == "org/own-1b"
    given = next(each for each in command_lines(source, {"1": "org/told-2b"}) if "python" in each.text)
    assert given.variables["MODEL"] == "org/told-2b"


def test_a_program_that_takes_its_learner_from_a_library_trains(checkout: Build) -> None:
    program = "import torch\nfrom vllm import LLM\nfrom oat.algorithms.ppo import PPOActor, PPOLearner\n\nclass Actor(PPOActor):\n    def act(self, x):\n        return self.llm.generate(x)\n\nif __name__ == '__main__':\n    LLM('Qwen/Qwen2.5-1.5B').generate('x')\n"
    assert analyze(checkout({"train_math.py": program})).spec.meta.workload_type.value == "training"


def test_a_gradient_that_only_steers_what_is_written_trains_nothing(checkout: Build) -> None:
    steers = "import torch\nfrom transformers import GPT2LMHeadModel\nmodel = GPT2LMHeadModel.from_pretrained('gpt2-medium').cuda()\nloss.backward()\nnext_token = torch.multinomial(probs, 1)\n"
    analysis = analyze(checkout({"run.py": steers}))
    assert analysis.spec.meta.workload_type.value == "inference"
    trains = f"{steers}optimizer = torch.optim.Adam(model.parameters())\noptimizer.step()\n"
    assert analyze(checkout({"run.py": trains})).spec.meta.workload_type.value == "training"


def test_weights_read_out_of_a_folder_of_a_models_name_are_that_models(checkout: Build) -> None:
    program = "import torch\nweights = torch.load('Meta-Llama-3-8B/consolidated.00.pth')\nmodel.generate(x)\n"
    assert value(analyze(checkout({"demo.py": program})), "model.id") == "Meta-Llama-3-8B"
    other = program.replace("Meta-Llama-3-8B", "run-12b-of-mine-2024x")
    assert value(analyze(checkout({"demo.py": other})), "model.id") == ""


def test_a_folder_of_modelscope_is_named_like_its_model() -> None:
    facts = find_model("Qwen/Qwen2___5-Coder-1___5B")
    assert facts is not None
    assert facts.parameters_b == pytest.approx(1.54, rel=0.05)


def test_an_option_that_is_to_be_filled_in_leaves_the_programs_own_model(checkout: Build) -> None:
    program = "import argparse\nfrom transformers import AutoModelForCausalLM\nparser = argparse.ArgumentParser()\nparser.add_argument('--model-name', default='facebook/opt-1.3b')\nargs = parser.parse_args()\nmodel = AutoModelForCausalLM.from_pretrained(args.model_name)\nmodel.generate(x)\n"
    files = {
        "scales.py": program,
        "README.md": "For models beyond 100 billion parameters.\n```\npython scales.py --model-name <model_name_or_path>\n```\n",
    }
    analysis = analyze(checkout(files))
    assert analysis.breakdown is not None
    assert analysis.breakdown.required_gib < 10


def test_an_optimizer_that_a_dictionary_keeps_in_main_memory_is_off_the_card(checkout: Build) -> None:
    config = "ds_config = {'bf16': {'enabled': True}, 'zero_optimization': {'stage': 2, 'offload_optimizer': {'device': 'cpu'}}}\n"
    program = f"import deepspeed\n{TRAIN}{config}engine, *_ = deepspeed.initialize(config=ds_config, model=model)\nengine.backward(loss)\nengine.step()\n"
    assert value(analyze(checkout({"grpo.py": program})), "training.offload") == "optimizer"


@pytest.mark.parametrize(("said", "gib"), [("LoRA 微调: 1张显卡 占用 `14082MiB` 显存。", 13.8), ("Training needs 48,346 MiB of GPU memory.", 47.2), ("uses about 11 GB of GPU memory", 11)])  # fmt: skip
def test_memory_in_mebibytes_is_read(checkout: Build, said: str, gib: float) -> None:
    files = {"train.py": TRAIN + STEP, "README.md": f"# x\n{said}\n```\npython train.py\n```\n"}
    found = [f for f in analyze(checkout(files)).findings if f.field.endswith("memory_gb")]
    assert [float(f.value) for f in found] == [gib]


def test_a_column_of_bandwidths_is_no_memory(checkout: Build) -> None:
    table = "| Model | Memory Bandwidth (GB/s) |\n|---|---|\n| Llama-2-7B | 397.31 |\n"
    files = {"train.py": TRAIN + STEP, "README.md": f"# x\n{table}\n```\npython train.py\n```\n"}
    assert not [f for f in analyze(checkout(files)).findings if f.field.endswith("memory_gb")]


def test_a_section_on_a_pretrained_model_is_not_the_main_run(checkout: Build) -> None:
    readme = "# x\n## Train\n```\npython train.py --batch_size 4\n```\n## Fine-tune a pretrained model\n```\npython glue.py\n```\n"
    files = {"README.md": readme, "train.py": TRAIN + STEP, "glue.py": TRAIN + STEP}
    assert value(analyze(checkout(files)), "entry_point") == "python train.py"


@pytest.mark.parametrize(("option", "parameters"), [("", 0.11), ("--bert_dir /data/bert/bert_uncased_large", 0.335), ("--bert_dir /data/bert/bert_uncased_base", 0.11), ("--out /large/run", 0.11)])  # fmt: skip
def test_a_path_says_that_the_large_encoder_is_meant(checkout: Build, option: str, parameters: float) -> None:
    program = "import torch\nfrom models import BertQuery\nmodel = BertQuery.from_pretrained(args.bert_dir).cuda()\nopt = torch.optim.AdamW(model.parameters())\nloss.backward()\n"
    module = "from transformers import BertModel, BertPreTrainedModel\n\nclass BertQuery(BertPreTrainedModel):\n    def __init__(self, config):\n        self.bert = BertModel(config)\n"
    files = {"train.py": program, "models.py": module, "run.sh": f"python train.py {option}\n"}
    breakdown = analyze(checkout(files)).breakdown
    assert breakdown is not None
    weights = next(term.gib for term in breakdown.terms if term.name == "weights")
    assert weights == pytest.approx(parameters * 4 / 1.0737, rel=0.05)


def test_an_option_that_says_billions_picks_the_member_of_the_family(checkout: Build) -> None:
    program = (
        "import torch\nfrom absl import flags\nfrom gemma import model as gemma_model\nflags.DEFINE_string('variant', '4b', 'Which.')\n"
        "net = gemma_model.GemmaForCausalLM(config).cuda()\nnet.generate('x')\n"
    )
    files = {"run.py": program, "README.md": '```\npython run.py --variant="${VARIANT}"\n```\n'}
    breakdown = analyze(checkout(files)).breakdown
    assert breakdown is not None
    assert next(term.gib for term in breakdown.terms if term.name == "weights") < 9


@pytest.mark.parametrize(("line", "is_small"), [("MODEL = '0.6B'  # or 4B", True), ("MODEL = 'large'", False)])
def test_a_constant_of_billions_picks_the_member_of_the_family(checkout: Build, line: str, is_small: bool) -> None:
    program = f"import torch\nfrom lessons import QwenModel\n{line}\nnet = QwenModel.from_pretrained(folder_of(MODEL)).cuda()\nnet.generate('x')\n"
    breakdown = analyze(checkout({"chat.py": program})).breakdown
    assert breakdown is not None
    assert (breakdown.required_gib < 6) is is_small


def test_what_a_model_puts_out_is_no_model(checkout: Build) -> None:
    module = "def wrap(x):\n    return Seq2SeqLMOutput(logits=x)\n"
    program = "import torch\nfrom transformers import AutoModel\nfrom outputs import wrap\nmodel = AutoModel.from_pretrained('bert-base-uncased').cuda()\nopt = torch.optim.AdamW(model.parameters())\nloss.backward()\n"
    breakdown = analyze(checkout({"train.py": program, "outputs.py": module})).breakdown
    assert breakdown is not None
    assert breakdown.required_gib < 12


@pytest.mark.parametrize(("shown", "batch"), [("torch.randint(0, 20000, (2, 1024))", "2"), ("torch.randn(6, 3, 64, 64)", "6"), ("torch.randn(512)", "")])  # fmt: skip
def test_the_input_that_a_readme_makes_up_says_how_many_samples(checkout: Build, shown: str, batch: str) -> None:
    readme = f"# x\n```python\nimport torch\nfrom net import Net\nnet = Net(dim=64)\nx = {shown}\nloss = net(x)\nloss.backward()\n```\n"
    files = {
        "README.md": readme,
        "net/__init__.py": "from torch import nn\nclass Net(nn.Module):\n    def __init__(self, dim):\n        self.a = nn.Linear(dim, dim)\n    def forward(self, x):\n        return self.a(x)\n",
    }
    assert value(analyze(checkout(files)), "training.batch_size") == batch


@pytest.mark.parametrize(("call", "workload"), [("'m.bin'", "cpu-only"), ("'m.bin', gpu_layers=50", "inference")])
def test_a_runtime_of_ggml_stays_on_the_cpu_until_it_is_told_of_layers(
    checkout: Build, call: str, workload: str
) -> None:
    program = f"from ctransformers import AutoModelForCausalLM\nfrom transformers import AutoTokenizer\nsplit = AutoTokenizer.from_pretrained('mosaicml/mpt-30b-chat')\nllm = AutoModelForCausalLM.from_pretrained({call})\nprint(llm.generate('x'))\n"
    files = {"inference.py": program, "requirements.txt": "ctransformers==0.2.10\ntransformers==4.30.2\n"}
    assert analyze(checkout(files)).spec.meta.workload_type.value == workload


def test_ram_of_a_gpu_is_its_memory(checkout: Build) -> None:
    files = {
        "train.py": TRAIN + STEP,
        "README.md": "# x\n```\npython train.py\n```\nThe above uses about 20GB of RAM on a single GPU.\n",
    }
    found = [f for f in analyze(checkout(files)).findings if f.field.endswith("memory_gb")]
    assert [f.value for f in found] == ["20"]


@pytest.mark.parametrize(
    ("path", "layers", "hidden"),
    [("/kg/bert/chinese_L-12_H-768_A-12/bert_config.json", 12, 768), ("uncased_L-24_H-1024_A-16", 24, 1024), ("gs://x/cased_L-4_H-512", 4, 512)],
)  # fmt: skip
def test_a_folder_says_the_shape_of_its_encoder(path: str, layers: int, hidden: int) -> None:
    facts = find_model(path)
    assert facts is not None
    assert (facts.layers, facts.hidden_size, facts.kind) == (layers, hidden, "encoder")


def test_a_path_to_a_shaped_folder_names_the_runs_model(checkout: Build) -> None:
    program = "from bert4keras.models import build_transformer_model\nfrom keras.optimizers import Adam\nconfig_path = '/kg/chinese_L-12_H-768_A-12/bert_config.json'\nmaxlen = 128\nbatch_size = 32\nbert = build_transformer_model(config_path)\nbert.fit(x)\n"
    analysis = analyze(checkout({"task.py": program}))
    assert value(analysis, "model.id") == "chinese_L-12_H-768_A-12"
    assert value(analysis, "training.sequence_length") == "128"


def test_an_option_names_the_file_of_the_checkouts_own_model(checkout: Build) -> None:
    program = "import torch\nfrom net import create\nmodel = create(args.model)\nopt = torch.optim.AdamW(model.parameters())\nloss.backward()\n"
    files = {
        "main.py": program,
        "net.py": "def create(name, dim: int = 512, n_layers: int = 8):\n    pass\n",
        "model_configs/open_3b.json": '{"hidden_dim": 2560, "n_layers": 32, "n_heads": 32, "vocab_size": 50432}',
        "model_configs/open_1b.json": '{"hidden_dim": 2048, "n_layers": 24, "n_heads": 16, "vocab_size": 50432}',
        "README.md": "```\ntorchrun --nproc_per_node 4 main.py --model open_3b --batch_size 8\n```\n",
    }
    analysis = analyze(checkout(files))
    assert (value(analysis, "model.layers"), value(analysis, "model.hidden_size")) == ("32", "2560")


@pytest.mark.parametrize(("said", "method"), [("--load_in_kbits 4", "qlora"), ("--load_in_kbits 16", "lora")])
def test_a_switch_of_bits_quantizes(checkout: Build, said: str, method: str) -> None:
    files = {
        "sft.py": f"from peft import LoraConfig, get_peft_model\n{TRAIN}model = get_peft_model(model, LoraConfig(r=8))\n{STEP}",
        "run.sh": f"python sft.py {said}\n",
    }
    assert value(analyze(checkout(files)), "training.method") == method


def test_a_program_is_named_for_its_adapters(checkout: Build) -> None:
    assert value(analyze(checkout({"train_lora.py": TRAIN + STEP})), "training.method") == "lora"
    assert value(analyze(checkout({"train_explorative.py": TRAIN + STEP})), "training.method") == "full"
