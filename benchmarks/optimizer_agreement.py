"""How often our cheapest offer is what SkyPilot's own optimizer picks from the same catalogs: `python benchmarks/optimizer_agreement.py`.

Generated requirements (memory, cards, clouds, spot, host, region, named card, price limit) over catalogs with the quirks of
the published ones. Prints the count of each kind of verdict, and each difference that nothing explains.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.support.agreement import compare, tally

REQUIREMENTS = 240


def main() -> int:
    """Print the figures; 1 where a difference is unexplained."""
    with tempfile.TemporaryDirectory() as home:
        verdicts = compare(Path(home), REQUIREMENTS)
    for kind, count in tally(verdicts).most_common():
        print(f"{count:4} {kind}")
    faults = [verdict for verdict in verdicts if not verdict.kind]
    for fault in faults:
        print(fault)
    print(f"{len(verdicts) - len(faults)} of {len(verdicts)} agree or differ for a documented reason")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
