# SPDX-License-Identifier: Apache-2.0
"""Programs over memory budgets in steps of a few per cent: each ends with the result that it has without a budget, or says that memory is out and what
helps, and what runs in some budget runs in every larger one. usage: budget_sweep.py FOLDER-OF-EXAMPLES SOURCE [PER-CENT]"""
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile

FOLDER, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
STEP = float(sys.argv[3]) if len(sys.argv) > 3 else 15
LOW, HIGH = 300 << 10, 3 << 20
NO_DEVICE, NO_MEMORY, SKIPPED = 4, 5, 77


def write_graph(path):
    numbers = random.Random(3)
    with open(path, "w") as file:
        for _ in range(12000):
            file.write(f"{numbers.randrange(3000)} {numbers.randrange(3000)}\n")


def programs(folder):
    coast = os.path.join(SOURCE, "examples", "kmeans", "data", "coast.csv")
    return [("kmeans", ["--input", coast, "--clusters", "6"]), ("kmeans", ["--input", coast, "--clusters", "6", "--layout", "soa"]),
            ("bfs", ["--input", f"{folder}/graph.txt", "--source", "1"]), ("bfs", ["--input", f"{folder}/graph.txt", "--source", "1", "--undirected"]),
            ("sort", ["--input", coast, "--columns", "0-1", "--key", "1,0"])]


def run(folder, name, arguments, device, budget):
    """Exit code, and a digest of the results or what the program says."""
    out = f"{folder}/out.csv"
    command = [f"{FOLDER}/{name}", *arguments, "--seed", "5", "--device", device, "--json", "--quiet", "--output", out]
    done = subprocess.run(command + (["--memory", str(budget)] if budget else []), stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode:
        return done.returncode, done.stderr.decode()
    hashed = hashlib.sha256(json.dumps(json.loads(done.stdout)["result"], sort_keys=True).encode())
    with open(out, "rb") as file:
        hashed.update(file.read())
    return 0, hashed.hexdigest()


def sweep(folder, name, arguments, device):
    """What is wrong."""
    code, right = run(folder, name, arguments, device, 0)
    if code == NO_DEVICE:
        return None
    wrong, least, budget = [f"without a budget: {right}"] if code else [], 0, LOW
    while budget < HIGH:
        code, got = run(folder, name, arguments, device, budget)
        if code == 0:
            least = least or budget
        if code == 0 and got != right:
            wrong.append(f"{budget}: another result")
        if code == NO_MEMORY and least:
            wrong.append(f"runs in {least}, not in {budget}: {got}")
        if code not in (0, NO_MEMORY) or (code and "hint: " not in got):
            wrong.append(f"{budget}: code {code}: {got}")
        budget += int(budget * STEP / 100)
    if not least:
        wrong.append(f"runs in nothing below {HIGH}")
    print(f"{name} on {device}: runs from {least >> 10} KiB", flush=True)
    return wrong


def main():
    wrong, ran = [], 0
    with tempfile.TemporaryDirectory() as folder:
        write_graph(f"{folder}/graph.txt")
        for device in ("interp", "cpu"):
            for name, arguments in programs(folder):
                found = sweep(folder, name, arguments, device)
                ran += found is not None
                wrong += [f"{name} {arguments} on {device}: {words}" for words in found or []]
    for words in wrong:
        print("FAIL:", words)
    sys.exit(1 if wrong else 0 if ran else SKIPPED)


main()
