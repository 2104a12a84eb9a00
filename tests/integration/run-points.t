#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Progress points of every kind reach the report: our header in C and C++, the macros of Coz, programs compiled against
# Debian's coz-profiler; throughput, latency, matched pairs, begins on one thread and ends on another.
# parallel

. "${TEST_ROOT:-.}/tests/lib/tap.sh"
. "$TEST_ROOT/tests/lib/profile.sh"

# point NAME FIELD: of the JSON report in $out.
point() {
    printf '%s' "$out" | sed '/^served/d' | python3 -c '
import json, sys
for point in json.load(sys.stdin)["points"]:
    if point["name"] == sys.argv[1]:
        print(point.get(sys.argv[2]))' "$@"
}

# profiles COMMAND...
profiles() {
    run whatif run --format json -q --at serve -o profile "$@"
    is "$status" 0 "$* runs"
    like "$err" '^served 600' '... and does its work, with stdout left to the report'
    is "$(records profile point name | sort | tr '\n' ' ')" "$points" '... all its points are known'
    is "$(point 'done' kind)" throughput '... throughput'
    between 50 "$(point 'done' visits)" 600 '... is counted'
    is "$(point request kind)" latency '... latency'
    between 2e6 "$(point request value)" 40e6 '... is that of a queue of one to four requests'
}

flags="-D_GNU_SOURCE -O2 -g -Wall -Wextra -Wpedantic -Werror -pthread -I$TEST_ROOT/include"
# shellcheck disable=SC2086 # options
ours() {
    ours_name=$1
    shift
    ok "$ours_name compiles without a warning" "$@" $flags -o "$ours_name" "$PROGRAMS/requests.c"
}

points='done keyed request '
ours in-c99 "$CC" -std=c99
profiles ./in-c99 600
between 50 "$(total profile experiment points.0.matched)" 600 'keyed pairs meet across threads'
between 2e6 "$(point keyed p50)" 30e6 '... and have a median'
between "$(point keyed p50)" "$(point keyed p90)" 60e6 '... below the ninth decile'
between "$(point keyed p90)" "$(point keyed p99)" 90e6 '... below the last percentile'
between 2e6 "$(point keyed value)" 40e6 '... and a mean'

ours in-cxx11 "$CXX" -std=c++11 -x c++
profiles ./in-cxx11 600

points='done request '
ours with-coz-macros "$CC" -std=c11 -DFOR_COZ
profiles ./with-coz-macros 600
if [ -r /usr/include/coz.h ]; then
    # shellcheck disable=SC2086
    ok 'a program is compiled against the coz-profiler package' \
        "$CC" -D_GNU_SOURCE -O2 -g -pthread -DDEBIAN_COZ -o of-debian "$PROGRAMS/requests.c" -ldl
    profiles ./of-debian 600
    run ./of-debian 100
    is "$out" 'served 100' 'and it runs by itself'
else
    skip 'a program compiled against the coz-profiler package' 'coz-profiler is not installed'
fi
run ./in-c99 100
is "$out" 'served 100' 'a program with our points runs by itself'

cat >many.c <<'C'
#include "burn.h"
#include "whatif.h"
#define P(n) WHATIF_PROGRESS_NAMED("point " n);
#define P8(n) P(n "0") P(n "1") P(n "2") P(n "3") P(n "4") P(n "5") P(n "6") P(n "7")
int main(void)
{
    for (int i = 0; i < 400; i++) {
        burn_ms(2);
        P8("0") P8("1") P8("2") P8("3") P8("4") P8("5") P8("6") P8("7") P8("8")
    }
    return 0;
}
C
"$CC" -D_GNU_SOURCE -O2 -g -I"$TEST_ROOT/include" -I"$PROGRAMS" -o many many.c
run whatif run -q ./many
is "$status" 0 'a program with more points than a run keeps'
like " $(notices many.whatif)" ' points-capped ' '... is told so'
is "$(records many.whatif point id | wc -l)" 64 '... and 64 of them are kept'
finish
