"""``gpu-lol rehearse PATH``: check the host, prepare what lacks, play the story, write the page."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from gpu_lol_action.errors import OperatorError, UserError
from gpu_lol_action.rehearsal.display import Display
from gpu_lol_action.rehearsal.image import ensure_image
from gpu_lol_action.rehearsal.stage import PACKAGE_ROOT, Stage
from gpu_lol_action.rehearsal.story import Story, StoryError

PROGRAMS = ("git", "ssh", "ssh-keygen", "rsync", "mmdebstrap", "ip", "iptables", "unshare")


def rehearse(project: Path, output: Path, display: Display | None = None) -> None:
    """Play the story on a project. Raises UserError, OperatorError or StoryError where it cannot be played to its end."""
    display = display or Display()
    check_host(project)
    with Stage() as stage:
        story = Story(stage, display, _prepare)
        try:
            story.play(project.resolve())
        except StoryError as error:
            raise OperatorError(
                "rehearsal_failed",
                f"The rehearsal stopped: {error}",
                fix=f"What was said until then stands in {output}.",
            ) from error
        finally:
            if story.number:
                story.write_page(output)
    display.note(f"The conversation, as a page: {output.resolve()}")


def check_host(project: Path) -> None:
    """Refuse at once what would fail in minutes. Raises UserError or OperatorError."""
    if not project.is_dir():
        raise UserError("not_a_folder", f"{project} is no folder.", fix="gpu-lol rehearse PATH_OF_A_REPOSITORY")
    if os.geteuid() != 0:
        raise OperatorError(
            "root_needed",
            "The loopback cloud needs root: it makes namespaces, mounts and a network bridge.",
            fix="sudo gpu-lol rehearse",
        )
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    missing = [program for program in PROGRAMS if shutil.which(program, path=path) is None]
    if missing:
        raise OperatorError(
            "programs_missing",
            f"These programs are missing: {', '.join(missing)}.",
            fix="apt-get install git openssh-client rsync mmdebstrap iproute2 iptables util-linux",
        )


def _prepare(tell: Callable[[str], None]) -> None:
    """Install the cloud extra by its lock and build the machines' image, where either is lacking."""
    installer = PACKAGE_ROOT / "scripts" / "install"
    if importlib.util.find_spec("sky") is None and installer.exists():
        tell("installing SkyPilot by the lock")
        done = subprocess.run([installer, "cloud"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise OperatorError("install_failed", f"SkyPilot could not be installed: {done.stderr[-400:]}")
        importlib.invalidate_caches()
    if importlib.util.find_spec("sky") is None:
        raise OperatorError(
            "cloud_extra_missing", "SkyPilot is not installed.", fix="pip install 'gpu-lol-action[cloud]'"
        )
    tell("building the machines' image")
    ensure_image(on_progress=tell)
