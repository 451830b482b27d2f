#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the tests of a run left out, from Meson's log: a line each, so that "OK" does not hide it. usage: skips.sh BUILD-FOLDER/meson-logs/testlog.txt
[ -f "$1" ] || exit 0
# Criterion: "[SKIP] suite::test: reason", with colours; programs of ours: "SKIP: reason".
skips=$(sed 's/\x1b\[[0-9;]*m//g' "$1" | sed -n 's/^\(SKIP: .*\)$/\1/p; s/^\[SKIP\] \(.*\)$/SKIP: \1/p' | sort | uniq -c |
    sed 's/^ *1 //; s/^ *\([0-9][0-9]*\) \(.*\)$/\2 (\1 times)/')
[ -n "$skips" ] || exit 0
printf '\nLeft out:\n%s\n' "$skips"
case "$skips" in
*HDST_TEST_DATA*) echo "HDST_TEST_DATA names the folder of the data; \`make test\` sets it where there is a folder shared/data beside the checkout." ;;
esac
