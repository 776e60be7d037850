"""A model that is only guessed, beside documentation that says how much memory is asked for."""

from __future__ import annotations

from gpu_lol_action.analysis.assemble import analyze

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
