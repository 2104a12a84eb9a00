#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Files that are damaged, or no ELF files at all: runtime/symbols answers with what is left, and says what is missing.
# parallel

. "${TEST_ROOT:-.}/tests/lib/tap.sh"

DUMP=$TEST_BUILD/tests/integration/symbols_dump
MUTATE=$TEST_BUILD/tests/fuzz/symbols_mutate
SOURCES=$TEST_ROOT/tests/integration/symbols
if ! [ -x "$DUMP" ] || ! [ -x "$MUTATE" ]; then
    skip_all 'the drivers are not built'
fi

dump() {
    run "$DUMP" "$@"
}

# ---- no ELF file -----------------------------------------------------------------------------------------

mkdir directory
: >empty
echo 'int main(void) { return 0; }' >text
head -c 100000 "$DUMP" | tail -c 90000 >noise
for file in directory empty text noise missing; do
    dump "./$file" -- frames 0 1234 scope notices detail
    is "$status" 0 "$file: is survived"
    like "$out" "^$file\\+0x1234" "$file: code has a name nevertheless"
    like "$out" '^notice module-unreadable 0 1 ' "$file: it is said"
    like "$out" '^detail 0 2 1$' "$file: nothing is known of it"
done

# ---- damage ------------------------------------------------------------------------------------------------

$CC -O2 -g -gdwarf-5 "$SOURCES/marked.c" "$SOURCES/second.c" -o whole || skip_all 'no compiler'
size=$(wc -c <whole)
for part in 1 2 4 8 16; do
    head -c "$((size * part / 17))" whole >"cut$part"
    dump "./cut$part" -- scope frames 0 1234 notices
    is "$status" 0 "a file cut off at $part/17 is survived"
done

# section NAME: its offset in the file
section() {
    readelf -SW whole | sed -n "s/.* $1  *PROGBITS  *[0-9a-f]*  *\([0-9a-f]*\) .*/\1/p"
}

# The second unit of debug information: its header's length begins where the first unit ends.
info=$((0x$(section .debug_info)))
second=$(readelf --debug-dump=info whole 2>/dev/null | sed -n 's/.*Compilation Unit @ offset 0x\([0-9a-f]*\):.*/\1/p;s/.*Compilation Unit @ offset 0:.*/0/p' | sed -n 2p)
patch_byte() { # patch_byte FILE OFFSET OCTAL
    printf '%b' "\\0$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

cp whole version
patch_byte version "$((info + 0x$second + 4))" 143
dump ./version -- unit inner unit marked.c:52 unit second notices
like "$out" '^notice dwarf-skipped-units 0 1 ' 'a unit of an unknown version is skipped, and counted once'
like "$out" '^unit 1 inner$' 'and the units before it are there'
like "$out" '^unit 1 second$' 'and its functions are known from the symbols'
unlike "$out" '^error' 'nothing else is lost'

first=$(readelf --debug-dump=info whole 2>/dev/null | sed -n 's/.*Compilation Unit @ offset 0x0*:.*/0/p' | head -n 1)
cp whole version
patch_byte version "$((info + ${first:-0} + 4))" 143
dump ./version -- unit second.c:11 notices
like "$out" '^notice dwarf-skipped-units 0 1 ' 'the first unit, likewise'
like "$out" '^unit 0 second.c:11$' 'and the units behind it are there'

cp whole length
patch_byte length "$((info + 0x$second + 3))" 177
dump ./length -- unit inner notices
like "$out" '^notice dwarf-skipped-units 0 1 ' 'a unit longer than its section is skipped'
like "$out" '^unit 1 inner$' 'and the units before it are there'

$CC "$SOURCES/deep.s" -o deep
dump ./deep -- functions notices detail
is "$status" 0 'what one parser crashes on is read by the other'
like "$out" '^function 0 0x[0-9a-f]* renamed$' 'completely'
unlike "$out" '^notice' 'and nothing need be said'

# ---- at random -----------------------------------------------------------------------------------------------

for dwarf in 4 5; do
    $CC -O1 "-gdwarf-$dwarf" "$SOURCES/marked.c" "$SOURCES/second.c" -o "gcc$dwarf"
    command -v clang >/dev/null && clang -O1 "-gdwarf-$dwarf" "$SOURCES/marked.c" "$SOURCES/second.c" -o "clang$dwarf"
done
objcopy --compress-debug-sections=zlib gcc5 packed 2>/dev/null
# shellcheck disable=SC2046
run "$MUTATE" "${FUZZ_SECONDS:-5}" "${FUZZ_SEED:-1}" $(ls -d gcc? clang? packed 2>/dev/null)
is "$status" 0 "files damaged at random are survived" || diag "$(ls damaged-* 2>/dev/null) $err"
diag "$out"

finish
