# SPDX-License-Identifier: BSD-2-Clause
"""Estimates from runs on a machine that has other things to do, and tables."""

import random
import statistics


def quick(times: list[float]) -> float:
    """What a run takes when little disturbs it: the median of the faster half. Neighbours only ever add time."""
    ordered = sorted(times)
    return statistics.median(ordered[: (len(ordered) + 1) // 2])


def gain_interval(rounds: list[dict], treated: object, base: object, draws: int = 1000) -> tuple[float, float, float]:
    """
    100 (1 - treated / base) over rounds that each hold one run of both, with a 95 % bootstrap interval; rounds are
    what is drawn. A fixed seed: the same data give the same figures.
    """

    def gain(some: list[dict]) -> float:
        return 100 * (1 - quick([r[treated] for r in some]) / quick([r[base] for r in some]))

    source = random.Random(1)
    gains = sorted(gain(source.choices(rounds, k=len(rounds))) for _ in range(draws))
    return gain(rounds), gains[int(0.025 * draws)], gains[int(0.975 * draws) - 1]


class Table:
    """Prints rows as they come, in columns of fixed width: (title, width), negative for left-aligned."""

    def __init__(self, *columns: tuple[str, int]):
        self.widths = [width for _, width in columns]
        self.row(*[title for title, _ in columns])
        self.row(*["-" * abs(width) for width in self.widths])

    def row(self, *cells: object) -> None:
        parts = (str(cell).ljust(-w) if w < 0 else str(cell).rjust(w) for cell, w in zip(cells, self.widths))
        print(" ".join(parts).rstrip(), flush=True)
