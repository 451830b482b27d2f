# SPDX-License-Identifier: Apache-2.0
# What the tests of the `hdst` command's parts share: to be sourced, with $hdst and $command set, in an empty folder of the test's own. Counts in $failures.
# shellcheck shell=bash disable=SC2154
failures=0

# usage: expect CODE WORDS-OF-STDOUT WORDS-OF-STDERR ARGUMENT...      (empty words: the stream must be empty)
expect() {
    local code=$1 out=$2 err=$3 got
    shift 3
    "$hdst" "$command" "$@" >out 2>err </dev/null
    got=$?
    if [ "$got" != "$code" ]; then echo "FAIL: hdst $command $*: code $got, not $code"; failures=$((failures + 1)); cat err; fi
    matches out "$out" "$*"
    matches err "$err" "$*"
}

matches() {
    if [ -z "$2" ]; then [ ! -s "$1" ]; else grep -qF -- "$2" "$1"; fi && return
    echo "FAIL: hdst $command $3: $1 is not as expected (${2:-empty}):"
    cat "$1"
    failures=$((failures + 1))
}
