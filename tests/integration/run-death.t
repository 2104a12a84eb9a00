#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Whoever dies, what was measured is kept: the launcher killed, the program killed, files cut short or damaged.
# parallel

. "${TEST_ROOT:-.}/tests/lib/tap.sh"
. "$TEST_ROOT/tests/lib/profile.sh"

build simple

setsid "$WHATIF" run -q --at work ./simple 3 >out.txt 2>err.txt </dev/null &
launcher=$!
sleep 1.8
child=$(cat "/proc/$launcher/task/$launcher/children")
place=$(tr '\0' '\n' <"/proc/${child% }/environ" | sed -n 's/^WHATIF_SESSION=//p')
kill -KILL "$launcher"
wait "$launcher" 2>/dev/null
ok 'the program lives on when the launcher is killed' kill -0 "${child% }"
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    kill -0 "${child% }" 2>/dev/null || break
    sleep 0.3
done
like "$(cat out.txt)" '^INT 0 TERM 0 HUP 0' '... to its end'
run whatif report simple.whatif
is "$status" 0 'what the launcher had written is readable'
like "$out" 'rounds' '... and has experiments'
rm -f "$place"
rmdir "$(dirname "$place")" 2>/dev/null

run whatif run -q --at work -o whole.whatif ./simple 2
run whatif report whole.whatif
whole=$out
lines=$(wc -l <whole.whatif)
head -c "$(($(wc -c <whole.whatif) - 40))" whole.whatif >cut.whatif
run whatif report cut.whatif
is "$status" 0 'a profile cut short is read'
like "$out" 'rounds' '... as far as it goes'
like "$err$out" "cut\.whatif.*$lines|line $lines" '... and the line is named'
sed '5s/.*/{"type":"unit", broken/' whole.whatif >broken.whatif
run whatif report broken.whatif
like "$err$out" '(line |:)5' 'a damaged line is named'
echo 'nothing of ours' >foreign.whatif
run whatif report foreign.whatif
is "$status" 1 'a foreign file is refused'
like "$err" 'foreign\.whatif' '... by name'
: >empty.whatif
run whatif report empty.whatif
is "$status" 1 'so is an empty one'
run whatif report missing.whatif
is "$status" 1 'and a missing one'
gzip -k whole.whatif
run whatif report whole.whatif.gz
is "$(printf '%s' "$out" | grep rounds:)" "$(printf '%s' "$whole" | grep rounds:)" 'a compressed profile reads the same'
finish
