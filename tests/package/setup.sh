#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tools/setup.sh with made-up dpkg-query, apt-get, id and sudo: what it installs, that it does nothing twice, what it says
# where it cannot. usage: setup.sh SOURCE
set -eu
script=$1/tools/setup.sh
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
failed=0
fail() { echo "FAIL: $1"; sed 's/^/    /' "$box/out"; failed=1; }

mkdir "$box/bin"
for tool in sh env cat grep tail mktemp rm ls printf; do ln -s "$(command -v "$tool")" "$box/bin/$tool"; done
fake() { printf '#!/bin/sh\n%s\n' "$2" >"$box/bin/$1"; chmod +x "$box/bin/$1"; }
# Packages named in $box/installed are installed; apt-get adds what it is told to, or fails as $box/apt says.
# shellcheck disable=SC2016 # for the made-up commands to expand
{
    fake dpkg-query 'for p; do :; done; grep -qx "$p" '"$box"'/installed && printf "ii "'
    fake apt-get 'echo "$*" >>'"$box"'/calls
[ ! -f '"$box"'/apt ] || { cat '"$box"'/apt; exit 100; }
case "$*" in *install*) for p; do case $p in -*|install) ;; *) echo "$p" >>'"$box"'/installed ;; esac; done ;; esac'
    fake id 'cat '"$box"'/uid'
}
run() {
    : >"$box/calls"
    status=0
    PATH=$box/bin "$box/bin/sh" "$script" "$@" >"$box/out" 2>&1 || status=$?
}
reset() { : >"$box/installed"; echo "$1" >"$box/uid"; rm -f "$box/apt" "$box/bin/sudo"; }

reset 0
run build test
[ "$status" = 0 ] || fail "root: exit code $status"
grep -q 'installing: .*libyaml-dev.*libcriterion-dev' "$box/out" || fail "root: does not print what it installs"
grep -q 'install -y .*meson.*pocl-opencl-icd' "$box/calls" || fail "root: did not call apt-get"
run build test
if [ "$status" != 0 ] || [ -s "$box/calls" ] || [ -s "$box/out" ]; then fail "the second time must do and say nothing"; fi
run build test sanitize
grep -q 'installing: clang libclang-rt-14-dev' "$box/out" || fail "sanitize adds only its own packages"

reset 1000
run build
[ "$status" != 0 ] || fail "an ordinary user without sudo: exit code 0"
[ "$(grep -c "^    su -c 'apt-get update && apt-get install -y .*meson" "$box/out")" = 1 ] || fail "an ordinary user: no command to run"
[ ! -s "$box/calls" ] || fail "an ordinary user: apt-get was called"

reset 1000
fake sudo 'exit 1'
run build
[ "$status" != 0 ] || fail "sudo that asks: exit code 0"
grep -q "^    sudo sh -c 'apt-get update" "$box/out" || fail "sudo that asks: no sudo command"

reset 1000
# shellcheck disable=SC2016 # for the made-up command to expand
fake sudo '[ "$1" = -n ] && shift; "$@"'
run build
[ "$status" = 0 ] || fail "sudo without a password: exit code $status"

reset 0
echo "Err:1 http://deb.debian.org/debian bookworm InRelease Could not resolve 'deb.debian.org'" >"$box/apt"
run build
[ "$status" != 0 ] || fail "no network: exit code 0"
grep -q 'package servers could not be reached' "$box/out" || fail "no network: not said"

reset 0
HDST_NO_INSTALL=1 run build
if [ "$status" = 0 ] || [ -s "$box/calls" ]; then fail "HDST_NO_INSTALL installs nothing"; fi

rm "$box/bin/dpkg-query" "$box/bin/apt-get"
run build test
[ "$status" != 0 ] || fail "another system: exit code 0"
grep -q 'not found: .*meson' "$box/out" || fail "another system: does not name what is missing"
grep -q 'no apt-get' "$box/out" || fail "another system: does not say why"

[ "$failed" = 0 ] && echo ok
exit "$failed"
