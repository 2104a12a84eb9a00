#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# make install puts everything where its users look for it, keeps out of the way of Debian's coz-profiler, and
# make uninstall takes it all away again.
# parallel

# shellcheck disable=SC2317 # functions are called through ok()
. "${TEST_ROOT:-.}/tests/lib/tap.sh"

# make, without the flags of the make that runs this test.
make_() {
    (unset MAKEFLAGS MFLAGS MAKELEVEL && make -C "$TEST_ROOT" VARIANT="$(basename "$TEST_BUILD")" "$@")
}

files_below() {
    (cd "$1" && find . -type f | sed 's|^\./||' | sort)
}

ok 'make install succeeds' make_ install DESTDIR="$tmp/root" PREFIX=/opt/what
is "$(files_below root/opt/what | grep -v '^share/man/')" "bin/whatif
include/whatif.h
include/whatif/coz.h
lib/pkgconfig/whatif-coz.pc
lib/pkgconfig/whatif.pc
lib/whatif/libwhatif-agent.so" 'these files are installed'
is "$(files_below root/opt/what/share/man/man1)" "$(cd "$TEST_ROOT/docs/man" && printf '%s\n' *.1 | sort)" \
    'and all manual pages'
is "$(files_below root | grep -vc '^opt/what/')" 0 'nothing is outside the prefix'
ok 'the launcher can be executed' test -x root/opt/what/bin/whatif
run grep -rIl -e "$tmp" -e "$TEST_ROOT" root
is "$out" '' 'no installed text names the place where it was built'

PKG_CONFIG_PATH=$tmp/root/opt/what/lib/pkgconfig
export PKG_CONFIG_PATH
if command -v pkg-config >/dev/null; then
    is "$(pkg-config --cflags whatif | tr -d ' ')" '-I/opt/what/include' 'pkg-config knows where whatif.h is'
    like "$(pkg-config --cflags whatif-coz)" '^-I/opt/what/include/whatif -I/opt/what/include *$' \
        'and puts our coz.h before any other'
    is "$(pkg-config --modversion whatif | cut -d+ -f1)" "$(cat "$TEST_ROOT/VERSION")" 'and which version this is'
else
    skip 'pkg-config knows the headers' 'pkg-config is not installed'
fi

cat >program.c <<'END'
#include <coz.h>
#ifndef WHATIF_H
#error "this is the header of Coz"
#endif
int main(void) { COZ_PROGRESS_NAMED("x"); return 0; }
END
include=$tmp/root/opt/what/include
ok 'a program is built against the installed headers' "$CC" -I"$include/whatif" -I"$include" -o program program.c
ok 'and runs' ./program

touch root/opt/what/bin/of-somebody-else
ok 'make uninstall succeeds' make_ uninstall DESTDIR="$tmp/root" PREFIX=/opt/what
is "$(files_below root)" 'opt/what/bin/of-somebody-else' 'and leaves nothing but what is not ours'
ok 'not even our folders' test ! -e root/opt/what/lib/whatif -a ! -e root/opt/what/include/whatif
finish
