"""Programs in C and CUDA, which no Python speaks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.spec import WorkloadType

Build = Callable[[Mapping[str, str]], Checkout]
MAKE = "GPU=0\nNVCC=nvcc\n%.o: %.cu\n\t$(NVCC) -c $< -o $@\n"


@pytest.mark.parametrize(
    ("command", "workload"),
    [
        ("./net detector train cfg/voc.data cfg/net.cfg", WorkloadType.TRAINING),
        ("./train_gpt2cu -b 4", WorkloadType.TRAINING),
        ("./net detect cfg/net.cfg picture.jpg", WorkloadType.INFERENCE),
    ],
)
def test_a_makefile_that_compiles_cuda_asks_for_a_gpu(checkout: Build, command: str, workload: WorkloadType) -> None:
    tree = checkout({"Makefile": MAKE, "README.md": f"```\n{command}\n```\n", "scripts/table.py": "print(1)\n"})
    spec = analyze(tree).spec
    assert spec.meta.workload_type is workload
    assert spec.hardware.vram_required_gb


@pytest.mark.parametrize(
    ("switch", "is_needed"), [("GPU=1", True), ("USE_CUDA ?= 1", True), ("GPU=0", False), ("GPU_MULTI=1", False)]
)
def test_a_makefile_that_builds_for_a_gpu_unless_told_otherwise(checkout: Build, switch: str, is_needed: bool) -> None:
    make = f"{switch}\nifeq ($(GPU), 1)\nLDFLAGS+= -lOpenCL\nendif\nall:\n\t$(CC) main.c\n"
    tree = checkout({"Makefile": make, "README.md": "# Net\n"})
    assert (analyze(tree).spec.meta.workload_type is WorkloadType.INFERENCE) is is_needed


def test_other_makefiles_ask_for_none(checkout: Build) -> None:
    tree = checkout({"Makefile": "CC=gcc\n# nvcc is not used\nall:\n\t$(CC) main.c\n", "README.md": "./main train\n"})
    assert analyze(tree).spec.meta.workload_type is WorkloadType.CPU_ONLY


@pytest.mark.parametrize(
    ("heading", "item", "is_needed"),
    [
        ("### Requirements", "- An __NVIDIA GPU__; tensor cores increase performance when available.", True),
        ("## Prerequisites", "* NVIDIA CUDA GPU with compute capability 7.5", True),
        ("### Requirements", "- An NVIDIA GPU (optional)", False),
        ("### Requirements", "- an NVIDIA GPU is recommended for large scenes", False),
        ("### Requirements", "- If you have one, an NVIDIA GPU", False),
        ("### Results", "- An NVIDIA GPU took 3 s", False),
        ("### Requirements", "- a C++14 compiler", False),
    ],
)
def test_a_readme_that_requires_a_gpu_is_believed(checkout: Build, heading: str, item: str, is_needed: bool) -> None:
    tree = checkout({"README.md": f"# Renderer\n\n{heading}\n\n{item}\n- CMake\n", "scripts/table.py": "print(1)\n"})
    assert (analyze(tree).spec.hardware.gpu_count > 0) is is_needed


def test_what_it_requires_is_asked_of_no_other_section(checkout: Build) -> None:
    text = "# Renderer\n\n## Requirements\n\n- CMake\n\n## Speed\n\n- NVIDIA GPUs: 3 s\n"
    assert analyze(checkout({"README.md": text, "a.py": "print(1)\n"})).spec.hardware.gpu_count == 0


TORCH7 = "Install `{packages}` with LuaRocks.\n```\n$ th {command} -data_dir data\n```\n"


@pytest.mark.parametrize(
    ("packages", "command", "workload"),
    [
        ("cutorch", "train.lua", WorkloadType.TRAINING),
        ("cunn", "src/train_net.lua", WorkloadType.TRAINING),
        ("cudnn.torch", "neural_style.lua", WorkloadType.INFERENCE),
        ("nn", "train.lua", WorkloadType.CPU_ONLY),
    ],
)
def test_torch_7_computes_on_a_card_with_its_packages_for_cuda(
    checkout: Build, packages: str, command: str, workload: WorkloadType
) -> None:
    tree = checkout({"README.md": TORCH7.format(packages=packages, command=command), "train.lua": "require 'nn'\n"})
    assert analyze(tree).spec.meta.workload_type is workload


@pytest.mark.parametrize(
    ("cmake", "is_needed"),
    [
        ("project(llama LANGUAGES CXX CUDA)\n", True),
        ("project(ngp\n\tVERSION 1.0\n\tLANGUAGES C CXX CUDA\n)\n", True),
        ("project(net)\nenable_language(CUDA)\n", True),
        ('if (APPLE)\n  set(GPU_MODE CPU_ONLY CACHE STRING "x")\nelse ()\n  set(GPU_MODE CUDA CACHE STRING "x")\nendif ()\n', True),
        ("project(net LANGUAGES C CXX)\n", False),
        ("# project(net LANGUAGES C CXX CUDA)\nproject(net)\n", False),
        ('option(USE_CUDA "Build with CUDA" OFF)\nif(USE_CUDA)\n  enable_language(CUDA)\nendif()\n', False),
        ("find_package(CUDA)\n", False),
    ],
)  # fmt: skip
def test_a_project_that_cmake_builds_in_cuda_asks_for_a_gpu(checkout: Build, cmake: str, is_needed: bool) -> None:
    tree = checkout({"CMakeLists.txt": cmake, "README.md": "```\n./net detect picture.jpg\n```\n"})
    kind = analyze(tree).spec.meta.workload_type
    assert kind is (WorkloadType.INFERENCE if is_needed else WorkloadType.CPU_ONLY)


@pytest.mark.parametrize("folder", ["", "plugin/"])
def test_a_script_that_converts_weights_for_it_does_not_speak_against_it(checkout: Build, folder: str) -> None:
    convert = "import torch\nfor name, weight in torch.load('a.pt').items():\n    weight.numpy().tofile(name)\n"
    files = {f"{folder}CMakeLists.txt": "project(llama LANGUAGES CXX CUDA)\n", "convert_to_bin.py": convert}
    tree = checkout({**files, "README.md": "```\npython convert_to_bin.py\n./llama model.bin\n```\n"})
    kind = analyze(tree).spec.meta.workload_type
    assert kind is (WorkloadType.CPU_ONLY if folder else WorkloadType.INFERENCE)


CMAKE = "cmake_minimum_required(VERSION 3.10)\nproject(net LANGUAGES CXX CUDA)\nadd_executable(net net.cu)\n"
CONVERTS = "import torch\nif __name__ == '__main__':\n    torch.load('a.pt').numpy().tofile('a.bin')\n"


@pytest.mark.parametrize(
    ("cmake", "more", "is_needed"),
    [
        (CMAKE, {}, True),
        (CMAKE, {"convert_weights.py": CONVERTS}, True),
        ("project(net)\nenable_language(CUDA)\n", {}, True),
        ("project(net)\nif(USE_CUDA)\n  enable_language(CUDA)\nendif()\n", {}, False),
        ("project(net LANGUAGES CXX)  # CUDA comes later\n", {}, False),
        (CMAKE, {"setup.py": "from setuptools import setup\nsetup(name='net', install_requires=['numpy'])\n"}, False),
    ],
)
def test_a_cmake_project_of_cuda_is_a_program_for_a_gpu(
    checkout: Build, cmake: str, more: Mapping[str, str], is_needed: bool
) -> None:
    readme = "# Net\n```\ncmake --build .\n./net model.bin -i hello\n```\n"
    spec = analyze(checkout({"CMakeLists.txt": cmake, "README.md": readme, **more})).spec
    assert spec.meta.workload_type is (WorkloadType.INFERENCE if is_needed else WorkloadType.CPU_ONLY)


def test_what_cmake_builds_in_a_folder_says_nothing_of_the_root(checkout: Build) -> None:
    files = {"kernels/CMakeLists.txt": CMAKE, "README.md": "# Net\n", "table.py": "print(1)\n"}
    assert analyze(checkout(files)).spec.meta.workload_type is WorkloadType.CPU_ONLY


def test_a_program_of_torch_7_trains_whatever_asks_for_the_card(checkout: Build) -> None:
    readme = "# Net\n### Prerequisites\n- NVIDIA GPU + CUDA\n\n```bash\nDATA=./data name=a th train.lua\n```\n```bash\nth test.lua\n```\n"
    assert analyze(checkout({"README.md": readme})).spec.meta.workload_type is WorkloadType.TRAINING


LIBTORCH = (
    "#include <torch/torch.h>\nint main() {{\n  torch::Device device({});\n  Net model; model.to(device);\n  {}\n}}\n"
)


@pytest.mark.parametrize(
    ("device", "step", "more", "kind"),
    [
        ("torch::cuda::is_available() ? torch::kCUDA : torch::kCPU", "loss.backward();", {}, WorkloadType.TRAINING),
        ("torch::kCUDA", "model.forward(x);", {}, WorkloadType.INFERENCE),
        ("torch::kCPU", "loss.backward();", {}, WorkloadType.CPU_ONLY),
        # What shows its samples neither trains nor infers; what Python installs from there is an extension.
        ("torch::kCUDA", "loss.backward();", {"show.py": "import torch\nprint(torch.load('a.pt'))\n"}, WorkloadType.TRAINING),
        ("torch::kCUDA", "loss.backward();", {"setup.py": "from setuptools import setup\nsetup(name='net')\n"}, WorkloadType.CPU_ONLY),
    ],
)  # fmt: skip
def test_a_program_of_libtorch_computes_where_it_says(
    checkout: Build, device: str, step: str, more: Mapping[str, str], kind: WorkloadType
) -> None:
    files = {"net.cpp": LIBTORCH.format(device, step), "README.md": "# Net\n```\n./net\n```\n", **more}
    assert analyze(checkout(files)).spec.meta.workload_type is kind


def test_what_is_below_the_root_is_not_read_as_a_program_of_libtorch(checkout: Build) -> None:
    files = {"csrc/net.cpp": LIBTORCH.format("torch::kCUDA", "loss.backward();"), "README.md": "# Net\n"}
    assert analyze(checkout(files)).spec.meta.workload_type is WorkloadType.CPU_ONLY


@pytest.mark.parametrize(
    ("line", "is_needed"),
    [
        ("find_package(CUDA REQUIRED QUIET)", True),
        ("find_package(CUDAToolkit 11.0 REQUIRED)", True),
        ("find_package(CUDA)", False),
        ("if(USE_CUDA)\n  find_package(CUDA REQUIRED)\nendif()", False),
        ("find_package(OpenMP REQUIRED)", False),
    ],
)
def test_cmake_that_cannot_do_without_cuda(checkout: Build, line: str, *, is_needed: bool) -> None:
    tree = checkout({"CMakeLists.txt": f"project(trees)\n{line}\n", "README.md": "# Trees\n", "src/a.cpp": "int a;\n"})
    assert (analyze(tree).spec.meta.workload_type is not WorkloadType.CPU_ONLY) is is_needed
