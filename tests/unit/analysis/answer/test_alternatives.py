from __future__ import annotations

from pathlib import Path

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import read_checkout
from gpu_lol_action.domain.what_if import Alternative, Lever

TRAIN = """\
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-1.5B")
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=4,
    SWITCH
    optim="adamw_torch",
    max_seq_length=1024,
    bf16=True,
)
Trainer(model=model, args=arguments).train()
"""


def alternatives(
    folder: Path, switch: str, readme: str = "", batch: int = 4, model: str = "Qwen/Qwen2.5-1.5B"
) -> dict[tuple[Lever, ...], Alternative]:
    program = TRAIN.replace("SWITCH", switch).replace("batch_size=4", f"batch_size={batch}")
    program = program.replace("Qwen/Qwen2.5-1.5B", model)
    (folder / "train.py").write_text(program)
    (folder / "README.md").write_text(readme)
    return {each.levers: each for each in analyze(read_checkout(folder)).alternatives}


def test_a_switch_that_is_off_is_one_literal_to_edit(tmp_path: Path) -> None:
    found = alternatives(tmp_path, "gradient_checkpointing=False,")[(Lever.CHECKPOINTING,)]
    assert found.edit is not None
    assert (found.edit.path, found.edit.line) == ("train.py", 7)
    assert found.edit.old == "    gradient_checkpointing=False,"
    assert found.edit.new == "    gradient_checkpointing=True,"


def test_a_switch_that_nobody_wrote_has_no_line(tmp_path: Path) -> None:
    found = alternatives(tmp_path, "")[(Lever.CHECKPOINTING,)]
    assert found.edit is None
    assert found.evidence is None
    assert found.setting == "gradient_checkpointing=True"


def test_an_optimizer_is_one_literal(tmp_path: Path) -> None:
    edit = alternatives(tmp_path, "")[(Lever.EIGHT_BIT_OPTIMIZER,)].edit
    assert edit is not None
    assert edit.new == '    optim="adamw_bnb_8bit",'


def test_half_the_batch_points_at_its_line_and_is_more_than_one_literal(tmp_path: Path) -> None:
    found = alternatives(tmp_path, "")[(Lever.HALF_BATCH,)]
    assert found.evidence is not None
    assert found.evidence.path == "train.py"
    assert found.edit is None


@pytest.mark.parametrize("switch", ["gradient_checkpointing=USE_IT,", "gradient_checkpointing=False, tf32=False,"])
def test_only_the_switch_itself_is_edited(tmp_path: Path, switch: str) -> None:
    found = alternatives(tmp_path, switch).get((Lever.CHECKPOINTING,))
    assert found is not None
    assert found.edit is None or found.edit.new == "    gradient_checkpointing=True, tf32=False,"


def test_all_need_less_and_two_at_once_are_harmless(tmp_path: Path) -> None:
    found = alternatives(tmp_path, "")
    pairs = [levers for levers in found if len(levers) == 2]
    assert pairs
    for one, other in pairs:
        assert {one, other} <= {Lever.HALF_PRECISION, Lever.HALF_BATCH, Lever.EIGHT_BIT_OPTIMIZER, Lever.CHECKPOINTING}
        assert found[one, other].expected_gib < min(found[(one,)].expected_gib, found[(other,)].expected_gib)


def test_where_documentation_was_weighed_the_others_are_corrected_by_as_much(tmp_path: Path) -> None:
    (plain := tmp_path / "plain").mkdir()
    (said := tmp_path / "said").mkdir()
    alone = alternatives(plain, "")[(Lever.CHECKPOINTING,)]
    told = alternatives(said, "", "# Training\n\nTraining needs 60 GB of GPU memory.\n\n```\npython train.py\n```\n")
    assert told[(Lever.CHECKPOINTING,)].required_gib > alone.required_gib
    assert told[(Lever.CHECKPOINTING,)].expected_gib == alone.expected_gib


def test_without_a_recognized_model_nothing_is_proposed(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("import torch\nprint(torch.zeros(3).cuda())\n")
    assert analyze(read_checkout(tmp_path)).alternatives == ()


def test_what_is_only_assumed_is_one_of_the_things_to_say(tmp_path: Path) -> None:
    found = alternatives(tmp_path, "", batch=32, model="TinyLlama/TinyLlama-1.1B-Chat-v1.0")
    plain = found[(Lever.CHECKPOINTING,)]
    assert plain.required_gib < 79
    # Half the batch starts from the run as it is written: what was assumed is not counted twice.
    half = found.get((Lever.HALF_BATCH,))
    assert half is None or half.required_gib > plain.required_gib
    assert found[Lever.HALF_BATCH, Lever.CHECKPOINTING].required_gib < plain.required_gib


FSDP = """\
base_model: deepseek-ai/DeepSeek-V2-Lite
datasets:
  - path: tatsu-lab/alpaca
sequence_len: 2048
micro_batch_size: 1
optimizer: adamw_torch_fused
bf16: auto
gradient_checkpointing: true
fsdp:
  - full_shard
fsdp_config:
  fsdp_offload_params: true
"""


def test_another_configuration_takes_no_fewer_cards_than_the_code_does(tmp_path: Path) -> None:
    (tmp_path / "fft.yaml").write_text(FSDP)
    found = analyze(read_checkout(tmp_path))
    assert found.proposed.hardware.gpu_count == 2
    assert all(each.gpu_count >= 2 for each in found.alternatives)


def test_what_is_asked_for_holds_what_is_expected(tmp_path: Path) -> None:
    (plain := tmp_path / "plain").mkdir()
    (said := tmp_path / "said").mkdir()
    alone = alternatives(plain, "", batch=8)[(Lever.HALF_BATCH,)]
    readme = "# Training\n\nIt was trained on one RTX 4090.\n\n```\npython train.py\n```\n"
    told = alternatives(said, "", readme, batch=8)
    assert told[(Lever.HALF_BATCH,)].required_gib < alone.required_gib
    assert all(each.expected_gib <= each.required_gib for each in told.values())
