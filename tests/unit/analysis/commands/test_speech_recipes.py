"""Kaldi's kind of recipes: what a wrapper is handed, and ESPnet's scripts that lie elsewhere."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.commands.speech_recipes import recipe_command
from gpu_lol_action.domain.spec import WorkloadType
from tests.unit.analysis.conftest import Build

RUN = (
    "ngpu=4         # number of gpus\nlm=exp/lm\n. ./cmd.sh\n"
    "${cuda_cmd} --gpu ${ngpu} ${lm}/train.log \\\n    lm_train.py --config conf/lm.yaml --ngpu ${ngpu}\n"
    "if [ ${stage} -le 4 ]; then\n    ${cuda_cmd} --gpu ${ngpu} --mem 10G ${expdir}/train.log \\\n        asr_train.py \\\n"
    "        --config ${train_config} \\\n        --ngpu ${ngpu}\nfi\n"
    "${decode_cmd} JOB=1:8 ${expdir}/decode.log asr_recog.py --ngpu 0\n"
)


def test_recipe_of_the_first_kind_trains_on_the_wrappers_gpus(checkout: Build) -> None:
    files = {"run.sh": RUN, "local/prepare.py": "import os\nprint(os.getcwd())\n"}
    spec = analyze(checkout(files)).spec
    assert (spec.meta.workload_type, spec.hardware.gpu_count) == (WorkloadType.TRAINING, 4)
    assert "espnet" in spec.dependencies.requirements


@pytest.mark.parametrize("options", ["--asr_config conf/train.yaml --ngpu 2", "--train_set train_nodev --ngpu 2"])
def test_recipe_of_the_second_kind_trains_though_its_script_is_a_link(checkout: Build, options: str) -> None:
    spec = analyze(checkout({"run.sh": f"./asr.sh \\\n    {options} \\\n    --nbpe 5000\n"})).spec
    assert (spec.meta.workload_type, spec.hardware.gpu_count) == (WorkloadType.TRAINING, 2)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["./asr.sh"],
        ["./path.sh", "--train_set", "a"],
        ["run.pl", "JOB=1:8", "log", "compute-fbank"],
        ["${cuda_cmd}", "--gpu", "8"],
        ["python", "train.py"],
    ],
)
def test_other_commands_are_what_they_seem(words: list[str]) -> None:
    assert recipe_command(words) is None
