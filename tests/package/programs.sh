#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs of users compile without a warning as C and as C++, with GCC and Clang: the tutorial's, the same as README.md shows
# it, and one that uses every macro of the public header. Compiled as C++ the tutorial's also runs, against LIBHDST.
# usage: programs.sh SOURCE LIBHDST
set -eu
source=$1 library=$(realpath "$2")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
failed=0 compiled=0

# The first C block of README.md that has a main.
awk '
    /^```c$/ { inside = 1; text = ""; next }
    /^```$/ { if (inside && text ~ /int main/) { printf "%s", text; exit } inside = 0 }
    inside { text = text $0 "\n" }' "$source/README.md" >"$root/readme.c"
cmp "$root/readme.c" "$source/tutorial/kmeans.c" || { echo "FAIL: README.md and tutorial/kmeans.c differ"; failed=1; }
cp "$source/tutorial/kmeans.c" "$root/tutorial.c"
{
    # Unlike those two: every initializer and every macro with arguments, wherever a program may write them.
    cat <<'END'
#include <hdst/hdst.h>
#include <stdio.h>
static hdst_error failure = HDST_ERROR_INIT;
static const hdst_context_options defaults = HDST_CONTEXT_OPTIONS_INIT;
int main(void)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    hdst_module_options module_options = HDST_MODULE_OPTIONS_INIT;
    const char *name = "D";
    unsigned rows = 3;
    options.log_level = defaults.log_level;
    hdst_context *context = hdst_context_create(&options);
    hdst_schema *schema = hdst_schema_load(context, "a.yaml", HDST_NO_PARAMS);
    hdst_schema *other = hdst_schema_parse(context, "b", "records: []", HDST_PARAM(name, rows + 1));
    hdst_module *module = hdst_module_load(context, "a.hk", HDST_PARAM("D", 2));
    hdst_module *parsed = hdst_module_parse(context, "c", "param int32_t D;", &module_options);
    int code = hdst_status_exit_code(hdst_module_status(module, &failure));
    if (code) puts(failure.message);
    hdst_module_destroy(parsed);
    hdst_module_destroy(module);
    hdst_schema_destroy(other);
    hdst_schema_destroy(schema);
    hdst_context_destroy(context);
#if HDST_VERSION_MAJOR < 0 || HDST_VERSION_MINOR < 0 || HDST_VERSION_PATCH < 0
    puts(HDST_VERSION_TEXT);
#endif
    return 0;
}
END
} >"$root/macros.c"

# LANGUAGE COMPILER: all three programs.
compile() {
    language=$1 compiler=$2
    shift 2
    command -v "$compiler" >/dev/null || { echo "skipped: $compiler is not installed"; return 0; }
    for program in tutorial readme macros; do
        if "$compiler" -x "$language" "$@" -pedantic -Wall -Wextra -Werror -I"$source" -c "$root/$program.c" -o "$root/$program.o"; then
            compiled=$((compiled + 1))
        else
            echo "FAIL: $program.c, $compiler $*"
            failed=1
        fi
    done
}
compile c gcc -std=c11
compile c clang -std=c11
compile c++ g++ -std=c++11
compile c++ g++ -std=c++20
compile c++ clang++ -std=c++11
compile c++ clang++ -std=c++20
[ "$compiled" -gt 0 ] || { echo "FAIL: no compiler was found"; failed=1; }

for compiler in g++ clang++; do
    [ "$failed" = 0 ] && command -v "$compiler" >/dev/null || continue
    "$compiler" -x c++ -std=c++11 -I"$source" "$root/tutorial.c" -x none "$library" "-Wl,-rpath,$(dirname "$library")" -o "$root/kmeans"
    (cd "$source/tutorial" && "$root/kmeans") >"$root/printed" || { echo "FAIL: the tutorial as C++ exited with $?"; failed=1; }
    grep -q '^center 4:' "$root/printed" || { echo "FAIL: the tutorial as C++ printed:"; cat "$root/printed"; failed=1; }
    break
done
[ "$failed" = 0 ] && echo "ok: $compiled compilations"
exit "$failed"
