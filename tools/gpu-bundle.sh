#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Packs a build for another x86-64 Linux machine (glibc 2.36 or newer: Debian 12, Ubuntu 24.04) that has an OpenCL
# driver and its loader but nothing to compile with: libhdst, libyaml, libmsgpack, zlib, libzstd and liblzma are linked in.
# Everything lands in .gpu-bundle/, laid out as the repository is, so the same commands work from there.
# usage: tools/gpu-bundle.sh [MARCH]      (processor of the benchmark programs; default x86-64-v4, which has AVX-512)
set -eu
cd "$(dirname "$0")/.."
bundle=.gpu-bundle build=build-bundle

sh tools/setup.sh build
options="--buildtype=release -Ddefault_library=static -Dprefer_static=true -Dtests=disabled -Dbench_march=${1:-x86-64-v4}"
# shellcheck disable=SC2086 # options are a list
if [ -f "$build/build.ninja" ]; then meson configure "$build" $options; else meson setup "$build" $options; fi
ninja -C "$build"

rm -rf "$bundle"
mkdir -p "$bundle/build"
for folder in tools examples bench; do
    [ -d "$build/$folder" ] || continue
    mkdir -p "$bundle/build/$folder"
    find "$build/$folder" -maxdepth 1 -type f -perm -u+x -exec cp {} "$bundle/build/$folder/" \;
done
mkdir "$bundle/tests"
cp tests/equal_bits.py "$bundle/tests/"
# Kernels, schemas and points of the examples, benchmarks and the tutorial.
for folder in examples tutorial bench; do
    [ -d "$folder" ] || continue
    find "$folder" -type f ! -name '*.c' ! -name '*.h' ! -name meson.build ! -name '*.pyc' -exec cp --parents {} "$bundle/" \;
done
cat >"$bundle/run.sh" <<'END'
#!/bin/sh
# Runs a command from the bundle's folder with its own kernel cache: ./run.sh build/tools/hdst devices
cd "$(dirname "$0")" || exit 1
HDST_CACHE_DIR=${HDST_CACHE_DIR:-$PWD/cache}
HDST_EXAMPLES_DIR=$PWD/examples
export HDST_CACHE_DIR HDST_EXAMPLES_DIR
[ $# -gt 0 ] || set -- build/tools/hdst devices
exec "$@"
END
chmod +x "$bundle/run.sh"

# A library that the other machine may not have would be found out there only.
for program in "$bundle"/build/*/*; do
    strange=$(readelf -dW "$program" 2>/dev/null | sed -n 's/.*NEEDED.*\[\(.*\)\].*/\1/p' |
        grep -vxE 'lib(c|m|mvec|dl|pthread|rt|gcc_s)\.so\.[0-9]+|ld-linux-x86-64\.so\.2|libOpenCL\.so\.1' || true)
    [ -z "$strange" ] || { echo "gpu-bundle: $program needs $strange" >&2; exit 1; }
done
du -sh "$bundle" | cut -f1 | sed "s|^|gpu-bundle: $bundle, |"
