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
    "rsl-rl": "rsl-rl-lib", "nvdiffrast": "git+https://github.com/NVlabs/nvdiffrast.git", "pytables": "tables", "pysoundfile": "soundfile", "pyqt": "pyqt5",
    "tinycudann": "git+https://github.com/NVlabs/tiny-cuda-nn.git#subdirectory=bindings/torch",
    "clip": "git+https://github.com/openai/CLIP.git", "groundingdino": "git+https://github.com/IDEA-Research/GroundingDINO.git",
}  # fmt: skip
# Builds of one night, which indexes keep for some months: the release that they led to.
_OF_A_NIGHT = regex(
    r"(tb|tf|tfp|tf-estimator)-nightly(?:-gpu)?\s*==\s*(\d+\.\d+(?:\.\d+)?)\.?(?:a|dev)(?:201\d|202[0-4])\d{4}"
)
# What a checkout calls itself before its release: as a rule no index has it, but the release.
_OF_DEVELOPMENT = regex(r"==\s*(\d{1,4}(?:\.\d{1,4}){1,3})\.?dev0$")
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
    r"dbus-python|systemd-python|python-debian|pycups|cupshelpers|brlapi|louis|apturl|screen-resolution-extra|launchpadlib|lazr-\w{1,20}|"
    r"nvidia-dali-(?:tf-plugin-)?(?:nightly|weekly)[\w-]{0,20}|wadllib|ssh-import-id|pygobject|language-selector|ubuntu-(?:advantage-tools|drivers-common|pro-client)|command-not-found|cloud-init|ufw|xkit|usb-creator"
)


def meant(requirement: str) -> str | None:
    """Return a requirement under the name that pip installs, or None for what no index has and what Python itself holds.

    ``sklearn`` and ``pytorch`` are stubs that refuse; ``pytorch-cuda`` is conda's; ``pprint`` needs no installation. One such
    line ends an installation as a whole.
    """
    requirement = _OF_DEVELOPMENT.sub(r">=\1.dev0,<=\1", requirement)
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
