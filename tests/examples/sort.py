# SPDX-License-Identifier: Apache-2.0
"""The sort program against Python's sort, which is stable, equal on every device and through temporary files. usage: sort.py EXECUTABLE SOURCE"""
import array
import os
import random
import resource
import struct
import subprocess

from run import IRIS, PROGRAM, check, expect_error, have_cpu, main, read_npy, result, run, write_npy

DEVICES = ["interp"]
ROWS, COLUMNS = 3000, 3


def find_devices():
    if have_cpu("--input", IRIS, "--columns", "0-3"):
        DEVICES.append("cpu")


def draw_rows(rows, seed):
    draw = random.Random(seed)
    return [[float(draw.randrange(-20, 20)) / 4 for _ in range(COLUMNS)] for _ in range(rows)]


def read_rows(path, code="f"):
    header, data = read_npy(path)
    return header, [list(row) for row in struct.iter_unpack("<" + code * COLUMNS, data)]


def by(*columns):
    return lambda row: [row[c] for c in columns]


def rows_of_floats():
    rows = draw_rows(ROWS, 1)
    write_npy("rows.npy", ROWS, COLUMNS, [x for row in rows for x in row])
    for device in DEVICES:
        for layout in ("aos", "soa"):
            for keys, order in ((["--key", "1"], by(1)), (["--key", "2,0"], by(2, 0)), (["--key", "2", "--key", "0"], by(2, 0)), ([], by(0, 1, 2))):
                for descending in (False, True):
                    arguments = ["--input", "rows.npy", *keys, *["--descending"] * descending, "--device", device, "--layout", layout]
                    got = result(*arguments, "--output", "sorted.npy")
                    check(got["result"] == {"records": ROWS, "sorted": True} and got["workload"] == "sort", f"{arguments}: {got}")
                    # Python's reverse keeps the order of equal elements too.
                    check(read_rows("sorted.npy")[1] == sorted(rows, key=order, reverse=descending), f"{arguments}: another order")


def columns_by_name():
    with open("named.csv", "w", encoding="utf-8") as file:
        file.write("shop,price\n3,2.5\n1,9\n3,1\n2,1\n1,7\n")
    for device in DEVICES:
        for keys, want in ((["--key", "shop"], [(1, 9), (1, 7), (2, 1), (3, 2.5), (3, 1)]),
                           (["--key", "price,shop"], [(2, 1), (3, 1), (3, 2.5), (1, 7), (1, 9)])):
            code, out, err = run("--input", "named.csv", *keys, "--device", device, "--output", "sorted.csv", "--quiet")
            check(code == 0 and out.decode() == "5 rows sorted\n" and err == "", f"{keys}: {out} {err}")
            with open("sorted.csv", encoding="utf-8") as file:
                lines = file.read().split()
            check(lines[0] == "shop,price" and [tuple(map(float, line.split(","))) for line in lines[1:]] == want, f"{keys}: {lines}")


def floats_have_a_total_order():
    bits = [0x7FC00000, 0x80000000, 0, 0xFF800000, 0x7F800000, 0xFFC00000, 0x3F800000, 0xBF800000]
    values = [struct.unpack("<f", struct.pack("<I", b))[0] for b in bits]
    write_npy("special.npy", len(values), 1, values)
    for device in DEVICES:
        check(result("--input", "special.npy", "--device", device, "--output", "sorted.npy")["result"]["sorted"], "special values")
        with open("sorted.npy", "rb") as file:
            got = array.array("I", file.read()[-4 * len(bits):])
        check(list(got) == [0xFFC00000, 0xFF800000, 0xBF800000, 0x80000000, 0, 0x3F800000, 0x7F800000, 0x7FC00000], f"{device}: {[hex(b) for b in got]}")


def more_rows_than_memory():
    rows = draw_rows(200000, 2)
    write_npy("many.npy", len(rows), COLUMNS, [x for row in rows for x in row])
    want = sorted(rows, key=by(1))
    for device in DEVICES:
        got = result("--input", "many.npy", "--key", "1", "--device", device, "--memory", "2M", "--output", "sorted.npy")
        check(got["result"] == {"records": len(rows), "sorted": True}, f"{device}: {got['result']}")
        check(read_rows("sorted.npy")[1] == want, f"{device}: runs give another order")
    expect_error(6, ["TMPDIR"], "--input", "many.npy", "--memory", "2M", "--device", "interp", env={**os.environ, "TMPDIR": "/nowhere/at/all"})


def a_full_disk_leaves_the_output_as_it_was():
    def less_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (500000, 500000))
    with open("kept.npy", "w", encoding="utf-8") as file:
        file.write("kept")
    command = [PROGRAM, "--input", "many.npy", "--memory", "2M", "--device", "interp", "--output", "kept.npy"]
    # Python ignores SIGXFSZ, and so shall the program: signals are not restored.
    done = subprocess.run(command, capture_output=True, check=False, preexec_fn=less_room, restore_signals=False)
    check(done.returncode == 6 and b"TMPDIR" in done.stderr, f"full disk: {done.returncode} {done.stderr}")
    with open("kept.npy", encoding="utf-8") as file:
        check(file.read() == "kept", "the output was changed")
    check(not [name for name in os.listdir(".") if name.endswith(".tmp")], "a piece was left behind")


def few_rows_and_misuse():
    write_npy("one.npy", 1, COLUMNS, [3.0, 1.0, 2.0])
    write_npy("none.npy", 0, COLUMNS, [])
    for device in DEVICES:
        check(result("--input", "one.npy", "--device", device)["result"] == {"records": 1, "sorted": True}, "one row")
        check(result("--input", "none.npy", "--device", device)["result"] == {"records": 0, "sorted": True}, "no row")
    expect_error(2, ["--key", "prise"], "--input", "named.csv", "--key", "prise", "--device", "interp")
    expect_error(2, ["--key", "9"], "--input", "named.csv", "--key", "0,9", "--device", "interp")


main(find_devices, rows_of_floats, columns_by_name, floats_have_a_total_order, more_rows_than_memory,
     a_full_disk_leaves_the_output_as_it_was, few_rows_and_misuse)
