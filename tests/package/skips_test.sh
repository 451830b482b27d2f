#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What was left out is told, once each, and nothing where nothing was. usage: skips_test.sh SKIPS.SH
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
{
    printf 'ok: one\nSKIP: a.csv is not in $HDST_TEST_DATA\n\033[0;34m[SKIP]\033[0m write::numpy: no NumPy\n'
    printf '  SKIP: not a line of ours\nSKIP: a.csv is not in $HDST_TEST_DATA\n'
} >"$folder/log"
printf 'ok: one\n' >"$folder/quiet"
got=$(sh "$1" "$folder/log")
for want in 'Left out:' 'SKIP: a.csv is not in $HDST_TEST_DATA (2 times)' 'SKIP: write::numpy: no NumPy' 'HDST_TEST_DATA names the folder'; do
    case "$got" in *"$want"*) ;; *) printf 'FAIL: no "%s" in\n%s\n' "$want" "$got"; exit 1 ;; esac
done
case "$got" in *'not a line of ours'*) echo "FAIL: a line of something else is told"; exit 1 ;; esac
[ -z "$(sh "$1" "$folder/quiet")" ] || { echo "FAIL: something is told where nothing was left out"; exit 1; }
[ -z "$(sh "$1" "$folder/none")" ] || { echo "FAIL: without a log"; exit 1; }
