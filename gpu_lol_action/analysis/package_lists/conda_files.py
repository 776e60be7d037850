"""conda's lists in pip's words: environment files and ``conda install`` commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.package_lists.glued_names import is_published
from gpu_lol_action.analysis.package_lists.package_files import Declared, Option, clean_requirement
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

# `dav1d=1.2.1=hd590300_0`: name, version, build.
_BUILT = regex(r"[\w.-]+={1,2}[\w.+!*-]+=([\w.]+)")
LEAST_EXPORTED = 50
"""Packages of an environment that nobody lists by hand."""
MOSTLY_PINNED = 0.9
# Conda's name, pip's name. Only where they differ.
_PIP_NAMES = {
    "pytorch": "torch", "pytorch-gpu": "torch", "pytorch-cpu": "torch", "torchvision-cpu": "torchvision", "opencv": "opencv-python-headless",
    "py-opencv": "opencv-python-headless", "libopencv": "", "faiss-gpu": "faiss-cpu", "tensorflow-gpu": "tensorflow",
    "tensorflow-base": "", "msgpack-python": "msgpack", "pytables": "tables", "ruamel_yaml": "ruamel.yaml",
    "matplotlib-base": "matplotlib", "seaborn-base": "seaborn", "scikit-learn-intelex": "scikit-learn-intelex",
    "huggingface_hub": "huggingface-hub", "pyg": "torch-geometric", "pytorch-geometric": "torch-geometric", "pytorch-scatter": "torch-scatter",
    "pytorch-sparse": "torch-sparse", "pytorch-cluster": "torch-cluster", "pytorch-spline-conv": "torch-spline-conv",
    "jupyter_core": "jupyter-core", "python-dateutil": "python-dateutil", "pil": "pillow",
    "tensorboard-plugin-wit": "", "tensorboard-data-server": "", "numpy-base": "", "blas": "", "torchtriton": "",
    "pytorch-mutex": "", "cudnn": "", "python-graphviz": "graphviz", "importlib_metadata": "importlib-metadata",
    "typing_extensions": "typing-extensions", "prompt_toolkit": "prompt-toolkit", "backports": "", "brotlipy": "",
    "conda": "", "conda-package-handling": "", "dataclasses": "", "nomkl": "", "cython": "cython", "lame": "",
    "biopython": "biopython", "openbabel": "openbabel-wheel", "igl": "libigl", "openslide": "", "rdkit": "rdkit", "hdf5": "", "ninja-base": "ninja", "av": "av", "gym-box2d": "gym",
    "opencv3": "opencv-python-headless", "astropy-base": "astropy", "python-kaleido": "kaleido", "python-build": "build",
    "ibis-duckdb": "ibis-framework[duckdb]", "sktime-all-extras": "sktime[all_extras]", "pandera-pandas": "pandera", "pytorch-nightly": "torch",
    "tensorflow-mkl": "tensorflow", "nb_conda_kernels": "", "nb_conda": "", "colmap": "", "kaldi": "", "openfst": "",
    "brotli-python": "brotli", "python-tzdata": "tzdata", "python-xxhash": "xxhash", "python-devtools": "devtools",
    "pysoundfile": "soundfile", "python-annoy": "annoy", "python-lmdb": "lmdb", "dask-core": "dask", "ignite": "pytorch-ignite", "pgvector-python": "pgvector", "kalpy": "kalpy-kaldi", "postgresql": "", "ngram": "", "baumwelch": "",
    "python-fastjsonschema": "fastjsonschema", "nbconvert-core": "nbconvert", "nbconvert-pandoc": "nbconvert", "pyarrow-core": "pyarrow",
    "python-flatbuffers": "flatbuffers", "python-eccodes": "eccodes", "python-installer": "installer",
    "antlr-python-runtime": "antlr4-python3-runtime", "esmpy": "", "ambertools": "", "psi4": "", "pybind11-abi": "",
    "bleach-with-css": "bleach[css]", "jsonschema-with-format-nongpl": "jsonschema[format-nongpl]",
}  # fmt: skip
# Tools whose releases pip numbers otherwise, and of which any will do.
_ANY_VERSION = frozenset({"ninja", "build", "libigl", "graphviz"})
# pip's builds of these carry one number more: conda's 4.6.0 is 4.6.0.66 there.
_BUILD_NUMBERED = frozenset({"opencv-python-headless", "openbabel-wheel"})
# Of conda's own world: libraries and tools that pip does not have, or that the image holds.
_NOT_FROM_PIP = regex(
    r"(?:pip|python|python_abi|setuptools|wheel|cudatoolkit.*|cudnn.*|cuda.*|pytorch-cuda|mkl|mkl[-_]service|mkl[-_](?:fft|random)|nccl|"
    r"gcc.*|gxx.*|gfortran.*|_.*|ffmpeg|nodejs|git|git-lfs|lib(?!rosa$|cst$|tmux$|svm$|pysal$).*|openssl|zlib|sqlite|readline|tk|xz|ncurses|ca-certificates|certifi|nvidia.*|"
    r"intel-openmp|llvm-openmp|ld_impl.*|binutils.*|sysroot.*|kernel-headers.*|freetype|jpeg|lz4-c|lcms2|giflib|gmp|gnutls|nettle|openh264|"
    r"openjpeg|zstd|bzip2|lerc|tbb|x264|x265|glib|gstreamer|gst-.*|qt.*|pyqt.*|icu|expat|fontconfig|dbus|pcre.*|harfbuzz|cairo|pixman|"
    r"pango|graphite2|fribidi|eigen|boost.*|cmake|make|compilers|c-compiler|cxx-compiler|bzip.*|c-ares|krb5|aom|svt-av1|"
    r"bash|zsh|fish|coreutils|findutils|gawk|rsync|openssh|nano|less|screen|parallel|doxygen|flex|bison|ccache|sccache|autoconf|automake|libtool|m4|pkg-config|pkgconfig|clang.*|llvm|"
    r"curl|wget|tmux|htop|vim|unzip|mesa.*|xorg.*|openmpi|mpi|mpich|gdal|geos|proj|tzdata|yaml|snappy|gflags|glog|protobuf-c|"
    r"blosc|charls|brunsli|zfp|cfitsio|imagecodecs-lite|jxrlib|openblas.*|blas.*|lapack|numactl|r-.*|perl.*|java.*|openjdk|maven|gradle|cpuonly|cpython|xz-.*|"
    # Of an environment that was exported: parts of other packages, and Windows' own.
    r"mkl-.*|mpc|mpfr|isl|aws-(?:c-.*|checksums)|[\w.]{1,40}(?:-\w{1,40})?-cpp|pandoc|sip|sox|bioconda|s2n|re2|orc|zeromq|jasper|gettext.*|glib-tools|brotli-bin|freeglut|glew|"
    r"pthreads?-.*|alsa-.*|attr|keyutils|nspr|nss|mysql.*|pulseaudio.*|fftw|metis|suitesparse|imagemagick|aria2|portaudio|hmmer|hhsuite|psipred|csblast|blast|blast-legacy|"
    r"mamba|micromamba|miniconda\d?|anaconda.*|conda-.*|kalign\d?|tmalign|m2w64-.*|msys2-.*|vc|vc14_runtime|vs20\d\d_runtime|ucrt|win_inet_pton|winpty|menuinst|pywin32)"
)
# Libraries and programs that 190 environments of public repositories ask conda for; some names may be strangers' on pip's index.
_PROGRAMS = frozenset({
    "arpack", "atk-1.0", "autodock-vina", "bedtools", "bowtie2", "bwa", "c-blosc2", "cd-hit", "ceres-solver", "chemps2", "crest",
    "cyrus-sasl", "dav1d", "dftd3", "diamond", "dkh", "entrez-direct", "esmf", "fastqc", "fmt", "freexl", "gau2grid", "gcp", "gdk-pixbuf",
    "gdma", "gds-tools", "geotiff", "glm", "gstreamer-orc", "gtest", "gtk2", "gts", "hdf4", "htslib", "infernal", "jack", "jbig", "json-c",
    "kealib", "level-zero", "lzo", "mafft", "magma", "mctc-lib", "mpg123", "ncbi-vdb", "netcdf-fortran", "nlohmann_json", "nsight-compute",
    "ocl-icd", "ocl-icd-system", "oniguruma", "opencl-headers", "openldap", "p11-kit", "poppler", "poppler-data", "pugixml", "qhull",
    "reproc", "rhash", "ripgrep", "rpsbproc", "samtools", "sdl2", "sdl3", "seqkit", "simint", "sleef", "tiledb", "trimmomatic",
    "trnascan-se", "ucsc-bedgraphtobigwig", "ucx", "utf8proc", "wayland", "wayland-protocols", "xcb-util", "xerces-c", "xkeyboard-config", "zlib-ng",
})  # fmt: skip
_OF_PROGRAMS = ("font-ttf-", "fonts-conda-", "xcb-util-")


@record(frozen=True, slots=True)
class CondaFile:
    """A conda environment: packages under pip's names, Python, CUDA, and what its pip list says besides.

    ``built`` counts the packages of which it names the build.
    """

    declared: tuple[Declared, ...] = ()
    python: str = ""
    python_line: int = 0
    cuda: str = ""
    cuda_line: int = 0
    options: tuple[Option, ...] = ()
    built: int = 0


def read_environment(source: Source) -> CondaFile:
    """Read a conda environment file."""
    declared: list[Declared] = []
    options: list[Option] = []
    versions: dict[str, tuple[str, int]] = {}
    built = 0
    for setting in read_settings(source):
        where, text = setting.evidence, setting.text.strip()
        requirement = None
        if setting.path == "dependencies.pip":
            option = regex(
                r"(-r|--requirement|-e|--editable|-f|--find-links|--extra-index-url|-i|--index-url)[ =]\s*(\S+)"
            ).match(text)
            if option:
                kinds = {"-r": "include", "--requirement": "include", "-e": "local", "--editable": "local", "-f": "links",
                         "--find-links": "links"}  # fmt: skip
                kind = kinds.get(option[1], "index")
                if kind != "local" or not regex(r"git\+|https?://").match(option[2]):
                    options.append(Option(kind, option[2].removeprefix("file:"), where))
                    continue
            elif regex(r"(?:\.{1,2}(?:/[\w./-]*)?|(?:[\w-]+/)+[\w.-]*)(?:\[[\w,.-]+\])?").fullmatch(text):
                options.append(Option("local", text, where))
                continue
            requirement = clean_requirement(text)
        elif setting.path == "dependencies":
            name, version = conda_parts(text)
            if name == "python" or name in {"cudatoolkit", "pytorch-cuda", "cuda-toolkit", "cuda", "cuda-version"}:
                versions.setdefault("python" if name == "python" else "cuda", (version, where.line))
            requirement = conda_requirement(text)
            built += _BUILT.fullmatch(_bare(text)) is not None
        if requirement:
            declared.append(Declared(requirement, where))
    python, cuda = versions.get("python", ("", 0)), versions.get("cuda", ("", 0))
    return CondaFile(tuple(declared), python[0], python[1], cuda[0], cuda[1], tuple(options), built)


def is_export(file: CondaFile) -> bool:
    """Whether an environment was written by ``conda env export``: everything that somebody's machine held, at its version."""
    declared = file.declared
    pinned = sum("==" in item.requirement for item in declared)
    is_pinned = len(declared) >= LEAST_EXPORTED and pinned >= MOSTLY_PINNED * len(declared)
    return is_pinned or file.built >= LEAST_EXPORTED


def as_versions(declared: Sequence[Declared]) -> list[Declared]:
    """Return an environment's packages as nothing but versions of what is asked for elsewhere."""
    return [replace(item, is_optional=True) for item in declared]


def conda_parts(text: str) -> tuple[str, str]:
    """Return name and version of a conda specification: ``conda-forge::numpy=1.19.2=py38h_0`` gives numpy and 1.19.2.

    The address of an archive gives neither: it is a package in conda's own form, which pip does not take.
    """
    bare = regex(r"\[.*\]$").sub("", _bare(text))
    if "://" in bare:
        return "", ""
    found = regex(r"([A-Za-z0-9_][\w.-]*)\s*([<>=!~]{0,2})\s*([\w.*]*)").match(bare)
    if found is None:
        return "", ""
    return found[1].lower(), regex(r"(?:\.\*)+$|\*$").sub("", found[3]).rstrip(".")


def _bare(text: str) -> str:
    """Return a specification without quotes and without its channel."""
    return regex(r"^[\w.:/-]+::").sub("", text.strip().strip("\"'"))


def _is_without_python(specification: str) -> bool:
    """Whether a specification names a build that has nothing to do with Python: conda writes ``py`` into all others."""
    built = _BUILT.fullmatch(specification)
    return built is not None and "py" not in built[1]


def conda_requirement(text: str) -> str | None:
    """Return a conda specification as pip's requirement; None for what pip does not have."""
    bare = _bare(text)
    name, version = conda_parts(text)
    if not name or _NOT_FROM_PIP.fullmatch(name) or name in _PROGRAMS or name.startswith(_OF_PROGRAMS):
        return None
    if name not in _PIP_NAMES and _is_without_python(bare) and not is_published(name):
        return None
    pip_name = "dgl" if name.startswith("dgl-cuda") else _PIP_NAMES.get(name, name)
    if not pip_name:
        return None
    if pip_name in _ANY_VERSION:
        return pip_name
    bare = regex(r"\[.*\]$").sub("", bare)
    ranged = regex(r"[\w.-]+\s*((?:[<>!~]=?|==)\s*[\d.*]+(?:\s*,\s*[<>=!~]=?\s*[\d.*]+)*)$").match(bare)
    if ranged:
        return clean_requirement(pip_name + regex(r"\s+").sub("", ranged[1]))
    # One sign fuzzily, as conda means it: `torch=1.12` is any 1.12.
    if regex(r"\d+(?:\.\d+){2,}").fullmatch(version) and pip_name not in _BUILD_NUMBERED:
        return clean_requirement(f"{pip_name}=={version}")
    if regex(r"\d+(?:\.\d+){0,2}").fullmatch(version):
        return clean_requirement(f"{pip_name}=={version}.*")
    return (
        clean_requirement(f"{pip_name}=={version}")
        if regex(r"\d[\w.]*").fullmatch(version)
        else clean_requirement(pip_name)
    )


def evidence_of(file: CondaFile, source: Source, what: str) -> Evidence:
    """Return where an environment file names Python or CUDA."""
    return Evidence(source.path, file.python_line if what == "python" else file.cuda_line)
