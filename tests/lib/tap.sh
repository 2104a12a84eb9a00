# shellcheck shell=sh
# SPDX-License-Identifier: BSD-2-Clause
#
# TAP for tests written in sh. Begin with
#
#     . "${TEST_ROOT:-.}/tests/lib/tap.sh"
#
# and end with `finish`. Each test is a claim, in words, that is true if it passes:
#
#     run whatif report missing.whatif           # sets $status, $out, $err
#     is "$status" 1 'a missing profile is an error'
#     like "$err" 'missing\.whatif.*No such file' 'the error names the file'
#     ok 'the profile is readable' test -r run.whatif
#
# Gives: $WHATIF (the launcher), $AGENT, $SUBJECTS, $DEMO, $TEST_ROOT, $TEST_BUILD, and a folder of its own, $tmp, as
# working directory, removed at the end. `whatif` runs the launcher.

TEST_ROOT=${TEST_ROOT:-$PWD}
TEST_BUILD=${TEST_BUILD:-$TEST_ROOT/build/release}
# shellcheck disable=SC2034 # for the tests
WHATIF=$TEST_BUILD/bin/whatif AGENT=$TEST_BUILD/lib/whatif/libwhatif-agent.so
# shellcheck disable=SC2034
SUBJECTS=$TEST_BUILD/subjects DEMO=$TEST_BUILD/benchmarks/demo
CC=${CC:-gcc}
export LC_ALL=C

tap_n=0
tap_failed=0
tmp=$(mktemp -d) || exit 1
trap 'cd /; rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
cd "$tmp" || exit 1

whatif() {
    "$WHATIF" "$@"
}

# diag TEXT: lines for whoever reads about a failure.
diag() {
    printf '%s\n' "$*" | sed 's/^/# /'
}

tap_result() { # tap_result STATUS CLAIM
    tap_n=$((tap_n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tap_n - $2"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_n - $2"
    fi
    return "$1"
}

# run COMMAND...: the command's $status, its output in $out and $err.
# shellcheck disable=SC2034
run() {
    status=0
    "$@" >"$tmp/.out" 2>"$tmp/.err" || status=$?
    out=$(cat "$tmp/.out")
    err=$(cat "$tmp/.err")
}

# ok CLAIM COMMAND...: true if the command succeeds.
ok() {
    tap_claim=$1
    shift
    if "$@" >"$tmp/.ok" 2>&1; then
        tap_result 0 "$tap_claim"
    else
        tap_result 1 "$tap_claim"
        diag "failed: $*"
        diag "$(tail -n 20 "$tmp/.ok")"
        return 1
    fi
}

# is GOT EXPECTED CLAIM
is() {
    [ "$1" = "$2" ] && tap_result 0 "$3" && return
    tap_result 1 "$3"
    diag "got:      $1"
    diag "expected: $2"
    return 1
}

# like GOT REGEX CLAIM, unlike GOT REGEX CLAIM: extended regular expressions, tried line by line.
like() {
    printf '%s\n' "$1" | grep -Eq -- "$2" && tap_result 0 "$3" && return
    tap_result 1 "$3"
    diag "got:      $1"
    diag "expected: $2"
    return 1
}

unlike() {
    printf '%s\n' "$1" | grep -Eq -- "$2" || { tap_result 0 "$3" && return; }
    tap_result 1 "$3"
    diag "got:         $1"
    diag "unwelcome: $2"
    return 1
}

# between LOW NUMBER HIGH CLAIM: fractions allowed.
between() {
    awk -v low="$1" -v x="$2" -v high="$3" 'BEGIN { exit !(x != "" && low + 0 <= x + 0 && x + 0 <= high + 0) }' &&
        tap_result 0 "$4" && return
    tap_result 1 "$4"
    diag "got: '$2', expected $1 to $3"
    return 1
}

# empty TEXT CLAIM: true if there is nothing; each line of TEXT is one thing found wrong.
empty() {
    [ -z "$1" ] && tap_result 0 "$2" && return
    tap_result 1 "$2"
    diag "$1"
    return 1
}

# skip CLAIM REASON: what this machine cannot show.
skip() {
    tap_n=$((tap_n + 1))
    echo "ok $tap_n - $1 # SKIP $2"
}

# skip_all REASON: ends the test.
skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

# finish: the plan, and the exit status.
finish() {
    echo "1..$tap_n"
    [ "$tap_failed" -eq 0 ]
    exit
}
