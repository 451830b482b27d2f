#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `make demo`: KMeans on real points. usage: tools/demo.sh BUILD
set -eu
build=$1
if [ ! -x "$build/examples/kmeans" ] || [ ! -f examples/kmeans/demo.sh ]; then
    echo "make demo: the KMeans example is not there yet" >&2
    exit 2
fi
exec sh examples/kmeans/demo.sh "$build"
