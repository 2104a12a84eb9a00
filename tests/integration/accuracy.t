#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Predictions come true, within what a noisy machine allows: subjects whose gain is known by arithmetic. The bounds are
# generous; benchmarks/accuracy has the figures.

. "${TEST_ROOT:-.}/tests/lib/tap.sh"

# gain SUBJECT UNIT SPEEDUP: the predicted gain in whole percent, or "none".
gain() {
    whatif run --quiet --kill --duration 9s --speedups "0,$3" --at "$2" --format json -o "$1.whatif" -- \
        "$SUBJECTS/$1" --seconds 20 2>err | python3 -c '
import json, sys
for point in json.load(sys.stdin)["points"]:
    for unit in point["units"]:
        for step in unit["curve"]:
            if step["speedup_percent"] > 0 and step["gain_percent"] is not None:
                print(round(step["gain_percent"]))
                sys.exit()
print("none")'
}

# predicts LOW HIGH SUBJECT UNIT SPEEDUP CLAIM: within the bounds, if need be at the third attempt: other programs on the
# machine bend a run, a wrong rule bends all of them.
predicts() {
    for attempt in 1 2 3; do
        found=$(gain "$3" "$4" "$5")
        [ "$found" != none ] && [ "$found" -ge "$1" ] && [ "$found" -le "$2" ] && break
        diag "attempt $attempt: $found"
    done
    between "$1" "$found" "$2" "$6 ($1 to $2)"
}

predicts 45 75 single work_a 100 'a function with 60 % of the only thread is worth about 60 %'
predicts 15 45 single work_a 50 'and half of that at half the speedup'
predicts 5 35 joined work_a 50 'the longer of two joined branches, 10 to 8, is worth about 20 %'
predicts -15 15 joined work_b 50 'the shorter one is worth nothing'
predicts 25 58 lock work_inside 50 'half a contended section of 60 % is worth about 42 %'
predicts -15 15 offpath work_b 50 'a hot thread that nobody waits for is worth nothing'
finish
