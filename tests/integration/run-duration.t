#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# When experiments begin and end: --duration, --warmup, --kill, whatif_start() and whatif_stop(), options in the
# environment.
# parallel

. "${TEST_ROOT:-.}/tests/lib/tap.sh"
. "$TEST_ROOT/tests/lib/profile.sh"

build simple
build startstop

seconds() { # of a nanosecond figure
    awk -v ns="$1" 'BEGIN { print ns / 1e9 }'
}

run whatif run -q --duration 1.2s --at work ./simple 3 4
is "$status" 4 '--duration: the program runs on, and its status is passed on'
like "$out" 'INT 0 TERM 0' '... undisturbed'
is "$(records simple.whatif end reason)" duration '... the profile says why it ended'
between 1.1 "$(seconds "$(records simple.whatif end time_ns)")" 2.2 '... and when'
between 1 "$(records simple.whatif experiment id | wc -l)" 100 '... with experiments until then'

run whatif run -q --duration 1s --kill ./simple 30
is "$status" 0 '--kill ends the program'
like "$out" 'rounds' '... after the report'
printf '#!/bin/sh\ntrap "" TERM\nwhile :; do sleep 1; done\n' >stubborn
chmod +x stubborn
run timeout 20 "$WHATIF" run -q --duration 0.5s --kill ./stubborn
is "$status" 0 '... even one that ignores SIGTERM'

run whatif run -q --warmup 1.5s --at work ./simple 3
between 1.5 "$(seconds "$(records simple.whatif experiment start_ns | head -n 1)")" 2.9 '--warmup: no experiment before'
run whatif run -q --warmup 1m --at work ./simple 1
is "$(records simple.whatif experiment id | wc -l)" 0 '... and none at all if the run is shorter'
between 100 "$(samples simple.whatif)" 100000 '... but samples'

run whatif run -q --at work ./startstop
is "$status" 0 'a program that calls whatif_start() and whatif_stop()'
eval "$(printf '%s\n' "$out" | grep '^start=')"
first=$(records startstop.whatif experiment start_ns | head -n 1)
between 1 "$(records startstop.whatif experiment id | wc -l)" 100 '... has experiments'
last=$(records startstop.whatif experiment end_ns | tail -n 1)
# shellcheck disable=SC2154 # set by the program's output
between "$(awk -v s="$start" 'BEGIN { print s - 0.05 }')" "$(seconds "$first")" "$stop" '... after its start'
# shellcheck disable=SC2154
between "$start" "$(seconds "$last")" "$(awk -v s="$stop" 'BEGIN { print s + 0.4 }')" '... and before its stop'

WHATIF_DURATION=1s WHATIF_QUIET=1 run "$WHATIF" run ./simple 2
is "$(records simple.whatif end reason)" duration 'WHATIF_DURATION is --duration'
is "$err" '' 'WHATIF_QUIET is --quiet'
WHATIF_DURATION=1s run "$WHATIF" run -q --duration 5s ./simple 1.5
is "$(records simple.whatif end reason)" exited 'the command line comes before the environment'
WHATIF_DURATION=soon run "$WHATIF" run ./simple 1
is "$status" 2 'nonsense in the environment: 2'
like "$err" 'WHATIF_DURATION.*soon' '... and where it is'
WHATIF_OUTPUT=there.whatif run "$WHATIF" run -q ./simple 0.3
ok 'WHATIF_OUTPUT is --output' test -s there.whatif

run whatif run -q --format json -o other.whatif ./simple 1
ok '--format json prints one document' sh -c "printf '%s' \"\$1\" | sed '/^INT/d' | python3 -m json.tool" - "$out"
run whatif run -q --format markdown ./simple 0.5
like "$out" '^[#|]' '--format markdown prints a table'

run whatif run -q --at work --seed 7 --speedups 0,50 -o a.whatif ./simple 2.5
run whatif run -q --at work --seed 7 --speedups 0,50 -o b.whatif ./simple 2.5
order() { records "$1" experiment speedup_percent | head -n 5 | tr '\n' ' '; }
is "$(order a.whatif)" "$(order b.whatif)" 'one --seed gives one order of experiments'
run whatif report a.whatif b.whatif
is "$status" 0 'report merges two runs'
like "$out" 'rounds: ' '... into one'
run whatif report --format json a.whatif b.whatif
both=$(printf '%s' "$out" | python3 -c 'import json,sys; print(json.load(sys.stdin)["points"][0]["units"][0]["experiments"])')
run whatif report --format json a.whatif
one=$(printf '%s' "$out" | python3 -c 'import json,sys; print(json.load(sys.stdin)["points"][0]["units"][0]["experiments"])')
between "$((one + 1))" "$both" 1000 '... with the experiments of both'
finish
