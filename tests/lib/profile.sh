# shellcheck shell=sh
# SPDX-License-Identifier: BSD-2-Clause
#
# For tests of `whatif run`: build the programs of tests/integration/programs, and ask a profile what is in it. After
# tap.sh.

PROGRAMS=$TEST_ROOT/tests/integration/programs
CXX=${CXX:-g++}

# build NAME [OPTION...]: compile programs/NAME.c as ./NAME; ends the test if that fails.
build() {
    build_name=$1
    shift
    "$CC" -D_GNU_SOURCE -O2 -g -Wall -Wextra -I"$TEST_ROOT/include" -pthread -o "$build_name" \
        "$PROGRAMS/$build_name.c" "$@" >.build 2>&1 && return
    diag "$(cat .build)"
    echo "Bail out! $build_name.c cannot be compiled"
    exit 1
}

# records PROFILE TYPE FIELD: that field of all records of that type, a line each.
records() {
    python3 - "$@" <<'PYTHON'
import json, signal, sys
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
for line in open(sys.argv[1]):
    try:
        record = json.loads(line)
    except ValueError:
        continue
    if record.get("type") == sys.argv[2]:
        value = record
        for name in sys.argv[3].split("."):
            value = value[int(name)] if isinstance(value, list) else value.get(name, {})
        print(value)
PYTHON
}

# notices PROFILE: the codes of its notices, in one line.
notices() {
    records "$1" notice code | tr '\n' ' '
}

# total PROFILE TYPE FIELD: the sum.
total() {
    records "$@" | awk '{ sum += $1 } END { print sum + 0 }'
}

# samples PROFILE: how many samples arrived.
samples() {
    records "$1" tally samples | tail -n 1
}
