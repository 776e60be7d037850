"""DeepSpeed's configuration, written by the launch script that names it."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.formats.surest import best
from tests.unit.analysis.conftest import Build

TRAIN = """
import argparse, deepspeed
from transformers import AutoModelForCausalLM
if __name__ == "__main__":
    args = argparse.ArgumentParser().parse_args()
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")
    engine, *_ = deepspeed.initialize(args=args, model=model)
    engine.backward(loss)
    engine.step()
"""
OBJECT = '{\n  "train_batch_size": $BATCH,\n  "zero_optimization": {\n    "stage": 3,\n    "offload_optimizer": {"device": "cpu"}\n  }\n}'
START = "deepspeed --num_gpus=1 train.py --deepspeed_config=$DS\n"


def read(checkout: Build, script: str) -> dict[str, str]:
    findings = analyze(checkout({"train.py": TRAIN, "run.sh": script, "requirements.txt": "torch\n"})).findings
    found = {field: best(findings, field) for field in ("training.sharding", "training.offload")}
    return {field: f"{each.value} {each.evidence.line}" for field, each in found.items() if each is not None}


@pytest.mark.parametrize(
    "head", ['cat > "$DS" << EOF', "cat > ds.json <<'EOF'", "cat <<EOF > $DS", "cat <<-EOF >${DS}"]
)
def test_a_script_writes_what_its_program_reads(checkout: Build, head: str) -> None:
    found = read(checkout, f"DS=ds.json\n{head}\n{OBJECT}\nEOF\n{START}")
    assert found == {"training.sharding": "zero-3 6", "training.offload": "optimizer 7"}


@pytest.mark.parametrize(
    "script",
    [
        f"cat > note.txt <<EOF\nwe use zero\nEOF\n{START}",
        f'cat > other.json <<EOF\n{{"stage": 3}}\nEOF\n{START}',
        f"cat > ds.json <<EOF\n{OBJECT[:-2]}\nEOF\n{START}",  # broken
        f"cat > ds.json <<EOF\n{OBJECT}\n{START}",  # without its end
    ],
)
def test_other_texts_are_no_configuration(checkout: Build, script: str) -> None:
    assert read(checkout, f"DS=ds.json\n{script}") == {}


def test_of_two_texts_the_first_counts(checkout: Build) -> None:
    second = OBJECT.replace('"stage": 3', '"stage": 2')
    script = f"cat > a.json <<EOF\n{OBJECT}\nEOF\ncat > b.json <<EOF\n{second}\nEOF\n{START}"
    assert read(checkout, script)["training.sharding"].startswith("zero-3")
