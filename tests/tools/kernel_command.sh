#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The exit codes and the streams of `hdst kernel check` and `header`. usage: kernel_command.sh HDST FOLDER-WITH-THE-PROGRAMS-OF-THE-DESIGN
set -u
hdst=$(realpath "$1") here=$(realpath "$(dirname "$0")") command=kernel
programs=$(realpath "$2")
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
. "$here/expect.sh"

printf 'record: point\nfields: [{name: x, type: float32, count: 2}]\n' >point.yaml
printf 'map f(point p, accum double s) { s += p.x[0]; }\nreduce add(double a, double b) { return a + b; }\n' >given.hk
printf 'import "point.yaml";\nmap f(point p, accum double s) { s += p.y; }\n' >bad.hk
printf 'associative\nreduce f(float a, float b) { return a * b; }\n' >product.hk
printf 'import "point.yaml"; import "other/helper.hk";\nmap f(point p, accum double s) { s += twice(p.x[1]); }\n' >imports.hk
printf 'param int32_t N;\nmap f(float x) -> float { return x * N; }\n' >number.hk
printf 'param uint64_t N;\nmap f(uint64_t x) -> uint64_t { return x ^ N; }\n' >large.hk
mkdir other
printf 'import "../point.yaml";\nfloat twice(float x) { return 2 * x; }\n' >other/helper.hk

expect 0 'map assign' "kmeans.hk:3:16: note: the param 'D' has no value; taken as 4" check "$programs/kmeans/kmeans.hk"
expect 0 'map label' '' check "$programs/kmeans/kmeans.hk" --param D=2
expect 0 'reduce add, field-wise' '' check given.hk --schema point.yaml
expect 0 'reduce f, associative' '' check product.hk
expect 0 'not declared commutative; not field-wise: the result is not a OP b' '' check product.hk
expect 0 'map f' '' check imports.hk
expect 0 'struct total {' '' header --param=D=2 "$programs/kmeans/kmeans.hk"
expect 2 '' "did you mean '--param'?" check product.hk --parm D=2
expect 2 '' "did you mean '--target'?" show product.hk --taret=cpu
expect 2 '' "did you mean 'gpu'?" show product.hk --target gpus
expect 2 '' "hint: its functions are f" show product.hk --function what
expect 3 '' "the param 'N' was set to 18446744073709551615, which does not fit int32_t" check number.hk --param N=18446744073709551615
expect 0 '18446744073709551615ul' '' show large.hk --ir --function f --param N=18446744073709551615
expect 3 '' "product.hk: error: a value was given for the param 'D', which is not declared" check product.hk --param D=2
expect 3 '' "hint: declare it: param uint32_t D;" check product.hk --param D=2
# Declared in the kernel file and in the schema, told once: nothing follows on that line.
"$hdst" kernel check "$programs/kmeans/kmeans.hk" --param Size=2 2>&1 | grep -qx '.*hint: its params are D' || { echo "a param is told twice"; exit 1; }
printf 'map f(pont p, accum double s) { s += p.x[0]; }\n' >pont.hk
expect 3 '' "hint: did you mean 'point'?" check pont.hk --schema point.yaml
expect 0 'usage: hdst kernel' '' --help
cat >group.hk <<'END'
struct bill { uint32_t user; float due; };
group most(key uint32_t user, stream bill b) -> float { float m = 0; for (bill e : b) m = max(m, e.due); return m; }
END
printf 'struct bill { uint32_t user; float due; };\ngroup none(key uint32_t who, stream bill b) -> float { return 0.0f; }\n' >nameless.hk
expect 0 'group most' '' check group.hk
expect 0 'for row = first to end' '' show group.hk --ir
expect 0 '__kernel' '' show group.hk --target gpu
expect 0 '' "no field of its records has the name and type of its key" show nameless.hk
# what checks but cannot run yet
printf 'map f(text t) -> uint64_t { return len(chars(t)); }\n' >later.hk
expect 3 'not available yet: chars(), at' '1 of its functions uses what is not available yet' check later.hk
expect 0 'join.hk: ok, 4 functions' '' check "$programs/join/join.hk"
expect 0 'pagerank.hk: ok, 5 functions' '' check "$programs/pagerank/pagerank.hk"
# kernel errors: nothing on stdout
expect 3 '' "bad.hk:2:41: error: the record 'point' has no field 'y'" check bad.hk
expect 3 '' "given.hk:1:7: error: unknown type 'point'" check given.hk
expect 3 '' "the param 'D' has no value" header "$programs/kmeans/kmeans.hk"
expect 3 '' 'kmeans.hk:3:16: error' header "$programs/kmeans/kmeans.hk"
expect 3 '' "which is not declared" check given.hk --param E=2
expect 3 '' "error: unknown type 'flot'" check <(printf 'flot f(int a) { return a; }')
# too large once its helpers are in place: 900 bytes, 16,384 calls
{
    printf 'struct p { float x; };\nfloat h0(float a) { return a + 1; }\n'
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do printf 'float h%d(float a) { return h%d(a) * 2 + h%d(a + 1); }\n' $i $((i - 1)) $((i - 1)); done
    printf 'map f(p r, accum double g) { g += h13(r.x); }\n'
} >chain.hk
large="chain.hk:16:5: error: 'f' has more than 10000 statements once its helper functions are in place"
for target in cpu gpu interp; do expect 3 '' "$large" show chain.hk --target $target; done
expect 3 '' "hint: " show chain.hk --ir
# each function has the compiler's memory to itself: 12 that take 60 MB each
{
    printf 'struct p { uint32_t x; };\n'
    for f in 1 2 3 4 5 6 7 8 9 10 11 12; do
        printf 'map f%d(p r, accum uint64_t g)\n{\n    uint32_t v = r.x;\n    switch (r.x) {\n' $f
        for i in $(seq 3000); do printf '    case %d: v += %du;\n' $i $i; done
        printf '    }\n    g += v;\n}\n'
    done
} >cases.hk
expect 0 'f12' '' show cases.hk --target cpu
# usage
expect 2 '' 'usage: hdst kernel'
expect 2 '' "did you mean 'check'?" chekc given.hk
expect 2 '' "unknown action 'translate'" translate given.hk
expect 2 '' "no FILE given to 'check'" check
expect 2 '' "unknown option '--fast'" check given.hk --fast
expect 2 '' 'belong to show' check given.hk --fast-sums
expect 0 'Fast sums were asked for.' '' show given.hk --schema point.yaml --fast-sums --target gpu
expect 0 '__kernel' '' show given.hk --schema point.yaml --fast-sums
expect 2 '' "no value for '--schema'" check given.hk --schema
expect 2 '' 'belong to show' check given.hk --ir
expect 2 '' "the targets are cpu, gpu and interp, not 'tpu'" show given.hk --target tpu
expect 2 '' "one file at a time" check given.hk bad.hk
# files
expect 6 '' "cannot read 'missing.hk': No such file or directory" check missing.hk
expect 6 '' "cannot read 'missing.yaml'" check given.hk --schema missing.yaml
[ "$failures" = 0 ]
