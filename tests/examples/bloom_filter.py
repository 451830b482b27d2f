# SPDX-License-Identifier: Apache-2.0
"""The bloom-filter program against a filter made here and exact sets. usage: bloom_filter.py EXECUTABLE SOURCE"""
import array
import math
import random
import struct

from run import IRIS, check, expect_error, have_cpu, main, read_npy, result, run, write_npy

DEVICES = ["interp"]
ARGUMENTS = ["--input", IRIS, "--columns", "0-3"]
MASK = (1 << 64) - 1


def find_devices():
    if have_cpu(*ARGUMENTS):
        DEVICES.append("cpu")


def mix(state):
    """The first number of SplitMix64."""
    z = (state + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


def places(key, bits, hashes):
    first = 0
    for number in key:
        first = mix(first ^ struct.unpack("<Q", struct.pack("<d", number + 0.0))[0])
    step = mix(first) | 1
    return [((first + i * step & MASK) >> 32) * bits >> 32 for i in range(hashes)]


def filter_of(keys, bits, hashes):
    return {at for key in keys for at in places(key, bits, hashes)}


def read_table(path, kind):
    return array.array(kind, read_npy(path)[1]).tolist()


def bits_of(words):
    return {64 * i + b for i, word in enumerate(words) for b in range(64) if word >> b & 1}


def write_csv(path, rows):
    with open(path, "w") as file:
        for row in rows:
            file.write(",".join(map(repr, row)) + "\n")


def the_table_is_that_of_the_definition():
    random.seed(3)
    keys = [(float(random.randrange(1 << 40)), random.random()) for _ in range(3000)] + [(0.0, -1.5), (math.inf, 5e-324)]
    write_csv("keys.csv", keys)
    for bits, hashes in ((1, 1), (1000, 1), (40009, 5), (1 << 20, 64), (1 << 24, 2)):
        right = filter_of(keys, bits, hashes)
        for device in DEVICES:
            got = result("--input", "keys.csv", "--bits", bits, "--hashes", hashes, "--output", "table.npy", "--device", device)["result"]
            table = read_table("table.npy", "Q")
            check(len(table) == (bits + 63) // 64 and bits_of(table) == right, f"{bits}, {hashes}, {device}: another table")
            want = {"inserted": 3002, "set_bits": len(right), "false_positive_rate": math.pow(len(right) / bits, hashes),
                    "bits": bits, "hashes": hashes}
            check(got == want, f"{got}")


def membership_is_that_of_exact_sets_but_for_the_stated_rate():
    random.seed(11)
    numbers = random.sample(range(1 << 50), 60000)
    inserted, others = set(numbers[:20000]), numbers[20000:]
    write_csv("in.csv", [(x,) for x in inserted])
    write_csv("asked.csv", [(x,) for x in others + numbers[:20000]])
    for bits, hashes in ((200000, 7), (80000, 3)):
        answers = []
        for device in DEVICES:
            got = result("--input", "in.csv", "--bits", bits, "--hashes", hashes, "--lookup", "asked.csv", "--found", "found.npy", "--device", device)["result"]
            found = read_table("found.npy", "B")
            answers.append(found)
            false = sum(found[:40000])
            check(all(found[40000:]), f"{bits}, {device}: a record that was inserted is not found")
            check(got["found"] == sum(found) and got["looked_up"] == 60000, f"{got}")
            rate = got["false_positive_rate"]
            check(abs(false - 40000 * rate) < 5 * math.sqrt(40000 * rate), f"{bits}, {device}: {false} false answers, the rate says {40000 * rate}")
            full = 1 - math.exp(-hashes * 20000 / bits)      # the part of the bits that random places set
            check(abs(got["set_bits"] / bits - full) < 5 * math.sqrt(full * (1 - full) / bits), f"{got}")
        check(all(a == answers[0] for a in answers), f"{bits}: devices differ")


def equal_numbers_are_equal_keys():
    write_csv("zeros.csv", [(0.0,), (-0.0,), (math.nan,), (3,)])
    write_npy("floats.npy", 4, 1, [-0.0, 3, math.nan, 0.0])     # float32
    got = result("--input", "zeros.csv", "--lookup", "floats.npy", "--bits", 1 << 24, "--device", DEVICES[-1])["result"]
    check(got["found"] == 4 and got["set_bits"] == 21, f"{got}")


def defaults_suit_the_input():
    code, out, _ = run(*ARGUMENTS, "--device", "interp", "--lookup", IRIS, "--quiet")
    got = result(*ARGUMENTS, "--device", "interp")["result"]
    check(got["bits"] == 1500 and got["hashes"] == 7 and got["inserted"] == 150, f"{got}")
    check(code == 0 and f"{got['set_bits']} of 1500 bits" in out.decode() and "150 of 150 records found" in out.decode(), f"{out}")
    for layout in ("aos", "aosoa", "aop"):
        check(result(*ARGUMENTS, "--device", DEVICES[-1], "--layout", layout)["result"] == got, f"{layout} differs")


def misuse_is_told():
    expect_error(2, ["--bits", "1 to"], *ARGUMENTS, "--bits", 0)
    expect_error(2, ["--bits", "1 to"], *ARGUMENTS, "--bits", (1 << 32) + 1)
    expect_error(2, ["--hashes", "1 to"], *ARGUMENTS, "--hashes", 0)
    expect_error(2, ["--found needs --lookup"], *ARGUMENTS, "--found", "x.npy")
    write_csv("one.csv", [(1,)])
    expect_error(2, ["'0-3'"], *ARGUMENTS, "--lookup", "one.csv", "--device", "interp")
    expect_error(2, ["1 columns, --input 2"], "--input", "keys.csv", "--lookup", "one.csv", "--device", "interp")
    expect_error(6, ["nowhere.csv"], *ARGUMENTS, "--lookup", "nowhere.csv", "--device", "interp")
    write_npy("empty.npy", 0, 2, [])
    expect_error(2, ["no rows"], "--input", "empty.npy")


main(find_devices, the_table_is_that_of_the_definition, membership_is_that_of_exact_sets_but_for_the_stated_rate, equal_numbers_are_equal_keys,
     defaults_suit_the_input, misuse_is_told)
