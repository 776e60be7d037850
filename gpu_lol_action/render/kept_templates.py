"""What Jinja compiles templates to, kept beside the compiled modules as those are: a short answer spends a sixth of its time on it.

A kept template is taken again only for the same source, filters, settings, Jinja and Python; where the folder cannot be written, or
Python is told to write no compiled code, templates are compiled as ever.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

from gpu_lol_action.render import markdown, templating


class KeptTemplates(jinja2.FileSystemBytecodeCache):
    """Jinja's own cache in files; one that cannot be read or written is none, without a word."""

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return a key that changes with whatever decides the code beside the template's source, which Jinja checks itself.

        The filters are in it, for Jinja applies them to constants when it compiles.
        """
        files = [Path(str(module.__file__)).stat() for module in (markdown, templating)]
        form = "\n".join(f"{file.st_size} {file.st_mtime_ns}" for file in files)
        return super().get_cache_key(f"{name}\n{jinja2.__version__}\n{sys.version}\n{form}", filename)

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read what was kept."""
        with contextlib.suppress(OSError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write what was compiled, where Python writes its own."""
        if not sys.dont_write_bytecode:
            with contextlib.suppress(OSError):
                super().dump_bytecode(bucket)


def kept_templates() -> KeptTemplates | None:
    """Return the cache in the folder of this module's own compiled code; None where there is no such folder."""
    cached = __spec__.cached
    folder = Path(cached).parent if cached else None
    return KeptTemplates(str(folder)) if folder and folder.is_dir() else None
