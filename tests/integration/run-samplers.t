#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Each of the three samplers gives samples of the code that runs, and a gain that is near what arithmetic says: half of
# the time at 100 % of a function that takes 60 % of it, within wide bounds.

. "${TEST_ROOT:-.}/tests/lib/tap.sh"
. "$TEST_ROOT/tests/lib/profile.sh"

make_subjects() {
    (unset MAKEFLAGS MFLAGS MAKELEVEL && make -s -C "$TEST_ROOT" VARIANT="$(basename "$TEST_BUILD")" subjects)
}
[ -x "$SUBJECTS/single" ] || make_subjects >/dev/null

for sampler in sigtrap ring timer; do
    run whatif run -q --format json --sampler $sampler --at work_a --speedups 0,50 -o $sampler.whatif \
        "$SUBJECTS/single" --seconds 6
    is "$status" 0 "--sampler $sampler runs"
    is "$(records $sampler.whatif header sampler)" $sampler '... is what was used'
    between 300 "$(samples $sampler.whatif)" 20000 '... gives samples'
    gain=$(whatif report --format json $sampler.whatif | python3 -c '
import json, sys
unit = json.load(sys.stdin)["points"][0]["units"][0]
print(unit["name"], unit["share_percent"], unit["curve"][0]["gain_percent"])')
    like "$gain" '^work_a ' '... finds the function'
    between 50 "$(echo "$gain" | cut -d' ' -f2)" 70 '... with its share of the samples'
    between 15 "$(echo "$gain" | cut -d' ' -f3)" 45 '... and a plausible gain'
done
finish
