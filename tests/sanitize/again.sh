#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command with sanitizer reports of its own, and again (three times at most) when the leak sanitizer itself broke down:
# to look for leaks it stops all threads, and it can crash on one that the OpenCL driver just starts or ends. Such a run says
# nothing about the program. Every other report stays and counts.
# usage: again.sh COMMAND...     (LOGS names the folder of the reports)
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:log_path=$LOGS/report.$$"
for try in 1 2 3; do
    "$@"
    status=$?
    broken=$(grep -ls 'LeakSanitizer has encountered a fatal error' "$LOGS/report.$$".*)
    [ -n "$broken" ] || break
    [ "$try" = 3 ] && break
    rm -f $broken       # no quotes: one word a report
done
exit $status
