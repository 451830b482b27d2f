#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the points of the demo again: the coast lines of the world from GSHHG, at its crude resolution. Needs `apt-get install gmt gmt-gshhg-low`.
# usage: tools/make-demo-points.sh      (writes examples/kmeans/data/coast.csv and tutorial/points.csv)
set -eu
cd "$(dirname "$0")/.."

# gmt cuts the lines at the edges of bins of 20 degrees; the ends that this makes are no points of the data and are left out. Lakes (level 2) and islands below
# 500 square kilometres are too. Three decimals are about 100 metres, finer than this resolution is.
gmt coast -Rd -Dc -A500/0/1 -W1 -M |
    awk '/^[>#]/ || $1 % 20 == 0 || $2 % 20 == 0 { next } { printf "%.3f,%.3f\n", $1, $2 }' |
    LC_ALL=C awk '!seen[$0]++' >coast.tmp
trap 'rm -f coast.tmp gmt.history' EXIT

{ echo lon,lat; cat coast.tmp; } >examples/kmeans/data/coast.csv
{ echo lon,lat; awk 'NR % 10 == 1' coast.tmp; } >tutorial/points.csv
wc -l examples/kmeans/data/coast.csv tutorial/points.csv
