"""A card that only a script, an image or a configuration tells is needed all the same; what no word tells is not."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.formats.surest import value_of_best
from tests.unit.analysis.conftest import Build

COMPOSE = "services:\n  api:\n    image: {image}\n"
TOLD = {
    "a device of an option": ({"run.sh": "python3 run_fold.py a.fasta --model_device cuda:0\n"}, "inference"),
    "a training's device": ({"run.sh": "./lab pretrain --device=cuda \\\n  --data d\n"}, "training"),
    "a simulation": ({"run.sh": "gmx mdrun -deffnm md -nb gpu -pme gpu\n"}, "inference"),
    "numbers of cards": ({"run.sh": "mpirun -n 5 refine_mpi --i p.star --gpu 0:1 --j 4\n"}, "inference"),
    "a validation at 16 bit": ({"v.sh": "python validate.py /data --model vit_base_patch16_224 --amp\n"}, "inference"),
    "an image of CUDA": (
        {"Dockerfile": 'FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN git clone https://github.com/a/b\nCMD ["python3", "b/main.py"]\n'},
        "inference",
    ),
    "a server of NVIDIA's": (
        {"Dockerfile": 'FROM nvcr.io/nvidia/tritonserver:24.10-py3\nCOPY m /m\nCMD ["tritonserver", "--model-repository=/m"]\n'},
        "inference",
    ),
    "a service's tag": ({"docker-compose.yml": COMPOSE.format(image="localai/localai:latest-gpu-nvidia-cuda-12")}, "inference"),
    "a talk to be written down": ({"t.sh": 'for f in *.mp3; do\n  whisper "$f" --model large-v3 --device cuda\ndone\n'}, "inference"),
    "a size of Whisper's": ({"t.sh": "whisper a.mp3 --model large-v3\n"}, "inference"),
    "Boltz": ({"fold.sh": "boltz predict in.yaml --out_dir out\n"}, "inference"),
    "a simulation beside helpers": (
        {"requirements.txt": "pandas\n", "plot.py": "import pandas\n", "run.sh": "mpirun -np 4 lmp -sf gpu -pk gpu 4 -in a.in\n"},
        "inference",
    ),
    "an engine for cards": ({"md.sh": "pmemd.cuda -O -i md.in -o md.out\n"}, "inference"),
    "a basecaller": ({"call.sh": "dorado basecaller hac pod5/ > calls.bam\n"}, "inference"),
    "Darknet": ({"README.md": "```\n./darknet detector train data/obj.data cfg/net.cfg\n```\n"}, "training"),
    "a server of embeddings": ({"run.sh": "infinity_emb v2 --model-id BAAI/bge-large-en-v1.5\n"}, "inference"),
    "a platform of OpenMM's": (
        {"sim.py": 'from openmm import Platform, app\np = Platform.getPlatformByName("CUDA")\nsim = app.Simulation(t, s, i, p)\nsim.step(9)\n'},
        "inference",
    ),
    "an adapter's configuration": (
        {"lora.toml": 'pretrained_model_name_or_path = "stabilityai/stable-diffusion-xl-base-1.0"\nnetwork_module = "networks.lora"\ntrain_data_dir = "d"\n'},
        "training",
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", TOLD)
def test_a_card_is_told(checkout: Build, way: str) -> None:
    files, kind = TOLD[way]
    assert value_of_best(analyze(checkout(files)).findings, "workload") == kind


UNTOLD = {
    "the cores": {"run.sh": "python3 run_fold.py a.fasta --model_device cpu\n"},
    "no card at all": {"run.sh": "./lab run --gpus 0\nCUDA_VISIBLE_DEVICES='' ./solve\nCUDA_VISIBLE_DEVICES=-1 ./solve\n"},
    "a remark": {"run.sh": "# ./lab run --device cuda\n./lab run\n"},
    "a text": {"run.sh": 'echo "add --device cuda"\n./lab run\n'},
    "a question": {"run.sh": 'if [ -n "$G" ]; then\n  ./lab run --use_gpu\nfi\n'},
    "a machine of another kind": {"run.sh": "qemu -device virtio-gpu -vga none\n"},
    "an image for building": {"Dockerfile": 'FROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS build\nRUN make\nFROM debian\nCOPY --from=build /a /a\nCMD ["/a"]\n'},
    "an image that starts nothing": {"Dockerfile": "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN apt-get install -y cmake\n"},
    "another image": {"docker-compose.yml": COMPOSE.format(image="postgres:16-alpine")},
    "a word of whisper": {"t.sh": "whisper hello.txt\n"},
    "a mention": {"README.md": "# Talks\n\n```\nwhisper a.mp3 --model large-v3\n```\n"},
    "a list of packages": {
        "requirements.txt": "flask\n",
        "Dockerfile": 'FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nCMD ["flask"]\n',
    },
    "a build": {"build.sh": "./build.sh --build_wheel --use_cuda\npython setup.py bdist_wheel --use-cuda\n./configure --cuda\nconan install . --backend cuda\n"},
    "an order of machines": {"up.sh": "minikube start --driver docker --gpus all\nrunpodctl create pod --gpu 1\nhelm upgrade app ./chart --device gpu\n"},
    "a browser": {"shot.sh": "google-chrome --headless --use-gpu https://a.b\n"},
    "a test": {"t.sh": "pytest --device cuda\n"},
    "what goes without": {"run.sh": "./lab run --device cuda || ./lab run --device cpu\n"},
    "a program of its own": {"run.sh": "python exporter.py --gpu\n", "exporter.py": "import psutil\nprint(psutil.cpu_percent())\n"},
    "an extra of a website": {"docker-compose.yml": 'services:\n  web:\n    image: node:20\n  ai:\n    image: localai/localai:v2-cuda-12\n    profiles: ["gpu"]\n'},
    "what counts cards": {"docker-compose.yml": COMPOSE.format(image="nvcr.io/nvidia/k8s/dcgm-exporter:3.3")},
    "a client": {"docker-compose.yml": COMPOSE.format(image="nvcr.io/nvidia/tritonserver:24.10-py3-sdk")},
    "a theme": {"docker-compose.yml": COMPOSE.format(image="acme/base:nvidia-theme-1")},
    "a server elsewhere": {"run.sh": "xinference launch --model-name qwen -e http://gpu-box:9997\n"},
    "an agent's variables": {".env.example": "MODEL=gpt-4o-mini\nMAX_STEPS=20\nMAX_LENGTH=4096\n", "index.js": "run()\n"},
    "a crawler's variables": {"crawler.env": "LEARNING_RATE=0.1\nEPOCHS=3\nBATCH_SIZE=100\n", "index.js": "run()\n"},
    "a bot's variables": {".env.example": "ADAPTER=telegram\nOPTIMIZER=true\n", "index.js": "run()\n"},
    "many programs": {
        **{f"p{n}.py": "import os\nprint(os.getcwd())\n" for n in range(5)},
        "run.sh": "./lab run --device cuda\n",
    },
}  # fmt: skip


@pytest.mark.parametrize("way", UNTOLD)
def test_no_card_is_told(checkout: Build, way: str) -> None:
    assert value_of_best(analyze(checkout(UNTOLD[way])).findings, "workload") == "cpu-only"


@pytest.mark.parametrize(
    ("mode", "kind"), [("mode: train\n", "training"), ("mode: predict\n", "inference"), ("", "inference")]
)
def test_a_file_of_arguments_says_what_for(checkout: Build, mode: str, kind: str) -> None:
    files = {
        "args.yaml": f"task: detect\n{mode}model: yolov8m.pt\nimgsz: 640\n",
        "README.md": "```bash\nyolo cfg=args.yaml\n```\n",
    }
    assert value_of_best(analyze(checkout(files)).findings, "workload") == kind
