#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The manual pages and the program agree: every option of --help is in the manual, and no other.
# parallel

. "${TEST_ROOT:-.}/tests/lib/tap.sh"

manual_options() {
    grep '^\.It Fl' "$1" | grep -oE 'Fl -[a-z][a-z-]*' | sed 's/^Fl -/--/' | grep -vx -e --help | sort -u
}

help_options() {
    whatif "$1" --help | grep -oE '(^|[^a-z-])--[a-z][a-z-]*' | grep -oE -- '--[a-z-]+' | grep -vx -e --help | sort -u
}

for command in run report export upload; do
    run whatif $command --help
    is "$status" 0 "whatif $command --help succeeds"
    help_options $command >help
    manual_options "$TEST_ROOT/docs/man/whatif-$command.1" >manual
    empty "$(comm -23 help manual)" "every option of whatif $command is in its manual page"
    empty "$(comm -13 help manual)" "the manual page of whatif $command names no other"
done

run whatif --version
is "$status" 0 'whatif --version succeeds'
like "$out" "(^| )$(sed 's/\./\\./g' "$TEST_ROOT/VERSION")" 'and says the version of this tree'

run whatif --help
is "$status" 0 'whatif --help succeeds'
for command in run report export upload; do
    like "$out" "(^|[^a-z])$command([^a-z]|\$)" "and names $command"
done
finish
