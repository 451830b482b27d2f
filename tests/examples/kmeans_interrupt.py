# SPDX-License-Identifier: Apache-2.0
"""SIGINT and SIGTERM end a long run: exit code 130, nothing on standard output. usage: kmeans_interrupt.py EXECUTABLE SOURCE"""
import random
import signal
import subprocess

from run import PROGRAM, check, main, write_npy


def expect_130(number):
    # Hours of work on the interpreter: it cannot be done before the signal comes.
    arguments = ["--input", "many.npy", "--clusters", "4000", "--init", "first", "--tolerance", "0", "--iterations", "1000000", "--device", "interp", "--json",
                 "--explain"]
    child = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, restore_signals=True)
    first = child.stderr.readline()        # the explanation comes right before the first step
    child.send_signal(number)
    out, err = child.communicate()
    check(child.returncode == 130, f"{number!r}: code {child.returncode}: {err.decode()}")
    check(out == b"", f"{number!r}: {out[:100]} on standard output")
    # The library notices it; between two of its calls it is told again a second later. It tells of records where it was counting some.
    check(b"kmeans: interrupted" in err or b"kmeans: cancelled" in err, f"{number!r}: {first.decode()}{err.decode()}")


def an_interrupt_ends_the_run():
    random.seed(1)
    write_npy("many.npy", 1000000, 2, [random.random() for _ in range(2000000)])
    expect_130(signal.SIGINT)


def a_request_to_terminate_ends_the_run():
    expect_130(signal.SIGTERM)


main(an_interrupt_ends_the_run, a_request_to_terminate_ends_the_run)
