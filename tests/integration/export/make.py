# SPDX-License-Identifier: BSD-2-Clause
"""A profile for the exporters' tests, on standard output: make.py [--samples N] [--blocks N] [--hostile]

Two processes, three threads, inlined code, waits and pauses, a source file with its hash (SOURCE in the environment), a
throughput and a latency point, three units: parse (what decides the speed), its line, and one that gives nothing.
Seeded: the same arguments give the same bytes.
"""
import hashlib
import json
import os
import random
import sys

args = sys.argv[1:]


def option(name, default):
    return int(args[args.index(name) + 1]) if name in args else default


n_samples, n_blocks, hostile = option("--samples", 3000), option("--blocks", 40), "--hostile" in args
rng = random.Random(7)
source = os.environ.get("SOURCE", "/src/server.c")
nasty = "\"</script><b>\\\n\x01\x7f\u202e\t" if hostile else ""


def put(**record):
    sys.stdout.write(json.dumps(record) + "\n")


def digest(path):
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""


put(type="header", format="whatif-profile", version=1, command=["/usr/bin/server" + nasty, "-x"], directory="/src",
    start_epoch_ns=1700000000000000000, host="h", cpu="Test CPU", kernel="6.1.0", n_cpus=2, sampler="sigtrap",
    period_ns=1000000, sample_cost_ns=5000, seed="1", whatif_version="0.1")
put(type="process", id=0, pid=100, parent_pid=1, executable="/usr/bin/server" + nasty, start_ns=1000)
put(type="process", id=1, pid=101, parent_pid=100, executable="/usr/bin/worker", start_ns=2000)
put(type="thread", id=0, process=0, tid=100, name="main" + nasty, start_ns=1000)
put(type="thread", id=1, process=0, tid=102, start_ns=2000)
put(type="thread", id=2, process=1, tid=101, name="worker", start_ns=2000)
put(type="module", id=0, path="/usr/bin/server" + nasty, build_id="0123456789abcdef0123456789abcdef01234567",
    is_main=True, detail="lines")
put(type="module", id=1, path="/lib/libc.so.6", build_id="", detail="functions")
put(type="source", id=0, path=source, sha256=digest(source))
put(type="source", id=1, path="/src/gone.c" + nasty, sha256="00" * 32)
put(type="stack", id=0, module=0, address=4096, function="main" + nasty, source=0, line=6, function_line=5, in_scope=True)
put(type="stack", id=1, parent=0, module=0, address=4200, function="parse", source=0, line=3, function_line=1,
    in_scope=True)
put(type="stack", id=2, parent=1, module=0, address=4200, function="scan", source=1, line=9, function_line=8,
    inlined=True, in_scope=True)
put(type="stack", id=3, parent=1, module=1, address=9000, function="memcpy")
put(type="stack", id=4, parent=0, module=0, address=5000, function="log_line", source=1, line=40, function_line=30,
    in_scope=True)
put(type="stack", id=5, address=123)
put(type="point", id=0, name="requests" + nasty, kind="throughput")
put(type="point", id=1, name="request time", kind="latency")
put(type="unit", id=0, name="parse", kind="function", file=source, line=3, function="parse", function_line=1)
put(type="unit", id=1, name="gone.c:9" + nasty, kind="line", file="/src/gone.c" + nasty, line=9, function="scan",
    function_line=8)
put(type="unit", id=2, name="gone.c:40", kind="line", file="/src/gone.c" + nasty, line=40, function="log_line",
    function_line=30)
put(type="unit", id=3, name="server.c:3 < server.c:6", kind="callpath", file=source, line=3, function="parse",
    function_line=1)

now = 5000
for start in range(0, n_samples, 64):
    rows = []
    for i in range(start, min(n_samples, start + 64)):
        now += 1000000
        wait = rng.choice([0, 0, 0, 2500000])
        now += wait
        rows.append((now, i % 3, rng.choice([1, 2, 2, 2, 3, 3, 4, 5]), 1000000, wait, 1 if wait else 0,
                     rng.choice([0, 0, 300000])))
    names = ("time_ns", "thread", "stack", "cpu_ns", "wait_ns", "wait_kind", "pause_ns")
    put(type="samples", **{name: list(column) for name, column in zip(names, zip(*rows))})

number, now = 0, 10000000
for block in range(n_blocks):
    unit = block % 3
    arms = [0, 25, 50, 75, 100]
    rng.shuffle(arms)
    for speedup in arms:
        gain = {0: 0.3, 1: 0.2, 2: 0.0}[unit] * speedup / 100
        effective = 100000000
        delay = int(effective * 0.3 * speedup / 100)
        visits = int(1000 / (1 - gain) + rng.uniform(-5, 5))
        put(type="experiment", id=number, block=block, unit=unit, kind="treatment" if speedup else "baseline",
            speedup_percent=speedup, start_ns=now, end_ns=now + effective + delay, delay_ns=delay, samples=100,
            hits=30, pauses=delay // 300000, paused_ns=delay, valid=True,
            points=[{"point": 0, "visits": visits},
                    {"point": 1, "visits": visits, "begins": visits, "in_flight_ns": effective * 3.0 * (1 - gain)}])
        number += 1
        now += effective + delay + 1000000
put(type="experiment", id=number, block=n_blocks, unit=0, kind="treatment", speedup_percent=25, start_ns=now,
    end_ns=now + 1000, delay_ns=0, samples=1, hits=0, valid=False, invalid_because="cut short",
    points=[{"point": 0, "visits": 0}])
put(type="tally", time_ns=now, samples=n_samples, samples_in_scope=n_samples,
    units=[[0, n_samples // 2, n_samples * 500000, now // 2], [1, n_samples // 3, n_samples * 333000, now // 3],
           [2, n_samples // 8, n_samples * 125000, now // 8]])
put(type="thread_end", thread=1, end_ns=now)
put(type="end", time_ns=now + 2000, reason="exited", exit_status=0, launcher_cpu_ns=1000)
