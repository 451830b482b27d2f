#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `hdst devices`: shows what was measured of a device, by kernel, as a text and as JSON; forgets it and nothing else.
# usage: devices_command.sh HDST PUT-POWER-NOTE
set -u
hdst=$(realpath "$1") put=$(realpath "$2") here=$(realpath "$(dirname "$0")") command=devices
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
. "$here/expect.sh"

export HDST_CACHE_DIR=$folder/cache
power_of_last() { "$hdst" devices --json | python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["devices"][-1]["power"], sort_keys=True))'; }
is() { [ "$1" = "$2" ] || { echo "FAIL: $1, not $2"; failures=$((failures + 1)); }; }

is "$(power_of_last)" '[]'
"$hdst" devices | grep -q measured && { echo 'FAIL: something was measured'; failures=$((failures + 1)); }
"$put" step 2.5e-9 && "$put" add 1.25e-10 || exit 1
expect 0 '           measured: add: 0.125 ns a record, 0.5 ns to copy it, 20 us a slice (12 slices, within 6 %)' ''
expect 0 '           measured: step: 2.5 ns a record, 0.5 ns to copy it, 20 us a slice (12 slices, within 6 %)' ''
rest='"slice_seconds": 2e-05, "slices": 12, "spread": 0.0625'
is "$(power_of_last)" "[{\"copy_seconds\": 5e-10, \"kernel\": \"add\", \"record_seconds\": 1.25e-10, $rest},\
 {\"copy_seconds\": 5e-10, \"kernel\": \"step\", \"record_seconds\": 2.5e-09, $rest}]"
"$hdst" devices >out
is "$(grep -c measured out)" 2
is "$(tail -2 out | grep -c measured)" 2        # the last device's
for file in cache/*.power; do break; done
head -c 40 "$file" >damaged && cp damaged "$file"
"$hdst" devices >out
is "$(grep -c measured out)" 1
touch cache/mine.power cache/0123456789abcdef0123456789abcdef.note
expect 0 'removed 2 measured powers' '' --reset-power
expect 0 'removed 0 measured powers' '' --reset-power
is "$(ls cache | sort | tr '\n' ' ')" '0123456789abcdef0123456789abcdef.note mine.power '
is "$(power_of_last)" '[]'
touch file
HDST_CACHE_DIR=$folder/file expect 6 '' 'cannot be cleared of measured powers: Not a directory' --reset-power
HDST_CACHE_DIR='' XDG_CACHE_HOME='' HOME='' expect 0 'removed 0 measured powers' '' --reset-power
expect 2 '' "did you mean '--reset-power'?" --reset-pover
expect 0 'usage: hdst devices' '' --help
exit $((failures > 0))
