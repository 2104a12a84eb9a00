#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `whatif upload` against a server of our own on the loopback, which can be slow to agree, refuse, and break off.

. "${TEST_ROOT:-.}/tests/lib/tap.sh"
helpers=$TEST_ROOT/tests/integration/export
unset BENCHER_API_KEY BENCHER_API_TOKEN BENCHER_PROJECT BENCHER_BRANCH BENCHER_TESTBED BENCHER_HOST
export WHATIF_RETRY_MS=20

serve() { # serve FOLDER [CERTIFICATE]: sets $server and $url (without the scheme)
    mkdir "$1"
    python3 "$helpers/fake_server.py" "$@" &
    server=$!
    tries=0
    until [ -s "$1/port" ] || [ $tries -ge 100 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    url=127.0.0.1:$(cat "$1/port")
}

behave() { # behave MODE: from now on; the log begins anew
    echo "$1" >fake/mode
    : >fake/log
}

logged() { # logged EXPRESSION: of the list of requests r
    python3 -c "import json; r = [json.loads(line) for line in open('fake/log')]; print($1)"
}

python3 "$helpers/make.py" >run.whatif
serve fake
main=$server

# ---- bencher ---------------------------------------------------------------------------------------------------------

bencher() {
    run whatif upload bencher --server "http://$url" --project my-project "$@" run.whatif
}
behave ok
bencher --branch main --hash 0123456789012345678901234567890123456789 --testbed ci
is "$status" 0 'bencher: results are uploaded'
like "$out" '/perf/my-project$' 'and the address is printed'
is "$(logged 'len(r), r[0]["path"], "Authorization" in r[0]["headers"]')" '1 /v0/run False' 'without a key, one request'
is "$(logged '[json.loads(r[0]["body"])[key] for key in ("project", "branch", "testbed", "hash", "settings")]')" \
    "['my-project', 'main', 'ci', '0123456789012345678901234567890123456789', {'adapter': 'json'}]" 'what it is about'
is "$(logged '[json.loads(r[0]["body"])[key] for key in ("start_time", "end_time")]')" \
    "['2023-11-14T22:13:20Z', '2023-11-14T22:13:43Z']" 'when it was measured'
is "$(logged 'sorted(json.loads(json.loads(r[0]["body"])["results"][0]))[:2]')" \
    "['server/request time', 'server/request time/gone.c:log_line+10']" 'the results, as a document in a string'
is "$(logged 'sorted(json.loads(r[0]["body"])["thresholds"]["models"].items())[1][1]["lower_boundary"]')" 0.99 \
    'a threshold on throughput'

behave ok
BENCHER_API_KEY=secret-key bencher --no-thresholds
is "$status" 0 'with a key'
is "$(logged '[q["path"] for q in r]')" \
    "['/v0/projects/my-project/measures', '/v0/projects/my-project/measures', '/v0/run']" 'measures come first'
is "$(logged 'json.loads(r[0]["body"])["units"], "thresholds" in json.loads(r[2]["body"])')" 'percentage (%) False' \
    'with their unit; and no thresholds if not wanted'
is "$(logged '[q["headers"]["Authorization"] for q in r]' | sed 's/Bearer secret-key/B/g')" "['B', 'B', 'B']" \
    'the key goes into the header'
unlike "$out$err$(logged '[q["body"] for q in r]')" 'secret-key' 'and nowhere else'

behave limit
bencher --quiet
is "$status" 0 'told to slow down, it tries again'
is "$(logged 'len(r), len({json.loads(q["body"])["idempotency_key"] for q in r})')" '2 1' 'with the same key, once'
behave cut
bencher
is "$status" 0 'so it does after half an answer'
behave error
bencher
is "$status" 1 'a server that stays broken is an error'
like "$err" '500: out of order' 'and what it says is said'
is "$(logged 'len(r)')" 6 'after a few tries'
behave refuse
bencher
is "$status" 1 'a refusal is final'
is "$(logged 'len(r)')" 1 'at once'
unlike "$err" "$(printf '\033')" 'and its words cannot act on a terminal'
first=$(logged 'json.loads(r[0]["body"])["idempotency_key"]')
bencher
unlike "$(logged 'json.loads(r[1]["body"])["idempotency_key"]')" "$first" 'the next call has a new key'
behave ok
BENCHER_API_KEY=wrong bencher
is "$status" 1 'a wrong key is an error'
like "$err" '401' 'which says so'
behave alert
bencher
is "$status" 0 'alerts are no error'
like "$err" 'server/requests: alert' 'but they are told'
bencher --error-on-alert
is "$status" 1 'unless they are to be'
behave ok
bencher --dry-run
is "$(logged 'len(r)')" 0 'a dry run sends nothing'
like "$out" '"project": "my-project"' 'and shows what it would'
run whatif upload bencher --server http://example.com --project p run.whatif
is "$status" 1 'plain http to elsewhere is refused'
run whatif upload bencher --server "http://$url" run.whatif
like "$err" 'BENCHER_PROJECT' 'a missing project is asked for'
bencher --hash 123
like "$err" 'no full hash' 'a short hash is refused'
head -n 12 run.whatif >start.whatif
run whatif upload bencher --server "http://$url" --project my-project start.whatif
is "$status" 1 'a profile without figures is not sent'
is "$(logged 'len(r)')" 0 'none of these reached the server'

# ---- firefox ---------------------------------------------------------------------------------------------------------

firefox() {
    run whatif upload firefox --server "http://$url" "$@" </dev/null
}
firefox run.whatif
is "$status" 1 'firefox: nothing is sent without consent'
like "$err" '--yes' 'and the message says how to give it'
is "$(logged 'len(r)')" 0 'indeed nothing'
firefox --yes run.whatif
is "$status" 0 'with consent it is'
is "$out" 'https://profiler.firefox.com/public/abcdefghijklmnop' 'and the address is printed'
is "$(logged 'json.loads(r[0]["body"])["meta"]["preprocessedProfileVersion"]')" 66 'it is the profile, compressed'
is "$(stat -c %a run.whatif.abcdefgh.token)" 600 'the token is kept for its owner'
unlike "$out$err" 'aGVhZA' 'and not printed'
run whatif upload firefox --server "http://$url" --yes run.whatif
is "$status" 1 'an older token is not overwritten'
firefox --delete --token-file run.whatif.abcdefgh.token
is "$status" 0 'with it the profile can be deleted'
is "$(logged 'r[-1]["method"], r[-1]["path"]')" 'DELETE /profile/abcdefghijklmnop' 'by its name'
firefox --delete --token-file run.whatif
is "$status" 1 'a file that holds no token is refused'
behave refuse
firefox --yes --token-file t run.whatif
is "$status" 1 'a refusal is an error'
firefox --yes missing.whatif
is "$status" 1 'so is a missing profile'
kill "$main"

# ---- a certificate that nobody vouches for ---------------------------------------------------------------------------

if ! command -v openssl >/dev/null; then
    skip 'an unknown certificate is refused' 'no openssl'
else
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout key.pem -out cert.pem 2>/dev/null
    cat key.pem cert.pem >both.pem
    serve secure "$tmp/both.pem"
    run whatif upload bencher --server "https://$url" --project my-project run.whatif
    is "$status" 1 'an unknown certificate is refused'
    like "$err" 'certificate' 'and the message says so'
    ok 'before anything was sent' test ! -s secure/log
    kill "$server"
fi
run whatif upload bencher --server http://127.0.0.1:1 --project my-project run.whatif
is "$status" 1 'nobody there is an error'
wait
finish
