"""Names in lists that pip does not install as they stand: stubs, conda's and apt's names, and what belongs to Python itself."""

from __future__ import annotations

from gpu_lol_action.analysis.formats.import_names import is_part_of_python
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.domain.patterns import regex

# Names that pip refuses or that are other people's packages, and what their authors meant.
_MEANT = {
    "sklearn": "scikit-learn", "pytorch": "torch", "pil": "pillow", "cv2": "opencv-python-headless", "yaml": "pyyaml",
    "skimage": "scikit-image", "dotenv": "python-dotenv", "opencv": "opencv-python-headless", "python-opencv": "opencv-python-headless", "apex": "git+https://github.com/NVIDIA/apex.git",
    "tensorflow-gpu": "tensorflow", "beautifulsoup": "beautifulsoup4", "faiss": "faiss-cpu", "hydra": "hydra-core",
    "crypto": "pycryptodome", "attr": "attrs", "cudf": "cudf-cu12", "cuml": "cuml-cu12", "cugraph": "cugraph-cu12", "rmm": "rmm-cu12",
    "dask-cudf": "dask-cudf-cu12", "detectron2": "git+https://github.com/facebookresearch/detectron2.git", "opencv3": "opencv-python-headless",
    "pytorch-nightly": "torch", "pytorch-gpu": "torch", "msgpack-python": "msgpack", "tensorflow-mkl": "tensorflow", "python-kaleido": "kaleido",
    "astropy-base": "astropy", "python-build": "build", "matplotlib-base": "matplotlib",
    "rsl-rl": "rsl-rl-lib", "pyav": "av", "flashinfer": "flashinfer-python", "nvdiffrast": "git+https://github.com/NVlabs/nvdiffrast.git", "pytables": "tables", "pysoundfile": "soundfile", "pyqt": "pyqt5",
    "tinycudann": "git+https://github.com/NVlabs/tiny-cuda-nn.git#subdirectory=bindings/torch",
    "clip": "git+https://github.com/openai/CLIP.git", "groundingdino": "git+https://github.com/IDEA-Research/GroundingDINO.git",
}  # fmt: skip
# Builds of one night, which indexes keep for some months: the release that they led to.
_OF_A_NIGHT = regex(
    r"(tb|tf|tfp|tf-estimator)-nightly(?:-gpu)?\s*==\s*(\d+\.\d+(?:\.\d+)?)\.?(?:a|dev)(?:201\d|202[0-4])\d{4}"
)
# What a checkout calls itself before its release: as a rule no index has it, but the release.
_OF_DEVELOPMENT = regex(r"==\s*(\d{1,4}(?:\.\d{1,4}){1,3})\.?dev0?$")
# Numbers that its authors' build had and no release has: `ai2thor==0+8524ead`, `paddlepaddle-gpu==0.0.0.post116`.
_OF_NO_RELEASE = regex(r"==\s*0(?:\.0){0,2}(?:\.post\d{1,6})?(?:\+[\w.]{1,60})?$")
# torchvision 0.15.0 asks for `torch==2.0.0+cu117`, a build that the index does not have; PyTorch 1.8.2 and what goes with it were
# only ever on PyTorch's own page of long-term support. The release beside each is on the index.
_MENDED = {
    "torchvision==0.15.0": "torchvision==0.15.1", "torch==1.8.2": "torch==1.8.1", "torchvision==0.9.2": "torchvision==0.9.1",
    "torchaudio==0.8.2": "torchaudio==0.8.1", "torchtext==0.9.2": "torchtext==0.9.1",
}  # fmt: skip
# spaCy's models are releases of a repository: `en-core-web-sm==2.1.0` in a list of what was installed.
_OF_SPACY = regex(
    r"((?:[a-z]{2}|xx)-(?:core|dep|ent|sent)-(?:web|news|wiki)-(?:sm|md|lg|trf))(?:==(\d\.\d{1,2}\.\d{1,2}))?"
)
_RELEASED = {
    "tb": "tensorboard",
    "tf": "tensorflow",
    "tfp": "tensorflow-probability",
    "tf-estimator": "tensorflow-estimator",
}
# Their versions are numbered otherwise than those of what was meant.
_STUBS = frozenset({"clip", "sklearn", "apex", "detectron2", "opencv3", "pytorch-nightly", "tensorflow-mkl"})
# No index has them: Python and CUDA as conda names them, and parts of a system that a list of everything installed holds.
_NOT_PUBLISHED = regex(
    r"python|cudatoolkit|cudnn|pytorch-(?:cuda|mutex)|magma-cuda\d{2,3}|nb-conda(?:-kernels)?|bioconda|libmambapy|menuinst|mmseqs2|pybox2d|distro-info|"
    r"conda(?:-(?:build|env|verify|package-(?:handling|streaming)|content-trust|token|repo-cli|index|libmamba-solver))?|clyent|"
    r"anaconda-(?:client|navigator|project|anon-usage|catalogs|cloud-(?:auth|cli))|navigator-updater|isaacgym|kaldi|colmap|xentropy-cuda-lib|dropout-layer-norm|fused-dense-lib|python-apt|unattended-upgrades|"
    r"pkg-resources|graph-tool|gobject-introspection|rosbag|roslz4|ros-[a-z]{4,10}-[\w-]{1,40}|"
    r"dbus-python|systemd-python|python-debian|pycups|cupshelpers|brlapi|louis|apturl|screen-resolution-extra|launchpadlib|lazr-\w{1,20}|"
    r"nvidia-dali-(?:tf-plugin-)?(?:nightly|weekly)[\w-]{0,20}|wadllib|ssh-import-id|pygobject|language-selector|ubuntu-(?:advantage-tools|drivers-common|pro-client)|command-not-found|cloud-init|ufw|xkit|usb-creator"
)


def meant(requirement: str) -> str | None:
    """Return a requirement under the name that pip installs, or None for what no index has and what Python itself holds.

    ``sklearn`` and ``pytorch`` are stubs that refuse; ``pytorch-cuda`` is conda's; ``pprint`` needs no installation. One such
    line ends an installation as a whole.
    """
    requirement = _OF_NO_RELEASE.sub("", _OF_DEVELOPMENT.sub(r">=\1.dev0,<=\1", requirement))
    requirement = _MENDED.get(requirement.replace(" ", ""), requirement)
    if model := _OF_SPACY.fullmatch(requirement.replace("_", "-").replace(" ", "")):
        return _spacy_model(model[1].replace("-", "_"), model[2])
    if night := _OF_A_NIGHT.fullmatch(requirement.replace("_", "-")):
        return f"{_RELEASED[night[1]]}=={night[2]}"
    found = regex(r"([A-Za-z0-9][\w.-]*)\s*((?:[<>=!~].*)?)").fullmatch(requirement)
    name = package_name(found[1]) if found else ""
    if found is None:
        return requirement
    if _NOT_PUBLISHED.fullmatch(name) or is_part_of_python(name):
        return None
    if name not in _MEANT or (name == "tensorflow-gpu" and found[2]):
        return requirement
    return _MEANT[name] if name in _STUBS or _MEANT[name].startswith("git+") else f"{_MEANT[name]}{found[2]}"


def _spacy_model(name: str, version: str | None) -> str | None:
    """Return the address of a model's release; None without a version, which ``spacy download`` chooses by what is installed."""
    if version is None:
        return None
    kind = "-py3-none-any.whl" if version[0] >= "3" else ".tar.gz"
    release = f"{name}-{version}"
    return f"{name} @ https://github.com/explosion/spacy-models/releases/download/{release}/{release}{kind}"
