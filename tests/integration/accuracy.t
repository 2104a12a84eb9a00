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

between 45 "$(gain single work_a 100)" 75 'a function with 60 % of the only thread is worth about 60 % (45 to 75)'
between 15 "$(gain single work_a 50)" 45 'and half of that at half the speedup (15 to 45)'
between 5 "$(gain joined work_a 50)" 35 'the longer of two joined branches, 10 to 8, is worth about 20 % (5 to 35)'
between -15 "$(gain joined work_b 50)" 15 'the shorter one is worth nothing (-15 to 15)'
between 25 "$(gain lock work_inside 50)" 58 'half a contended section of 60 % is worth about 42 % (25 to 58)'
between -15 "$(gain offpath work_b 50)" 15 'a hot thread that nobody waits for is worth nothing (-15 to 15)'
finish
