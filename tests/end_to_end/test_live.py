"""`make live` on the loopback cloud: its steps are proven here before anybody spends money on them.

The steps that wait for a lease to run out are left to `make live CLOUD=loopback`, which takes a quarter of an hour.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
QUICK = ("wrong-key", "up", "log-in", "use", "snapshot", "pod-key", "down", "resume")


def test_the_steps_of_a_live_run_see_what_they_look_for(image: Path, tmp_path: Path) -> None:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in ("PATH", "LANG") or "CERT" in name or "BUNDLE" in name
    }
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "live"), "--cloud", "loopback", "--only", ",".join(QUICK)],
        env={**kept, "HOME": os.environ["HOME"], "XDG_STATE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    rows = re.findall(r"^\| (.+?) \| (yes|\*\*no\*\*|seen) \| (.*) \| \d+ s \|$", done.stdout, re.MULTILINE)
    assert len(rows) == len(QUICK) + 2, done.stdout + done.stderr
    assert [row for row in rows if row[1] == "**no**"] == []
    assert done.returncode == 0
    assert "docs/clouds.md" not in done.stdout, "a loopback dates nothing"
