#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# .ci/deps: installs what is missing, says so, and does nothing otherwise. The package tools here are stand-ins that
# write down how they were called.
# parallel

. "${TEST_ROOT:-.}/tests/lib/tap.sh"

mkdir tools
CALLS=$tmp/calls
FAIL=
AS=0
export CALLS FAIL AS
tool() {
    { echo '#!/bin/sh' && cat; } >"tools/$1" && chmod +x "tools/$1"
}
tool dpkg-query <<'END'
case $4 in
have-*) echo installed ;;
half-removed) echo config-files ;;
*) echo "dpkg-query: no packages found matching $4" >&2; exit 1 ;;
esac
END
tool apt-get <<'END'
echo "apt-get $*" >>"$CALLS"
case "$*" in
*--simulate*) [ "$FAIL" != simulate ] ;;
*install*) [ "$FAIL" != install ] || [ "$(grep -c ' update' "$CALLS")" -gt 0 ] ;;
esac
END
tool id <<'END'
echo "$AS"
END
tool sudo <<'END'
echo sudo >>"$CALLS"
exec "$@"
END

deps() {
    : >"$CALLS"
    run env PATH="$tmp/tools:$PATH" "$TEST_ROOT/.ci/deps" "$@"
    calls=$(cat "$CALLS")
}

deps have-one have-two
is "$status:$calls" 0: 'where all is installed no tool is called'
like "$out" 'all 2 packages are installed' 'and it says so'

deps have-one lack-one half-removed
is "$status" 0 'missing packages are installed'
is "$out" 'deps: to install: lack-one half-removed' 'it says which'
like "$calls" 'install -y .* lack-one half-removed$' 'and only these'
like "$calls" '--no-remove' 'nothing is removed for them'
unlike "$calls" ' update|sudo' 'package lists that know them are good enough; root needs no sudo'

FAIL=simulate
deps lack-one
is "$status" 0 'packages that apt does not know are installed'
like "$calls" ' update' 'after a look at new lists'

FAIL=install
deps lack-one
is "$status" 0 'so are packages that cannot be downloaded by the old ones'

FAIL=
AS=1000
deps lack-one
like "$calls" '^sudo$' 'others than root install through sudo'

# A machine with nothing but these tools.
rm tools/sudo
for name in sh env cat; do
    ln -s "$(command -v $name)" "tools/$name"
done
run env -i PATH="$tmp/tools" AS=1000 CALLS="$CALLS" "$tmp/tools/sh" "$TEST_ROOT/.ci/deps" lack-one
is "$status" 1 'without sudo it gives up'
like "$err" 'as root: apt-get install lack-one' 'with the command to type'

rm tools/apt-get
run env -i PATH="$tmp/tools" AS=0 "$tmp/tools/sh" "$TEST_ROOT/.ci/deps" lack-one
is "$status" 1 'without apt-get, too'
like "$err" 'Debian calls: lack-one' 'with the names'
finish
