#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `whatif upload bencher` against Bencher's own description of its interface, served by npm's prism, which refuses what the
# description does not allow. WHATIF_CONTRACTS names the folder with bencher-openapi.json.

. "${TEST_ROOT:-.}/tests/lib/tap.sh"
description=${WHATIF_CONTRACTS:-}/bencher-openapi.json
[ -r "$description" ] || skip_all 'WHATIF_CONTRACTS names no folder with bencher-openapi.json'
timeout 100 npm install --no-audit --no-fund --prefix "$tmp/npm" @stoplight/prism-cli@5 >npm.log 2>&1 ||
    skip_all 'npm cannot install @stoplight/prism-cli'

python3 "$TEST_ROOT/tests/integration/export/make.py" >run.whatif
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
node "$tmp/npm/node_modules/@stoplight/prism-cli/dist/index.js" mock -p "$port" -h 127.0.0.1 --errors "$description" \
    >prism.log 2>&1 &
prism=$!
tries=0
until grep -q 'is listening' prism.log || [ $tries -ge 100 ]; do
    tries=$((tries + 1))
    sleep 0.2
done
export WHATIF_RETRY_MS=20 BENCHER_API_KEY=some-key
run whatif upload bencher --server "http://127.0.0.1:$port" --project my-project --branch main \
    --hash 0123456789012345678901234567890123456789 run.whatif
is "$status" 0 'the server that follows the description takes the upload'
is "$(grep -c 'passed the validation' prism.log)" 3 'two measures and the run are what it allows'
unlike "$(cat prism.log)" 'Violation|did not pass' 'nothing was complained about'
kill "$prism"
wait "$prism" 2>/dev/null
finish
