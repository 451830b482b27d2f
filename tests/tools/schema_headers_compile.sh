#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every golden header, and the headers of a few hundred records with every type, alignment and layout, compile alone as C11 and
# as C++11. Their static assertions compare the offsets that hdst computed with those of the compilers.
# usage: schema_headers_compile.sh HDST GOLDEN-FOLDER
set -u
hdst=$1 golden=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failures=0 compiled=0

types=(bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 text float32x3 uint8x16 float64x2 int16x3)
layouts=(aos soa aop '{aosoa: 64}' aosoa)
aligns=(0 1 2 4 8 16 64)
counts=('' ', count: 3' ', count: [2, 5]' ', count: 1')

# Each record has five fields; every third one also nests the record before it.
wide() {
    RANDOM=7       # the same schema in every run
    echo 'records:'
    local i f
    for ((i = 0; i < 300; i++)); do
        echo "  r$i:"
        echo "    layout: ${layouts[i % 5]}"
        ((aligns[i % 7])) && echo "    align: ${aligns[i % 7]}"
        echo '    fields:'
        for ((f = 0; f < 5; f++)); do
            echo "      - {name: f$f, type: ${types[RANDOM % 16]}${counts[RANDOM % 4]}}"
            ((i % 3 && f == 2)) && echo "      - {name: r$((i - 1)), type: r$((i - 1))${counts[RANDOM % 4]}}"
        done
    done
}

# usage: compile HEADER COMPILER LANGUAGE STANDARD
compile() {
    printf '#include "%s"\n#include "%s"\nint main(void) { return 0; }\n' "$1" "$1" >"$folder/main.$3"
    $2 "-std=$4" -Wall -Wextra -Werror -pedantic -Wno-unused-function -fsyntax-only "$folder/main.$3" 2>"$folder/log" && { compiled=$((compiled + 1)); return; }
    echo "FAIL: $1 by $2 as $4"
    head -20 "$folder/log"
    failures=$((failures + 1))
}

wide >"$folder/wide.yaml"
"$hdst" schema header "$folder/wide.yaml" >"$folder/wide.h" || exit 1
for header in "$golden"/*.h "$folder/wide.h"; do
    for compiler in "${CC:-cc}" clang; do
        command -v "${compiler%% *}" >/dev/null && compile "$header" "$compiler" c c11
    done
    for compiler in "${CXX:-c++}" clang++; do
        if command -v "${compiler%% *}" >/dev/null; then compile "$header" "$compiler" cpp c++11; else echo "note: no $compiler here, so not tried"; fi
    done
done
# The assertions are there to fail: a header with one offset wrong must not compile.
sed 's/offsetof(struct r0, f1) == /&1/' "$folder/wide.h" >"$folder/wrong.h"
printf '#include "%s"\n' "$folder/wrong.h" >"$folder/wrong.c"
if cmp -s "$folder/wide.h" "$folder/wrong.h" || ${CC:-cc} -std=c11 -fsyntax-only "$folder/wrong.c" 2>/dev/null; then
    echo 'FAIL: a wrong offset was not noticed'
    failures=$((failures + 1))
fi
echo "$compiled compilations"
[ "$failures" = 0 ] && [ "$compiled" -ge 4 ]
