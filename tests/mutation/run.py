#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutation testing: mistakes made on purpose (list.txt), one at a time, in copies of the tree; the tests named beside each must notice.

    tests/mutation/run.py                       all of them
    tests/mutation/run.py --some 10 [--seed N]  a few, other ones each day; the seed is printed
    tests/mutation/run.py --only TEXT           those whose file, text or tests contain TEXT
    tests/mutation/run.py --rest-of FILE        those that FILE, the output of a run that was ended early, says nothing about
    tests/mutation/run.py --jobs N              so many at the same time, each in a copy of its own (half the processors)

An entry of the list:

    @ FILE | TEST...        a test's name as Meson has it, or SUITE/NAME; behind a colon, which of its parts (Criterion's pattern)
    - what stands there     exactly once in the file; several lines where one is not enough
    + what is put there

First the tests run as the tree is: a test that fails then shows nothing, so it is reported and left out. A mutation counts
as caught when one of its tests fails, breaks down, or runs ten times as long as it should (and --patience). One that does
not match, or does not compile, is a mistake of the list.
"""
import argparse
import json
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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


def sources_of_tests(folder):
    """Their texts, by the name of a test's program; those of one name together."""
    sources = {}
    for at, _, names in os.walk(folder):
        for name in names:
            if name.startswith("test_") and name.endswith(".c"):
                with open(os.path.join(at, name), encoding="utf-8") as file:
                    sources[name[5:-2]] = sources.get(name[5:-2], "") + file.read()
    return sources


def missing_parts(m, sources):
    """What no source has of the parts that a mutation names: a run would end there."""
    missing = []
    for test in m.tests:
        name, _, part = test.partition(":")
        text = sources.get(name.rpartition("/")[2])
        pattern = r"\w*".join(map(re.escape, part.split("*")))
        if part and text is not None and not re.search(rf"\b{pattern}\b", text):
            missing.append(test)
    return missing


class Mistake(Exception):
    """Nothing that could be run shows anything: the list or the build is wrong."""


def tail(output, length):
    return output.decode(errors="replace")[-length:]


def first_complaint(output):
    """The line of a failed test's output that shows whether it noticed the mutation or fell over something else."""
    lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if any(word in line for word in ("Assertion", "CRASH", "FAIL", "rror", "differ"))]
    return (telling or lines[-1:] or ["it says nothing"])[0][:200]


def copy_tree(to):
    """What git knows or would take; without git (a tarball) all but what builds leave behind."""
    command = ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    has_git = shutil.which("git")
    listed = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) if has_git else None
    if not listed or listed.returncode:
        shutil.copytree(ROOT, to, symlinks=True, ignore=shutil.ignore_patterns(".git", ".cache", ".gpu-*", "build*", "*.o", "__pycache__"))
        return
    for name in filter(None, listed.stdout.decode().split("\0")):
        if os.path.isfile(os.path.join(ROOT, name)):
            os.makedirs(os.path.dirname(os.path.join(to, name)), exist_ok=True)
            shutil.copy2(os.path.join(ROOT, name), os.path.join(to, name))


class Running:
    """The tests that run now, so that none is left behind when this script is ended."""

    def __init__(self):
        self.lock, self.processes, self.ended = threading.Lock(), set(), False

    def start(self, command, **options):
        with self.lock:
            if self.ended:
                raise Mistake("ended")
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, **options)
            self.processes.add(process)
            return process

    def finished(self, process):
        with self.lock:
            self.processes.discard(process)

    def end(self):
        with self.lock:
            self.ended = True
            for process in self.processes:
                kill(process)


RUNNING = Running()


def kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Tree:
    """A copy of the tree, its build folder and its tests."""

    def __init__(self, folder, ninjas, told):
        """Of a folder that `make` or `copy` filled, and what Meson told of it. Ninja runs so many commands at once."""
        self.folder, self.told, self.ninja = folder, told, ["ninja", "-j", str(ninjas), "-C", os.path.join(folder, "build")]
        self.source, self.build = os.path.join(folder, "tree"), os.path.join(folder, "build")
        self.tests, targets = map(json.loads, told)
        self.files_of = {target["id"]: target["filename"] for target in targets}
        self.environment = dict(os.environ, HDST_CACHE_DIR=os.path.join(folder, "kernels"),
                                POCL_CACHE_DIR=os.path.join(folder, "pocl"), HDST_BINARY_STARTS="1000000",
                                OCL_ICD_VENDORS=os.path.join(self.build, "tests", "pocl", "vendors"), TMPDIR=os.path.join(folder, "tmp"))

    @staticmethod
    def make(folder):
        copy_tree(os.path.join(folder, "tree"))
        for name in ("kernels", "pocl", "tmp"):
            os.mkdir(os.path.join(folder, name), 0o700)
        for name, ours in (("kernels", "hdst"), ("pocl", "pocl")):      # kernels that `make test` had compiled
            filled = os.path.join(ROOT, "build", "tests", "kernels", ours)
            if os.path.isdir(filled):
                shutil.copytree(filled, os.path.join(folder, name), symlinks=True, dirs_exist_ok=True)
        command = ["meson", "setup", os.path.join(folder, "build"), os.path.join(folder, "tree"), "-Dtests=enabled"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise Mistake(f"{' '.join(command)}:\n{tail(done.stdout, 4000)}")
        asked = [["meson", "introspect", command[2], what] for what in ("--tests", "--targets")]
        told = [subprocess.run(ask, check=True, stdout=subprocess.PIPE).stdout.decode() for ask in asked]
        return Tree(folder, CORES, told)

    def copy(self, folder, ninjas):
        """A copy, compiled as this one is. Meson's files, object files and programs name their folder; the new folder's
        name has the same length, so it is written over the old one in all of them."""
        here, there = self.folder.encode(), folder.encode()
        assert len(here) == len(there)

        def copy_file(source, to):
            with open(source, "rb") as file:
                content = file.read()
            with open(to, "wb") as file:
                file.write(content.replace(here, there))
            shutil.copystat(source, to)         # times too, to the nanosecond: Ninja knows by them that nothing is to be made
            return to

        def left_out(of, names):
            return names if of == os.path.join(self.folder, "tmp") else []

        shutil.copytree(self.folder, folder, symlinks=True, copy_function=copy_file, ignore=left_out)
        return Tree(folder, ninjas, [text.replace(self.folder, folder) for text in self.told])

    def find(self, wanted):
        """(command, environment, directory, targets) of a test."""
        name, _, part = wanted.partition(":")
        found = [t for t in self.tests if t["name"] == name] or [t for t in self.tests if any(s.split(":")[-1] + "/" + t["name"] == name for s in t["suite"])]
        if len(found) != 1:
            raise Mistake(f"list.txt: {len(found)} tests are called '{name}'")
        test = found[0]
        command = test["cmd"] + (["--filter", "*/" + part] if part else [])
        built = [word for word in test["cmd"] if word.startswith(self.build + os.sep) and not os.path.isdir(word)]
        built += [name for target in test.get("depends", []) for name in self.files_of.get(target, [])]
        environment = dict(self.environment, **{k: v for k, v in test["env"].items() if not k.startswith("HDST_CACHE")})
        if "LD_LIBRARY_PATH" in test["env"] and "LD_LIBRARY_PATH" in os.environ:
            environment["LD_LIBRARY_PATH"] = test["env"]["LD_LIBRARY_PATH"] + ":" + os.environ["LD_LIBRARY_PATH"]
        return command, environment, test["workdir"] or self.build, [os.path.relpath(b, self.build) for b in built]

    def compile(self, tests):
        targets = sorted({target for test in tests for target in self.find(test)[3]})
        listed = subprocess.run(self.ninja + ["-t", "targets", "all"], check=True, stdout=subprocess.PIPE).stdout
        known = set(line.rpartition(":")[0] for line in listed.decode().splitlines())
        return subprocess.run(self.ninja + [t for t in targets if t in known], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, test, limit):
        """Why it failed, with its output, or None. Processes that it left behind end with it."""
        command, environment, directory, _ = self.find(test)
        process = RUNNING.start(command, env=environment, cwd=directory)
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            kill(process)
            return "did not end", process.communicate()[0]
        finally:
            RUNNING.finished(process)
        if RUNNING.ended:
            raise Mistake("ended")              # killed, which shows nothing
        if ":" in test and b"Tested: 0" in output:
            raise Mistake(f"list.txt: no part of a test is called '{test}'")
        return ("failed", output) if process.returncode else None

    def attempt(self, m, tests, limit):
        """How it was caught; None when it was not."""
        path = os.path.join(self.source, m.file)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(mutated(text, m))
            done = self.compile(tests)
            if done.returncode:
                return "!" + tail(done.stdout, 1500)
            for test in tests:
                why = self.run(test, limit(test))
                if why:
                    return f"{test} {why[0]}: {first_complaint(why[1])}"
            return None
        finally:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)


def side_by_side(workers, items, work):
    """work(worker, item) for all items, each worker one at a time. What one raises ends all."""
    waiting, raised = queue.SimpleQueue(), []
    for item in items:
        waiting.put(item)

    def take(worker):
        try:
            while not raised:
                work(worker, waiting.get_nowait())
        except queue.Empty:
            pass
        except BaseException as error:          # pylint: disable=broad-except
            raised.append(error)

    threads = [threading.Thread(target=take, args=(worker,), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(1)                      # signals are seen in between
    if raised:
        raise raised[0]


class Session:
    """The mutations of one run of this script, and what came of them."""

    def __init__(self, chosen, options):
        self.chosen, self.patience, self.jobs = chosen, options.patience, max(1, min(options.jobs, len(chosen)))
        self.seconds, self.failing = {}, set()
        self.caught, self.survivors, self.broken, self.left_out = [], [], [], []
        self.lock = threading.Lock()

    def baseline(self, tree):
        """Runs every test as the tree is. That fills the caches of kernels too, so a mutation's run takes less time, not more."""
        tests = list(dict.fromkeys(test for m in self.chosen for test in m.tests))
        done = tree.compile(tests)
        if done.returncode:
            raise Mistake(tail(done.stdout, 4000))
        print(f"mutation: the tree is copied and built; {len(tests)} tests run as it is", flush=True)

        def one(_, test):
            begin = time.monotonic()
            why = tree.run(test, None)
            self.seconds[test] = time.monotonic() - begin
            if why:
                with self.lock:
                    self.failing.add(test)
                    print(f"{test} {why[0]} without any mutation: left out\n{tail(why[1], 2000)}", flush=True)

        side_by_side(range(self.jobs), tests, one)

    def one(self, tree, m):
        begin = time.monotonic()
        tests = [test for test in m.tests if test not in self.failing]
        how = tree.attempt(m, tests, lambda test: self.patience + 10 * self.seconds[test]) if tests else None
        with self.lock:
            if not tests:
                self.left_out.append(m)
                verdict = "LEFT OUT: " + " ".join(m.tests)
            elif how is None:
                self.survivors.append(m)
                verdict = "SURVIVED " + " ".join(tests)
            elif how.startswith("!"):
                self.broken.append(m)
                verdict = "DOES NOT COMPILE " + how[1:]
            else:
                self.caught.append(m)
                verdict = "caught: " + how
            print(f"{m.name()}\n    {verdict} ({time.monotonic() - begin:.0f} s)", flush=True)

    def run(self, folder):
        names = [os.path.join(folder, f"{i:03}") for i in range(self.jobs)]     # of one length: see Tree.copy
        os.mkdir(names[0])
        tree = Tree.make(names[0])
        self.baseline(tree)
        ninjas, trees = max(1, CORES // self.jobs), []
        side_by_side(range(1, self.jobs), names[1:], lambda _, name: trees.append(tree.copy(name, ninjas)))
        trees.append(Tree(names[0], ninjas, tree.told))
        print(f"mutation: {len(self.chosen)} to go, {self.jobs} at a time", flush=True)
        longest_first = sorted(self.chosen, key=lambda m: -sum(self.seconds[test] for test in m.tests)) if self.jobs > 1 else self.chosen
        side_by_side(trees, longest_first, self.one)

    def report(self):
        """The last lines; true when all went as it should."""
        if self.jobs > 1:
            for what, of in (("survived", self.survivors), ("did not compile", self.broken)):
                for m in sorted(of, key=lambda m: m.line):
                    print(f"{what}: {m.name()}")
        if self.failing:
            print("failed without any mutation: " + " ".join(sorted(self.failing)))
        tried = sum(map(len, (self.caught, self.survivors, self.broken)))
        missing = len(self.chosen) - tried
        print(f"mutation: {tried} tried, {len(self.caught)} caught, {len(self.survivors)} survived, "
              f"{len(self.broken)} did not compile" + (f", {missing} of {len(self.chosen)} not tried" if missing else ""),
              flush=True)
        return tried == len(self.caught) and not self.failing and not missing


def choose(mutations, options):
    if options.rest_of:
        with open(options.rest_of, encoding="utf-8") as file:
            lines = [line.rstrip("\n") for line in file]
        told = {line for line, verdict in zip(lines, lines[1:]) if verdict.startswith("    ")}
        mutations = [m for m in mutations if m.name() not in told]
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
    parser.add_argument("--rest-of", metavar="FILE", help="those that this output of an earlier run says nothing about")
    parser.add_argument("--jobs", type=int, default=max(1, CORES // 2), help="so many at the same time (default: half the processors)")
    parser.add_argument("--patience", type=float, default=60, help="seconds that a test may take beside ten times as long as without a mutation (default: 60)")
    parser.add_argument("--check", action="store_true", help="only look whether the list matches the files")
    options = parser.parse_args()
    mutations = read_list(os.path.join(HERE, "list.txt"))
    bad, sources = 0, sources_of_tests(os.path.join(ROOT, "tests"))
    for m in mutations:
        with open(os.path.join(ROOT, m.file), encoding="utf-8") as file:
            if mutated(file.read(), m) is None:
                print(f"{m.name()}: is not there exactly once")
                bad += 1
        for test in missing_parts(m, sources):
            print(f"{m.name()}: no part of a test is called '{test}'")
            bad += 1
    if bad or options.check:
        print(f"mutation: {len(mutations)} in the list, {bad} that do not match")
        sys.exit(bad > 0)
    chosen = choose(mutations, options)
    if not chosen:
        print("mutation: none to try")
        return
    session = Session(chosen, options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("mutation: ended"))
    with tempfile.TemporaryDirectory(prefix="hdst-mutation-", ignore_cleanup_errors=True) as folder:
        try:
            session.run(os.path.realpath(folder))
        except Mistake as mistake:
            sys.exit(str(mistake))
        finally:
            RUNNING.end()
            good = session.report()
    sys.exit(not good)


if __name__ == "__main__":
    main()
