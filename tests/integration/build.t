#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The build notices what has changed: headers, flags, lists of sources. Tried on the Makefile and a few small sources
# in a folder of their own, so that nothing of the real build is touched.
# parallel

. "${TEST_ROOT:-.}/tests/lib/tap.sh"

make_() {
    (unset MAKEFLAGS MFLAGS MAKELEVEL CC CXX && make "$@")
}

# Make everything old, what was built less so, so that what is touched next is newer than all.
age() {
    find . -type f -exec touch -d '2 hours ago' {} +
    find build -type f -exec touch -d '1 hour ago' {} +
}

# What a dry run would compile, by name.
would_compile() {
    make_ -n V=1 $library "$@" | sed -n 's/.* -c -o [^ ]* //p' | sort | tr '\n' ' '
}

cp "$TEST_ROOT/Makefile" .
echo 1.0 >VERSION
mkdir -p runtime/session runtime/profile tests include
: >tests/tests.mk
echo 'int wi_one(void);' >runtime/session/one.h
echo '#include "runtime/session/one.h"' >runtime/session/two.h
printf '#include "runtime/session/two.h"\nint wi_one(void)\n{\n    return 1;\n}\n' >runtime/session/one.c
printf 'int wi_three(void);\nint wi_three(void)\n{\n    return 3;\n}\n' >runtime/profile/three.c
library=build/release/obj/libwhatif-tool.a

ok 'it builds' make_ $library
is "$(would_compile)" '' 'what is up to date is not built again'

age
touch runtime/session/one.h
is "$(would_compile)" 'runtime/session/one.c ' 'a header that a header includes is noticed'

sed -i 's/two\.h/one.h/' runtime/session/one.c
ok 'an include may go' make_ $library
rm runtime/session/two.h
ok 'and the header after it' make_ $library

ok 'it builds with other flags' make_ $library CFLAGS=-DSOMETHING
is "$(would_compile CFLAGS=-DSOMETHING)" '' 'which are remembered'
is "$(would_compile)" 'runtime/profile/three.c runtime/session/one.c ' 'and noticed when they are gone'
ok 'it builds without them' make_ $library

sed 's/three/four/g' runtime/profile/three.c >runtime/profile/four.c
ok 'it builds with a new source' make_ $library
is "$(ar t $library | sort | tr '\n' ' ')" 'four.o one.o three.o ' 'and takes it in'
rm runtime/profile/three.c
ok 'it builds without an old one' make_ $library
is "$(ar t $library | sort | tr '\n' ' ')" 'four.o one.o ' 'and throws it out'

run make_ VARIANT=unheard-of
like "$err" "unknown VARIANT 'unheard-of'" 'an unknown variant is named'
run make_ help
like "$out" '^  clean +remove everything' 'help lists the targets'
run make_ $library V=1 CFLAGS=-DOTHER
like "$out" '^gcc .*-DOTHER' 'V=1 shows the commands'
age
touch runtime/session/one.h
run make_ $library CFLAGS=-DOTHER
is "$out" '  CC      runtime/session/one.c' 'without it there is one line a file'
finish
