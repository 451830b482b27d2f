#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The shared library keeps its manners: a SONAME, only hdst_ names outside, no OpenCL loader linked, nothing that prints, exits or takes signals,
# and no state that outlives a context. usage: library.sh LIBHDST.SO LIBHDST-INTERNAL.A hardened|plain
set -eu
library=$1 archive=$2 kind=$3
failed=0
fail() { echo "FAIL: $1"; shift; printf '    %s\n' "$@"; failed=1; }

# Word lists below are split on purpose.
# shellcheck disable=SC2046,SC2086
{
    readelf -dW "$library" | grep -q 'SONAME.*\[libhdst\.so\.0\]' || fail "SONAME is not libhdst.so.0" $(readelf -dW "$library" | grep SONAME)

    needed=$(readelf -dW "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\].*/\1/p')
    case "$needed" in *libc.so*) ;; *) fail "no NEEDED entries were read" ;; esac
    case "$needed" in *OpenCL*) fail "the OpenCL loader is linked; it must be opened by dlopen at first use" $needed ;; esac

    exported=$(nm -D --defined-only "$library" | awk '{print $NF}')
    case "$exported" in *hdst_status_text*) ;; *) fail "hdst_status_text is not exported" ;; esac
    strange=$(printf '%s\n' $exported | grep -vE '^hdst_[a-z0-9]' || true)
    [ -z "$strange" ] || fail "exported names that are not public" $strange

    used=$(nm -D --undefined-only "$library" | awk '{print $NF}' | sed 's/@.*//')
    case "$used" in *memcpy*) ;; *) fail "no undefined names were read" ;; esac
    ends='_?exit|_Exit|quick_exit|atexit|on_exit' signals='signal|sigaction|raise'
    prints='puts|putchar|printf|vprintf|__v?printf_chk|perror|stdout|stderr|stdin'
    forbidden=$(printf '%s\n' $used | grep -xE "$ends|$prints|$signals" || true)
    [ -z "$forbidden" ] || fail "the library may not use" $forbidden

    if [ "$kind" = hardened ]; then
        readelf -dW "$library" | grep -qE 'BIND_NOW|FLAGS.*NOW' || fail "functions are bound late: the link has no -z now"
        readelf -lW "$library" | grep -q GNU_RELRO || fail "tables of addresses can be written: the link has no -z relro"
        case "$used" in *__stack_chk_fail*) ;; *) fail "no function has a stack protector" ;; esac
        case "$used" in *snprintf_chk*) ;; *) fail "_FORTIFY_SOURCE is not in effect" ;; esac
    fi

    # Constant tables of pointers live in .data.rel.ro; anything in .data or .bss can be written. ask_lock, run_lock, running
    # and opener guard what is the drivers' (engine/device/driver_gate.c).
    state=$(objdump -t "$archive" | awk '
        NF > 4 && $(NF-2) ~ /^(\.data|\.bss|\.tdata|\.tbss)(\.[^r]|$)/ && $NF !~ /^\./ &&
        $NF !~ /^(ask_lock|run_lock|running|opener)$/ {print $NF " (" $(NF-2) ")"}')
    [ -z "$state" ] || fail "file-scope variables that can be written" "$state"
}
[ "$failed" = 0 ] && echo "ok: $(printf '%s\n' "$exported" | wc -l) exported names"
exit "$failed"
