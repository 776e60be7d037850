"""Each memory term and the whole need stand with a place of the checkout, also where the network is the project's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
OWN = (
    "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.first = nn.Linear(4096, 8192)\n        self.last = nn.Linear(8192, 4096)\n\n"
    "    def forward(self, x):\n        return self.last(self.first(x))\n\n\n"
    "if __name__ == '__main__':\n    model = Net().cuda()\n    optimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
    "    loss = model(torch.rand(16, 4096).cuda()).sum()\n    loss.backward()\n    optimizer.step()\n"
)


def test_a_network_of_one_s_own_is_where_it_is_built(checkout: Build) -> None:
    found = analyze(checkout({"train.py": OWN}))
    need = next(f for f in found.findings if f.field == "hardware.vram_required_gb")
    assert "Net (67.1 M parameters)" in need.why
    assert str(need.evidence).startswith("train.py:")
    assert found.breakdown is not None
    places = {term.name: term.evidence for term in found.breakdown.terms}
    assert str(places["weights"]) == str(need.evidence)
    assert places["activations"] is not None
    assert places["overhead"] is None
