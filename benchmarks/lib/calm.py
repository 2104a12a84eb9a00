# SPDX-License-Identifier: BSD-2-Clause
"""
Runs that other programs disturbed are run again. How much processor time others took is what the machine spent
(/proc/stat) beyond what our children spent. A virtual machine's neighbours do not show there, and may leave it one
processor's worth of two for seconds, in which branches that should run side by side take turns: a probe before and
after the run tells whether all processors run at the speed that work was calibrated at.
"""

import os
import resource
import time
from typing import Callable, TypeVar

Result = TypeVar("Result")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")

TOLERATED_LOSS = 0.2  # of the speed: processors that share a core lose some of it when both work

repeated = 0  # runs that were thrown away
disturbed = 0  # runs that were kept although no try was calm


def machine_busy_s() -> float:
    with open("/proc/stat", encoding="ascii") as stat:
        fields = [int(field) for field in stat.readline().split()[1:9]]
    user, nice, system, _idle, _iowait, irq, softirq, steal = fields
    return (user + nice + system + irq + softirq + steal) / TICKS_PER_S


def children_busy_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def calmly(
    run: Callable[[], Result], tries: int = 6, capacity: Callable[[], float] = lambda: 1.0, tolerated_share: float = 0.06
) -> Result:
    """
    Run until others took less than a share of one processor meanwhile and `capacity` (the share of the machine's
    full speed that there is) was whole before and after; the calmest try when none was calm.
    """
    global repeated, disturbed
    best: tuple[float, Result] | None = None
    for _ in range(tries):
        missing = 1 - capacity()
        start, machine, children = time.monotonic(), machine_busy_s(), children_busy_s()
        result = run()
        others_s = machine_busy_s() - machine - (children_busy_s() - children)
        share = others_s / max(time.monotonic() - start, 0.01)
        missing = max(missing, 1 - capacity())
        badness = max(share / tolerated_share, missing / TOLERATED_LOSS)
        if best is None or badness < best[0]:
            best = (badness, result)
        if badness <= 1:
            return result
        repeated += 1
        time.sleep(0.3)
    disturbed += 1
    return best[1]
