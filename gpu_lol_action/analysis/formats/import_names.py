"""Which package a module comes from; none for the standard library and for names that nobody knows."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from gpu_lol_action.domain.tables import table_rows

# What Python 3.10 to 3.13 hold, and 2, 3.8 and 3.9 held: a program may be written for any of them, whichever runs here.
_STANDARD = sys.stdlib_module_names | {
    "asynchat", "asyncore", "audioop", "binhex", "cgi", "cgitb", "chunk", "crypt", "distutils", "formatter", "imghdr", "imp",
    "lib2to3", "mailcap", "msilib", "nis", "nntplib", "ossaudiodev", "parser", "pipes", "smtpd", "sndhdr", "spwd", "sunau",
    "symbol", "telnetlib", "cPickle", "cStringIO", "StringIO", "ConfigParser", "Queue", "SocketServer", "Tkinter", "urllib2", "urlparse", "httplib",
    "HTMLParser", "__builtin__", "tomllib", "uu", "xdrlib", "macpath", "dummy_threading", "_bootlocale", "pathlib",
}  # fmt: skip
# Comes with every image or with the tool that runs the code, or is part of another distribution.
_NEVER_INSTALLED = frozenset({"pkg_resources", "setuptools", "IPython", "ipykernel", "triton", "_typeshed", "__future__", "pip",
                              "google.colab", "wheel"})  # fmt: skip

MAX_TAKEN = 12  # names of one import that are looked up


@functools.lru_cache(maxsize=1)
def package_names() -> Mapping[str, str]:
    """Return the bundled table: import name to requirement. An empty requirement: not installed by pip."""
    return MappingProxyType({row["module"]: row["package"] for row in table_rows("import_names.csv")})


# Of a newer Python than runs here, or still wanted from the index under that name.
_ON_THE_INDEX = frozenset({"pathlib", "dataclasses", "contextvars", "tomllib", "compression", "annotationlib"})


def is_part_of_python(name: str) -> bool:
    """Whether a package's name is that of a module of Python itself, which no list needs to name."""
    return name in _STANDARD and name not in _ON_THE_INDEX


def is_standard(module: str) -> bool:
    """Whether a module belongs to Python itself or to the environment of every program."""
    top = module.split(".", maxsplit=1)[0]
    return not top or top in _STANDARD or top.startswith("_") or top in _NEVER_INSTALLED or module in _NEVER_INSTALLED


def package_of(module: str) -> str | None:
    """Return the requirement that brings a module; None where none is needed or none is known.

    An unknown name is never guessed: any name can be a stranger's package on the index.
    """
    if is_standard(module):
        return None
    names = package_names()
    words = module.split(".")
    for length in range(min(3, len(words)), 0, -1):  # namespaces (`google.cloud.storage`) before their top
        package = names.get(".".join(words[:length]))
        if package is not None:
            return package or None
    return None


def is_known(module: str) -> bool:
    """Whether the table names a module, or it needs no package at all."""
    words = module.split(".")
    names = package_names()
    return is_standard(module) or any(".".join(words[:length]) in names for length in range(1, min(3, len(words)) + 1))


def modules_meant(module: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the modules that an import means: of a namespace that nobody owns those that are taken from it (``from google import genai``)."""
    if is_known(module) or module.startswith("."):
        return (module,)
    taken = tuple(f"{module}.{name}" for name in names[:MAX_TAKEN] if f"{module}.{name}" in package_names())
    return taken or (module,)
