from __future__ import annotations

import pytest

from gpu_lol_action.launch.build_order import BuildOrder, order_builds


@pytest.mark.parametrize(
    "text",
    [
        "flash-attn",
        "Flash_Attn==2.6.3 ; sys_platform == 'linux'",
        "flash-attn @ git+https://github.com/Dao-AILab/flash-attention@v2.6.3",
        "git+https://github.com/Dao-AILab/flash-attention.git@v2.6.3",
        "git+https://github.com/NVIDIA/apex.git",
        "git+https://github.com/NVlabs/tiny-cuda-nn/#subdirectory=bindings/torch",
        "git+https://github.com/facebookresearch/xformers.git@main#egg=xformers",
        "git+https://github.com/state-spaces/mamba@release/v2",
        "https://example.org/torch_scatter-2.1.tar.gz#egg=torch-scatter",
        "deepspeed@git+https://github.com/x/DeeperSpeed.git@91d1c55#egg=deepspeed",
        "transformer-engine[pytorch]==1.12",
    ],
)
def test_what_imports_torch_while_it_is_built_comes_last(text: str) -> None:
    assert order_builds([text, "torch"]) == BuildOrder(("torch",), (text,))


@pytest.mark.parametrize(
    "text",
    [
        "torch==2.5.1",
        "xformers==0.0.28",
        "vllm",
        "git+https://github.com/huggingface/peft.git",
        "flash-attn @ https://example.org/flash_attn-2.6.3-cp311-cp311-linux_x86_64.whl",
        "https://example.org/flash_attn-2.6.3-cp311-cp311-linux_x86_64.whl#egg=flash-attn",
        "flash-attention-softmax-n",
    ],
)
def test_other_requirements_are_resolved_together(text: str) -> None:
    assert order_builds([text]) == BuildOrder((text,))


def test_the_last_ones_may_not_move_what_the_first_ones_fixed() -> None:
    order = order_builds(
        ["transformers[torch]>=4.40,<5; python_version >= '3.9'", "apex @ git+https://x.org/apex", "peft", "torch==2.5.1",
         "trl @ git+https://x.org/trl", "git+https://x.org/y"]
    )  # fmt: skip
    assert order.last == ("apex @ git+https://x.org/apex",)
    assert order.constraints == ('transformers<5,>=4.40; python_version >= "3.9"', "torch==2.5.1")
