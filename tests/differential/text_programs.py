# SPDX-License-Identifier: Apache-2.0
"""Random programs over texts, in the interpreter and in one other form each: a CPU, kernels as GPUs get them, several devices; with slices of few records,
tables with room for few keys, plenty of memory and little. What must come out is found in Python (text_plans.py), and all forms must agree about the order.
With HDST_DIFF_EACH=cpu,gpu-form every program, of small functions, runs in each of these forms, as many programs at a time as there are processors; on a
machine with a GPU HDST_DIFF_EACH=gpu,pair has them on it, and on it and the first CPU together.

usage: text_programs.py RUN_PLANS FIRST-SEED COUNT [KERNELS]         KERNELS: how many run in another form too, which a compiler takes its time for; else all
HDST_DIFF_SHOW=1 prints programs that are wrong; HDST_DIFF_FORMS=cpu,team: these forms beside the interpreter (none: the interpreter alone)."""
import multiprocessing
import os
import queue
import random
import subprocess
import sys
import tempfile

from text_plans import OPERATORS, Plan

FORMS = ["cpu", "gpu-form", "team", "gpu-team"]      # by turns: odd seeds run in the GPU form (text_plans.py)
RECORD_FAILS = 11
# PoCL takes a third of the time for a CPU's kernel that it does not optimise, but longer for a GPU's.
PLAIN = {"POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable"}


class Runner:
    """run_plans, begun again where it died."""

    def __init__(self, path, environment=None):
        self.path, self.process, self.environment = path, None, {**os.environ, **(environment or {})}

    def ask(self, script):
        """The lines that the script gives for its context, or what became of the process."""
        if not self.process:
            self.process = subprocess.Popen([self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment)
        lines = []
        try:
            self.process.stdin.write(("\n".join(script + ["end"]) + "\n").encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        while True:
            line = self.process.stdout.readline().decode(errors="replace")
            if line == "end\n":
                return lines
            if not line:
                status, self.process = self.process.wait(), None
                return lines + [f"died with status {status}"]
            lines.append(line.rstrip("\n"))

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


def value_of(word):
    return bytes.fromhex(word[1:]) if word[0] == "x" else int(word)


def parsed(lines):
    """("rows", rows, skipped) or ("error", code, record, words)."""
    if lines and lines[0].startswith("rows "):
        count = int(lines[0].split()[1])
        if len(lines) == count + 2:
            return "rows", [tuple(map(value_of, line.split())) for line in lines[1:-1]], int(lines[-1].split()[1])
    if len(lines) == 1 and lines[0].startswith("error "):
        _, code, record, words = lines[0].split(" ", 3)
        return "error", int(code), int(record), words
    return "nothing", "\n".join(lines[:20])


def difference(plan, found, skips):
    """None: it is right."""
    right = plan.answer()
    if right[0] == "error":
        if found[0] == "error" and found[1] == RECORD_FAILS and (right[1] is None or (found[2] == right[1] and right[2] in found[3])):
            return None
        return None if right[1] is None and found[0] == "rows" else f"{str(found)[:1500]}, not an error of record {right[1]} ({right[2]})"
    if found[0] != "rows":
        return None if "has more than 10000 statements" in str(found) else f"{found}"
    rows, wanted = (found[1], right[1]) if right[2] else (sorted(found[1]), sorted(right[1]))
    if rows != wanted:
        at = next((i for i, (a, b) in enumerate(zip(rows, wanted)) if a != b), min(len(rows), len(wanted)))
        return f"{len(rows)} records, not {len(wanted)}; record {at} is {rows[at:at + 1]}, not {wanted[at:at + 1]}"
    if skips and (found[2] % plan.skipped or not found[2] if plan.skipped else found[2]):      # each pass over them counts
        return f"{found[2]} records skipped, not {plan.skipped}"
    return None


def context_of(form, plan, dice):
    lines = [f"form {form}"] + (["skip"] if plan.skip else [])
    if dice.random() < 0.3:
        lines.append(f"memory {dice.choice([64, 160]) << 20}")
    choices = {"slice_records": [64, 128], "combine_least": [1], "combine_bits": [1, 6], "by_key_slice_least": [1, 50], "by_key_slice_rows": [4096],
               "by_key_slice_homes": [4], "by_key_device_least": [1], "sort_least": [1], "pick_least": [1]}
    return lines + [f"limit {name} {dice.choice(values)}" for name, values in choices.items() if dice.random() < 0.4]


def attempt(runner_of, seed, folder, forms, small=False):
    """What is wrong, and the plan. runner_of: of each form."""
    plan, dice = Plan(seed, folder, small), random.Random(seed + (1 << 40))
    path = f"{folder}/{seed}.hk"
    with open(path, "w") as file:
        file.write(plan.kernel)
    first = None
    for form in ["interp"] + forms:
        context = context_of(form, plan, dice) + [f"module {path}"]
        found = parsed(runner_of(form).ask(context + plan.script))
        wrong = difference(plan, found, plan.skip)
        if not wrong and first and first[:2] != found[:2]:
            wrong = f"records in another order than the interpreter has them, or another error: {str(first)[:300]} and {str(found)[:300]}"
        if wrong:
            return f"{'; '.join(context)}: {wrong}", plan
        first = found
    return None, plan


def forms_here(runner, folder):
    wanted, each = os.environ.get("HDST_DIFF_FORMS"), os.environ.get("HDST_DIFF_EACH")
    if wanted is not None:
        return [form for form in FORMS if form in wanted.split(",")]
    asked = each.split(",") if each else FORMS
    with open(f"{folder}/few.txt", "w") as file:
        file.write("a b\n")
    with open(f"{folder}/few.hk", "w") as file:
        file.write("map same(text t) -> text { return t; }\n")
    found = [form for form in asked if "rows 1" in runner.ask([f"form {form}", f"module {folder}/few.hk", f"lines a {folder}/few.txt text", "show a value"])]
    if len(found) < len(asked):
        print(f"no CPU device, or none that can be halved: left out are {', '.join(f for f in asked if f not in found)}")
    return found


def tell(seed, wrong, plan):
    program = plan.kernel.replace(OPERATORS, "") + "\n".join(plan.script)
    print(f"seed {seed}: {wrong}\n{program if os.environ.get('HDST_DIFF_SHOW') else ''}", flush=True)


def each_of(path, forms, seeds, wrong_seeds):
    """A process of its own: takes seeds until there are no more."""
    runners = {form: Runner(path, PLAIN if form == "cpu" else None) for form in ["interp"] + forms}
    with tempfile.TemporaryDirectory() as folder:
        for seed in iter(seeds.get, None):
            wrong, plan = attempt(runners.get, seed, folder, forms, small=True)
            if wrong:
                tell(seed, wrong, plan)
            wrong_seeds.put((seed, wrong is not None))
    for runner in runners.values():
        runner.close()


def all_in_each(path, forms, first, count):
    """How many are wrong."""
    seeds, done, bad = multiprocessing.Queue(), multiprocessing.Queue(), 0
    processes = [multiprocessing.Process(target=each_of, args=(path, forms, seeds, done)) for _ in range(len(os.sched_getaffinity(0)))]
    for seed in [*range(first, first + count)] + [None] * len(processes):
        seeds.put(seed)
    for process in processes:
        process.start()
    for number in range(1, count + 1):
        while True:
            try:
                bad += done.get(timeout=10)[1]
                break
            except queue.Empty:
                if any(process.exitcode for process in processes):
                    for process in processes:
                        process.terminate()
                    sys.exit("a process that runs programs ended before they did")
        if number % 20 == 0:
            print(f"{number} of {count} programs in {', '.join(forms)}: {bad} are wrong", flush=True)
    for process in processes:
        process.join()
    return bad


def all_by_turns(runner, forms, first, count, kernels, folder):
    bad = 0
    for seed in range(first, first + count):
        if seed - first and (seed - first) % 20 == 0:
            print(f"{seed - first} of {count} programs, {bad} are wrong", flush=True)
        turn = [forms[seed % len(forms)]] if forms and seed - first < kernels else []
        wrong, plan = attempt(lambda form: runner, seed, folder, turn)
        if wrong:
            bad += 1
            tell(seed, wrong, plan)
    return bad


def main():
    runner, (first, count, kernels) = Runner(sys.argv[1]), (list(map(int, sys.argv[2:])) + [1 << 62])[:3]
    with tempfile.TemporaryDirectory() as folder:
        forms = forms_here(runner, folder)
        each = "HDST_DIFF_EACH" in os.environ
        bad = all_in_each(sys.argv[1], forms, first, count) if each else all_by_turns(runner, forms, first, count, kernels, folder)
    runner.close()
    print(f"{bad} of {count} programs are wrong")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
