#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `whatif run` works from wherever it is called and installed, beside whatever else is preloaded.
# parallel

# shellcheck disable=SC2317 # functions are called through ok()
. "${TEST_ROOT:-.}/tests/lib/tap.sh"
. "$TEST_ROOT/tests/lib/profile.sh"

build simple
cat >preload.c <<'C'
#include <stdio.h>
__attribute__((constructor)) static void say(void) { puts("preloaded"); fflush(stdout); }
C
"$CC" -shared -fPIC -o own.so preload.c

# profiles CLAIM COMMAND...: the program runs and is sampled.
profiles() {
    claim=$1
    shift
    rm -f simple.whatif
    run "$@" run -q --format json ./simple 0.5
    is "$status" 0 "$claim"
    between 50 "$(samples simple.whatif)" 100000 '... with samples'
}

LD_PRELOAD=$tmp/own.so run "$WHATIF" run -q ./simple 0.3
like "$out" '^preloaded' "the user's own LD_PRELOAD is in effect"
like "$out" 'rounds' '... and the program is profiled'
# shellcheck disable=SC2016 # for the script
printf '#!/bin/sh\necho "sees $LD_PRELOAD"\n' >shows
chmod +x shows
LD_PRELOAD=$tmp/own.so run "$WHATIF" run -q ./shows
like "$out" "^sees .*libwhatif-agent.so:$tmp/own.so" '... behind the agent'

mkdir -p 'with space' elsewhere
ln -s "$TEST_BUILD" link
ln -s "$TEST_BUILD" 'with space/build tree'
ln -s "$WHATIF" elsewhere/whatif
profiles 'through a symbolic link to the tree' link/bin/whatif
profiles 'through one with a space in it' 'with space/build tree/bin/whatif'
profiles 'through a link to the launcher' elsewhere/whatif
cp -r "$TEST_BUILD/bin" "$TEST_BUILD/lib" 'with space/'
profiles 'from a tree in a folder with a space' 'with space/bin/whatif'
mkdir -p 'a:colon'
cp -r 'with space/bin' 'with space/lib' 'a:colon/'
profiles 'from a tree in a folder with a colon' 'a:colon/bin/whatif'
ok 'make install' sh -c "unset MAKEFLAGS MFLAGS MAKELEVEL; make -C '$TEST_ROOT' VARIANT=$(basename "$TEST_BUILD") \
    install DESTDIR='$tmp/root' PREFIX=/usr"
profiles 'installed below DESTDIR' root/usr/bin/whatif
PATH="$tmp/root/usr/bin:$PATH" run sh -c 'cd elsewhere && whatif run -q --format json ../simple 0.3'
is "$status" 0 'found in PATH, from another folder'
ok '... the profile is in the current one' test -s elsewhere/simple.whatif
(mkdir bare && cp -r "$TEST_BUILD/bin" bare/)
run bare/bin/whatif run ./simple 0.2
is "$status" 1 'without its agent, it says so'
like "$err" 'cannot find the agent .*libwhatif-agent.so' '... and where it should be'

mkdir readonly
cp simple readonly/
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    chmod 755 "$tmp" readonly
    run setpriv --reuid 65534 --regid 65534 --clear-groups sh -c "cd readonly && '$WHATIF' run ./simple 0.2"
    if [ "$status" = 126 ] || printf '%s' "$err" | grep -q 'Permission denied$' && ! printf '%s' "$err" | grep -q profile; then
        skip 'a folder that is not writable' 'the build tree cannot be read by others'
        skip '... -o elsewhere' 'the build tree cannot be read by others'
    else
        is "$status" 1 'in a folder that is not writable: 1'
        like "$err" 'cannot write the profile simple.whatif: Permission denied' '... and why'
        run setpriv --reuid 65534 --regid 65534 --clear-groups sh -c \
            "cd readonly && '$WHATIF' run -q --format json -o /tmp/whatif-nobody-$$ ./simple 0.5"
        is "$status" 0 '... but with -o elsewhere, as an unprivileged user'
        between 50 "$(samples "/tmp/whatif-nobody-$$")" 100000 '... with samples'
        rm -f "/tmp/whatif-nobody-$$"
    fi
fi
finish
