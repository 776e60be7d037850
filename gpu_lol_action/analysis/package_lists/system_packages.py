"""What packages need of the system: libraries that their wheels load, programs that they call, and tools for those that are only source.

Images for computing hold neither; a package that is compiled as it is installed ends the installation as a whole where its
compiler or header is missing. Sources: the packages' own installation guides, and which of them publish no wheels for Linux.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex

_GL = ("libgl1", "libglib2.0-0")
_BUILT = ("build-essential",)
_SYSTEM = {
    # OpenCV with windows, and what brings it.
    **dict.fromkeys(
        ("opencv-python", "opencv-contrib-python", "ultralytics", "mmcv", "mmcv-full", "mmengine", "supervision", "basicsr", "gfpgan",
         "realesrgan", "facexlib", "imgaug", "invisible-watermark", "mediapipe", "paddleocr", "deepface", "robosuite", "pyqt5"), _GL),
    "open3d": ("libgl1", "libgomp1"), "pyrender": ("libgl1", "libegl1"), "mujoco": ("libgl1", "libegl1"), "pyopengl": ("libgl1", "libegl1"),
    "vtk": ("libgl1", "libxrender1"), "pyvista": ("libgl1", "libxrender1"), "bpy": ("libgl1", "libegl1", "libxrender1", "libxi6", "libsm6"),
    **dict.fromkeys(
        ("openai-whisper", "pydub", "ffmpeg-python", "whisperx", "demucs", "whisper-timestamped", "stable-ts", "yt-dlp", "spleeter", "ffmpy",
         "insanely-fast-whisper", "torchcodec", "audiocraft"), ("ffmpeg",)),
    "mpi4py": ("libopenmpi-dev", "openmpi-bin"), "pyaudio": ("portaudio19-dev", *_BUILT), "sounddevice": ("libportaudio2",),
    "pytesseract": ("tesseract-ocr",), "pdf2image": ("poppler-utils",), "phonemizer": ("espeak-ng",), "pyttsx3": ("espeak-ng",),
    "python-magic": ("libmagic1",), "pyzbar": ("libzbar0",), "graphviz": ("graphviz",), "sox": ("sox",), "pypandoc": ("pandoc",),
    "jpeg4py": ("libturbojpeg0-dev",), "pyturbojpeg": ("libturbojpeg0-dev",), "openslide-python": ("libopenslide0",), "pyvips": ("libvips42",),
    "cairosvg": ("libcairo2",), "weasyprint": ("libpango-1.0-0", "libpangoft2-1.0-0"),
    "box2d-py": ("swig", *_BUILT), "pygraphviz": ("libgraphviz-dev", *_BUILT), "pycairo": ("libcairo2-dev", "pkg-config", *_BUILT),
    "psycopg2": ("libpq-dev", *_BUILT), "mysqlclient": ("default-libmysqlclient-dev", "pkg-config", *_BUILT),
    "python-ldap": ("libldap2-dev", "libsasl2-dev", *_BUILT), "pyicu": ("libicu-dev", "pkg-config", *_BUILT),
    "dlib": ("cmake", *_BUILT), "face-recognition": ("cmake", *_BUILT), "kenlm": ("cmake", *_BUILT), "horovod": ("cmake", *_BUILT),
    "atari-py": ("cmake", "zlib1g-dev", *_BUILT), "mujoco-py": ("libosmesa6-dev", "libgl1-mesa-dev", "patchelf", *_BUILT),
    **dict.fromkeys(
        ("fasttext", "pesq", "pyworld", "fairseq", "annoy", "webrtcvad", "cython-bbox", "pycrypto", "youtokentome", "pysptk", "pybullet",
         "fastbpe", "nmslib", "leveldb", "mod-wsgi", "uwsgi"), _BUILT),
}  # fmt: skip
_OF_BOX2D = regex(r"(?:gym|gymnasium)\[[\w,.\s-]{0,60}\bbox2d\b[\w,.\s-]{0,60}\]")


def system_findings(found: Sequence[Finding]) -> list[Finding]:
    """Return system packages that requirements need to be installed (git, compilers), to be loaded (libraries) or to work."""
    wanted: dict[str, Finding] = {}
    for finding in found:
        if finding.field != "dependencies.requirements":
            continue
        for name in _needed(finding.value):
            why = f"`{package_name(finding.value)}` needs it"
            wanted.setdefault(
                name, Finding("dependencies.system_packages", name, why, Confidence.MEDIUM, finding.evidence)
            )
    return [wanted[name] for name in sorted(wanted)]


def _needed(requirement: str) -> tuple[str, ...]:
    names = _SYSTEM["box2d-py"] if _OF_BOX2D.match(requirement) else _SYSTEM.get(package_name(requirement), ())
    return ("git", *names) if "git+" in requirement else names
