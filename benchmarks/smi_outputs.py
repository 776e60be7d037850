"""How drivers' words are read: `python benchmarks/smi_outputs.py`.

Each line of benchmarks/data/smi_outputs.jsonl is what nvidia-smi printed on somebody's machine, with its source, and what stands
in it, read by a person. A program of that name prints it again, and our own readers (the sampler's, the validator's) read it.
Half of them (`held-out`) were kept away while the readers were mended. None of these machines is ours.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support.recorded_smi import recordings, wrongs


def main() -> int:
    """Print what is read wrongly, and the counts by half and kind."""
    everything = recordings()
    counts: Counter[tuple[str, str, bool]] = Counter()
    with tempfile.TemporaryDirectory(prefix="gpu-lol-") as folder:
        for recording in everything:
            found = wrongs(recording, Path(folder))
            counts[recording["split"], recording["kind"], not found] += 1
            for each in found:
                print(f"  {recording['id']} (driver {recording['driver'] or 'unknown'}, {recording['split']}): {each}")
    for split in ("known", "held-out"):
        said = [
            f"{kind} {counts[split, kind, True]} of {counts[split, kind, True] + counts[split, kind, False]}"
            for kind in ("query", "table", "refusal")
        ]
        print(f"{split}: right are {', '.join(said)}")
    versions = {recording["driver"].split(" ")[0] for recording in everything} - {""}
    print(f"{len(everything)} outputs of {len(versions)} driver versions")
    return 1 if any(not is_right for *_, is_right in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
