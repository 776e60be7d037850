"""Models that a program loads by a name that something else tells."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

EMBEDDER, MODEL, SMALL = "intfloat/e5-mistral-7b-instruct", "Qwen/Qwen2.5-14B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct"
EMBEDS = "from sentence_transformers import SentenceTransformer\n\n\nclass Embedder:\n    def __init__(self, brain):\n        self.model = SentenceTransformer(brain, device='cuda')\n\n    def embed(self, texts):\n        return self.model.encode(texts)\n"
CHOSEN = "import argparse\nfrom vllm import LLM\n{}\np = argparse.ArgumentParser()\np.add_argument('--size', default='small')\nargs = p.parse_args()\nllm = LLM(MODELS[args.size])\nprint(llm.generate(['a']))\n"
TABLE = f"MODELS = {{'small': '{SMALL}', 'large': '{MODEL}'}}\n"
COMMAND = {"run.sh": "python run.py --size large\n"}
EVALUATES = "import lm_eval\n\n{}print(lm_eval.simple_evaluate(model='hf', model_args={}, tasks=['a']))\n"
FIRE = "import fire\nfrom vllm import LLM\n\n\ndef main(brain, window=512):\n    print(LLM(model=brain, max_model_len=window).generate(['a']))\n\n\nif __name__ == '__main__':\n    fire.Fire(main)\n"
RAY = f"import ray\nfrom ray import serve\nfrom vllm import LLM\n\n\n@serve.deployment(ray_actor_options={{'num_gpus': 1}})\nclass Engine:\n    def __init__(self, brain):\n        self.llm = LLM(model=brain)\n\n    def __call__(self, request):\n        return self.llm.generate(request)\n\n\napp = Engine.bind('{MODEL}')\n"

WAYS = {
    "an embedder in a module": ({"embedder.py": EMBEDS, "run.py": f"from embedder import Embedder\n\nEmbedder('{EMBEDDER}').embed(['a'])\n"}, EMBEDDER),
    "an embedder in a section": (
        {"c.yaml": f"embedder:\n  brain: {EMBEDDER}\n", "run.py": f"import yaml\n\n{EMBEDS}\n\ncfg = yaml.safe_load(open('c.yaml'))\nEmbedder(cfg['embedder']['brain']).embed(['a'])\n"},
        EMBEDDER,
    ),
    "an entry that the command chooses": ({**COMMAND, "run.py": CHOSEN.format(TABLE)}, MODEL),
    "an entry of a module": ({**COMMAND, "models.py": TABLE, "run.py": CHOSEN.format("from models import MODELS")}, MODEL),
    "the entry that it starts with": ({"run.py": CHOSEN.format(TABLE)}, SMALL),
    "what an evaluation is handed": ({"run.py": EVALUATES.format("", f"'pretrained={MODEL},dtype=bfloat16'")}, MODEL),
    "what it puts together": ({"run.py": EVALUATES.format(f"brain = '{MODEL}'\n", "f'dtype=bfloat16,pretrained={brain}'")}, MODEL),
    "a function that the command calls": ({"run.sh": f"python run.py --brain {MODEL} --window 2048\n", "run.py": FIRE}, MODEL),
    "what Ray makes": ({"run.py": RAY}, MODEL),
    "what is kept": (
        {"run.py": f"import streamlit as st\nfrom transformers import AutoModelForCausalLM\n\n\n@st.cache_resource\ndef load(brain):\n    return AutoModelForCausalLM.from_pretrained(brain).cuda()\n\n\nload('{MODEL}').generate(x)\n"},
        MODEL,
    ),
}  # fmt: skip


def models(files: dict[str, str], checkout: Build) -> list[str]:
    found = [(-f.confidence, f.value) for f in analyze(checkout(files)).findings if f.field == "model.id"]
    return [name for _, name in sorted(found, key=lambda each: each[0])]


@pytest.mark.parametrize(("files", "model"), WAYS.values(), ids=WAYS.keys())
def test_a_name_is_followed(checkout: Build, files: dict[str, str], model: str) -> None:
    assert models(files, checkout)[:1] == [model]


@pytest.mark.parametrize(
    ("files", "not_it"),
    [
        # An embedder beside a model that answers is not what the run is about.
        (
            {
                "embedder.py": EMBEDS,
                "run.py": f"from embedder import Embedder\nfrom vllm import LLM\n\nEmbedder('{EMBEDDER}').embed(['a'])\nLLM('{SMALL}').generate(['a'])\n",
            },
            EMBEDDER,
        ),
        # An entry that nobody knows, and what another function is handed.
        ({"run.sh": "python run.py --size huge\n", "run.py": CHOSEN.format(TABLE)}, MODEL),
        (
            {
                "run.sh": f"python run.py --brain {MODEL}\n",
                "run.py": FIRE.replace("fire.Fire(main)", "main(ask())").replace("import fire\n", ""),
            },
            MODEL,
        ),
    ],
)
def test_what_is_of_something_else_is_not(checkout: Build, files: dict[str, str], not_it: str) -> None:
    assert not_it not in models(files, checkout)
