#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Builds the judge (unwind-judge.cc) with a compiler and linker and runs it: it prints its own TAP.
# UNWIND_JUDGE_CXX chooses them, as in "clang++ -fuse-ld=lld"; that linker describes no lazy-binding stubs.

cd "$(dirname "$0")/../.." || exit 1
CC=${CC:-gcc}
CXX=${UNWIND_JUDGE_CXX:-${CXX:-g++}}

if [ "$(uname -m)" != x86_64 ]; then
    echo "1..0 # SKIP tables are for x86-64 only"
    exit 0
fi

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

build() {
    for source in runtime/symbols/unwind_*.c; do
        $CC -std=gnu17 -D_GNU_SOURCE -I. -O2 -c -o "$dir/$(basename "$source" .c).o" "$source" || return 1
    done
    $CC -std=gnu17 -D_GNU_SOURCE -I. -O2 -fno-stack-protector -fcf-protection=none -c -o "$dir/walk.o" \
        runtime/agent/signal/walk.c || return 1
    # libgcc before libunwind: exceptions must run on the one that programs run on, and be walked there
    $CXX -std=gnu++17 -D_GNU_SOURCE -I. -O2 -fomit-frame-pointer -o "$dir/judge" tests/integration/unwind-judge.cc \
        "$dir"/*.o -Wl,-z,lazy -Wl,--no-as-needed -lgcc_s -lc -Wl,--as-needed -lelf -lunwind-generic -lpthread
}

if ! build >&2; then
    echo "Bail out! the judge does not build"
    exit 1
fi
"$dir/judge"
