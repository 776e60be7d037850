"""Commands of libraries that whole fields train with, and the package that brings each: papers' code is often only their configuration."""

from __future__ import annotations

RESEARCH_TOOLS = {
    "onmt_train": "OpenNMT-py", "onmt_translate": "OpenNMT-py", "allennlp": "allennlp", "t2t-trainer": "tensor2tensor", "t2t-decoder": "tensor2tensor",
    "nnUNetv2_train": "nnunetv2", "nnUNetv2_predict": "nnunetv2", "nnUNet_train": "nnunet", "nnUNet_predict": "nnunet",
    "lighteval": "lighteval", "evalplus.evaluate": "evalplus", "evalplus.codegen": "evalplus",
    "sockeye-train": "sockeye", "sockeye-translate": "sockeye", "mmf_run": "mmf", "ludwig": "ludwig",
    "catalyst-dl": "catalyst", "easynlp": "pai-easynlp", "unicore-train": "git+https://github.com/dptech-corp/Uni-Core.git",
}  # fmt: skip
"""By command: what pip installs it with. OpenNMT's, AllenNLP's, Tensor2Tensor's, nnU-Net's, Sockeye's, MMF's, Ludwig's, EasyNLP's, Uni-Core's, lighteval's and EvalPlus' documentation."""
