# SPDX-License-Identifier: Apache-2.0
# tests/hdst/test_arguments*.c call every public function with NULL for each of its objects, and with each second object from
# another context: the list there is compared with the headers, so that a new function cannot be forgotten.
# usage: arguments.py SOURCE
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
text = "".join((source / "hdst" / name).read_text() for name in ("arrange.h", "error.h", "graph.h", "hdst.h", "joins.h", "loop.h", "scan.h", "table.h"))
test = "".join(path.read_text() for path in sorted((source / "tests/hdst").glob("test_arguments*.c")))
OBJECT = re.compile(r"\bhdst_(context|source|schema|module|dataset|map_spec|value|result|job|partial)\s*\*(?:const\s*\*)?\s*(\w+)$")
failures = []


def called_with_null(name, parameter, position):
    if re.search(r"\b(MAKES|GIVES|ASKS|ENDS|BINDS)\(\*?%s, \"%s" % (name, parameter), test):
        return True
    return position == 0 and re.search(r"\b%s\(NULL\b" % name, test)      # calls that have no error to give


functions = re.findall(r"^HDST_API\s+([^;{]+?)\b(hdst_\w+)\(([^;]*)\);", text, re.M)
for _, name, parameters in functions:
    if not re.search(r"\b%s\b" % name, test):
        failures.append(f"{name} is not called")
        continue
    parts = [part.strip() for part in parameters.split(",")]
    objects = [(i, match.group(2)) for i, part in enumerate(parts) if (match := OBJECT.search(part))]
    for place, (i, parameter) in enumerate(objects):
        if not called_with_null(name, parameter, i):
            failures.append(f"{name} is not called with NULL for '{parameter}'")
        mixes = re.search(r"\b(MIXES|BINDS)\(%s, \"%s\"" % (name, parameter), test) or re.search(r"%s\([^;]*other\.%s" % (name, parameter), test)
        if place > 0 and not mixes:
            failures.append(f"{name} is not called with a '{parameter}' of another context")

if len(functions) < 95:
    failures.append(f"only {len(functions)} functions were found in the headers")
print("\n".join("FAIL: " + failure for failure in failures) or f"ok: {len(functions)} functions")
sys.exit(bool(failures))
