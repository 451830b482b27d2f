# SPDX-License-Identifier: Apache-2.0
"""Running an example as a user does. The scripts that use this get EXECUTABLE and SOURCE as arguments."""
import array
import gzip
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
SOURCE = os.path.abspath(sys.argv[2])
IRIS = os.path.join(SOURCE, "tests", "data", "iris.csv")
FEATURES = ["--columns", "0-3"]
failures = 0


def fail(words):
    global failures
    failures += 1
    print("FAIL:", words)


def check(condition, words):
    if not condition:
        fail(words)


def run(*arguments, **settings):
    """Exit code, standard output (bytes), standard error (text)."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, check=False, **settings)
    return done.returncode, done.stdout, done.stderr.decode()


def expect_error(code, words, *arguments, **settings):
    """The exit code, all the words on standard error, and nothing on standard output."""
    got, out, err = run(*arguments, **settings)
    check(got == code, f"{arguments}: code {got}, not {code}: {err}")
    check(out == b"", f"{arguments}: an error left something on standard output: {out[:200]}")
    for word in words:
        check(word in err, f"{arguments}: no '{word}' in: {err}")


def result(*arguments):
    """The object that --json prints."""
    code, out, err = run(*arguments, "--json")
    if code != 0:
        fail(f"{arguments}: code {code}: {err}")
        return {"result": {}}
    return json.loads(out)


def write_csv(path, header, rows):
    """The rows below a header, which is a text or a list of names. Floats read back to the same bits."""
    with open(path, "w") as file:
        file.write((header if isinstance(header, str) else ",".join(header)) + "\n")
        for row in rows:
            file.write(",".join(map(str, row)) + "\n")


def published(*path):
    """The path of a file or folder below $HDST_TEST_DATA, data with published answers; None, and a line about it, where there is none."""
    folder = os.environ.get("HDST_TEST_DATA", "")
    whole = os.path.join(folder, *path)
    if folder and os.path.exists(whole):
        return whole
    print(f"SKIP: {'/'.join(path)} is not in $HDST_TEST_DATA")
    return None


def unpack_published(to, *path):
    """A published .gz file, unpacked to the file `to`; false where there is none."""
    packed = published(*path)
    if packed:
        with gzip.open(packed) as source, open(to, "wb") as file:
            shutil.copyfileobj(source, file)
    return packed is not None


def have_cpu(*arguments):
    """Whether there is an OpenCL CPU device: tried with these arguments, which must be right otherwise."""
    code, _, err = run(*(arguments or ("--input", IRIS, *FEATURES, "--clusters", 3)), "--device", "cpu")
    if code == 4:
        print("SKIP: no OpenCL CPU device here, so only the interpreter is tested:", err.strip())
    return code != 4


def write_npy(path, rows, columns, values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + array.array("f", values).tobytes())


def npy_parts(data):
    """The header of a .npy file, and the bytes behind it."""
    check(data[:8] == b"\x93NUMPY\x01\x00", f"{data[:8]} begins no .npy file")
    end = 10 + struct.unpack("<H", data[8:10])[0]
    return eval(data[10:end]), data[end:]  # a dict literal, as the format has it


def read_npy(path):
    with open(path, "rb") as file:
        return npy_parts(file.read())


def read_labels(data):
    """The int32 numbers of a one-dimensional .npy file, with its header checked."""
    header, data = npy_parts(data)
    check(header["descr"] == "<i4" and not header["fortran_order"], f"labels have header {header}")
    labels = array.array("i", data)
    check(header["shape"] == (len(labels),), f"shape {header['shape']} of {len(labels)} labels")
    return list(labels)


def float32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def main(*tests):
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("HDST_CACHE_DIR", os.path.join(folder, "cache"))
        os.chdir(folder)
        for test in tests:
            before = failures
            test()
            print("ok:" if failures == before else "not ok:", test.__name__)
    sys.exit(failures > 0)
