# SPDX-License-Identifier: BSD-2-Clause
"""
The cases of the accuracy benchmark: subjects whose answers are known.

A case is a subject with its arguments and, for each of its work functions, the time per visit as a function of what
is left of that function (1 at no speedup, 0 at 100 %). Only ratios count, so times are in any unit. A function whose
formula does not depend on what is left of it is off the critical path: whatever is done to it, nothing is gained.

Where a hand-off costs as much as the work (`handoff`), what it costs is measured in the real runs at speedup 0 and kept
the same at every speedup at which there is one (`meets`). The mark is how many points a prediction may be off: 4 where things are clean, 8 with such
hand-offs. For code that is off the critical path it is 3 everywhere.
"""

from dataclasses import dataclass, field
from typing import Callable

CLEAN, HANDOFF, OFF_PATH = 4.0, 8.0, 3.0


@dataclass
class Case:
    name: str
    subject: str
    units: dict[str, Callable[[float], float]]
    phase_ms: float = 10
    handoff: bool = False
    meets: dict[str, Callable[[float], bool]] = field(default_factory=dict)
    point: str = "rounds"
    kind: str = "throughput"

    @property
    def args(self) -> list[str]:
        return ["--phase-ms", f"{self.phase_ms:g}"]

    def formula_percent(self, unit: str, speedup_percent: float, real_base_ns: float | None = None) -> float:
        work = self.units[unit]
        handoff = 0.0
        if self.handoff and real_base_ns is not None:
            handoff = max(real_base_ns / (1e6 * self.phase_ms) - work(1), 0)
        meets = self.meets.get(unit, lambda left: True)

        def time(left: float) -> float:
            return work(left) + (handoff if meets(left) else 0)

        return 100 * (1 - time(1 - speedup_percent / 100) / time(1))

    def on_path(self, unit: str) -> bool:
        return self.formula_percent(unit, 100) > 1e-9

    def mark_of(self, unit: str) -> float:
        if not self.on_path(unit):
            return OFF_PATH
        return HANDOFF if self.handoff else CLEAN


# Two branches that meet; the same arithmetic whether they are joined or meet at a barrier.
BRANCHES = {"work_a": lambda left: max(1.0 * left, 0.8), "work_b": lambda left: max(1.0, 0.8 * left)}

# One after the other, in one thread or handed from one to another.
SERIES = {"work_a": lambda left: 0.6 * left + 0.4, "work_b": lambda left: 0.6 + 0.4 * left}

# Two threads and a lock: the section alone, or the whole cycle shared by two.
LOCK = {
    "work_inside": lambda left: max(0.6 * left, (0.6 * left + 0.4) / 2),
    "work_outside": lambda left: max(0.6, (0.6 + 0.4 * left) / 2),
}

# A thread finds the lock taken while the section is the longer part; after that the two miss each other.
LOCK_MEETS = {"work_inside": lambda left: 0.6 * left > 0.4}

POOL = {"work_serial": lambda left: 0.4 * left + 0.6, "work_task": lambda left: 0.4 + 0.6 * left}
OFFPATH = {"work_a": lambda left: left, "work_b": lambda left: 1.0}
SEMAPHORE = {"work_consume": lambda left: max(left, 0.7), "work_produce": lambda left: max(1.0, 0.7 * left)}
RWLOCK = {"work_write": lambda left: 0.4 * left + 0.6, "work_read": lambda left: 0.4 + 0.6 * left}
PIPELINE = {
    "work_first": lambda left: max(left, 0.6),
    "work_second": lambda left: max(1.0, 0.6 * left),
    "work_third": lambda left: 1.0,
}
OVERSUB = {"work_a": lambda left: 0.5 * left + 0.5, "work_b": lambda left: 0.5 + 0.5 * left}
LIFECYCLE = {"work_init": lambda left: 0.3 * left + 0.7, "work_child": lambda left: 0.3 + 0.7 * left}
ASLEEP = {"work_a": lambda left: 0.6 * left + 0.4, "work_b": lambda left: 1.0}
DEMAND = {"work_a": lambda left: 1.0}
LATENCY = {"work_a": lambda left: 0.6 * left + 0.4, "work_b": lambda left: 0.6 + 0.4 * left}

CASES = [
    # Clean: phases of many sampling periods.
    Case("joined", "joined", BRANCHES),
    Case("barrier", "barrier", BRANCHES),
    Case("pool", "pool", POOL),
    Case("lock", "lock", LOCK),
    Case("single", "single", SERIES),
    Case("offpath", "offpath", OFFPATH),
    Case("handoff", "handoff", SERIES),
    Case("timed", "timed", SERIES),
    Case("c11", "c11", SERIES),
    Case("semaphore", "semaphore", SEMAPHORE),
    Case("rwlock", "rwlock", RWLOCK),
    Case("lifecycle", "lifecycle", LIFECYCLE),
    Case("pipeline", "pipeline", PIPELINE),
    Case("oversub", "oversub", OVERSUB),
    Case("spin", "spin", LOCK),
    Case("spinflag", "spinflag", SERIES),
    Case("asleep", "asleep", ASLEEP),
    Case("demand", "demand", DEMAND),
    Case("latency", "latency", LATENCY, phase_ms=20, point="request", kind="latency"),
    # Long phases: few rounds in an experiment.
    Case("joined-50ms", "joined", BRANCHES, 50),
    # Phases of about one sampling period and below.
    Case("single-0.05ms", "single", SERIES, 0.05),
    Case("barrier-1ms", "barrier", BRANCHES, 1),
    Case("lock-1ms", "lock", LOCK, 1, handoff=True, meets=LOCK_MEETS),
    Case("handoff-1ms", "handoff", SERIES, 1),
    Case("pipeline-1ms", "pipeline", PIPELINE, 1),
    # What joins the phases costs as much as they do, threads that live 0.2 ms among them. Here formulas are a guide and
    # the real curve is the judge: a thread with nothing to do ends while its creator still makes the next one, and
    # joined-0.2ms really becomes slower for it.
    Case("joined-1ms", "joined", BRANCHES, 1, handoff=True),
    Case("joined-0.2ms", "joined", BRANCHES, 0.2, handoff=True),
    Case("barrier-0.1ms", "barrier", BRANCHES, 0.1, handoff=True),
    Case("lock-0.1ms", "lock", LOCK, 0.1, handoff=True, meets=LOCK_MEETS),
    Case("handoff-0.1ms", "handoff", SERIES, 0.1, handoff=True),
    Case("semaphore-0.1ms", "semaphore", SEMAPHORE, 0.1, handoff=True),
]
