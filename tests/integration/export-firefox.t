#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `whatif export firefox`: a strict checker of our own, and the front end's own loader (npm's profiler-cli).

. "${TEST_ROOT:-.}/tests/lib/tap.sh"
helpers=$TEST_ROOT/tests/integration/export

check_profile() { # check_profile FILE CLAIM
    empty "$(python3 "$helpers/check_firefox.py" "$1" 2>&1)" "$2"
}

pick() { # pick FILE EXPRESSION: of the JSON document d
    python3 -c "import json,sys; d = json.load(open(sys.argv[1])); print($2)" "$1"
}

printf 'int scan(int x)\n{\n    return x + 1;\n}\nint main(void)\n{\n    return scan(1);\n}\n' >server.c
SOURCE=$tmp/server.c python3 "$helpers/make.py" >run.whatif
SOURCE=$tmp/server.c python3 "$helpers/make.py" --hostile >hostile.whatif

run whatif export firefox -o run.json run.whatif
is "$status" 0 'a profile is exported'
check_profile run.json 'and has the structure that the format asks for'
run whatif export firefox -o again.json run.whatif
ok 'twice gives the same bytes' cmp run.json again.json

is "$(pick run.json '[t["name"].split(" (")[0] for t in d["threads"]]')" \
    "['main', 'Causal results', 'Causal experiments', 'Causal impact: requests', 'Causal impact: request time', 'Thread 102', 'worker']" \
    'real threads and ours'
is "$(pick run.json 'sum(s is not None and s >= d["shared"]["stackTable"]["length"] - 4 for t in d["threads"] for s in t["samples"]["stack"]) > 0')" \
    True 'waits are samples of their own'
is "$(pick run.json '[d["shared"]["frameTable"]["inlineDepth"][f] for f, n in enumerate(d["shared"]["frameTable"]["func"]) if d["shared"]["stringArray"][d["shared"]["funcTable"]["name"][n]] == "scan"]')" \
    '[1]' 'inlined functions are frames that know it'
is "$(pick run.json 'd["libs"][0]["breakpadId"], d["libs"][0]["codeId"]')" \
    '67452301AB89EFCD0123456789ABCDEF0 0123456789abcdef0123456789abcdef01234567' 'build-ids, in both spellings'
is "$(pick run.json 'sum(m["type"] == "Delay" for t in d["threads"] for m in t["markers"]["data"]) > 100')" True \
    'our pauses are markers'
is "$(pick run.json 'sum(m["type"] == "CausalExperiment" for m in d["threads"][2]["markers"]["data"])')" 201 \
    'a marker for each experiment'
is "$(pick run.json 'd["shared"]["sources"]["content"][0]')" None 'no source text unless asked for'

run whatif export firefox --with-source -o source.json.gz run.whatif
check_profile source.json.gz 'a compressed one with source text is well formed'
gzip -dc source.json.gz >source.json
is "$(pick source.json 'd["shared"]["sources"]["content"][0]')" "$(cat server.c)" 'the text of an unchanged file is embedded'
is "$(pick source.json 'd["shared"]["sources"]["content"][1:]')" '[None]' 'and of no other'
echo >>server.c
whatif export firefox --with-source -o source.json run.whatif
is "$(pick source.json 'd["shared"]["sources"]["content"][0]')" None 'nor of one that has changed since'

run whatif export firefox -o hostile.json hostile.whatif
is "$status" 0 'hostile names are exported'
check_profile hostile.json 'and leave the structure intact'
ok 'nothing in the file closes a script' sh -c '! grep -q "<" hostile.json'

run whatif export firefox -o both.json run.whatif hostile.whatif
check_profile both.json 'two profiles in one file'
run whatif export firefox -o golden.json "$TEST_ROOT/tests/golden/report/run.whatif"
check_profile golden.json 'a profile without samples'
head -n 12 run.whatif >start.whatif
whatif export firefox -o start.json start.whatif
check_profile start.json 'one that was cut off before the first experiment'
head -n 1 run.whatif >header.whatif
whatif export firefox -o header.json header.whatif
check_profile header.json 'one that has nothing but a header'
head -c 20000 run.whatif >cut.whatif
whatif export firefox -o cut.json cut.whatif 2>/dev/null
check_profile cut.json 'one that was cut off in the middle of a line'

# ---- the front end's loader ----------------------------------------------------------------------------------------

loader=@firefox-devtools/profiler-cli@0.10.0
if ! command -v npm >/dev/null; then
    skip 'the real loader reads it' 'no npm'
elif ! timeout 60 npm install --no-audit --no-fund --prefix "$tmp/npm" "$loader" >npm.log 2>&1; then
    skip 'the real loader reads it' "npm cannot install $loader"
else
    program=$tmp/npm/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js
    PROFILER_CLI_SESSION_DIR=$(mktemp -d /tmp/wffXXXXXX) # a short path: it holds a socket
    export PROFILER_CLI_SESSION_DIR PROFILER_CLI_NO_SYMBOLICATE=1
    cli() {
        timeout 20 node "$program" "$@" --session t
    }
    whatif export firefox -o "$tmp/loaded.json" run.whatif
    node "$program" --daemon "$tmp/loaded.json" --session t >daemon.log 2>&1 &
    daemon=$!
    tries=0
    until cli status >status.log 2>&1 || [ $tries -ge 150 ]; do
        tries=$((tries + 1))
        sleep 0.2
    done
    ok 'the real loader reads it' cli status || diag "$(cat daemon.log)"
    cli profile info >info.log 2>&1
    like "$(cat info.log)" 'Causal results' 'and names our threads'
    cli thread select t-2 >/dev/null 2>&1
    cli thread markers --search parse --list >markers.log 2>&1
    like "$(cat markers.log)" 'parse @ 50 %' 'it shows experiments with the labels that we asked for'
    cli thread select t-1 >/dev/null 2>&1
    cli thread markers --list >results.log 2>&1
    like "$(cat results.log)" 'parse.*29\.9[0-9] % \(' 'and results with their intervals'
    cli thread select t-3 >/dev/null 2>&1
    cli thread functions >functions.log 2>&1
    like "$(cat functions.log)" 'parse' 'functions are ranked in the impact thread'
    cli counter list >counters.log 2>&1
    like "$(cat counters.log)" 'requests' 'it knows the counters'
    kill "$daemon"
    wait "$daemon" 2>/dev/null
    rm -rf "$PROFILER_CLI_SESSION_DIR"
fi
finish
