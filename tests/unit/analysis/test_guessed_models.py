"""A model that is only guessed, beside documentation that says how much memory is asked for."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.memory.memory_model import model_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from tests.unit.analysis.conftest import Build

TRAIN = "import torch\nfrom transformers import PaliGemmaForConditionalGeneration\nmodel = PaliGemmaForConditionalGeneration.from_pretrained(path).cuda()\nloss = model(x).loss\nloss.backward()\ntorch.optim.AdamW(model.parameters())\n"
TABLE = "# P\n## Requirements\n| Mode | Memory Required |\n|---|---|\n| Full fine-tuning | > 70 GB |\n\n```\npython train.py\n```\n"


def test_it_is_not_spread_over_cards_against_an_amount_on_one(checkout):
    guessed = analyze(checkout({"README.md": "```\npython train.py\n```\n", "train.py": TRAIN}))
    told = analyze(checkout({"README.md": TABLE, "train.py": TRAIN}))
    assert told.breakdown is not None
    assert guessed.breakdown is not None
    assert told.spec.hardware.gpu_count == 1
    assert told.spec.hardware.vram_required_gb == 80
    assert any(finding.value == "google/paligemma-3b-mix-224" for finding in told.findings)


@pytest.mark.parametrize(("folder", "is_pipeline"), [("hyvideo/text_encoder", True), ("hyvideo/language", False)])
def test_the_shape_of_what_reads_prompts_is_not_the_pipeline_s(folder, is_pipeline):
    where = Evidence(f"{folder}/configuration_a.py", 9)
    numbers = {"layers": "24", "hidden_size": "1024", "vocabulary": "32000", "attention_heads": "16"}
    shape = [Finding(f"model.{key}", value, "", Confidence.MEDIUM, where) for key, value in numbers.items()]
    made = Finding(
        "model.family", "tencent/HunyuanVideo", "`HYVideo` makes it", Confidence.LOW, Evidence("nodes.py", 3)
    )
    model = model_of((made, *shape), {})
    assert model is not None
    assert (model.name == "tencent/HunyuanVideo") is is_pipeline


FILMS = "import torch\nfrom films import WanPipeline\nif __name__ == '__main__':\n    WanPipeline.from_pretrained(path).to('cuda')(prompt)\n"


@pytest.mark.parametrize(
    ("option", "model"),
    [
        ("model_path=/data/weights/Ours-T2V-1.3B-Diffusers", "Wan-AI/Wan2.1-T2V-1.3B"),
        ("--ckpt_dir /data/weights/Ours-T2V-1.3B/", "Wan-AI/Wan2.1-T2V-1.3B"),
        # A size that no member of the family has, a path of something else, or of more than one size.
        ("--ckpt_dir /data/weights/Ours-9B", "Wan-AI/Wan2.1-T2V-14B"),
        ("--save_model_path out/Ours-1.3B", "Wan-AI/Wan2.1-T2V-14B"),
        ("--ckpt_dir /data/weights/Ours-14B-to-1.3B", "Wan-AI/Wan2.1-T2V-14B"),
    ],
)
def test_the_path_of_the_weights_says_which_member_of_a_family(checkout, option, model):
    tree = checkout({"README.md": f"```\npython demo.py {option}\n```\n", "demo.py": FILMS})
    assert [f.value for f in analyze(tree).findings if f.field == "model.family"] == [model]


def test_the_path_of_a_language_model_s_weights_says_its_size(checkout):
    code = "from transformers import LlamaForCausalLM\nif __name__ == '__main__':\n    LlamaForCausalLM.from_pretrained(args.model_path).cuda().generate(x)\n"
    tree = checkout({"README.md": "```\npython chat.py --model_path /data/ours-sft-13b\n```\n", "chat.py": code})
    assert [f.value for f in analyze(tree).findings if f.field == "model.family"] == ["meta-llama/Llama-13b"]


HERE = Evidence("README.md", 7)
GUESSED = Finding(
    "model.family",
    "meta-llama/Llama-2-7b-hf",
    "`AutoModelForCausalLM.from_pretrained` is of the family of it",
    Confidence.LOW,
    HERE,
)
HEARS = Finding("model.id", "openai/whisper-large-v3", "", Confidence.MEDIUM, Evidence("a.py", 1))


def own(confidence):
    fields = {"own_network": "CFM", "own_parameters": "333215944", "own_outputs": "4000", "own_at_work": "200"}
    return tuple(Finding(f"media.{key}", value, "", confidence, Evidence("a.py", 2)) for key, value in fields.items())


@pytest.mark.parametrize(
    ("confidence", "why", "size"),
    [
        (Confidence.HIGH, GUESSED.why, 0.33),
        (Confidence.LOW, GUESSED.why, 6.7),
        (Confidence.HIGH, "`LlamaForCausalLM` is of it", 6.7),
    ],
)
def test_a_network_that_is_surely_built_wins_over_a_class_that_loads_anything(confidence, why, size):
    family = Finding(GUESSED.field, GUESSED.value, why, Confidence.LOW, HERE)
    model = model_of((HEARS, family, *own(confidence)), {})
    assert model is not None
    assert model.parameters_b == pytest.approx(size, rel=0.1)


@pytest.mark.parametrize(
    ("field", "is_part"),
    [("media.image_size", True), ("media.frames", True), ("media.audio_seconds", False), ("model.layers", False)],
)
def test_what_hears_is_a_part_of_what_sees(field, is_part):
    model = model_of((HEARS, Finding(field, "256", "", Confidence.MEDIUM, HERE)), {})
    assert (model is None) is is_part


@pytest.mark.parametrize(("line", "is_meant"), [(7, True), (9, False)])
def test_a_command_that_infers_says_of_what_shape_the_model_is(line, is_meant):
    entry = Finding("entry_point", "python generate.py", "", Confidence.HIGH, Evidence("README.md", 7))
    numbers = {"layers": "48", "hidden_size": "2560", "attention_heads": "40"}
    said = [Finding(f"model.{k}", v, "", Confidence.HIGH, Evidence("README.md", line)) for k, v in numbers.items()]
    family = Finding("model.family", "openai-community/gpt2", "`GPT2Model` is of it", Confidence.LOW, HERE)
    model = model_of((entry, family, *said), {})
    assert model is not None
    assert (model.parameters_b > 3) is is_meant


@pytest.mark.parametrize(
    ("path", "is_sized"),
    [
        ("scripts/opt/single_gpu/run_1.3b.sh", True),
        ("scripts/options/run_1.3b.sh", False),  # no family's word alone
        ("scripts/opt/run.sh", False),
    ],
)
def test_a_folder_says_the_family_and_a_script_its_size(checkout: Build, path: str, *, is_sized: bool) -> None:
    program = "import torch\nfrom transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained(args.actor)\nloss.backward()\n"
    files = {"main.py": program, path: "ACTOR=$1\ndeepspeed --num_gpus 1 main.py --actor $ACTOR\n"}
    named = [f.value for f in analyze(checkout(files)).findings if f.field == "model.family"]
    assert ("opt-1.3b" in named) is is_sized


def test_measuring_an_engine_runs_a_model(checkout: Build) -> None:
    script = "python -m sglang.bench_offline_throughput --model-path meta-llama/Llama-3.1-8B --num-prompts 128\n"
    analysis = analyze(checkout({"run.sh": script}))
    assert analysis.proposed.meta.workload_type.value == "inference"
    assert analysis.proposed.hardware.vram_required_gb >= 20


@pytest.mark.parametrize(("library", "is_family"), [("llama_cpp", False), ("models.llama", True)])
def test_llama_cpp_s_class_is_of_no_family(checkout, library, is_family):
    program = f"import torch\nfrom {library} import Llama\nllm = Llama.from_pretrained(path)\nprint(llm.generate(words.cuda()))\n"
    found = [f for f in analyze(checkout({"chat.py": program})).findings if f.field == "model.family"]
    assert bool(found) is is_family


def test_a_configuration_of_a_library_that_is_not_here_names_the_model(checkout):
    script = "#!/bin/bash\nMODEL=${1:-mpt-7b}\ncomposer /foundry/train.py \\\n  /foundry/yamls/pretrain/${MODEL}.yaml save_folder=/out\n"
    tree = checkout({"train.sbatch": script, "requirements.txt": "torch\n"})
    assert [f.value for f in analyze(tree).findings if f.field == "model.family"] == ["mpt-7b"]


WAN = "import torch\nfrom films import WanModel_S2V\nif __name__ == '__main__':\n    WanModel_S2V.from_pretrained(path).to('cuda')(prompt)\n"


def test_the_class_of_a_films_denoiser_says_its_family(checkout):
    tree = checkout({"README.md": "```\npython demo.py\n```\n", "demo.py": WAN})
    assert [f.value for f in analyze(tree).findings if f.field == "model.family"] == ["Wan-AI/Wan2.1-T2V-14B"]


ENCODES = """
import lab
import tensorflow as tf
from absl import app, flags
flags.DEFINE_integer('per_core_batch_size', 32, '')
flags.DEFINE_integer('max_seq_length', 512, '')
FLAGS = flags.FLAGS

def main(argv):
    model, encoder = lab.models.bert_model(num_classes=2, bert_config=read(FLAGS.bert_dir))
    optimizer = tf.keras.optimizers.Adam(1e-5)
    with tf.GradientTape() as tape:
        loss = model(texts)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

if __name__ == '__main__':
    app.run(main)
"""


def test_a_library_s_function_for_an_encoder_names_it(checkout):
    found = analyze(checkout({"train.py": ENCODES, "requirements.txt": "tensorflow\n"}))
    values = {finding.field: finding.value for finding in found.findings}
    assert (values["model.family"], values["training.batch_size"]) == ("google-bert/bert-base-uncased", "32")
    # TensorFlow keeps the scores of attention: 12 layers x 12 heads x 512 x 512 of each of 32 samples.
    assert values["training.attention"] == "kept"
    assert (found.spec.hardware.vram_required_gb or 0) >= 24


RESTORES = """from {library}.utils import load_from_nemo
from nemo.core.config import hydra_runner

@hydra_runner(config_path="conf", config_name="gpt_sft")
def main(cfg):
    model = load_from_nemo({kind}, cfg, trainer, restore_path=cfg.model.restore_from_path)
    SupervisedTrainer(cfg=cfg, model=model).fit()

if __name__ == "__main__":
    main()
"""
CONF = "trainer:\n  devices: 8\n  precision: bf16\nmodel:\n  restore_from_path: ???\n  micro_batch_size: 1\n"


@pytest.mark.parametrize(
    ("library", "kind", "is_language_model"),
    [("nemo_aligner", "GPTSFTModel", True), ("nemo_aligner", "ImagenModel", False), ("ours", "GPTSFTModel", True)],
)
def test_what_nemo_restores_from_the_reader_s_weights(
    checkout: Build, library: str, kind: str, *, is_language_model: bool
) -> None:
    program = RESTORES.format(library=library, kind=kind)
    found = analyze(checkout({"train_gpt_sft.py": program, "conf/gpt_sft.yaml": CONF}))
    families = [finding.value for finding in found.findings if finding.field == "model.family"]
    assert families == (["meta-llama/Llama-3.1-8B"] if is_language_model else [])
    assert found.spec.hardware.gpu_count == 8


@pytest.mark.parametrize(("method", "is_own"), [("pretrain", True), ("full", False)])
def test_what_is_built_and_read_only_sounds_like_a_family(method: str, is_own: bool) -> None:
    where = Evidence("train.py", 3)
    findings = (
        Finding("model.family", "meta-llama/Llama-2-7b-hf", "`OursLlamaEstimator`", Confidence.LOW, where),
        Finding("media.own_network", "OursLlama", "", Confidence.HIGH, where),
        Finding("media.own_parameters", "2400000", "", Confidence.HIGH, where),
        Finding("training.method", method, "", Confidence.LOW, where),
    )
    model = model_of(findings, {})
    assert model is not None
    assert (model.name == "OursLlama") is is_own
