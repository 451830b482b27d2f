# SPDX-License-Identifier: Apache-2.0
"""Equal bits: every example gives the same results, bit for bit, on all devices. A digest of each one's results on each device, as a table; exit code
1 where two differ, 77 where there were no two devices to compare.

usage: equal_bits.py FOLDER-OF-EXAMPLES DEVICE...        (devices as --device names them; one that is not there is left out, and said so)

The inputs are made here, of a generator's own numbers, so the digests also agree between machines. FOLDER-OF-EXAMPLES is build/examples; HDST_EXAMPLES_DIR says
where the kernels are, if the programs do not find them."""
import array
import hashlib
import json
import os
import struct
import subprocess
import sys
import tempfile

MASK = (1 << 64) - 1
NO_DEVICE = 4       # exit code
SKIPPED = 77         # as Meson has it


class Numbers:
    """splitmix64 (Steele, Lea and Flood, 2014): the same numbers everywhere, whatever Python does."""

    def __init__(self, seed):
        self.state = seed

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def uniform(self, low, high):
        return low + (high - low) * (self.bits() >> 11) * 2.0 ** -53

    def hill(self, center, spread):
        """Like a normal number, without a logarithm, which libraries round in different ways."""
        total = 0.0         # sum() adds in another way from Python 3.12 on
        for _ in range(4):
            total += self.uniform(-1, 1)
        return center + spread * total


def write_npy(path, rows, code):
    header = f"{{'descr': '<{'f8' if code == 'd' else 'f4'}', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(array.array(code, [value for row in rows for value in row]).tobytes())


def make_points(numbers, count):
    """In five heaps of four coordinates, and which heap each is in."""
    centers = [[numbers.uniform(-50, 50) for _ in range(4)] for _ in range(5)]
    rows = []
    for i in range(count):
        heap = numbers.bits() % 5
        rows.append([numbers.hill(c, 6) for c in centers[heap]] + [heap])
    return rows, centers


def make_inputs(folder):
    numbers = Numbers(20)
    points, centers = make_points(numbers, 5000)
    write_npy(f"{folder}/points.npy", [row[:4] for row in points], "f")
    write_npy(f"{folder}/classes.npy", points[:1000], "f")
    write_npy(f"{folder}/centers.npy", centers, "f")
    # What the expiry, the rate and so on of an option may be, some of them at once expired or sure.
    options = [[numbers.uniform(5, 150), numbers.uniform(5, 150), numbers.uniform(-0.01, 0.1), numbers.uniform(0, 0.05),
                0.0 if i % 50 == 0 else numbers.uniform(0.05, 0.9), 0.0 if i % 70 == 0 else numbers.uniform(0.01, 5)] for i in range(5000)]
    write_npy(f"{folder}/options.npy", options, "d")
    table = []
    for _ in range(5000):
        x = [numbers.hill(0, 3), numbers.hill(100, 20), numbers.uniform(0, 1)]
        line = 3 + 0.5 * x[0] - 0.25 * (x[1] - 100) + 7 * x[2]
        table.append(x + [numbers.hill(line, 1), 1.0 if line + numbers.hill(0, 4) > 6 else 0.0])
    write_npy(f"{folder}/table.npy", table, "d")
    write_npy(f"{folder}/matrix.npy", [[numbers.uniform(-1, 1) + (3 if i == j else 0) for j in range(80)] for i in range(80)], "f")
    write_npy(f"{folder}/graph.npy", [[numbers.bits() % 3000, numbers.bits() % 3000] for _ in range(4000)], "d")
    write_npy(f"{folder}/weighted.npy", [[numbers.bits() % 1000, numbers.bits() % 1000, numbers.uniform(0, 9)] for _ in range(5000)], "d")


def workloads(at):
    """The program and its arguments; OUT stands for a file, whose bytes count too."""
    points = ["--input", f"{at}/points.npy"]
    return [
        ("bfs", ["--input", f"{at}/graph.npy", "--source", "1", "--vertices", "3000", "--output", "OUT"]),
        ("black-scholes", ["--input", f"{at}/options.npy", "--output", "OUT"]),
        ("bloom-filter", points + ["--bits", "20000", "--lookup", f"{at}/centers.npy", "--output", "OUT"]),
        ("classification", points + ["--centers", f"{at}/centers.npy", "--output", "OUT"]),
        ("connected-components", ["--input", f"{at}/graph.npy", "--output", "OUT"]),
        ("fuzzy-cmeans", points + ["--clusters", "5", "--iterations", "8", "--output", "OUT"]),
        ("genetic", points + ["--clusters", "5", "--generations", "6", "--population", "16", "--output", "OUT"]),
        ("hist-movies", ["--input", f"{at}/classes.npy", "--columns", "4,0", "--output", "OUT"]),
        ("hist-ratings", points + ["--columns", "2", "--output", "OUT"]),
        ("histogram", points + ["--output", "OUT"]),
        ("kmeans", points + ["--clusters", "5", "--output", "OUT"]),
        ("linear-regression", ["--input", f"{at}/table.npy", "--columns", "0-3", "--target", "3", "--degree", "2", "--output", "OUT"]),
        ("log-statistics", ["--input", f"{at}/classes.npy", "--key", "4", "--value", "1", "--output", "OUT"]),
        ("logistic-regression", ["--input", f"{at}/table.npy", "--columns", "0-2,4", "--target", "4", "--output", "OUT"]),
        ("matrix-vector", ["--input", f"{at}/matrix.npy", "--iterations", "20", "--output", "OUT"]),
        ("monte-carlo", ["--paths", "20000", "--output", "OUT"]),
        ("neural-net", ["--input", f"{at}/classes.npy", "--target", "4", "--hidden", "9", "--epochs", "2", "--output", "OUT"]),
        ("pagerank", ["--input", f"{at}/graph.npy", "--output", "OUT"]),
        ("sort", points + ["--key", "2,0", "--output", "OUT"]),
        ("sssp", ["--input", f"{at}/weighted.npy", "--source", "1", "--vertices", "1000", "--output", "OUT"]),
        ("triangles", ["--input", f"{at}/graph.npy", "--output", "OUT"]),
    ]


def digest(folder, name, arguments, device, scratch):
    """Of the results and the output file. None: no such device. A program that fails ends this one."""
    out = f"{scratch}/out.npy"
    command = [f"{folder}/{name}", *[out if a == "OUT" else a for a in arguments], "--seed", "5", "--device", device, "--json", "--quiet"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode == NO_DEVICE:
        return None
    if done.returncode:
        sys.exit(f"equal_bits: {name} on {device}: exit code {done.returncode}: {done.stderr.decode()}")
    hashed = hashlib.sha256(json.dumps(json.loads(done.stdout)["result"], sort_keys=True).encode())
    with open(out, "rb") as file:
        hashed.update(file.read())
    os.remove(out)
    return hashed.hexdigest()[:16]


def compare(folder, devices, scratch):
    """Prints the table. How many workloads have results that differ, and how many were on two devices."""
    different = compared = 0
    print(f"{'':22}" + "".join(f"{device:18}" for device in devices))
    for name, arguments in workloads(scratch):
        found = [digest(folder, name, arguments, device, scratch) for device in devices]
        distinct = {d for d in found if d}
        different += len(distinct) > 1
        compared += sum(d is not None for d in found) > 1
        print(f"{name:22}" + "".join(f"{d or '(not there)':18}" for d in found) + ("  DIFFERENT" if len(distinct) > 1 else ""), flush=True)
    return different, compared


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder, devices = os.path.abspath(sys.argv[1]), sys.argv[2:]
    with tempfile.TemporaryDirectory() as scratch:
        make_inputs(scratch)
        different, compared = compare(folder, devices, scratch)
    print(f"{different} of {compared} workloads differ between devices" if different else f"{compared} workloads with equal bits on all devices that are there")
    sys.exit(1 if different else SKIPPED if len(devices) > 1 and not compared else 0)


if __name__ == "__main__":
    main()
