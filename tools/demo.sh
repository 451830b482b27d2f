#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `make demo`: KMeans on real points, the coast lines of the world. usage: tools/demo.sh BUILD
set -eu
build=$1
points=examples/kmeans/data/coast.csv
picture=${HDST_DEMO_PICTURE:-kmeans.svg}
if [ ! -x "$build/examples/kmeans" ]; then
    echo "make demo: $build/examples/kmeans is not there: the build was configured without examples (meson configure $build -Dexamples=true)" >&2
    exit 2
fi
echo "KMeans, 6 clusters of the points in $points:" >&2
"$build/examples/kmeans" --input "$points" --clusters 6 --svg "$picture"
echo "picture: $(cd "$(dirname "$picture")" && pwd)/$(basename "$picture")" >&2
