#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The bundled demo is a program like any other: built by one plain command, it runs by itself, says what it did, and
# complains about what it cannot read.
# parallel

. "${TEST_ROOT:-.}/tests/lib/tap.sh"

source=$TEST_ROOT/benchmarks/demo/demo.c
ok 'the demo is built by a plain compiler call, without a warning' \
    "$CC" -O2 -g -Wall -Wextra -Werror -pthread -I"$TEST_ROOT/include" -o demo "$source"
between 1 "$(wc -l <"$source")" 250 'it can be read in one go'
run ./demo 2
is "$status" 0 'it runs without a profiler'
like "$out" '^[1-9][0-9]* blocks of 1024 KiB, packed to [1-9][0-9]? %; [1-9][0-9]* words' 'and says what it did'
mkdir empty
run ./demo 1 empty
is "$status" 1 'a folder without files is an error'
like "$err" 'empty: no file to read' 'that is explained'
finish
