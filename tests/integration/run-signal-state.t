#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The sampler borrows a signal from the program. Programs that use that very signal, and others that do odd things with
# handlers, masks and stacks, see what they would see without a profiler.
# parallel

. "${TEST_ROOT:-.}/tests/lib/tap.sh"
. "$TEST_ROOT/tests/lib/profile.sh"

build signals

# same SCENE CLAIM [OPTION...]
same() {
    scene=$1 claim=$2
    shift 2
    status=0
    ./signals "$scene" >bare.out 2>&1 || status=$?
    echo "exit $status" >>bare.out
    status=0
    timeout 30 "$WHATIF" run -q --format json --at work -o "$scene.whatif" "$@" ./signals "$scene" >run.out 2>&1 ||
        status=$?
    echo "exit $status" >>run.out
    is "$(sed '/^{$/,/^}$/d' run.out)" "$(grep -v 'breakpoint trap' bare.out)" "$claim"
    between 10 "$(samples "$scene.whatif")" 1000000 '... and it is sampled'
}

same trap-handler 'a SIGTRAP handler gets every raise, int3 and kill of the program'
same trap-query 'sigaction, signal and masks tell of SIGTRAP what the program set'
same trap-blocked 'a blocked SIGTRAP is pending once, and delivered when it is unblocked'
same trap-nested 'SIGTRAP is deferred inside its handler, but not with SA_NODEFER; SA_RESETHAND resets'
same trap-default 'an unhandled SIGTRAP kills'
same trap-wait 'sigtimedwait takes a SIGTRAP of the program'
same trap-handler 'the same with SIGPROF as the borrowed signal' --sampler ring
same prof-timer 'setitimer(ITIMER_PROF) calls the SIGPROF handler' --sampler sigtrap
same prof-timer '... when SIGPROF is the borrowed signal (ring)' --sampler ring
same prof-timer '... when SIGPROF is the borrowed signal (timer)' --sampler timer
same sigwait-full 'sigwait for all signals gets those of the program only'
same poll-mask 'ppoll and sigsuspend swap masks as they should'
same signal-fd 'a signalfd that names SIGTRAP reads none of ours'
same small-stack 'an alternate stack of 8 KiB is enough'
same own-fault "a program's own SIGSEGV handler may jump out"
same jump-from-trap "so may its SIGTRAP handler"
same interrupted-calls 'sleeps are not cut short, reads and writes not interrupted'
finish
