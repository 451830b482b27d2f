#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs a finished build: tools/install.sh BUILD PREFIX DESTDIR
set -eu
build=$1 prefix=$2 destdir=$3

case "$prefix" in
    /*) ;;
    *) echo "install: PREFIX must be an absolute path, not '$prefix'" >&2; exit 2 ;;
esac
# The nearest folder that exists decides whether we may write.
folder=$destdir$prefix
while [ ! -d "$folder" ]; do folder=$(dirname "$folder"); done
if [ ! -w "$folder" ]; then
    echo "install: $folder is not writable; run \`sudo make install\`, or choose a folder of yours with PREFIX=" >&2
    exit 1
fi
# hdst.pc holds the prefix, so another prefix means to configure again.
if ! grep -qs "^prefix=$prefix\$" "$build/meson-private/hdst.pc"; then
    meson configure "$build" -Dprefix="$prefix"
    ninja -C "$build"
fi
DESTDIR=$destdir meson install -C "$build" --no-rebuild
# The loader's cache, so that programs find the library at once. Other systems find it without, or have no ldconfig.
if [ -z "$destdir" ] && [ "$(id -u)" = 0 ] && command -v ldconfig >/dev/null 2>&1; then ldconfig; fi
