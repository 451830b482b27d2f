#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs into an empty root and builds programs against what lies there, through pkg-config alone: a tiny one, then tutorial/kmeans.c, which runs.
# usage: install.sh BUILD SOURCE
set -eu
build=$1 source=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

DESTDIR=$root meson install -C "$build" --no-rebuild --quiet
pc=$(find "$root" -name hdst.pc)
[ -n "$pc" ] || { echo "FAIL: no hdst.pc was installed"; exit 1; }
export PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_LIBDIR
PKG_CONFIG_LIBDIR=$(dirname "$pc"):$(pkg-config --variable pc_path pkg-config)
flags=$(pkg-config --cflags --libs hdst)
LD_LIBRARY_PATH=$(dirname "$(find "$root" -name 'libhdst.so.0')")
export LD_LIBRARY_PATH
for private in yaml OpenCL; do
    case "$flags" in *-l$private*) echo "FAIL: a user of the shared library must not link $private: $flags"; exit 1 ;; esac
done

cat >"$root/tiny.c" <<'END'
#include <hdst/hdst.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    puts(hdst_status_text(HDST_E_FORMAT));
    return strcmp(hdst_status_text(HDST_OK), "success") != 0;
}
END
# shellcheck disable=SC2086 # flags are a list
cc -std=c11 -pedantic -Wall -Wextra -Werror "$root/tiny.c" -o "$root/tiny" $flags
[ "$("$root/tiny")" = "malformed input" ] || { echo "FAIL: the tiny program printed '$("$root/tiny")'"; exit 1; }
PATH=$(dirname "$(find "$root" -name hdst -type f -perm -u+x)"):$PATH
hdst --version | grep -q '^hdst [0-9]' || { echo "FAIL: the installed hdst command does not run"; exit 1; }
echo "ok: tiny program, hdst command"

cp -r "$source/tutorial" "$root/tutorial"
cd "$root/tutorial"
# shellcheck disable=SC2086 # flags are a list
cc -std=c11 -Wall -Wextra -Werror -O2 kmeans.c -o kmeans $flags -lm
./kmeans >"$root/printed" || { echo "FAIL: tutorial/kmeans exited with $?"; exit 1; }
[ -s "$root/printed" ] || { echo "FAIL: tutorial/kmeans printed nothing"; exit 1; }
cat "$root/printed"
echo "ok: tutorial program"
