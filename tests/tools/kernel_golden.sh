#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `hdst kernel show` of the kernels in tests/codegen/opencl/golden against the texts beside them; tests/refresh-goldens writes those anew.
# The hash in a kernel's name is left out: it changes with every letter of the text.
# usage: kernel_golden.sh BUILD SOURCE [--write]
set -eu
hdst=$(cd "$1" && pwd)/tools/hdst folder=$2/tests/codegen/opencl/golden failed=0
cd "$folder"
for kernel in *.hk; do
    for form in ir:--ir cpu.cl:--target=cpu gpu.cl:--target=gpu; do
        golden=${kernel%.hk}.${form%%:*}
        # shellcheck disable=SC2046 # the option is one or two words
        printed=$("$hdst" kernel show "$kernel" $(echo "${form#*:}" | tr = ' ') | sed -E 's/_[0-9a-f]{8}\(/_HASH(/')
        if [ "${3:-}" = --write ]; then printf '%s\n' "$printed" >"$golden"; continue; fi
        if printf '%s\n' "$printed" | diff -u "$golden" - >&2; then echo "ok: $golden"; else echo "FAIL: $golden" >&2; failed=1; fi
    done
done
exit $failed
