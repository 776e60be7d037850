"""How well the rules for logs tell failures apart: `python benchmarks/log_rules.py [FILE ...]`.

Each line of a file is one message with its source, what it is (`kind`, or `category`; `none` for what only sounds alike), and
what was printed (`line`, or a whole `text`). Without a file it reads benchmarks/data/log_messages.jsonl: the telling words alone of 164
messages from public threads. Half of them (`held-out`) were kept away while the rules were written.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gpu_lol_action.launch.failures import recognize

DATA = Path(__file__).parent / "data" / "log_messages.jsonl"


def measure(messages: Sequence[dict[str, str]]) -> str:
    """Return one line: how many, precision, recall; and before it a line for each that is told wrongly."""
    counts: Counter[str] = Counter()
    wrong = []
    for message in messages:
        wanted = message.get("kind") or message["category"]
        found = recognize(message.get("line") or message["text"])
        said = found.kind if found is not None else "none"
        counts["said"] += said != "none"
        counts["right"] += said == wanted != "none"
        counts["wanted"] += wanted != "none"
        if said != wanted:
            wrong.append(f"  {message['id']}: {wanted}, told as {said}")
    precision, recall = counts["right"] / max(counts["said"], 1), counts["right"] / max(counts["wanted"], 1)
    return "\n".join([*wrong, f"{len(messages)} messages: precision {precision:.1%}, recall {recall:.1%}"])


def main(arguments: Sequence[str]) -> int:
    """Print the figures of each file, by split where the messages have one."""
    for path in [Path(each) for each in arguments] or [DATA]:
        messages = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for split in sorted({message.get("split", path.name) for message in messages}):
            print(f"{split}:")
            print(measure([each for each in messages if each.get("split", path.name) == split]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
