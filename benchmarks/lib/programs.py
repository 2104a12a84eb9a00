# SPDX-License-Identifier: BSD-2-Clause
"""
Runs of subjects: bare, under whatif, under coz-profiler. All three answer in the same terms.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


class RunFailed(Exception):
    pass


def run_group(command: list[object], timeout_s: float) -> subprocess.CompletedProcess:
    """Run a command with everything that it starts in a group of its own, of which nothing is left afterwards."""
    words = [str(word) for word in command]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        try:
            output, errors = process.communicate(timeout=timeout_s)
            return subprocess.CompletedProcess(words, process.returncode, output, errors)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def run(command: list[object], timeout_s: float) -> str:
    """Standard output of a command; RunFailed with the last line it said when it did not end well."""
    name = Path(str(command[0])).name
    try:
        done = run_group(command, timeout_s)
    except subprocess.TimeoutExpired as error:
        raise RunFailed(f"{name}: not finished after {timeout_s:.0f} s") from error
    except OSError as error:
        raise RunFailed(f"{name}: {error.strerror}") from error
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["(nothing said)"])[-1]
        raise RunFailed(f"{name}: exit {done.returncode}: {said}")
    return done.stdout


def last_json(text: str) -> dict:
    """A subject's result: the last line of what it printed that is a JSON object."""
    for line in reversed(text.strip().splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    raise RunFailed(f"no result in {text[-80:]!r}")


class Subject:
    """One built subject with its arguments and an agreed rate of work."""

    def __init__(self, build: Path, name: str, args: list[str], rate: str):
        self.name = name
        self.path = build / "subjects" / name
        self.path_coz = build / "subjects" / f"{name}-coz"
        self.rate = rate
        self.args = [*args, "--rate", rate]

    def command(self, seconds: float, *more: object, coz: bool = False) -> list[object]:
        return [self.path_coz if coz else self.path, *self.args, "--seconds", f"{seconds:g}", *more]

    def line_of(self, unit: str) -> str:
        """Where the work function stands: FILE:LINE."""
        source = TOP / "tests" / "subjects" / f"{self.name}.c"
        for number, line in enumerate(source.read_text().splitlines(), 1):
            if f"SUBJECT_WORK({unit})" in line:
                return f"{source.name}:{number}"
        raise RunFailed(f"no work function {unit} in {source.name}")


def calibrate(build: Path) -> str:
    """Nanoseconds per step of work, the fastest of a few processes."""
    rates = [float(run([build / "subjects" / "single", "--calibrate"], 30)) for _ in range(5)]
    return f"{min(rates):.6f}"


def capacity(build: Path, rate: str) -> float:
    """The share of the speed of all processors together that there is at the moment."""
    processors = len(os.sched_getaffinity(0))
    options = ["--threads", processors, "--phase-ms", 0.5, "--seconds", 0.06, "--rate", rate]
    result = last_json(run([build / "subjects" / "oversub", *options], 30))
    return 0.0005 * result["visits"] / result["seconds"] / processors


def bare_time_ns(subject: Subject, kind: str, seconds: float, *more: object) -> float:
    """What the program itself says: time per visit, or mean latency."""
    result = last_json(run(subject.command(seconds, *more), seconds + 60))
    if kind == "latency":
        return result["latency_ns"]
    if result["visits"] == 0:
        raise RunFailed(f"{subject.name}: no visit in {seconds:g} s")
    return 1e9 * result["seconds"] / result["visits"]


# ---- whatif ----------------------------------------------------------------------------------------


def whatif_curve(
    build: Path, subject: Subject, unit: str, point: str, seconds: float, speedups: list[int], profile: Path
) -> dict[int, tuple[float, float, float]]:
    """Profile one unit; gain with its interval, in percent, by speedup."""
    whatif = build / "bin" / "whatif"
    steps = ",".join(str(s) for s in speedups)
    options = ["--quiet", "--kill", "--duration", f"{seconds:g}s", "--at", unit, "--speedups", steps, "-o", profile]
    # The subject outlasts the experiments; should nobody end it, it ends itself.
    command = [whatif, "run", *options, "--", *subject.command(seconds + 20)]
    profile.unlink(missing_ok=True)
    try:
        ended = run_group(command, seconds + 120)
    except subprocess.TimeoutExpired as error:
        raise RunFailed(f"whatif: not finished after {seconds + 120:.0f} s") from error
    if not profile.exists():  # the exit status is that of a program that was killed
        said = (ended.stderr.strip().splitlines() or ["(nothing said)"])[-1]
        raise RunFailed(f"whatif run: exit {ended.returncode}, no profile: {said}")
    return curve_in(json.loads(run([whatif, "report", "--format", "json", profile], 60)), unit, point)


def curve_in(document: dict, unit: str, point: str) -> dict[int, tuple[float, float, float]]:
    """The curve of a function at a progress point. Lines of the function are units, too, and not meant."""
    for entry in (u for p in document["points"] if p["name"] == point for u in p["units"]):
        if entry["kind"] == "function" and unit in (entry["name"], entry.get("function")):
            return {
                round(c["speedup_percent"]): (c["gain_percent"], c["low_percent"], c["high_percent"])
                for c in entry["curve"]
            }
    reasons = "; ".join(d["text"] for d in document.get("diagnosis", []))
    raise RunFailed(f"{unit} is not in the report{': ' + reasons if reasons else ''}")


# ---- coz -------------------------------------------------------------------------------------------


def coz_time_ns(subject: Subject, unit: str, point: str, kind: str, seconds: float, speedup: int, profile: Path) -> float:
    """One run of Coz with line and speedup held fixed: its effective time per visit, or mean latency."""
    profile.unlink(missing_ok=True)
    options = ["--fixed-line", subject.line_of(unit), "--fixed-speedup", str(speedup), "-o", profile]
    run(["coz", "run", *options, "---", *subject.command(seconds, coz=True)], seconds + 60)
    return coz_time_in(profile.read_text(), point, kind)


def coz_time_in(text: str, point: str, kind: str) -> float:
    duration = visits = in_flight = 0.0
    for line in text.splitlines():
        fields = dict(part.split("=", 1) for part in line.split("\t")[1:] if "=" in part)
        if line.startswith("experiment\t"):
            length = float(fields["duration"])
            duration += length
        elif fields.get("name") == point and kind == "throughput" and line.startswith(("throughput", "progress")):
            visits += float(fields["delta"])
        elif fields.get("name") == point and kind == "latency" and line.startswith("latency"):
            visits += float(fields["departures"])
            in_flight += float(fields["difference"]) * length
    if visits == 0:
        raise RunFailed("coz: no experiment with visits")
    return (in_flight if kind == "latency" else duration) / visits


def coz_available() -> bool:
    return shutil.which("coz") is not None


def build_dir(text: str) -> Path:
    path = Path(text)
    return path if path.is_absolute() else TOP / path


def parse_list(text: str) -> list[int]:
    return [int(part) for part in re.split(r"[,\s]+", text.strip()) if part]
