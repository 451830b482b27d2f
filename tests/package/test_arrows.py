#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""arrows.py on a library of six small files: it says nothing of the good one, names each fault that is put in, passes a fault that is listed, and
fails for a line whose fault is gone.

usage: test_arrows.py SOURCE-ROOT C-COMPILER
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

GOOD = {
    'base/text.h': 'int hdst__text_length(void);\n',
    'base/text.c': '#include "base/text.h"\n\nint hdst__text_length(void)\n{\n    return 1;\n}\n',
    'record/type.h': 'int hdst__type_size(void);\n',
    'record/type.c': '#include "record/type.h"\n#include "base/text.h"\n\nint hdst__type_size(void)\n{\n    return hdst__text_length();\n}\n',
    'engine/stage/stage.h': 'int hdst__stage_run(void);\n',
    'engine/stage/stage.c': '#include "engine/stage/stage.h"\n#include "record/type.h"\n\nint hdst__stage_run(void)\n{\n    return hdst__type_size();\n}\n',
    'examples/small/small.c': '#include "hdst/hdst.h"\n\nint main(void)\n{\n    return 0;\n}\n',
    'tests/package/arrows.txt': '# nothing is listed\n',
}
UPWARD = '#include "record/type.h"\n#include "engine/stage/stage.h"\n\nint hdst__type_size(void)\n{\n    return 1;\n}\n'
HIDDEN = 'int hdst__stage_run(void);\nint hdst__type_size(void);\n\nint hdst__type_size(void)\n{\n    return hdst__stage_run();\n}\n'
BACK = 'int hdst__text_length(void);\nint hdst__first(void);\n\nint hdst__text_length(void)\n{\n    return hdst__first();\n}\n'
FORTH = 'int hdst__text_length(void);\nint hdst__first(void);\n\nint hdst__first(void)\n{\n    return hdst__text_length();\n}\n'
LONG = 'int hdst__long(void);\nint hdst__long(void)\n{\n' + '    (void)0;\n' * 80 + '    return 0;\n}\n'
INCLUDE = 'include record/type.c engine/stage/stage.h'

# What is put in (None: taken away), what arrows.py says, whether it passes.
CASES = [
    ({}, 'are as they should be', True),
    ({'record/type.c': UPWARD}, INCLUDE + '\n', False),
    ({'record/type.c': UPWARD, 'tests/package/arrows.txt': INCLUDE + '  # for now\n'}, '1 faults that are listed', True),
    ({'record/type.c': UPWARD, 'tests/package/arrows.txt': INCLUDE + '\n'}, 'has no reason', False),
    ({'tests/package/arrows.txt': INCLUDE + '  # for now\n'}, 'is gone', False),
    ({'record/type.c': HIDDEN}, 'call record/type.c engine/stage/stage.c\n', False),
    ({'base/text.c': BACK, 'base/first.c': FORTH}, 'circle base: 2\n', False),
    ({'base/text.c': BACK, 'base/first.c': FORTH, 'tests/package/arrows.txt': 'circle base = 2  # so\n'}, '1 faults that are listed', True),
    ({'io/read.c': '#include "codegen/ir/ir.h"\n', 'codegen/ir/ir.h': '\n'}, 'include io/read.c codegen/ir/ir.h\n', False),
    ({'shuffle/sort/sort.c': '#include "codegen/ir/ir.h"\n', 'codegen/ir/ir.h': '\n'}, 'include shuffle/sort/sort.c codegen/ir/ir.h\n', False),
    ({'engine/run_private.h': '\n', 'plan/plan.c': '#include "engine/run_private.h"\n'}, 'private plan/plan.c engine/run_private.h\n', False),
    ({'examples/small/small.c': '#include "base/text.h"\n'}, 'inner examples/small/small.c base/text.h\n', False),
    ({'plan/op.c': '#include "hdst/hdst.h"\n', 'hdst/hdst.h': '\n'}, 'are as they should be', True),
    ({'shuffle/sort/sort.c': '#include "hdst/hdst.h"\n', 'hdst/hdst.h': '\n'}, 'include shuffle/sort/sort.c hdst/hdst.h\n', False),
    ({'plan/text.h': '\n'}, 'name text.h: 2\n', False),
    ({'attic/old.c': '\n', 'engine/attic/old.c': '\n'}, 'room engine/attic\n', False),
    ({'base/text.h': '// ' + 'x' * 158 + '\n'}, 'wide base\n', False),
    ({'base/text.h': '// ' + 'x' * 157 + '\n'}, 'are as they should be', True),
    ({'docs/words.md': ('x' * 161 + '\n') * 2, 'tests/package/arrows.txt': 'wide docs  # so\n'}, 'wide docs: 2, and the list allows 1\n', False),
    ({'base/long.c': LONG}, 'function base/long.c hdst__long: 84\n', False),
    ({'base/many.h': '\n' * 601}, 'file base/many.h: 601\n', False),
]


def run(checker, root, compiler, changes):
    """arrows.py on the good tree with these changes: what it says and whether it passes."""
    for name, text in {**GOOD, **changes}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    objects = root / 'build/libhdst.so.0.p'
    objects.mkdir(parents=True)
    for path in root.rglob('*.c'):
        name = str(path.relative_to(root))
        if not name.startswith('examples/'):
            subprocess.run([compiler, '-w', '-fno-lto', '-I', root, '-c', path, '-o', objects / (name.replace('/', '_') + '.o')], check=True)
    done = subprocess.run([sys.executable, checker, root, root / 'build'], capture_output=True, text=True)
    return done.stdout + done.stderr, done.returncode == 0


def check_shrink(checker, root, compiler):
    """--shrink takes out what is gone, lowers what is smaller, keeps the rest word for word and adds nothing."""
    listed = '# head\ncall a/b.c c/d.c  # gone\nwide base = 9  # two now\n' + INCLUDE + '  # stays\n'
    wide = ('x' * 161 + '\n').join(['//', '//', '//'])
    run(checker, root, compiler, {'record/type.c': UPWARD, 'base/text.h': wide, 'plan/text.h': '\n', 'tests/package/arrows.txt': listed})
    done = subprocess.run([sys.executable, checker, root, root / 'build', '--shrink'], capture_output=True, text=True)
    left = (root / 'tests/package/arrows.txt').read_text()
    return left == '# head\nwide base = 2  # two now\n' + INCLUDE + '  # stays\n' and done.stdout == 'name text.h: 2\n'


def main():
    source, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, (changes, says, passes) in enumerate([*CASES, ({}, '', None)]):
            root = pathlib.Path(folder, str(number))
            for name in ('tools/structure.py', 'tests/package/arrows.py'):
                (root / name).parent.mkdir(parents=True)
                shutil.copy(source / name, root / name)
            if passes is None:
                right, said = check_shrink(root / 'tests/package/arrows.py', root, compiler), '--shrink'
            else:
                said, passed = run(root / 'tests/package/arrows.py', root, compiler, changes)
                right = passed == passes and says in said
            if not right:
                failed += 1
                print(f'case {number}, {list(changes)}: expected "{says.strip()}", {"pass" if passes else "fail"}; it said:\n{said}')
    print(f'{len(CASES) + 1} cases, {failed} wrong')
    sys.exit(bool(failed))


main()
