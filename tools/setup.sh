#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes sure that the packages for the named purposes (build, test, sanitize) are there: Debian and its relatives by apt-get, elsewhere by
# naming what is missing. Prints what it installs; says nothing when there is nothing to do.
# usage: tools/setup.sh [--check] build|test|sanitize ...     (--check, or HDST_NO_INSTALL=1: install nothing)
set -eu

build_packages="gcc make meson ninja-build pkg-config python3 pocl-opencl-icd ocl-icd-opencl-dev opencl-headers libyaml-dev libmsgpack-dev"
build_packages="$build_packages zlib1g-dev libzstd-dev liblzma-dev libcurl4-openssl-dev"
test_packages="g++ libcriterion-dev"
sanitize_packages="clang libclang-rt-14-dev llvm oclgrind"

say() { printf 'setup: %s\n' "$*" >&2; }

# Only `ii` counts: a removed package whose settings remain is not there.
missing_packages() {
    for package in "$@"; do
        case "$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null)" in
            ii*) ;;
            *) printf '%s ' "$package" ;;
        esac
    done
}

# Elsewhere the packages have other names: look for what they bring.
missing_pieces() {
    for command in cc meson ninja pkg-config python3; do
        command -v "$command" >/dev/null 2>&1 || printf '%s ' "$command"
    done
    pkg-config --exists msgpack-c 2>/dev/null || pkg-config --exists msgpack 2>/dev/null || printf 'msgpack-c '
    for module in yaml-0.1 zlib libzstd liblzma $([ "$with_test" = no ] || echo criterion); do
        pkg-config --exists "$module" 2>/dev/null || printf '%s ' "$module"
    done
    [ "$with_test" = no ] || command -v c++ >/dev/null 2>&1 || printf 'c++ '
    if [ "$with_sanitize" = yes ]; then
        for command in clang oclgrind; do command -v "$command" >/dev/null 2>&1 || printf '%s ' "$command"; done
    fi
}

not_debian() {
    missing=$(missing_pieces)
    [ -n "$missing" ] || exit 0
    say "not found: $missing"
    say "this system has no apt-get and dpkg-query; install these with its own package manager. Debian calls the whole set:"
    printf '    %s\n' "$wanted" >&2
    exit 1
}

have_lists() { ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1; }

install_packages() {
    # shellcheck disable=SC2086 # a list of names
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing >"$log" 2>&1
}

update_lists() {
    say "apt-get update"
    # apt-get update succeeds with warnings when nothing could be fetched.
    $as_root apt-get -o APT::Update::Error-Mode=any update >>"$log" 2>&1
}

give_up() {
    tail -n 12 "$log" >&2
    if grep -qE 'Could not resolve|Temporary failure resolving|Could not connect|Network is unreachable|Failed to fetch|Connection timed out' "$log"; then
        say "the package servers could not be reached: is there a network, and does /etc/apt name a reachable mirror?"
    else
        say "apt-get failed (above); the whole output is in $log"
        trap - EXIT
    fi
    say "needed: $missing"
    exit 1
}

check_only=${HDST_NO_INSTALL:+yes}
wanted="" with_test=no with_sanitize=no
for argument in "$@"; do
    case "$argument" in
        --check) check_only=yes ;;
        build) wanted="$wanted $build_packages" ;;
        test) wanted="$wanted $test_packages" with_test=yes ;;
        sanitize) wanted="$wanted $sanitize_packages" with_sanitize=yes ;;
        *) say "unknown word '$argument'; usage: tools/setup.sh [--check] build|test|sanitize ..."; exit 2 ;;
    esac
done

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then not_debian; fi
# shellcheck disable=SC2086 # a list of names
missing=$(missing_packages $wanted)
[ -n "$missing" ] || exit 0

by_hand="apt-get update && apt-get install -y --no-install-recommends ${missing% }"
if [ -n "$check_only" ]; then
    # What is missing may have come by another way (pip, a build from source): then it does.
    [ -n "$(missing_pieces)" ] || exit 0
    say "missing packages: $missing"
    say "\`make demo\` and \`make test\` install them, or run as root: $by_hand"
    exit 1
fi

if [ "$(id -u)" = 0 ]; then
    as_root=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    say "missing packages: $missing"
    say "installing them needs root rights; run this once, then try again (HDST_NO_INSTALL=1 goes on without, where you have them from elsewhere):"
    if command -v sudo >/dev/null 2>&1; then printf "    sudo sh -c '%s'\n" "$by_hand" >&2; else printf "    su -c '%s'\n" "$by_hand" >&2; fi
    exit 1
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
say "installing: $missing"
updated=no
if ! have_lists; then update_lists || give_up; updated=yes; fi
if ! install_packages; then
    [ "$updated" = no ] || give_up
    update_lists || give_up         # old lists name versions that are gone
    install_packages || give_up
fi
say "installed."
