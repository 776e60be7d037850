"""Requirements files that commands name, wherever they lie."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.dependencies.install_commands import InstallCommand
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form, joined


def find_list(checkout: Checkout, command: InstallCommand, value: str) -> Source | None:
    """Return the list that a command names: beside its document, at the root, or where its name is found."""
    return _named(checkout, command, value) or checkout.find_named(value)


def told_lists(checkout: Checkout, commands: Sequence[InstallCommand]) -> list[Source]:
    """Return the first list that commands install by its path, also one in a folder for documents (``docs/requirements.txt``)."""
    named = (_named(checkout, command, value) for command in commands for value in command.values("include"))
    return [source for source in named if source is not None and source.form is Form.REQUIREMENTS][:1]


def _named(checkout: Checkout, command: InstallCommand, value: str) -> Source | None:
    folder = command.evidence.path.rpartition("/")[0]
    bases = dict.fromkeys([f"{folder}/{command.folder}", command.folder, folder, ""])
    return next((found for base in bases if (found := list_at(checkout, base, value)) is not None), None)


def list_at(checkout: Checkout, folder: str, reference: str) -> Source | None:
    """Return the file that a reference relative to a folder names; None where there is none."""
    path = joined(folder, reference)
    return checkout.find(path) if path else None


def told_beside(checkout: Checkout, commands: Sequence[InstallCommand], folders: Sequence[str]) -> frozenset[Source]:
    """Return the lists that the same lines install which install the project of what is started (``cd verl; pip install -e .; cd ..``)."""
    mine = [f"/{folder}" for folder in folders if folder]
    own = {
        (command.evidence.path, command.block)
        for command in commands
        if command.values("local") and any(f"/{command.folder}".endswith(folder) for folder in mine)
    }
    lists = (
        find_list(checkout, command, value)
        for command in commands
        if (command.evidence.path, command.block) in own
        for value in command.values("include")
    )
    return frozenset(source for source in lists if source is not None)
