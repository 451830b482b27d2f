#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `make sanitize`: every part prints PASS or FAIL lines; the last line is "N passed, N failed".
# usage: tests/sanitize/run.sh [address] [thread] [fuzz] [oclgrind] [mutation]      (none: all five)
set -u
cd "$(dirname "$0")/../.." || exit 1
passed=0 failed=0

pass() { passed=$((passed + 1)); echo "PASS: $*"; }
fail() { failed=$((failed + 1)); echo "FAIL: $*"; }

# Configures a build folder once, builds it. Little optimisation and lines alone as debug information: half of the compiler's time. (What is undefined in
# the address and fuzz builds ends the program.) usage: build FOLDER MESON-OPTION...
build() {
    local folder=$1
    shift
    if [ ! -f "$folder/build.ninja" ]; then
        meson setup "$folder" -Ddebug=true -Doptimization=1 -Dc_args=-g1 -Db_lundef=false -Dbench=false "$@" >"/tmp/$$.log" 2>&1 ||
            { tail -20 "/tmp/$$.log"; rm -f "/tmp/$$.log"; fail "configuring $folder"; return 1; }
    fi
    ninja -C "$folder" >"/tmp/$$.log" 2>&1 || { tail -40 "/tmp/$$.log"; rm -f "/tmp/$$.log"; fail "building $folder"; return 1; }
    rm -f "/tmp/$$.log"
}

# Sanitizers write what they find to files: a test framework that forks and swallows the output, or the exit code, cannot hide it.
watch() {
    logs=$PWD/$1/sanitizer-logs
    export LOGS=$logs                       # for again.sh
    rm -rf "$logs"
    mkdir -p "$logs"
    export HDST_CACHE_DIR=$PWD/$1/cache     # not the user's
    local common="log_path=$logs/report:exitcode=99:handle_abort=0"
    # use_sigaltstack=0: LLVM, inside PoCL, sets signal stacks of its own. symbolize=0: for each block that PoCL never frees, in each process, the names of
    # its stack would be looked up, in compressed debug information: half of the time of a short test. Suppressions go by the library; told() finds the names.
    export ASAN_OPTIONS="$common:detect_leaks=1:detect_stack_use_after_return=1:allocator_may_return_null=1:use_sigaltstack=0:symbolize=0"
    export UBSAN_OPTIONS="$common:print_stacktrace=1"
    export TSAN_OPTIONS="$common:second_deadlock_stack=1:suppressions=$PWD/tests/sanitize/threads.supp"
    export LSAN_OPTIONS="suppressions=$PWD/tests/sanitize/leaks.supp:print_suppressions=0"
}

# The first lines of a report, with a line of the source behind each place that has none. usage: told REPORT
told() {
    local line place
    head -60 "$1" | while IFS= read -r line; do
        place=$(sed -nE 's/^ *#[0-9]+ 0x[0-9a-f]+ +\((\/.*)\+(0x[0-9a-f]+)\).*/\1 \2/p' <<<"$line")
        echo "$line${place:+  $(addr2line -fse $place 2>/dev/null | paste -sd' ')}"
    done
}

unwatch() {
    unset ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS LSAN_OPTIONS HDST_CACHE_DIR LOGS
    local reports
    reports=$(find "$logs" -type f -size +0 | sort)
    if [ -z "$reports" ]; then pass "$1: no reports"; return; fi
    local report
    for report in $reports; do told "$report"; done
    fail "$1: $(echo "$reports" | wc -l) reports, in $logs"
}

# What is looked at is the host's code; the driver's compiler is none of ours, and takes most of the time of tests that run kernels. Those that `make test`
# had compiled are taken from its caches, where it ran in this tree. usage: borrow_kernels FOLDER
borrow_kernels() {
    if [ ! -d build/tests/kernels ] || [ -d "$1/tests/kernels" ]; then return; fi
    mkdir -p "$1/tests"
    cp -al build/tests/kernels "$1/tests/kernels" 2>/dev/null || cp -a build/tests/kernels "$1/tests/"
}

address() {
    # Undefined behaviour ends the program: gcc's runtime does not write that to the log.
    build build-asan -Db_sanitize=address,undefined -Dc_args='-g1 -fno-sanitize-recover=undefined' -Dtests=enabled || return
    watch build-asan
    borrow_kernels build-asan
    local log=build-asan/sanitizer-tests.log
    # Packages, and the script that makes mistakes on purpose, are not about memory.
    meson test -C build-asan --no-rebuild --no-suite package --no-suite mutation --print-errorlogs --wrapper "$PWD/tests/sanitize/again.sh" >"$log" 2>&1
    local status=$? ok bad
    ok=$(sed -nE 's/^Ok: +([0-9]+).*/\1/p' "$log")
    bad=$(sed -nE 's/^(Fail|Timeout|Unexpected Pass): +([0-9]+).*/\2/p' "$log" | paste -sd+)
    passed=$((passed + ${ok:-0}))
    failed=$((failed + ${bad:-0}))
    if [ "$status" = 0 ] && [ "${ok:-0}" -gt 0 ]; then echo "PASS: address: $ok test programs"; else
        grep -vE '^ *[0-9]+/[0-9]+ .* (OK|SKIP) ' "$log" | tail -80
        if [ "$((${bad:-0}))" = 0 ]; then fail "address: the test suite did not run"; else echo "FAIL: address: some test programs"; fi
    fi
    examples address build-asan /tests/drivers/
    unwatch address
}

# Criterion does not start under the thread sanitizer, so plain programs run here.
thread() {
    build build-tsan -Db_sanitize=thread -Dtests=disabled || return
    watch build-tsan
    examples thread build-tsan
    unwatch thread
}

# The commands of examples.txt, each on a build folder, but for those with TEXT in them, which have run there. usage: examples PART FOLDER [TEXT]
examples() {
    local command without=${3:-'# '}
    while IFS= read -r command; do
        case "$command" in ''|'#'*|*"$without"*) continue ;; esac
        if BUILD=$2 tests/sanitize/again.sh bash -c "$command" >"$2/example.log" 2>&1; then pass "$1: $command"; else
            local status=$?
            tail -30 "$2/example.log"
            fail "$1: $command (exit code $status)"
        fi
    done <tests/sanitize/examples.txt
}

# A target runs from a copy of its corpus for a number of inputs; -max_total_time only bounds a slow machine. usage: fuzz_one TARGET
fuzz_one() {
    local name=${1##*/fuzz_}
    rm -rf "build-fuzz/corpus/$name"
    mkdir -p "build-fuzz/corpus/$name" build-fuzz/found
    cp "tests/fuzz/corpus/$name/"* "build-fuzz/corpus/$name/" 2>/dev/null
    ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
        "$1" -seed=1 -runs=200000 -max_total_time=20 -max_len=4096 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="build-fuzz/found/$name-" "build-fuzz/corpus/$name" >"build-fuzz/$name.log" 2>&1
    echo $? >"build-fuzz/$name.status"
}

# As many at the same time as there are processors.
fuzz() {
    CC=clang build build-fuzz -Doptimization=0 -Dc_args='-g1 -fno-sanitize-recover=undefined' -Dfuzz=true -Dtests=disabled -Dexamples=false || return
    local target name count=0
    rm -f build-fuzz/*.status
    export -f fuzz_one
    find build-fuzz/tests/fuzz -maxdepth 1 -name 'fuzz_*' -type f -perm -u+x -print0 | xargs -0 -n 1 -P "$(nproc)" bash -c 'fuzz_one "$0"'
    for target in build-fuzz/tests/fuzz/fuzz_*; do
        if [ ! -x "$target" ] || [ -d "$target" ]; then continue; fi
        name=${target##*/fuzz_}
        count=$((count + 1))
        if [ "$(cat "build-fuzz/$name.status" 2>/dev/null)" = 0 ]; then
            pass "fuzz: $name, $(sed -n 's/^stat::number_of_executed_units: *//p' "build-fuzz/$name.log") inputs"
        else
            tail -40 "build-fuzz/$name.log"
            fail "fuzz: $name (the input is in build-fuzz/found)"
        fi
    done
    [ "$count" -gt 0 ] || echo "SKIP: fuzz: there are no targets"
}

# Generated kernels on a simulated device that checks every access, race and API call. The loader gets Oclgrind as its only
# driver; what it finds goes to a file, and any word in there is a failure, whatever the program says.
oclgrind() {
    local driver command folder
    driver=$(find /usr/lib /usr/lib64 /usr/local/lib -name liboclgrind-rt-icd.so 2>/dev/null | head -1)
    [ -n "$driver" ] || { fail "oclgrind: liboclgrind-rt-icd.so was not found"; return; }
    # The release build of `make test`: what is looked at are the kernels.
    if ! { make --no-print-directory build/.with-tests && ninja -C build; } >/tmp/$$.log 2>&1; then
        tail -40 /tmp/$$.log; rm -f /tmp/$$.log; fail "building build"; return
    fi
    rm -f /tmp/$$.log
    folder=$PWD/build/oclgrind
    rm -rf "$folder"
    mkdir -p "$folder/icd" "$folder/cache"
    echo "$driver" >"$folder/icd/oclgrind.icd"
    export OCL_ICD_VENDORS=$folder/icd OCLGRIND_LOG=$folder/report OCLGRIND_DATA_RACES=1 OCLGRIND_CHECK_API=1
    export HDST_CACHE_DIR=$folder/cache
    if ! build/tools/hdst devices | grep -q Oclgrind; then
        fail "oclgrind: the loader does not show it"
    else
        while IFS= read -r command; do
            case "$command" in ''|'#'*) continue ;; esac
            rm -f "$OCLGRIND_LOG"
            if BUILD=build bash -c "$command" >"$folder/output.log" 2>&1 && [ ! -s "$OCLGRIND_LOG" ]; then
                pass "oclgrind: $command"
            else
                tail -20 "$folder/output.log"
                [ ! -f "$OCLGRIND_LOG" ] || head -40 "$OCLGRIND_LOG"
                fail "oclgrind: $command"
            fi
        done <tests/sanitize/oclgrind.txt
    fi
    unset OCL_ICD_VENDORS OCLGRIND_LOG OCLGRIND_DATA_RACES OCLGRIND_CHECK_API HDST_CACHE_DIR
}

# Mistakes made on purpose, ten of them, other ones each day: tests must notice. `make long` makes all of them.
mutation() {
    if python3 tests/mutation/run.py --some 10; then pass "mutation: all caught"; else fail "mutation: see above"; fi
}

for part in "${@:-address thread fuzz oclgrind mutation}"; do
    for name in $part; do
        case "$name" in
            address|thread|fuzz|oclgrind|mutation) echo "== $name"; "$name" ;;
            *) echo "no such part: $name (address, thread, fuzz, oclgrind, mutation)" >&2; exit 2 ;;
        esac
    done
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
