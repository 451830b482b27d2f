#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py on a tree of three files: what it says of mutations that are caught, hang, survive, do not compile or have no test
that passes; alone, side by side, and after an early end.

    test_run.py RUN_PY
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

FILES = {
    "meson.build": """project('small', 'c')
value = library('value', 'value.c')
test('value', executable('test_value', 'test_value.c', link_with: value, c_args: '-DSOURCE="' + meson.current_source_dir() + '"'), suite: 'small', timeout: 0)
test('fails', find_program('false'), suite: 'small', timeout: 0)
""",
    "meson_options.txt": "option('tests', type: 'feature', value: 'auto')\n",
    "value.c": """#include <unistd.h>
int value(void);
int other(void);
int value(void) { return 3; }
int other(void) { return 4; }
""",
    # Its source folder is compiled in, as in some of the tests: a copy must read its own.
    "test_value.c": """#include <stdio.h>
#include <unistd.h>
int value(void);
int main(void)
{
    int expected = 0;
    FILE *file = fopen(SOURCE "/expected.txt", "r");
    if (!file || fscanf(file, "%d", &expected) != 1) return 2;
    usleep(100000);
    if (value() != expected) puts("Assertion Failed: value");
    return value() != expected;
}
""",
    "expected.txt": "3\nbelow\n",
    "tests/small/test_parts.c": "Test(parts, has_two_words) {} Test(parts, has_another) {}",
    "tests/mutation/list.txt": """# comments may stand here
@ expected.txt | value
- 3
+ 5
@ value.c | small/value
- return 3;
+ for (;;) pause();
@ value.c | value
- return 4;
+ return 5;
@ value.c | value
- return 4;
+ return four;
@ value.c | fails
- return 4;
+ return 6;
@ value.c | fails value
- return 3;
+ return 7;
@ expected.txt | value
- 3
+ 8
@ expected.txt | value
- 3
- below
+ 9
""",
}
EXPECTED = {2: r"caught: value failed: Assertion Failed: value", 5: r"caught: small/value did not end", 8: "SURVIVED value",
            11: r"DOES NOT COMPILE [^$]*four", 14: "LEFT OUT: fails", 17: "caught: value failed", 20: "caught: value failed",
            23: "caught: value failed"}
SUMMARY = "mutation: 7 tried, 5 caught, 1 survived, 1 did not compile, 1 of 8 not tried"


def run(folder, *arguments):
    command = [sys.executable, os.path.join(folder, "tests", "mutation", "run.py"), "--patience", "5", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.decode()


def check(what, good, output):
    if not good:
        sys.exit(f"test_run.py: {what}\n{output}")


def verdicts(output):
    """What is said of the mutation in each line of the list; a compiler's words go on for several lines."""
    return {int(line): text for line, text in re.findall(r"^list\.txt:(\d+): .*\n    ((?:.*\n)*?.*\(\d+ s\))$", output, re.M)}


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        shutil.copy(sys.argv[1], os.path.join(folder, "tests", "mutation"))
        for jobs in ("1", "8"):
            code, output = run(folder, "--jobs", jobs)
            said = verdicts(output)
            check(f"{jobs} at a time: verdicts on {sorted(said)}", sorted(said) == sorted(EXPECTED), output)
            for line, text in EXPECTED.items():
                check(f"{jobs} at a time: '{text}' is expected of line {line}", re.match(text, said[line]), output)
            check(f"{jobs} at a time: '{SUMMARY}' is expected at the end", code == 1 and output.endswith(SUMMARY + "\n"), output)
            check("a test that fails as it is, is told", "fails failed without any mutation" in output, output)
        early = os.path.join(folder, "early.txt")
        with open(early, "w", encoding="utf-8") as file:
            for line, name, old in ((2, "expected.txt", "3"), (5, "value.c", "return 3;"), (11, "value.c", "return 4;")):
                file.write(f"list.txt:{line}: {name}: {old}\n    caught: value failed (1 s)\n")
            file.write("list.txt:8: value.c: return 4;\n")      # ended before its verdict
        code, output = run(folder, "--jobs", "2", "--rest-of", early, "--only", "value.c")
        check("what an earlier run has not told is left", sorted(verdicts(output)) == [8, 14, 17], output)
        with open(os.path.join(folder, "tests", "mutation", "list.txt"), "a", encoding="utf-8") as file:
            for part in ("has_two_words", "has_two*", "has_an*r", "has_two", "two_words"):
                file.write(f"@ expected.txt | small/parts:{part}\n- 3\n+ 4\n")
        code, output = run(folder, "--check")
        told = re.findall(r"no part of a test is called 'small/parts:(.*)'", output)
        check("parts that a test has not are told", code == 1 and told == ["has_two", "two_words"], output)
    print("run.py says what it should")


if __name__ == "__main__":
    main()
