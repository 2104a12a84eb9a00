#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Signals sent to the launcher, keys pressed at its terminal, and what it shows there.
# parallel

. "${TEST_ROOT:-.}/tests/lib/tap.sh"
. "$TEST_ROOT/tests/lib/profile.sh"

build simple
on_terminal() {
    run "$TEST_ROOT/tests/lib/on-terminal" "$@"
}

# begin COMMAND...: the launcher in the background, as $launcher.
begin() {
    setsid "$WHATIF" run "$@" >out.txt 2>err.txt </dev/null &
    launcher=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        sleep 0.2
        child=$(cat "/proc/$launcher/task/$launcher/children" 2>/dev/null)
        [ -n "$child" ] && break
    done
    sleep 0.8
}

# end: waits for it; sets $status and $out.
end() {
    status=0
    wait "$launcher" || status=$?
    out=$(cat out.txt) err=$(cat err.txt)
}

for pair in INT:1:0:0 TERM:0:1:0 HUP:0:0:1; do
    signal=${pair%%:*}
    begin -q ./simple 1.8 5
    kill -"$signal" "$launcher"
    end
    expected=$(echo "${pair#*:}" | awk -F: '{ printf "INT %d TERM %d HUP %d", $1, $2, $3 }')
    like "$out" "^$expected\$" "SIG$signal to the launcher reaches the program once"
    is "$status" 5 '... and its status is passed on'
    like "$out" 'rounds' '... and the report is printed'
done

begin -q ./simple 20
kill -KILL "$child"
end
is "$status" 137 'a program that is killed gives 137'
like "$out" 'rounds: ' '... with a report'

begin -q ./simple 3
kill -STOP "$child"
sleep 0.5
kill -CONT "$child"
end
is "$status" 0 'a program that is stopped and continued ends as ever'
like "$(records simple.whatif experiment invalid_because)" 'stopped' '... and what it disturbed does not count'

begin -q --at work ./simple 8
before=$(records simple.whatif experiment id | wc -l)
kill -USR2 "$launcher"
sleep 1
kill -USR2 "$launcher"
end
is "$status" 0 'SIGUSR2 switches experiments off and on'
like "$(records simple.whatif experiment invalid_because)" 'switched off' '... the one at hand does not count'
longest_gap=$(python3 - <<'PYTHON'
import json
spans = [(r["start_ns"], r["end_ns"]) for r in map(json.loads, open("simple.whatif")) if r["type"] == "experiment"]
print(max(b[0] - a[1] for a, b in zip(spans, spans[1:])) / 1e9)
PYTHON
)
between 0.6 "$longest_gap" 2.5 '... and there is none in between'
between 1 "$(($(records simple.whatif experiment id | wc -l) - before))" 1000 '... but afterwards'

# ---- at a terminal ----

on_terminal 1.5 ^C 2.0 ^C 2.5 ^C -- "$WHATIF" run ./simple 20 6
like "$out" 'INT 3 TERM 0 HUP 0' 'Ctrl-C at a terminal reaches the program once each time'
is "$status" 6 '... which decides how it ends'
like "$out" 'rounds: ' '... and the report is printed'
is "$(records simple.whatif end reason)" interrupted '... the profile knows of it'
on_terminal 1.5 ^C -- "$WHATIF" run -q sh -c './simple 1; exec sleep 20'
is "$status" 130 'a program that dies of Ctrl-C gives 130'
like "$out" 'rounds' '... with a report'

on_terminal -- "$WHATIF" run ./simple 2
like "$out" '[0-9] s  [0-9]+ samples  [0-9]+ visits  [0-9]+ experiments' 'a terminal shows a status line'
on_terminal -- "$WHATIF" run -q ./simple 1.2
unlike "$out" 'samples  [0-9]+ visits' '... but not with --quiet'
run whatif run ./simple 1.2
unlike "$out$err" 'samples  [0-9]+ visits' '... nor where stderr is no terminal'
is "$err" 'whatif: the profile is in simple.whatif' '... which then has one line only'
run whatif run -q ./simple 0.5
is "$err" '' '... or none, with --quiet'
finish
