#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The frame of the hdst command: help, version, slips of the pen, what is not there yet. usage: command.sh HDST
set -eu
hdst=$1
failed=0
out=$(mktemp) err=$(mktemp)
trap 'rm -f "$out" "$err"' EXIT

# check NAME EXIT-CODE STDOUT-PATTERN STDERR-PATTERN ARGUMENTS...: an empty pattern wants an empty stream
check() {
    name=$1 code=$2 want_out=$3 want_err=$4
    shift 4
    status=0
    "$hdst" "$@" >"$out" 2>"$err" || status=$?
    [ "$status" = "$code" ] || { echo "FAIL: $name: exit code $status, not $code"; failed=1; }
    if [ -n "$want_out" ]; then grep -q -- "$want_out" "$out" || { echo "FAIL: $name: no '$want_out' on stdout"; failed=1; }
    elif [ -s "$out" ]; then echo "FAIL: $name: something on stdout"; failed=1; fi
    if [ -n "$want_err" ]; then grep -q -- "$want_err" "$err" || { echo "FAIL: $name: no '$want_err' on stderr"; failed=1; }
    elif [ -s "$err" ]; then echo "FAIL: $name: something on stderr"; failed=1; fi
}

check "help goes to stdout" 0 "usage: hdst" "" --help
check "help lists schema" 0 "schema check|show|header" "" --help
check "version" 0 "^hdst [0-9][0-9]*\.[0-9]" "" --version
check "no command is wrong use" 2 "" "usage: hdst"
check "a slip gets the near name" 2 "" "did you mean 'devices'" devcies
check "a stranger gets no near name" 2 "" "hdst --help" frobnicate
check "a misspelt --version gets it" 2 "" "did you mean '--version'" --verison
check "an option is called one" 2 "" "^hdst: unknown option '--verison'" --verison
check "a command is called one" 2 "" "^hdst: unknown command 'devcies'" devcies
check "a misspelt --help of replay gets it" 2 "" "did you mean '--help'" replay --hepl
check "a file is named once" 6 "" "hdst replay: cannot open '/nowhere/f.replay'" replay /nowhere/f.replay
check "run is not there yet" 2 "" "hdst run: not there yet" run -n 4 true
check "replay without a file" 2 "" "usage: hdst replay FILE" replay
check "replay of a file that is not there" 6 "" "hdst replay: " replay /nowhere/f.replay
check "doctor is not there yet" 2 "" "not there yet" doctor
check "devices lists the interpreter" 0 "interp  interpreter" "" devices
check "devices takes --json" 0 '"class": "interp"' "" devices --json
check "a misspelt option gets the near name" 2 "" "did you mean '--json'" devices --jsno
check "devices explains itself" 0 "usage: hdst devices" "" devices --help
if command -v python3 >/dev/null 2>&1; then
    "$hdst" devices --json | python3 -c 'import json, sys; d = json.load(sys.stdin)["devices"]; assert [x["index"] for x in d] == list(range(len(d)))' ||
        { echo "FAIL: devices --json is no JSON, or its indices have holes"; failed=1; }
fi
# Where there is no driver, the interpreter is there still, and stderr says why it is alone.
OCL_ICD_VENDORS=/nonexistent; export OCL_ICD_VENDORS
check "no driver is no error" 0 "interp" "note: no OpenCL" devices
unset OCL_ICD_VENDORS
if [ -c /dev/full ]; then
    status=0
    "$hdst" --help >/dev/full 2>"$err" || status=$?
    [ "$status" = 6 ] || { echo "FAIL: a full disk: exit code $status, not 6"; failed=1; }
fi
exit "$failed"
