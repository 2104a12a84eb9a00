#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `whatif run` ends as the program ends, and says in one line why a program cannot be profiled.
# parallel

. "${TEST_ROOT:-.}/tests/lib/tap.sh"
. "$TEST_ROOT/tests/lib/profile.sh"

build simple

one_line() {
    is "$(printf '%s\n' "$err" | grep -c .)" 1 "$1"
}

for status in 0 3 255; do
    run whatif run -q ./simple 0.3 "$status"
    is "$status" "$status" "status $status is passed on"
done
for pair in 9:137 15:143 11:139 6:134; do
    run whatif run -q ./simple 0.3 "-${pair%:*}"
    is "$status" "${pair#*:}" "a program that dies of signal ${pair%:*} gives ${pair#*:}"
    like "$out" 'rounds' '... and is reported'
done
is "$(records simple.whatif end reason)" signalled 'the profile knows that it was killed'

run whatif run ./no-such-program
is "$status" 127 'a missing program: 127'
one_line '... in one line'
run whatif run no-such-program-in-path
is "$status" 127 'a program that is not in PATH: 127'
echo 'int x;' >plain
run whatif run ./plain
is "$status" 126 'a file that is not executable: 126'
one_line '... in one line'
run whatif run .
is "$status" 126 'a folder: 126'
printf 'no program\n' >junk
chmod +x junk
run whatif run ./junk
is "$status" 126 'an executable file that is no program: 126'
one_line '... in one line'
like "$err" 'junk' '... that names it'
ok '... and no profile is left' test ! -e junk.whatif
printf '#!/no/such/interpreter\n' >script
chmod +x script
run whatif run ./script
between 126 "$status" 127 'a script without its interpreter'
printf '#!/bin/sh\nexec ./simple 0.5 4\n' >script
run whatif run -q ./script
is "$status" 4 'a script that executes a program'
like "$out" 'rounds:' '... which is profiled'

if build simple -static 2>/dev/null && [ -x simple ]; then
    run whatif run ./simple
    is "$status" 1 'a static program: 1'
    like "$err" 'simple cannot be profiled: it is statically linked' '... and why'
    one_line '... in one line'
    ok '... without a profile left' test ! -e static.whatif
fi
build simple
if [ "$(id -u)" = 0 ] && cp simple privileged && chown 1:1 privileged && chmod 6755 privileged; then
    run whatif run ./privileged
    is "$status" 1 'a set-user-ID program: 1'
    like "$err" 'privileged cannot be profiled: it is set-' '... and why'
    one_line '... in one line'
else
    skip 'a set-user-ID program: 1' 'not root'
fi

rm -f started
printf '#!/bin/sh\ntouch started\n' >starts
chmod +x starts
run whatif run -o /no/such/folder/profile ./starts
is "$status" 1 'an output that cannot be written: 1'
like "$err" '/no/such/folder/profile.*No such file' '... and why'
one_line '... in one line'
ok '... and the program is not started' test ! -e started
run whatif run -o . ./starts
is "$status" 1 'an output that is a folder: 1'
run whatif run -o /dev/null ./starts
is "$status" 1 'an output that is a device: 1'
like "$err" 'cannot write the profile /dev/null' '... and why'
ok '... and the program is not started' test ! -e started

for wrong in '--duration 0' '--duration x' '--speedups 0,200' '--sampler x' '--no-such-option' '--format x' \
    '--given x' '--seed x' '--overhead 0' '--unit x'; do
    # shellcheck disable=SC2086
    run whatif run $wrong ./starts
    is "$status" 2 "run $wrong: 2"
done
run whatif run
is "$status" 2 'no program: 2'
run whatif run --help
is "$status" 0 '--help: 0'
ok 'none of them started anything' test ! -e started
is "$(find /dev/shm -maxdepth 1 -name 'whatif-*' -newer simple -empty)" '' 'no run leaves an empty folder behind'
finish
