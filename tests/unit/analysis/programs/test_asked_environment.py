"""What a program asks its environment for goes before what it falls back to, whoever gives it."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

MODEL = "Qwen/Qwen2.5-14B-Instruct"
GIVEN = f"BRAIN={MODEL}\nWINDOW=12288\nFOUR=true\n"
LOADS = "from vllm import LLM\n\nllm = LLM(model={}, max_model_len={})\nprint(llm.generate(['a']))\n"
ASKS = "import os\nfrom dotenv import load_dotenv\n\nload_dotenv()\n" + LOADS.format("BRAIN", "WINDOW").replace(
    "llm =", "BRAIN = {}\nWINDOW = int({})\nllm ="
)
BARE = ASKS.format("os.getenv('BRAIN')", "os.environ.get('WINDOW')")
WITH_FALLBACK = ASKS.format("os.getenv('BRAIN', 'Qwen/Qwen2.5-0.5B')", "os.environ.get('WINDOW', '512')")
FIELDS = "from pydantic_settings import BaseSettings, SettingsConfigDict\n\n\nclass Settings(BaseSettings):\n    model_config = SettingsConfigDict(env_file='.env'{})\n    brain: str = 'Qwen/Qwen2.5-0.5B'\n    window: int = 512\n\n\n"
OBJECT, GETTER = "settings = Settings()\n", "@lru_cache\ndef get_settings():\n    return Settings()\n"
USES = LOADS.format("settings.brain", "settings.window")

WAYS = {
    "a file": {".env": GIVEN, "a.py": BARE},
    "a file, before the fallback": {".env": GIVEN, "a.py": WITH_FALLBACK},
    "a file that is to be copied": {".env.example": GIVEN, "a.py": WITH_FALLBACK},
    "what stands in front": {"run.sh": f"{GIVEN.replace(chr(10), ' ')} python a.py\n", "a.py": WITH_FALLBACK},
    "what is exported": {
        "README.md": f"```bash\nexport BRAIN={MODEL}\nexport WINDOW=12288\npython a.py\n```\n",
        "a.py": BARE,
    },
    "docker": {"README.md": f"```bash\ndocker run --gpus all -e BRAIN={MODEL} -e WINDOW=12288 ours python a.py\n```\n", "a.py": BARE},
    "an image": {"Dockerfile": f"FROM python\nENV BRAIN={MODEL} WINDOW=12288\nCMD python a.py\n", "a.py": BARE},
    "a service": {
        "compose.yaml": f"services:\n  a:\n    image: ours\n    command: python a.py\n    environment:\n      - WINDOW=12288\n      - BRAIN={MODEL}\n",
        "a.py": BARE,
    },
    "a service that starts what its image does": {
        "compose.yaml": f"services:\n  a:\n    build: ./app\n    environment:\n      - WINDOW=12288\n      - BRAIN={MODEL}\n",
        "app/Dockerfile": "FROM python\nCMD python a.py\n",
        "app/a.py": BARE,
    },
    "a service with a file": {
        "compose.yaml": "services:\n  a:\n    build:\n      context: .\n      args:\n        - X=1\n    env_file:\n      - a.env\n",
        "a.env": GIVEN,
        "Dockerfile": "FROM python\nENV WINDOW=12288\nCMD python a.py\n",
        "a.py": BARE,
    },
    "settings": {".env": GIVEN, "s.py": FIELDS.format("") + OBJECT, "a.py": f"from s import settings\n{USES}"},
    "settings with a prefix": {
        ".env": GIVEN.replace("BRAIN", "APP_BRAIN").replace("WINDOW", "APP_WINDOW"),
        "s.py": FIELDS.format(", env_prefix='APP_'") + OBJECT,
        "a.py": f"from s import settings\n{USES}",
    },
    "settings that a function makes": {
        "s.py": (FIELDS.format("") + GETTER).replace("Qwen/Qwen2.5-0.5B", MODEL).replace("512", "12288"),
        "a.py": f"from s import get_settings\nsettings = get_settings()\n{USES}",
    },
}  # fmt: skip


def said(files: dict[str, str], checkout: Build) -> tuple[str | None, str | None]:
    found: dict[str, str] = {}
    for finding in analyze(checkout(files)).findings:
        found.setdefault(finding.field, finding.value)
    return found.get("model.id"), found.get("training.sequence_length")


@pytest.mark.parametrize("files", WAYS.values(), ids=WAYS.keys())
def test_the_environment_is_heard(checkout: Build, files: dict[str, str]) -> None:
    assert said(files, checkout) == (MODEL, "12288")


@pytest.mark.parametrize(
    ("files", "model"),
    [
        # A file that nothing reads, one that leaves it open, and a variable that no program asks for.
        ({".env": GIVEN, "a.py": WITH_FALLBACK.replace("load_dotenv", "print")}, "Qwen/Qwen2.5-0.5B"),
        ({".env": "BRAIN=<your model>\n", "a.py": WITH_FALLBACK}, "Qwen/Qwen2.5-0.5B"),
        ({".env": GIVEN.replace("BRAIN", "BRAINS"), "a.py": WITH_FALLBACK}, "Qwen/Qwen2.5-0.5B"),
        # Two services of one image, and one of another folder.
        ({"compose.yaml": f"services:\n  a:\n    build: .\n    environment:\n      - BRAIN={MODEL}\n  b:\n    build: .\n    environment:\n      - BRAIN=Qwen/Qwen2.5-7B\n", "Dockerfile": "FROM python\nCMD python a.py\n", "a.py": WITH_FALLBACK}, "Qwen/Qwen2.5-0.5B"),
        ({"compose.yaml": f"services:\n  a:\n    build: web\n    environment:\n      - BRAIN={MODEL}\n", "Dockerfile": "FROM python\nCMD python a.py\n", "a.py": WITH_FALLBACK}, "Qwen/Qwen2.5-0.5B"),
        # A field has its prefix in front.
        ({".env": GIVEN, "s.py": FIELDS.format(", env_prefix='APP_'") + OBJECT, "a.py": f"from s import settings\n{USES}"}, "Qwen/Qwen2.5-0.5B"),
    ],
)  # fmt: skip
def test_what_nobody_asks_for_is_not_heard(checkout: Build, files: dict[str, str], model: str) -> None:
    assert said(files, checkout)[0] == model


@pytest.mark.parametrize(
    ("asks", "bits"),
    [
        ("os.getenv('FOUR', 'true').lower() == 'true'", "4"),
        ("os.getenv('FOUR', 'False') in ('1', 'True')", None),
        ("os.getenv('FOUR', kind()) == 'true'", None),
    ],
)
def test_a_switch_is_on_where_the_text_is_the_one_that_it_is_held_against(
    checkout: Build, asks: str, bits: str | None
) -> None:
    program = f"import os\nfrom transformers import AutoModelForCausalLM, BitsAndBytesConfig\n\nFOUR = {asks}\nmodel = AutoModelForCausalLM.from_pretrained('{MODEL}', quantization_config=BitsAndBytesConfig(load_in_4bit=FOUR), device_map='cuda')\nprint(model.generate(x))\n"
    found = {f.field: f.value for f in analyze(checkout({"a.py": program})).findings}
    assert found.get("model.weight_bits") == bits
