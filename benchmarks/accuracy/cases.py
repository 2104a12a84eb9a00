# SPDX-License-Identifier: BSD-2-Clause
"""
The cases of the accuracy benchmark: subjects whose answers are known.

A case is a subject with its arguments and, for each of its work functions, the time per visit as a function of what
is left of that function (1 at no speedup, 0 at 100 %). Only ratios count, so times are in any unit. A function whose
formula does not depend on what is left of it is off the critical path: whatever is done to it, nothing is gained.

`mark` is how many points a prediction may be off: 4 where things are clean, 8 where a hand-off costs as much as the
work. For code that is off the critical path it is 3 everywhere.
"""

from dataclasses import dataclass, field
from typing import Callable

CLEAN, HANDOFF, OFF_PATH = 4.0, 8.0, 3.0


@dataclass
class Case:
    name: str
    subject: str
    units: dict[str, Callable[[float], float]]
    args: list[str] = field(default_factory=list)
    mark: float = CLEAN
    point: str = "rounds"
    kind: str = "throughput"

    def formula_percent(self, unit: str, speedup_percent: float) -> float:
        time = self.units[unit]
        return 100 * (1 - time(1 - speedup_percent / 100) / time(1))

    def on_path(self, unit: str) -> bool:
        return self.formula_percent(unit, 100) > 1e-9

    def mark_of(self, unit: str) -> float:
        return self.mark if self.on_path(unit) else OFF_PATH


# Two branches that meet; the same arithmetic whether they are joined or meet at a barrier.
BRANCHES = {"work_a": lambda left: max(1.0 * left, 0.8), "work_b": lambda left: max(1.0, 0.8 * left)}

# One after the other.
SERIES = {"work_a": lambda left: 0.6 * left + 0.4, "work_b": lambda left: 0.6 + 0.4 * left}

# Two threads and a lock: the section alone, or the whole cycle shared by two.
LOCK = {
    "work_inside": lambda left: max(0.6 * left, (0.6 * left + 0.4) / 2),
    "work_outside": lambda left: max(0.6, (0.6 + 0.4 * left) / 2),
}

POOL = {"work_serial": lambda left: 0.4 * left + 0.6, "work_task": lambda left: 0.4 + 0.6 * left}

OFFPATH = {"work_a": lambda left: left, "work_b": lambda left: 1.0}


def phase(ms: float) -> list[str]:
    return ["--phase-ms", str(ms)]


CASES = [
    Case("joined", "joined", BRANCHES),
    Case("joined-1ms", "joined", BRANCHES, phase(1)),
    Case("barrier", "barrier", BRANCHES),
    Case("barrier-1ms", "barrier", BRANCHES, phase(1)),
    Case("pool", "pool", POOL),
    Case("lock", "lock", LOCK),
    Case("lock-1ms", "lock", LOCK, phase(1)),
    Case("single", "single", SERIES),
    Case("offpath", "offpath", OFFPATH),
]
