#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a test that needs published data sets; without them it is left out, which Meson sees by the code 77. usage: with_data.sh PROGRAM [ARGUMENT]...
[ -n "${HDST_TEST_DATA:-}" ] || { echo "SKIP: $(basename "$1"): HDST_TEST_DATA is not set"; exit 77; }
exec "$@"
