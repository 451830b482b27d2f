#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The exit codes and the streams of `hdst schema`. usage: schema_command.sh HDST
set -u
hdst=$(realpath "$1") here=$(realpath "$(dirname "$0")") command=schema
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
. "$here/expect.sh"

cat >point.yaml <<'YAML'
params: [D]
record: point
fields: [{name: x, type: float32, count: D}, {name: tag, type: uint8}]
YAML
printf 'record: point\nfields: [{name: x, type: flot32}]\n' >bad.yaml
printf 'record: point\nfields: [{name: x, type: float32}]\n' >fixed.yaml

expect 0 'point: 2 fields, 20 bytes' "point.yaml:1:10: note: param 'D' has no value: 4 is assumed" check point.yaml
expect 0 'point: 2 fields, 12 bytes' '' check point.yaml --param D=2
expect 0 'record point: 12 bytes' '' show --param=D=2 point.yaml
expect 0 'struct point {' '' header point.yaml --param D=2
expect 0 "'itemsize': 12" '' numpy point.yaml --param D=2
expect 0 'usage: hdst schema' '' --help
expect 2 '' "did you mean '--param'?" check point.yaml --parm D=2
expect 2 '' "hint: its params are D" check point.yaml --param Size=2
# schema errors: nothing on stdout
expect 3 '' "point.yaml:1:10: error: param 'D' has no value" header point.yaml
expect 3 '' "bad.yaml:2:26: error: unknown type 'flot32'" check bad.yaml
expect 3 '' "hint: did you mean 'float32'?" header bad.yaml
expect 3 '' "a count must be at least 1, not -2" show point.yaml --param D=-2
expect 3 '' "a count must be at least 1, not 0" show point.yaml --param D=0
expect 3 '' "must be a whole number, not 2.5" show point.yaml --param D=2.5
expect 3 '' "the schema is empty" check /dev/null
# usage
expect 2 '' 'usage: hdst schema'
expect 2 '' "did you mean 'check'?" chekc point.yaml
expect 2 '' "unknown action 'translate'" translate point.yaml
expect 2 '' "no FILE given to 'show'" show
expect 2 '' "unknown option '--target'" show point.yaml --target cpu
expect 2 '' "no value for '--param'" show point.yaml --param
expect 2 '' "a param is NAME=VALUE, not 'D'" show point.yaml --param D
expect 2 '' "no number: 'two'" show point.yaml --param D=two
expect 2 '' "no number: '99999999999999999999999'" show point.yaml --param D=99999999999999999999999
expect 2 '' "param given twice: 'D'" show point.yaml --param D=2 --param D=3
expect 2 '' "the schema has no param 'E'" show point.yaml --param D=2 --param E=2
expect 2 '' "one file at a time" show point.yaml fixed.yaml
# files
expect 6 '' "cannot read 'missing.yaml': No such file or directory" check missing.yaml
expect 6 '' "cannot read '.': Is a directory" check .

"$hdst" schema show fixed.yaml >/dev/full 2>err
code=$?
[ "$code" = 6 ] || { echo "FAIL: a full disk gave code $code"; failures=$((failures + 1)); }
[ "$failures" = 0 ]
