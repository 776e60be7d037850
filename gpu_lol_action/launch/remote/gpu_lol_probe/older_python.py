"""``metadata``: what Python calls ``importlib.metadata`` from 3.8 on; for 3.7 the backport, or what pip brings along.

Images of PyTorch up to 1.12 have Python 3.7, and so have 112 of 886 proposals. Scripts of the shell put this text in
front of their own programs, so it imports nothing of this package.
"""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any, Dict, Iterator, Optional


class _Found:
    """A distribution as ``pkg_resources`` knows it, with the few words that are used here."""

    def __init__(self, known: Any) -> None:
        self._known = known
        self.version = str(known.version)
        self.metadata = {"Name": str(known.project_name), "Version": self.version}

    def read_text(self, name: str) -> Optional[str]:
        """Return a file of the metadata; None where there is none."""
        return str(self._known.get_metadata(name)) if self._known.has_metadata(name) else None

    def locate_file(self, path: str) -> str:
        """Return where a file of the distribution lies."""
        return "%s/%s" % (self._known.location, path)


class _Metadata:
    """Finds distributions anew at each question, as the standard library does: something may just have been installed."""

    PackageNotFoundError = LookupError

    def distributions(self) -> Iterator[_Found]:
        """Yield what is installed; nothing where neither pip nor setuptools is there to tell."""
        for module in ("pip._vendor.pkg_resources", "pkg_resources"):
            try:
                resources = importlib.import_module(module)
            except ImportError:
                continue
            for known in resources.WorkingSet():
                yield _Found(known)
            return

    def distribution(self, name: str) -> _Found:
        """Return a distribution by its name, however that is spelled; raises LookupError."""
        by_name: Dict[str, _Found] = {_key(found.metadata["Name"]): found for found in self.distributions()}
        return by_name[_key(name)]

    def version(self, name: str) -> str:
        """Return the version of a distribution; raises LookupError."""
        return self.distribution(name).version


def _key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


metadata: Any
"""``version``, ``distribution``, ``distributions`` and ``PackageNotFoundError`` as in the standard library."""
if sys.version_info >= (3, 8):
    from importlib import metadata
else:
    try:
        import importlib_metadata as metadata
    except ImportError:
        metadata = _Metadata()
