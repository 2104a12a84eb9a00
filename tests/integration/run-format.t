#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Formats for programs: one document on stdout, and nothing of the program's own.
# parallel

. "${TEST_ROOT:-.}/tests/lib/tap.sh"

for format in json bencher; do
    run whatif run --quiet --format "$format" --at work_a "$SUBJECTS/single" --seconds 2
    is "$status" 0 "--format $format"
    ok '... prints one JSON document' python3 -m json.tool "$tmp/.out"
    like "$err" '"visits":' '... and the program writes to stderr'
done
run whatif run --quiet --at work_a "$SUBJECTS/single" --seconds 1
like "$out" '"visits":' 'a report for people leaves the output of the program alone'
finish
