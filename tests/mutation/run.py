#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutation testing: mistakes made on purpose (list.txt), one at a time, in a copy of the tree; the tests named beside each must notice.

    tests/mutation/run.py                       all of them
    tests/mutation/run.py --some 10 [--seed N]  a few, other ones each day; the seed is printed
    tests/mutation/run.py --only TEXT           those whose file, text or tests contain TEXT

An entry of the list:

    @ FILE | TEST...        a test's name as Meson has it, or SUITE/NAME; behind a colon, which of its parts (Criterion's pattern)
    - what stands there     exactly once in the file; several lines where one is not enough
    + what is put there

A mutation counts as caught when one of its tests fails, breaks down, or runs ten times as long as it should. One that does not match, or does not compile, is a mistake of the list.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


class Mutation:
    def __init__(self, line, file, tests):
        self.line, self.file, self.tests = line, file, tests
        self.old, self.new = [], []

    def name(self):
        return f"list.txt:{self.line}: {self.file}: {self.old[0].strip()}"


def read_list(path):
    mutations = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            mark, text = line[:2], line[2:]
            if mark == "@ " and text.count("|") == 1:
                where, tests = text.split("|")
                mutations.append(Mutation(number, where.strip(), tests.split()))
            elif line[:1] in "-+" and mutations:
                (mutations[-1].old if line[0] == "-" else mutations[-1].new).append(text)
            else:
                sys.exit(f"{path}:{number}: '@ FILE | TEST...', '- TEXT' or '+ TEXT' is expected")
    for m in mutations:
        if not m.old or not m.tests:
            sys.exit(f"{path}:{m.line}: nothing to replace, or no test")
    return mutations


def mutated(text, m):
    """The file's text with the mutation; None when what it replaces is not there exactly once."""
    old, new = "\n".join(m.old), "\n".join(m.new)
    return text.replace(old, new) if text.count(old) == 1 else None


def copy_tree(to):
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
    for name in filter(None, names):
        if os.path.isfile(os.path.join(ROOT, name)):
            os.makedirs(os.path.dirname(os.path.join(to, name)), exist_ok=True)
            shutil.copy2(os.path.join(ROOT, name), os.path.join(to, name))


class Tree:
    """The copy, its build folder and its tests."""

    def __init__(self, folder):
        self.source, self.build = os.path.join(folder, "tree"), os.path.join(folder, "build")
        copy_tree(self.source)
        self.check(["meson", "setup", self.build, self.source, "-Dtests=enabled"])
        self.tests, targets = (json.loads(subprocess.run(["meson", "introspect", self.build, what], check=True, stdout=subprocess.PIPE).stdout) for what in ("--tests", "--targets"))
        self.files_of = {target["id"]: target["filename"] for target in targets}
        self.environment = dict(os.environ, HDST_CACHE_DIR=os.path.join(folder, "kernels"), POCL_CACHE_DIR=os.path.join(folder, "pocl"), TMPDIR=os.path.join(folder, "tmp"))
        for name in ("kernels", "pocl", "tmp"):
            os.mkdir(os.path.join(folder, name), 0o700)
        self.seconds = {}

    def check(self, command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            sys.exit(f"{' '.join(command)}:\n{done.stdout.decode(errors='replace')[-4000:]}")

    def find(self, wanted):
        """(command, environment, directory, targets) of a test."""
        name, _, part = wanted.partition(":")
        found = [t for t in self.tests if t["name"] == name] or [t for t in self.tests if any(s.split(":")[-1] + "/" + t["name"] == name for s in t["suite"])]
        if len(found) != 1:
            sys.exit(f"list.txt: {len(found)} tests are called '{name}'")
        test = found[0]
        command = test["cmd"] + (["--filter", "*/" + part] if part else [])
        built = [word for word in test["cmd"] if word.startswith(self.build + os.sep) and not os.path.isdir(word)]
        built += [name for target in test.get("depends", []) for name in self.files_of.get(target, [])]
        return command, dict(self.environment, **{k: v for k, v in test["env"].items() if not k.startswith("HDST_CACHE")}), test["workdir"] or self.build, [os.path.relpath(b, self.build) for b in built]

    def compile(self, tests):
        targets = sorted({target for test in tests for target in self.find(test)[3]})
        known = subprocess.run(["ninja", "-C", self.build, "-t", "targets", "all"], check=True, stdout=subprocess.PIPE).stdout.decode()
        return subprocess.run(["ninja", "-C", self.build] + [t for t in targets if f"{t}:" in known], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, test, limit):
        """Why it failed, or None. Processes that it left behind end with it."""
        command, environment, directory, _ = self.find(test)
        process = subprocess.Popen(command, env=environment, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            return f"{test} did not end"
        text = output.decode(errors="replace")
        if part_of(test) and "Tested: 0" in text:
            sys.exit(f"list.txt: no part of a test is called '{test}'")
        if process.returncode == 0:
            return None
        self.output = text
        return f"{test} failed"

    def baseline(self, tests):
        """Tests that were not run yet pass as the tree is; the first run fills the caches of kernels too, so a mutation's takes less time, not more."""
        tests = [test for test in tests if test not in self.seconds]
        if not tests:
            return
        done = self.compile(tests)
        if done.returncode:
            sys.exit(done.stdout.decode(errors="replace")[-4000:])
        for test in tests:
            begin = time.monotonic()
            why = self.run(test, None)
            if why:
                sys.exit(f"{why} without any mutation:\n{self.output[-4000:]}")
            self.seconds[test] = time.monotonic() - begin

    def attempt(self, m):
        """How it was caught; None when it was not."""
        self.baseline(m.tests)
        path = os.path.join(self.source, m.file)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(mutated(text, m))
            done = self.compile(m.tests)
            if done.returncode:
                return "!" + done.stdout.decode(errors="replace")[-1500:]
            for test in m.tests:
                why = self.run(test, 60 + 10 * self.seconds[test])
                if why:
                    return why
            return None
        finally:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)


def part_of(test):
    return ":" in test


def choose(mutations, options):
    if options.only:
        return [m for m in mutations if options.only in " ".join([m.file, *m.tests, *m.old])]
    if not options.some:
        return mutations
    seed = options.seed if options.seed is not None else int(time.time()) // 86400
    print(f"mutation: {options.some} of {len(mutations)}, seed {seed}", flush=True)
    order = list(range(len(mutations)))
    random.Random(0).shuffle(order)             # files mixed; all have had their turn after len / some days
    begin = seed * options.some % len(order)
    return [mutations[i] for i in sorted((order + order)[begin:begin + options.some])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--some", type=int, help="so many")
    parser.add_argument("--seed", type=int, help="which ones (the day)")
    parser.add_argument("--only", help="those that contain this text")
    parser.add_argument("--check", action="store_true", help="only look whether the list matches the files")
    options = parser.parse_args()
    mutations = read_list(os.path.join(HERE, "list.txt"))
    bad = 0
    for m in mutations:
        with open(os.path.join(ROOT, m.file), encoding="utf-8") as file:
            if mutated(file.read(), m) is None:
                print(f"{m.name()}: is not there exactly once")
                bad += 1
    if bad or options.check:
        print(f"mutation: {len(mutations)} in the list, {bad} that do not match")
        sys.exit(bad > 0)
    chosen = choose(mutations, options)
    survivors = broken = 0
    with tempfile.TemporaryDirectory(prefix="hdst-mutation-") as folder:
        tree = Tree(folder)
        print(f"mutation: the tree is copied; {len(chosen)} to go", flush=True)
        for m in chosen:
            begin = time.monotonic()
            how = tree.attempt(m)
            survivors += how is None
            broken += how is not None and how.startswith("!")
            verdict = "SURVIVED " + " ".join(m.tests) if how is None else f"DOES NOT COMPILE {how[1:]}" if how.startswith("!") else f"caught: {how}"
            print(f"{m.name()}\n    {verdict} ({time.monotonic() - begin:.0f} s)", flush=True)
    print(f"mutation: {len(chosen)} tried, {len(chosen) - survivors - broken} caught, {survivors} survived, {broken} did not compile")
    sys.exit(survivors + broken > 0)


if __name__ == "__main__":
    main()
