# SPDX-License-Identifier: Apache-2.0
"""Random pipelines that are run again and again while what they read changes: records of any shape, texts and numbers that are not finite in keys and sums,
loops, caches, runs that are cancelled and allocations that fail between, budgets that are hardly enough. What must come out is found here, in plain Python
(again_functions.py, again_plans.py); the engine runs behind run_again.c.

usage: again.py PROGRAM FIRST-SEED COUNT [KERNELS]

Each seed runs in the interpreter, and so many of the first ones (0: none) in one other form each. SECONDS@ in place of COUNT: as many as begin in that time.
HDST_DIFF_FORMS names the other forms, HDST_DIFF_NUMBERS says how many cases are of numbers (0 to 1), HDST_DIFF_SHOW=1 tells all cases,
HDST_DIFF_KEEP=FOLDER keeps the commands and files of those that are wrong."""
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

from again_files import MODULE, Files
from again_functions import Fail, Module
from again_numbers import Numbers, Pipelines
from again_plans import Empty, Plans, Source, TooMany
from again_records import random_record, random_rows

USAGE, MEMORY, RECORD, CANCELLED = 2, 8, 11, 13
FORMS = ["cpu", "gpu", "team", "two"]
TYPES, TYPES_OF_NUMBERS = 60, 40        # random types; kernels of each are compiled for each form, which takes longest
OF_NUMBERS = float(os.environ.get("HDST_DIFF_NUMBERS", 0.25))        # of cases that are not of files


class Died(Exception):
    pass


class Driver:
    def __init__(self, path):
        self.path, self.process, self.log = path, None, []

    def do(self, *words):
        line = " ".join(map(str, words))
        self.log.append(line)
        if not self.process:
            self.process = subprocess.Popen([self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, errors="replace")
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            self.died()

    def ask(self, *words):
        self.do(*words)
        answer = self.process.stdout.readline()
        if not answer:
            self.died()
        return answer.rstrip("\n")

    def more(self):
        """One more line of an answer that has several."""
        answer = self.process.stdout.readline()
        if not answer:
            self.died()
        return answer.rstrip("\n")

    def died(self):
        status, self.process = self.process.wait(), None
        raise Died(f"the program ended with status {status}")

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


class Case:
    """One context: a pipeline or several, and runs of them."""

    def __init__(self, driver, seed, folder, form):
        self.driver, self.seed, self.folder, self.dice = driver, seed, folder, random.Random(seed)
        self.driver.log = []
        self.told, self.errors, self.numbers, self.values, self.caches, self.looped, self.sources = [], [], {}, {}, [], [], []
        self.runs, self.second, self.outcomes = 0, None, []
        type_dice = random.Random(self.dice.randrange(TYPES))
        self.module = Module(type_dice, *random_record(type_dice))
        self.of_files = self.dice.random() < 0.2
        numbers = random.Random(seed + 0.5)
        self.of_numbers = numbers.random() < OF_NUMBERS and not self.of_files
        self.skips = self.of_numbers and numbers.random() < 0.6
        if self.of_numbers:
            self.module = Numbers(random.Random(numbers.randrange(TYPES_OF_NUMBERS)))
        self.most = min(3000 if self.of_numbers else 20000, 400000 // self.module.record.size)
        self.context(form)

    def do(self, *words):
        self.driver.do(*words)

    def ask(self, *words):
        return self.driver.ask(*words)

    def tell(self, *words):
        self.told.append(" ".join(map(str, words)))

    def wrong(self, what):
        self.errors.append(what)

    def new(self, kind):
        self.numbers[kind] = self.numbers.get(kind, 0) + 1
        return self.numbers[kind]

    def value(self, _, rows):
        number = self.new("value")
        self.values[number] = rows
        return number

    def number_value(self, n):
        value = self.value("uint32_t", [(n,)])
        self.do("value", value, "uint32_t")
        self.set_number(value, n)
        return value

    def set_number(self, value, n):
        path = f"{self.folder}/number{value}"
        with open(path, "wb") as file:
            file.write(n.to_bytes(4, "little"))
        if self.ask("set", value, 4, path) != "set 0" and not self.memory:
            self.wrong("a number has no room")
        self.values[value] = [(n,)]

    def size(self):
        sizes = [0, 1, 2, 63, 64, 65, 130, 600, 1000, 4097, self.dice.randrange(1, 3000), self.dice.randrange(1, 20000), 20000]
        return min(self.most, self.dice.choice(sizes))

    def context(self, form):
        dice = self.dice
        way = dice.random()
        self.memory = 0 if way < 0.35 else dice.choice([64, 32, 16, 8]) << 20 if way < 0.6 else int(2 ** dice.uniform(18.5, 24))
        if form != "interp" and self.memory:            # what their driver takes of the allocator for kernels
            self.memory += 4 << 20
        device = self.device = dice.choice([0, 0, 0, 8, 24, 64]) << 20 if form in ("gpu", "two") else 0
        limits = {"sort_least": [1, 1, 5000], "pick_least": [1, 5000], "by_key_device_least": [1, 1, 100], "sort_large_least": [1, 10000],
                  "sort_by_kernels": [0, 1], "slice_records": [64, 128, 1000, 4096], "by_key_table_bits": [4, 8], "by_key_partition_bits": [1, 4, 6],
                  "sort_sample_bytes": [1000, 50000], "copies_after": [0, 1, 2], "combine_least": [1], "combine_bits": [1, 6], "by_key_slice_least": [1, 50]}
        chosen = [f"{name}={dice.choice(values)}" for name, values in limits.items() if dice.random() < 0.35]
        if form in ("team", "two"):
            chosen.append("share_bytes=0")
        self.form = f"{form} memory {self.memory} device {device} {' '.join(chosen)}"
        self.do("context", form, self.memory, device, *(["skip"] if self.skips else []), *chosen)
        path = f"{self.folder}/m.hk"
        with open(path, "w") as file:
            file.write(MODULE if self.of_files else self.module.text)
        self.do("module", path)

    def source(self, kinds, most=None):
        rows = random_rows(self.dice, self.module.record, min(self.size(), most or self.most), self.module.number)
        kind = self.dice.choice([k for k in kinds if k != "raw" or not self.module.record.texts])
        self.tell(f"{self.module.record.name} of {self.module.record.size} bytes, {kind} {len(rows)};")
        source = Source(self, kind, rows)
        self.sources.append(source)
        return source

    def other(self):
        """A second dataset of the same records."""
        if self.second is None or self.dice.random() < 0.3:
            self.second = self.source(["memory", "value", "callback"], 1500)
        return self.plans.stage(self.plans.prepare(self.second.node)) if self.dice.random() < 0.4 else self.second.node

    def build(self):
        self.plans = Plans(self)
        source = self.source(["memory", "memory", "value", "value", "callback", "uncounted", "raw"])
        results = []
        for _ in range(self.dice.choice([1, 1, 2, 3])):
            node = source.node
            loops = len(self.looped)
            if self.dice.random() < 0.3:
                node = (self.plans.delta if self.dice.random() < 0.4 else self.plans.loop)(self.plans.stage(node))
            table = "-"
            if self.dice.random() < 0.15:
                node, table = self.gathered(node), "t"
            elif len(self.looped) == loops or self.dice.random() < 0.6:
                node = self.plans.pipeline(node)
            number = self.new("result")
            self.do("result", number, node.number, node.record.size, table, *node.record.text_offsets)
            results.append((number, node, self.looped[loops:]))
            self.tell("|")
        return results

    def gathered(self, node):
        count = self.dice.choice([1, 2, 7, 300])
        spec = self.new("spec")
        function = self.dice.choice(["gathered", "gathered_too"])
        self.do("spec", spec, function)
        self.do("bind_accum", spec, "t", count)
        return self.plans.unary("spec_map", node, [spec], lambda rows: self.module.table(rows, count), self.module.totals)

    def change(self):
        if self.dice.choice(self.sources).change():
            self.empty_caches()

    def empty_caches(self):
        for cache in self.caches:
            self.do("uncache", cache)

    def run(self, result, node, loops):
        """Whether the case can go on."""
        dice, way = self.dice, self.dice.random()
        extra = []
        if way < 0.12:
            extra = ["cancel", int(10 ** dice.uniform(1.5, 5))]
        elif way < 0.3:
            extra = [dice.choice(["fail", "fail", "late"]), int(10 ** dice.uniform(0, 3.5))]
        self.runs += 1
        if loops:
            self.empty_caches()
        for _, turn in loops:
            if turn and dice.random() < 0.5:
                self.set_number(turn, dice.randrange(3))
        try:
            wanted, fails = node.rows(), None
        except Fail:
            wanted, fails = [], RECORD
        except Empty:
            wanted, fails = [], USAGE
        answer = self.ask("run", result, f"{self.folder}/out", *extra)
        self.note(extra, answer)
        if answer.startswith("ok "):
            self.compare(node, wanted, int(answer.split()[1]), fails, extra, result)
        else:
            self.judge(answer, fails, extra)
            for _, turn in loops:
                if turn:
                    self.set_number(turn, 0)
        return not self.errors and not (loops and not answer.startswith("ok "))

    def note(self, extra, answer):
        self.outcomes.append((extra[0] if extra else "plain", answer.split()[0] + (answer.split()[1] if answer[0] == "e" else "")))

    def compare(self, node, wanted, count, fails, extra, result):
        if fails:
            self.wrong(f"{count} records, not error {fails} {extra}")
            return
        with open(f"{self.folder}/out", "rb") as file:
            data = file.read()
        try:
            found = node.record.unpacked(data, count)
        except struct.error:
            self.wrong(f"run {self.runs} {extra}: a text of a record has no bytes, or too many, in {len(data)} bytes")
            return
        if not node.ordered:
            found, wanted = sorted(found), sorted(wanted)
        if found != wanted:
            at = next((i for i, (a, b) in enumerate(zip(found, wanted)) if a != b), min(len(found), len(wanted)))
            leaves = [leaf.path for leaf, a, b in zip(node.record.leaves, (found + [()])[at], (wanted + [()])[at]) if a != b][:3]
            self.wrong(f"run {self.runs} {extra}: {len(found)} records, not {len(wanted)}; record {at} ({', '.join(leaves)}) is {str(found[at:at + 1])[:400]}, "
                       f"not {str(wanted[at:at + 1])[:400]}; {self.ask('explain', result)[:600]}")

    def judge(self, answer, fails, extra):
        _, code, failed, _, words = answer.split(" ", 4)
        code = int(code)
        if code == fails or (code == CANCELLED and extra[:1] == ["cancel"]):
            return
        if code == MEMORY and (failed == "1" or self.memory or self.device):
            return
        if code == RECORD and self.memory and "room is for" in words:
            return
        self.wrong(f"run {self.runs} {extra}: {answer[:1500]}")

    def go(self):
        if self.of_files:
            Files(self).go()
        elif self.of_numbers:
            Pipelines(self).go()
        else:
            self.pipelines()
        _, blocks, used, peak = self.ask("end").split()
        if not self.errors and (blocks != "0" or used != "0"):
            self.wrong(f"{blocks} blocks with {used} bytes are not given back")
        if self.memory and int(peak) > 1.1 * self.memory + (2 << 20):
            self.wrong(f"{peak} bytes were in use with a budget of {self.memory}")

    def pipelines(self):
        results = self.build()
        try:
            for _ in range(self.dice.choice([2, 3, 4, 6])):
                if not self.run(*self.dice.choice(results)):
                    break
                if self.dice.random() < 0.55:
                    self.change()
        except TooMany:
            pass


def attempt(driver, seed, folder, form):
    """What is wrong, as a text, and the case."""
    case = Case(driver, seed, folder, form)
    try:
        case.go()
    except Died as died:
        case.wrong(str(died))
    return "; ".join(case.errors), case


def forms_here(driver, folder):
    """Those of FORMS that there are devices for."""
    asked = os.environ.get("HDST_DIFF_FORMS", ",".join(FORMS)).split(",")
    found = []
    with open(f"{folder}/few", "wb") as file:
        file.write(bytes(4))
    with open(f"{folder}/few.hk", "w") as file:
        file.write("map same(uint32_t a) -> uint32_t { return a; }\n")
    for form in [f for f in FORMS if f in asked]:
        for line in [f"context {form} 0 0 share_bytes=0", f"module {folder}/few.hk", "value 1 uint32_t", "read_value 1 1", "map 2 1 same", "result 1 2 4 -"]:
            driver.do(line)
        if driver.ask("run", 1, f"{folder}/out").startswith("ok 1"):
            found.append(form)
        driver.ask("end")
    if len(found) < len([f for f in FORMS if f in asked]):
        print(f"no CPU device, or none that can be divided: left out are {', '.join(f for f in FORMS if f in asked and f not in found)}", flush=True)
    return found


def keep(case, driver):
    folder = os.environ.get("HDST_DIFF_KEEP")
    if folder:
        shutil.rmtree(f"{folder}/{case.seed}", ignore_errors=True)
        shutil.copytree(case.folder, f"{folder}/{case.seed}")
        with open(f"{folder}/{case.seed}/script", "w") as file:
            file.write("\n".join(driver.log).replace(case.folder, f"{folder}/{case.seed}") + "\n")


def seeds_of(first, count):
    if count[-1] != "@":
        yield from range(first, first + int(count))
        return
    begun = time.monotonic()
    while time.monotonic() - begun < float(count[:-1]):
        yield first
        first += 1


def main():
    driver, first, kernels = Driver(sys.argv[1]), int(sys.argv[2]), int(sys.argv[4]) if len(sys.argv) > 4 else 1 << 60
    bad, tried, outcomes = 0, 0, {}
    with tempfile.TemporaryDirectory() as folder:
        forms = forms_here(driver, folder) if kernels else []
        for seed in seeds_of(first, sys.argv[3]):
            for form in ["interp"] + ([forms[seed % len(forms)]] if forms and seed - first < kernels else []):
                begun = time.monotonic()
                wrong, case = attempt(driver, seed, folder, form)
                tried += 1
                for outcome in case.outcomes:
                    outcomes[outcome] = outcomes.get(outcome, 0) + 1
                if wrong or os.environ.get("HDST_DIFF_SHOW"):
                    print(f"seed {seed}: {time.monotonic() - begun:.2f} s {case.form}: {' '.join(case.told)}: {wrong}", flush=True)
                if wrong:
                    bad += 1
                    keep(case, driver)
    driver.close()
    print(f"{bad} of {tried} cases are wrong; runs: " + ", ".join(f"{a} {b}: {n}" for (a, b), n in sorted(outcomes.items())))
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
