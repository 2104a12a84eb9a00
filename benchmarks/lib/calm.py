# SPDX-License-Identifier: BSD-2-Clause
"""
Runs that other programs disturbed are run again. How much processor time others took is what the machine spent
(/proc/stat) beyond what our children spent; a virtual machine's neighbours do not show there, so estimates must be
robust as well.
"""

import os
import resource
import time
from typing import Callable, TypeVar

Result = TypeVar("Result")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")

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


def calmly(run: Callable[[], Result], tries: int = 6, tolerated_share: float = 0.06) -> Result:
    """Run until others took less than a share of one processor meanwhile; the calmest try when none was calm."""
    global repeated, disturbed
    best: tuple[float, Result] | None = None
    for _ in range(tries):
        start, machine, children = time.monotonic(), machine_busy_s(), children_busy_s()
        result = run()
        others_s = machine_busy_s() - machine - (children_busy_s() - children)
        share = others_s / max(time.monotonic() - start, 0.01)
        if best is None or share < best[0]:
            best = (share, result)
        if share <= tolerated_share:
            return result
        repeated += 1
        time.sleep(0.2)
    disturbed += 1
    return best[1]
