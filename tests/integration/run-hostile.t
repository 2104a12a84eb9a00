#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Hostile surroundings: few descriptors, little memory, full file systems, closed standard streams, no /proc. The program
# runs as ever and is profiled, or one line says why not.
# parallel

. "${TEST_ROOT:-.}/tests/lib/tap.sh"
. "$TEST_ROOT/tests/lib/profile.sh"

build simple
build threads

# within SETTING CLAIM: a shell command first, then a run.
within() {
    rm -f profile
    run timeout 60 sh -c "$1 || exit 77; exec '$WHATIF' run -q --format json -o profile ./simple 0.7 5"
    is "$status" 5 "$2"
    between 50 "$(samples profile)" 100000 '... and it is sampled'
}

# one_line SETTING REGEX CLAIM
one_line() {
    run timeout 60 sh -c "$1 || exit 77; exec '$WHATIF' run -q -o refused ./simple 0.7 5"
    is "$status" 1 "$3"
    like "$err" "$2" '... and why'
    is "$(printf '%s\n' "$err" | grep -c .)" 1 '... in one line'
}

within 'ulimit -n 20' '20 descriptors are enough'
within 'ulimit -n 10' 'so are 10'
one_line 'ulimit -n 5' 'Too many open files' '5 are not'
within 'ulimit -l 0' 'no locked memory is needed'
within 'ulimit -v 500000' 'half a gigabyte of addresses is enough'
one_line 'ulimit -v 100000' 'Cannot allocate memory' 'a tenth of that is not'
one_line 'ulimit -f 1' 'cannot make the session.*File too large' 'files of half a kilobyte are not enough'
within 'trap "" INT TERM HUP USR1 USR2 CHLD PIPE' 'ignored signals do not matter'

within 'exec 0<&-' 'a closed stdin does not matter'
run sh -c "exec '$WHATIF' run -o closed.whatif ./simple 0.7 5 <&- >&- 2>&-"
is "$status" 5 'nor do three closed streams'
is "$(grep -cv '^{' closed.whatif)" 0 '... of which nothing gets into the profile'

run whatif run -q sh -c 'grep SigIgn /proc/self/status'
is "$(printf '%s\n' "$out" | sed -n 's/^SigIgn:[[:space:]]*//p')" "$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/self/status)" \
    'the program ignores what it would ignore without us'
run sh -c "'$WHATIF' run -q sh -c 'yes; echo \$? >yes.status' | head -n 1"
is "$(cat yes.status)" 141 '... a broken pipe ends it'
run whatif run -q sh -c 'ls /proc/self/fd | wc -l >n_descriptors'
is "$(cat n_descriptors)" "$(sh -c 'ls /proc/self/fd | wc -l')" 'it inherits no descriptor of ours'

if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    # shellcheck disable=SC2317 # called through run()
    mount_at() { # mount_at PLACE OPTIONS COMMAND
        unshare -m sh -c "mount -t tmpfs -o $2 none $1 && $3"
    }
    simple="'$WHATIF' run -q --format json -o profile ./simple 0.7 5"
    run mount_at /dev/shm size=64k "$simple"
    is "$status" 5 'a full /dev/shm: the session goes elsewhere'
    between 50 "$(samples profile)" 100000 '... and the program is sampled'
    run mount_at /dev/shm ro "$simple"
    is "$status" 5 'so with one that is read-only'
    for size in 9m 10m 12m 14m; do
        run mount_at /dev/shm size=$size "$simple"
        is "$status" 5 "one that fills up later ($size) harms nobody"
    done
    mkdir full
    run mount_at full size=8k "'$WHATIF' run -q -o full/profile ./simple 0.7 5"
    is "$status" 5 "an output that fills up: the program's status"
    like "$err" 'full/profile: No space left' '... and what could not be written'
    run mount_at /proc size=4k "$simple"
    is "$status" 1 'without /proc: 1'
    like "$err" 'cannot find the agent beside /proc/self/exe' '... and why'
else
    skip 'full file systems' 'no mount namespaces here'
fi

for bad in '' 'WHATIF_SESSION=/no/such/file' 'WHATIF_SESSION=/etc/passwd' 'WHATIF_SESSION='; do
    run env ${bad:+"$bad"} LD_PRELOAD="$AGENT" ./simple 0.2 3
    is "$status $out$err" '3 INT 0 TERM 0 HUP 0' "the agent alone does nothing (${bad:-no session})"
done
if command -v valgrind >/dev/null; then
    run whatif run -q valgrind -q ./simple 0.2 4
    is "$status" 4 'valgrind runs the program, unprofiled'
else
    skip 'valgrind runs the program, unprofiled' 'valgrind is not installed'
fi
run whatif run -q --format json -o outer.whatif "$WHATIF" run -q --format json -o inner.whatif ./simple 0.7 5
is "$status" 5 'a run within a run'
between 50 "$(samples inner.whatif)" 100000 '... of which the inner one samples'
finish
