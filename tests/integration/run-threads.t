#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Threads and processes that come and go in odd ways do so as without a profiler, and are sampled.
# parallel

. "${TEST_ROOT:-.}/tests/lib/tap.sh"
. "$TEST_ROOT/tests/lib/profile.sh"

build threads
build late -fPIC -shared
mv late late.so
build late -fPIC -shared -DEARLY
mv late libearly.so
"$CC" -O2 -g -I"$TEST_ROOT/include" -pthread -o early "$PROGRAMS/threads.c" -D_GNU_SOURCE ./libearly.so -Wl,--no-as-needed \
    ./libearly.so

# same CLAIM PROGRAM...
same() {
    claim=$1
    shift
    status=0
    "$@" >bare.out 2>&1 || status=$?
    echo "exit $status" >>bare.out
    status=0
    timeout 60 "$WHATIF" run -q --format json --at work -o profile "$@" >run.out 2>&1 || status=$?
    echo "exit $status" >>run.out
    is "$(sed '/^{$/,/^}$/d' run.out)" "$(cat bare.out)" "$claim"
    between "${least:-50}" "$(samples profile)" 1000000 '... and its threads are sampled'
}

same 'main leaves by pthread_exit, a thread ends the process' ./threads main-leaves
same 'detached threads' ./threads detached
same 'cancelled threads run their clean-up' ./threads cancelled
same 'forked children with threads' ./threads forks
between 5 "$(records profile process id | wc -l)" 5 'each child is a process of the profile'
between 1 "$(total profile experiment points.0.visits)" 100000 'and visits of children count'
same '1100 children, one after another' ./threads many-forks
like "$(notices profile)" 'processes-capped' '... are more than a session keeps, which the report says'
same 'posix_spawn, vfork and exec, and exec of the program itself' ./threads spawns
between 7 "$(records profile process id | wc -l)" 8 'whatever is executed takes part again'
same 'a program that closes all descriptors' ./threads closes-all
same 'threads of C11' ./threads c11
between 2 "$(records profile thread id | sort -u | wc -l)" 9 'all of them are known'
same '300 threads at once' ./threads many-live
same '2000 threads that live shortly' ./threads many-short
unlike "$(notices profile)" 'threads-' 'none of them goes unsampled'
same 'a library loaded late' ./threads loads
like "$(records profile module path)" '/late\.so$' 'the profile knows it'
same 'exit from a thread runs exit handlers' ./threads exit-from-thread
same 'a thread with the smallest stack' ./threads smallest-stack
same 'errno is kept' ./threads keeps-errno
if [ -x early ]; then
    same "a thread made by a library's constructor" ./early work
    like "$(cat run.out)" 'early thread joined' 'which lives'
    between 250 "$(samples profile)" 1000000 'and is sampled'
fi

run whatif run -q --format json --no-follow --at work -o profile ./threads forks
between 1 "$(records profile process id | wc -l)" 1 '--no-follow leaves children alone'
finish
