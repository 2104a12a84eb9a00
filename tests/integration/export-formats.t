#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `whatif export` in all formats but Firefox's, each held against a reader that is not ours where there is one.
# WHATIF_CONTRACTS may name a folder with Bencher's published schema, bmf.json.

. "${TEST_ROOT:-.}/tests/lib/tap.sh"
helpers=$TEST_ROOT/tests/integration/export
python3 "$helpers/make.py" >run.whatif
python3 "$helpers/make.py" --hostile >hostile.whatif

# ---- the command -----------------------------------------------------------------------------------------------------

run whatif export
is "$status" 2 'no format is a misuse'
run whatif export telepathy run.whatif
is "$status" 2 'so is an unknown one'
like "$err" 'telepathy' 'which the message names'
run whatif export csv missing.whatif
is "$status" 1 'a missing profile is an error'
like "$err" 'missing\.whatif.*No such file' 'that names it'
run whatif export csv --point nothing run.whatif
is "$status" 1 'a filter that matches nothing is an error'
run whatif export csv -o /nonexistent/file run.whatif
is "$status" 1 'so is a file that cannot be written'

# ---- bencher ---------------------------------------------------------------------------------------------------------

bmf() { # bmf FILE: one line for each metric, or what is wrong
    python3 -c '
import json, sys
for name, measures in json.load(open(sys.argv[1])).items():
    assert 0 < len(name.encode()) <= 1024 and not any(ord(c) < 32 or ord(c) == 127 for c in name), name
    for measure, metric in measures.items():
        assert 0 < len(measure) <= 64 and measure.strip("abcdefghijklmnopqrstuvwxyz-") == ""
        assert set(metric) <= {"value", "lower_value", "upper_value"} and "value" in metric
        assert all(isinstance(value, float) for value in metric.values())
        assert metric.get("lower_value", metric["value"]) <= metric["value"] <= metric.get("upper_value", metric["value"])
        print(name, measure, round(metric["value"]), sep="|")' "$1" 2>&1
}
run whatif export bencher -o run.bmf run.whatif
bmf run.bmf >metrics
like "$(cat metrics)" '^server/requests\|throughput\|999[0-9]$' 'bencher: throughput of a progress point'
like "$(cat metrics)" '^server/request time\|latency\|300[0-9]{3}$' 'latency of another, in nanoseconds'
like "$(cat metrics)" '^server/requests/parse\|causal-impact\|15$' 'the gain at 50 %'
like "$(cat metrics)" '^server/requests/gone\.c:scan\+1\|max-program-speedup\|20$' 'lines are named by function and distance'
whatif export bencher --speedup 100 --top 1 --point requests -o top.bmf run.whatif
is "$(bmf top.bmf | grep -c max-program)" 1 'as many units as asked for'
like "$(bmf top.bmf)" 'parse\|causal-impact\|30$' 'at the speedup that was asked for'
whatif export bencher -o hostile.bmf hostile.whatif
unlike "$(bmf hostile.bmf)" 'Error' 'hostile names become printable ones'
head -n 12 run.whatif >start.whatif
is "$(whatif export bencher start.whatif)" '{}' 'no figures, no benchmarks'
schema=${WHATIF_CONTRACTS:-}/bmf.json
if [ ! -r "$schema" ]; then
    skip 'it fits the published schema' 'WHATIF_CONTRACTS names no folder with bmf.json'
elif ! timeout 60 npm install --no-audit --no-fund --prefix "$tmp/npm" ajv@8 >npm.log 2>&1; then
    skip 'it fits the published schema' 'npm cannot install ajv'
else
    cat >ajv.js <<'JS'
const Ajv = require(process.argv[2] + '/node_modules/ajv').default;
const read = file => JSON.parse(require('fs').readFileSync(file, 'utf8'));
const schema = read(process.argv[3]);
delete schema.$schema;
const validate = new Ajv({strict: false}).compile(schema);
for (const file of process.argv.slice(4))
    if (!validate(read(file))) { console.log(file, validate.errors); process.exit(1); }
JS
    ok 'it fits the published schema' node ajv.js "$tmp/npm" "$schema" run.bmf hostile.bmf
fi

# ---- pprof -----------------------------------------------------------------------------------------------------------

whatif export pprof -o run.pb.gz run.whatif
run python3 "$helpers/check_pprof.py" run.pb.gz
is "$status" 0 'pprof: it follows the rules of the format'
like "$out" '^samples count 3000$' 'every sample is there'
like "$out" '^cpu nanoseconds 3000000000$' 'and its processor time'
like "$out" '^causal_impact_requests ppm 500[0-9]{3}$' 'and impact, in millionths'
whatif export pprof -o hostile.pb.gz hostile.whatif
ok 'hostile names leave it intact' python3 "$helpers/check_pprof.py" hostile.pb.gz
whatif export pprof -o golden.pb.gz "$TEST_ROOT/tests/golden/report/run.whatif"
ok 'so does a profile without samples' python3 "$helpers/check_pprof.py" golden.pb.gz
if command -v go >/dev/null; then
    HOME=$tmp run go tool pprof -top -sample_index=causal_impact_requests run.pb.gz
    like "$out" '29[0-9]{4}ppm.* parse$' 'go tool pprof ranks by impact'
    HOME=$tmp run go tool pprof -top -lines run.pb.gz
    like "$out" 'scan /src/gone\.c:9 \(inline\)' 'and knows lines and what is inlined'
    HOME=$tmp run go tool pprof -raw hostile.pb.gz
    is "$status" 0 'and reads hostile names'
else
    skip 'go tool pprof reads it' 'no go: package golang-go'
fi

# ---- coz, out and in --------------------------------------------------------------------------------------------------

whatif export coz -o run.coz run.whatif
whatif export coz-jsonl -o run.jsonl run.whatif
whatif export coz -o hostile.coz hostile.whatif
empty "$(grep -vE '^(startup|experiment|throughput-point|latency-point|runtime|samples)	' hostile.coz)" \
    'coz: hostile names add no lines'
viewer=/usr/share/coz-profiler/viewer/js/profile.js
if [ ! -r $viewer ] || ! command -v node >/dev/null; then
    skip "Coz's viewer reads it" 'no coz-profiler or no node'
else
    for file in run.coz run.jsonl; do
        run node "$helpers/coz_viewer.js" $viewer $file
        is "$status" 0 "Coz's viewer reads $file"
        like "$out" '^parse	requests	1	0\.(29|30)' 'and sees the gain'
    done
fi
for file in run.coz run.jsonl; do
    whatif report --format json $file >back.json
    is "$(python3 -c '
import json
document = json.load(open("back.json"))
print([[unit["name"], round(unit["max_gain_percent"])] for unit in document["points"][0]["units"][:2]])')" \
        "[['parse', 30], ['gone.c:9', 20]]" "whatif report reads $file"
done
printf 'startup\ttime=1\nexperiment\tselected=a.c:3\tspeedup=0\tduration=nonsense\nthroughput-point\tname=x\tdelta=1\n\nwhat\n' >bad.coz
run whatif export csv bad.coz
is "$status" 0 'a damaged profile of Coz is read as far as it goes'
like "$err" '3 damaged lines' 'and what was left out is said'
viewer_profiles=/usr/share/coz-profiler/viewer/profiles
if [ -r $viewer_profiles/sqlite.coz ]; then
    for file in "$viewer_profiles"/*.coz; do
        whatif export csv "$file" >rows.csv 2>damage.log || echo "failed: $file"
        [ ! -s damage.log ] || cat damage.log
        [ "$(wc -l <rows.csv)" -gt 1 ] || echo "empty: $file"
    done >complaints
    empty "$(cat complaints)" "all of Coz's own examples are read"
else
    skip "all of Coz's own examples are read" 'no coz-profiler'
fi

# ---- folded, csv, json ------------------------------------------------------------------------------------------------

whatif export folded run.whatif >run.folded
like "$(cat run.folded)" '^main;parse;scan [0-9]+$' 'folded: stacks by time'
is "$(awk '{ sum += $NF } END { print sum }' run.folded)" 3000000 'all of it, in microseconds'
whatif export folded --impact requests run.whatif >impact.folded
like "$(cat impact.folded)" '^main;parse;parse 29[0-9][0-9]$' 'and by impact, in hundredths of a percent'
run whatif export folded --impact nothing run.whatif
is "$status" 1 'an unknown progress point is an error'
whatif export folded hostile.whatif >hostile.folded
empty "$(grep -vE ' [0-9]+$' hostile.folded)" 'hostile names add no lines'

whatif export csv hostile.whatif >hostile.csv
is "$(python3 -c '
import csv
rows = list(csv.DictReader(open("hostile.csv")))
print(len(rows), sum(int(row["visits"]) for row in rows if row["point_kind"] == "throughput") > 0,
      sorted({len(row) for row in rows}), any(None in row for row in rows))')" '401 True [21] False' \
    'csv: a row for each experiment and progress point'
whatif export json run.whatif >exported.json
whatif report --format json run.whatif >reported.json
ok 'json: what report prints' cmp exported.json reported.json
finish
