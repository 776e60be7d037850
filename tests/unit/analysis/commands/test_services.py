"""Services: programs that a framework's own server starts, known by the definition that each framework asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.commands.services import service_of
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.analysis.stated import declared_hardware

Build = Callable[[Mapping[str, str]], Checkout]
LOAD = "import torch\nnet = torch.jit.load('w.pt')\n"


@pytest.mark.parametrize(
    ("path", "text", "framework"),
    [
        ("service.py", "import bentoml\n@bentoml.service(resources={'gpu': 1})\nclass A:\n    pass\n", "BentoML"),
        ("service.py", "import bentoml\nservice = bentoml.service\n@service(resources={'gpu': 1})\nclass A:\n    pass\n", "BentoML"),
        ("server.py", LOAD + "import litserve as ls\nclass Api(ls.LitAPI):\n    pass\n", "LitServe"),
        ("app/main.py", LOAD + "from ray import serve\n@serve.deployment(num_replicas=1)\nclass A:\n    pass\n", "Ray Serve"),
        ("models/a/1/model.py", LOAD + "import triton_python_backend_utils as p\nclass TritonPythonModel:\n    pass\n", "Triton"),
        ("predict.py", LOAD + "from cog import BasePredictor, Input\nclass Predictor(BasePredictor):\n    pass\n", "Cog"),
        ("src/handler.py", LOAD + "import runpod\nrunpod.serverless.start({'handler': h})\n", "RunPod"),
        ("handler.py", "from transformers import pipeline\nclass EndpointHandler:\n    pass\n", "Inference Endpoints"),
        ("code/inference.py", LOAD + "def model_fn(d):\n    return net\ndef predict_fn(x, m):\n    return m(x)\n", "SageMaker"),
        # Neither imported: a class of that name is anybody's.
        ("predict.py", LOAD + "class Predictor(BasePredictor):\n    pass\n", None),
        # A service without a GPU is no work for one.
        ("service.py", "import bentoml\n@bentoml.service\nclass A:\n    pass\n", None),
        # Truss's names mean something only where its configuration lies.
        ("model/model.py", LOAD + "class Model:\n    def load(self):\n        pass\n    def predict(self, x):\n        pass\n", None),
    ],
)  # fmt: skip
def test_a_definition_tells_the_framework(checkout: Build, path: str, text: str, framework: str | None) -> None:
    tree = checkout({path: text})
    source = tree.find(path)
    assert source is not None
    assert service_of(tree, source) == framework


def test_truss_is_known_by_the_place_of_its_configuration(checkout: Build) -> None:
    text = LOAD + "class Model:\n    def load(self):\n        pass\n    def predict(self, x):\n        pass\n"
    tree = checkout({"model/model.py": text, "config.yaml": "resources:\n  accelerator: L4\n"})
    source = tree.find("model/model.py")
    assert source is not None
    assert service_of(tree, source) == "Truss"


def test_a_service_is_inference_though_nothing_has_a_main_guard(checkout: Build) -> None:
    text = "import bentoml\n@bentoml.service(resources={'gpu': 1})\nclass A:\n    model_id = 'Qwen/Qwen2.5-7B'\n"
    tree = checkout({"service.py": text, "requirements.txt": "vllm\nbentoml\n"})
    run = primary_run(tree)
    assert run is not None
    assert run.behavior is Behavior.INFERS
    assert analyze(tree).spec.meta.workload_type.value == "inference"


def test_a_service_beside_training_does_not_win_over_it(checkout: Build) -> None:
    service = LOAD + "from cog import BasePredictor\nclass Predictor(BasePredictor):\n    pass\n"
    train = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n"
    run = primary_run(checkout({"predict.py": service, "train.py": train}))
    assert run is not None
    assert run.shown == "train.py"


@pytest.mark.parametrize(
    ("files", "card"),
    [
        ({"service.py": "import bentoml\n@bentoml.service(resources={'gpu': 1, 'gpu_type': 'nvidia-a100-80gb'})\nclass A:\n    pass\n"}, "A100-80GB"),
        ({"service.py": "import bentoml\nclass Args:\n    gpu_type: str = 'nvidia-l4'\n@bentoml.service(resources={'gpu': 1})\nclass A:\n    pass\n"}, "L4"),
        ({"config.yaml": "resources:\n  accelerator: A10G\n", "model/model.py": LOAD + "class Model:\n    def load(self):\n        pass\n    def predict(self, x):\n        pass\n"}, "A10G"),
    ],
)  # fmt: skip
def test_card_that_a_service_asks_for(checkout: Build, files: Mapping[str, str], card: str) -> None:
    tree = checkout(files)
    found = declared_hardware.detect(tree, primary_run(tree))
    assert [(f.value, f.confidence.name) for f in found if f.field == "documented.card"] == [(card, "HIGH")]


TRUSS = "class Model:\n    def load(self):\n        self.pipe = pipeline('fill-mask', model='bert-base-uncased')\n\n    def predict(self, given):\n        return self.pipe(given)\n"


@pytest.mark.parametrize(
    ("resources", "workload"),
    [
        ("resources:\n  cpu: '1'\n  # none needed\n  use_gpu: false\n  accelerator: null\n", "cpu-only"),
        ("resources:\n  accelerator: A10G\n  use_gpu: false\n", "inference"),
        ("resources:\n  accelerator: T4\n  use_gpu: true\n", "inference"),
        ("other:\n  use_gpu: false\n", "inference"),
    ],
)
def test_a_truss_may_refuse_a_gpu(checkout: Build, resources: str, workload: str) -> None:
    program = "from transformers import pipeline\nimport torch\n\n\n" + TRUSS
    tree = checkout({"model/model.py": program, "config.yaml": f"model_name: bert\n{resources}", "requirements.txt": "torch\ntransformers\n"})  # fmt: skip
    assert analyze(tree).spec.meta.workload_type.value == workload
