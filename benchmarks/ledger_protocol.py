"""Try the ledger's protocol in many orders of commands, deaths and lost answers: ``ledger_protocol.py --steps N --seed S``.

A stateful hypothesis test (tests/support/protocol.py): up to four runs of `up`, `down`, `extend`, `sweep` and of the
finishing job take turns over a ledger, a provider and a GitHub in memory; each may be killed or cancelled at any call of
a port, answers are lost or late, machines arrive after their asker died. After each sequence two sweeps clear up. The
last line is JSON; a violation prints the shortest sequence that shows it, and ends with 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.support.protocol import LedgerProtocol, steps

SEQUENCES_AT_ONCE = 200


def main() -> int:
    """Run from the command line; return 1 for a violation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=100_000, help="calls of ports to let happen")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--shrink", action="store_true", help="look for the shortest sequence with a violation: minutes"
    )
    options = parser.parse_args()
    how = settings(
        max_examples=SEQUENCES_AT_ONCE,
        stateful_step_count=40,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink] if options.shrink else [Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    began, chosen, violations = time.monotonic(), options.seed, 0
    while steps["calls"] < options.steps and not violations:
        machine = seed(chosen)(type(f"Seed{chosen}", (LedgerProtocol,), {}))
        try:
            run_state_machine_as_test(machine, settings=how)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            import traceback

            traceback.print_exc()
            violations = 1
        chosen += 1
        print(f"{steps['calls']} of {options.steps} steps, {time.monotonic() - began:.0f} s", flush=True)
    print(json.dumps({"steps": steps["calls"], "violations": violations, **steps}))
    return violations


if __name__ == "__main__":
    raise SystemExit(main())
