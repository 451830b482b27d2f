#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `hdst cache`: counts what programs leave, removes that and nothing else. usage: cache_command.sh HDST
set -u
hdst=$(realpath "$1") here=$(realpath "$(dirname "$0")") command=cache
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
. "$here/expect.sh"

check() { "$@" || { echo "FAIL: $*"; failures=$((failures + 1)); }; }

export HDST_CACHE_DIR=$folder/cache
expect 0 "$folder/cache: 0 kernels, 0.0 KiB" '' list
check [ ! -e cache ]
mkdir cache
one=0123456789abcdef0123456789abcdef two=fedcba9876543210fedcba9876543210
head -c 2048 /dev/zero >cache/$one.bin
head -c 1024 /dev/zero >cache/$two.bin
head -c 512 /dev/zero >cache/$one.note
touch cache/$two.cl cache/$one.bin.Ab3dEf
touch cache/mine.bin cache/$one.txt cache/${one}0.bin cache/$one.bin.saved.by.me
mkdir cache/$two.note
ln -s ../out cache/$one.cl
listed='2 kernels, 1 note about a kernel, 1 source that did not compile, 1 unfinished file, 3.5 KiB'
expect 0 "$folder/cache: $listed" ''
expect 0 "$folder/cache: $listed" '' list
expect 0 "$folder/cache: removed $listed" '' clear
expect 0 "$folder/cache: 0 kernels, 0.0 KiB" '' list
check [ "$(ls cache | wc -l)" = 6 ]
for left in mine.bin $one.txt ${one}0.bin $one.bin.saved.by.me $two.note; do check [ -e cache/$left ]; done

expect 0 'usage: hdst cache' '' --help
expect 2 '' "did you mean 'clear'?" claer
expect 2 '' '`hdst cache --help` lists actions' whatever
expect 2 '' "did you mean 'clear'?" claer
expect 2 '' "unknown argument 'now'" clear now
HDST_CACHE_DIR=$folder/out expect 6 '' 'Not a directory' list
HDST_CACHE_DIR='' XDG_CACHE_HOME='' HOME='' expect 6 '' 'nor HOME is set' list
HDST_CACHE_DIR='' XDG_CACHE_HOME=$folder/xdg expect 0 "$folder/xdg/hdst: 0 kernels" '' list
exit $((failures > 0))
