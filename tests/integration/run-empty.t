#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# When there is nothing to report, the report says why: each cause has its own notice.
# parallel

. "${TEST_ROOT:-.}/tests/lib/tap.sh"
. "$TEST_ROOT/tests/lib/profile.sh"

build simple
build refuse
build signals

# because CODE TEXT CLAIM OPTION... PROGRAM...
because() {
    code=$1 text=$2 claim=$3
    shift 3
    run whatif run -q -o profile "$@"
    like " $(notices profile)" " $code " "$claim"
    like "$(printf '%s' "$out" | tr '\n' ' ' | tr -s ' ')" "$text" '... the report says it'
}

build quiet
because no-progress-point 'WHATIF_PROGRESS' 'a program without a progress point' ./quiet 300
build quiet -DPOINT
because no-progress-point 'progress point' 'a progress point that the program never comes to' ./quiet 300
cat >reached.c <<'C'
#include "burn.h"
#include "whatif.h"
int main(void)
{
    for (int i = 0; i < 300; i++) {
        burn_ms(2);
        WHATIF_BEGIN("requests"); /* none ever ends */
    }
    return 0;
}
C
"$CC" -D_GNU_SOURCE -O2 -g -I"$TEST_ROOT/include" -I"$PROGRAMS" -o reached reached.c
because no-visits 'requests' 'a progress point without visits' ./reached
because too-short 'too short' 'a run that is too short' ./simple 0.3
because no-sample-in-scope 'No sample fell in scope' 'a scope without samples' --scope '/nothing/like/it*' ./simple 1
because no-sample-in-scope '(--exclude|scope)' 'everything excluded' --exclude '*' ./simple 1
cp simple stripped
strip stripped
because no-debug-info '-g' 'a program without debug information' ./stripped 1
because no-such-unit 'wrk' 'code that does not exist' --at wrk ./simple 1
like "$out" 'work' '... with what it may have meant'
because no-samples 'No sample' 'a program that only sleeps' sleep 0.5

run ./refuse all true
if [ "$status" = 77 ]; then
    skip 'a kernel that refuses to sample' 'no seccomp here'
else
    run ./refuse all "$WHATIF" run -q -o profile ./simple 1
    is "$status" 0 'a kernel that refuses to sample'
    like " $(notices profile)" ' sampling-refused ' '... has its notice'
    like "$(printf '%s' "$out" | tr '\n' ' ' | tr -s ' ')" 'Sampling was refused: .*(seccomp|paranoid)' '... with the remedy'
    run ./refuse perf "$WHATIF" run -q -o profile ./simple 1.5
    like " $(notices profile)" ' sampler-fallback ' 'where only perf is refused, the timer samples'
    between 50 "$(samples profile)" 2000 '... which gives samples'
    is "$(records profile header sampler)" timer '... and the profile says so'
    run ./refuse perf "$WHATIF" run -q -o profile --sampler sigtrap ./simple 1
    like " $(notices profile)" ' sampling-refused ' '--sampler sigtrap does not fall back'
fi
finish
