#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every public header compiles alone, twice, as strict C11 and as C++11. usage: headers.sh SOURCE HEADER...
set -eu
cd "$1"
shift
count=0
for header; do
    printf '#include "%s"\n#include "%s"\nextern int not_empty;\n' "$header" "$header" |
        ${CC:-cc} -std=c11 -pedantic -Wall -Wextra -Wstrict-prototypes -Werror -I. -fsyntax-only -x c -
    printf '#include "%s"\n#include "%s"\nextern int not_empty;\n' "$header" "$header" |
        ${CXX:-c++} -std=c++11 -pedantic -Wall -Wextra -Werror -I. -fsyntax-only -x c++ -
    count=$((count + 1))
done
echo "$count headers"
[ "$count" -ge 3 ]
