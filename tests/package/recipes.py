#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipes of CONTRIBUTING.md hold: a thing of each kind is one new file and one line in the table of its kind
(and its name where the compiler and Meson want it).

In a copy of the tree each file of recipes/ is put in its place and named to Meson and, where others call it, in a header: then nothing calls it yet.
With the line in the table it is called.

usage: recipes.py SOURCE-ROOT
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LEFT_OUT = shutil.ignore_patterns('.git', '.cache', '.gpu-*', 'build*', '__pycache__', 'docs', 'data', 'mutation', 'corpus')


class Recipe:
    """`named`, `table`: (files to look in, what a line there contains, the line to put before it). The command's output holds `says` once the line
    stands in the table, and not before."""

    def __init__(self, kind, file, place, named, table, target, command, says):
        self.kind, self.file, self.place, self.named, self.table = kind, file, place, named, table
        self.target, self.command, self.says = target, command, says


RECIPES = [
    Recipe('an IR pass', 'pass.c', 'codegen/pass/recipe_pass.c',
           [('codegen/pass/meson.build', "'scalar_replacement.c'", "  'recipe_pass.c',"),
            ('codegen/**/*.h', 'void hdst__pass_fma_placement(ir_func *func);', 'void hdst__pass_recipe_pass(ir_func *func);')],
           ('codegen/pass/passes.c', '{"structured-exits", hdst__pass_structured_exits}', '        {"recipe-pass", hdst__pass_recipe_pass},'),
           'tools/hdst',
           '{build}/tools/hdst kernel show --ir {tree}/tests/codegen/opencl/golden/scale.hk', 'recipe: a pass sees '),
    Recipe('a device back end', 'device.c', 'engine/device/device_recipe.c',
           [('engine/device/meson.build', "'device_opencl.c'", "  'device_recipe.c',"),
            ('engine/device/backend.h', 'hdst__device_opencl, hdst__device_interp;', 'extern const hdst__device_backend hdst__device_recipe;')],
           ('engine/device/backends.c', '&hdst__device_opencl,', '    &hdst__device_recipe,'),
           'examples/kmeans', '{build}/examples/kmeans --device 0 --clusters 1 --input {tree}/tests/package/recipes/numbers.csv',
           'recipe: a back end opens recipe'),
    Recipe('a scheduling policy', 'policy.c', 'partition/recipe_policy.c',
           [('partition/meson.build', "'one_worker.c'", "  'recipe_policy.c',"),
            ('partition/policy.h', 'extern const hdst__policy hdst__policy_one_worker', 'extern const hdst__policy hdst__policy_recipe;')],
           ('partition/policies.c', '&hdst__policy_one_worker,', '    &hdst__policy_recipe,'),
           'examples/kmeans', '{build}/examples/kmeans --device interp --clusters 1 --input {tree}/tests/package/recipes/numbers.csv',
           'recipe: a policy gives 1 records from 2 on'),
    Recipe('a file format', 'format.c', 'io/source_recipe.c',
           [('io/meson.build', "'source_raw.c'", "  'source_recipe.c',"),
            ('io/source.h', 'hdst__source *hdst__source_csv(', 'hdst__source *hdst__source_recipe(const hdst__allocator *allocator, const char *path, '
             'const char *columns, const hdst__cancel *cancel, hdst_error *error);')],
           ('io/source_open.c', '{hdst__source_csv, {', '    {hdst__source_recipe, {".recipe"}, NULL},'),
           'examples/sort', '{build}/examples/sort --device interp --input {tree}/numbers.recipe', 'recipe: a format reads '),
    Recipe('an operator', 'operator.c', 'plan/op_recipe.c',
           [('plan/meson.build', "'op_reduce.c'", "  'op_recipe.c',"),
            ('hdst/hdst.h', 'hdst_dataset *hdst_slice(', 'HDST_API hdst_dataset *hdst_recipe(hdst_dataset *dataset);'),
            ('meson.build', "subdir('tools')", "executable('recipe-operator', 'recipe_operator.c', dependencies: hdst_internal_dep)")],
           ('plan/operator.h', 'X(layout) ', '    X(recipe) \\'),
           'recipe-operator', '{build}/recipe-operator', 'recipe: an operator, then a map: 1 3 5\n'),
    Recipe('a workload', 'workload.c', 'examples/recipe/main.c', [],
           ('examples/meson.build', "'sort': [", "  'recipe': [[], []],"),
           'examples/recipe', '{build}/examples/recipe --device interp --input {tree}/tests/package/recipes/numbers.csv', 'recipe: a workload counts 3 rows'),
]


def put_line(tree, where, before, line):
    """One place only, so that a recipe cannot hit another table than it means."""
    found = [(path, number) for path in sorted(tree.glob(where)) for number, text in enumerate(path.read_text().splitlines()) if before in text]
    if len(found) != 1:
        sys.exit(f'recipes.py: {len(found)} lines of {where} contain {before}')
    path, number = found[0]
    lines = path.read_text().splitlines()
    path.write_text('\n'.join(lines[:number] + [line] + lines[number:]) + '\n')


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', **options)


def build(folder, targets):
    done = run(['ninja', '-C', str(folder), *targets])
    if done.returncode:
        sys.exit(f'recipes.py: building {" ".join(targets)}:\n{done.stdout[-4000:]}')


def called(recipe, tree, folder):
    command = recipe.command.format(tree=tree, build=folder).split()
    return os.path.exists(command[0]) and recipe.says in run(command).stdout


def main():
    source, wrong = pathlib.Path(sys.argv[1]).resolve(), []
    with tempfile.TemporaryDirectory(prefix='hdst-recipes-') as temporary:
        tree, folder = pathlib.Path(temporary) / 'tree', pathlib.Path(temporary) / 'build'
        shutil.copytree(source, tree, symlinks=True, ignore=LEFT_OUT)
        for recipe in RECIPES:
            (tree / recipe.place).parent.mkdir(exist_ok=True)
            shutil.copy(HERE / 'recipes' / recipe.file, tree / recipe.place)
            for edit in recipe.named:
                put_line(tree, *edit)
        shutil.copy(HERE / 'recipes/numbers.csv', tree / 'numbers.recipe')
        shutil.copy(HERE / 'recipes/operator_program.c', tree / 'recipe_operator.c')
        done = run(['meson', 'setup', str(folder), str(tree), '-Dtests=disabled', '-Dbench=false', '-Doptimization=0', '-Dwerror=true'])
        if done.returncode:
            sys.exit(f'recipes.py: meson setup:\n{done.stdout[-4000:]}')
        build(folder, sorted({recipe.target for recipe in RECIPES} - {'examples/recipe'}))
        for recipe in RECIPES:
            if called(recipe, tree, folder):
                wrong.append(f'{recipe.kind} is called without a line in the table')
        for recipe in RECIPES:
            put_line(tree, *recipe.table)
        build(folder, sorted({recipe.target for recipe in RECIPES}))
        for recipe in RECIPES:
            if called(recipe, tree, folder):
                print(f'{recipe.kind}: {recipe.place} and a line in {recipe.table[0]}')
            else:
                wrong.append(f'{recipe.kind} with a line in {recipe.table[0]} is not called')
    print('\n'.join(wrong))
    sys.exit(bool(wrong))


main()
