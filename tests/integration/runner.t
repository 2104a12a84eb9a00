#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/run counts right, so that a test that broke cannot pass for one that passed.
# parallel

. "${TEST_ROOT:-.}/tests/lib/tap.sh"

mkdir -p tree/tests/lib tree/tests/integration
cp "$TEST_ROOT"/tests/lib/exec "$TEST_ROOT"/tests/lib/CountingHarness.pm tree/tests/lib/
cp "$TEST_ROOT/tests/run" tree/tests/

script() { # script NAME: a test that does what stands on standard input
    { echo '#!/bin/sh' && cat; } >"tree/tests/integration/$1.t"
    chmod +x "tree/tests/integration/$1.t"
}

run_them() { # run_them NAME...
    # shellcheck disable=SC2046
    run env -u HARNESS_OPTIONS TEST_BUILD="$tmp/out" TEST_TIMEOUT=2 \
        tree/tests/run $(printf 'tests/integration/%s.t ' "$@")
}

outcome() { # outcome NAME...: the last line and the status
    run_them "$@"
    echo "$(printf '%s\n' "$out" | tail -n 1): $status"
}

script good <<'END'
echo 'ok 1 - a
ok 2 - b # SKIP not here
1..2'
END
script bad <<'END'
echo '1..3
ok 1 - a
not ok 2 - b
# got: something
ok 3 - c'
exit 1
END
script dies <<'END'
echo 'ok 1 - a'
kill -9 $$
END
script short <<'END'
echo '1..3
ok 1 - a'
END
script lies <<'END'
echo 'ok 1 - a
1..1'
exit 3
END
script skipped <<'END'
echo '1..0 # SKIP no such thing here'
END
script hangs <<'END'
# parallel
echo 'ok 1 - a'
sleep 60
echo 1..1
END

is "$(outcome good)" '1 passed, 0 failed, 1 skipped: 0' 'passed and skipped tests are counted'
is "$(outcome good bad)" '3 passed, 1 failed, 1 skipped: 1' 'and failed ones'
run_them bad
like "$out" '^bad\.t: not ok 2 - b$' 'what failed is said once more before the end'
like "$out" '^# got: something$' 'with its own explanation'
is "$(outcome dies)" '1 passed, 1 failed, 0 skipped: 1' 'a test that is killed has failed'
is "$(outcome short)" '1 passed, 2 failed, 0 skipped: 1' 'so have tests that were planned and never came'
is "$(outcome lies)" '1 passed, 1 failed, 0 skipped: 1' 'and one whose status says so'
is "$(outcome skipped good)" '1 passed, 0 failed, 2 skipped: 0' 'a script may be skipped as a whole'
is "$(outcome skipped)" '0 passed, 0 failed, 1 skipped: 1' 'but where nothing passed nothing was tested'
is "$(outcome hangs good)" '2 passed, 1 failed, 1 skipped: 1' 'a test that hangs is ended'
finish
