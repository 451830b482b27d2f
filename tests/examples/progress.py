# SPDX-License-Identifier: Apache-2.0
"""The progress line, on a pseudo-terminal: what it says, that it fits, that it is gone at the end, and that there is none elsewhere.
usage: progress.py EXECUTABLE SOURCE"""
import fcntl
import os
import pty
import random
import re
import struct
import subprocess
import termios

from run import PROGRAM, check, main, run, write_npy

RUN = ["--input", "many.npy", "--init", "first", "--tolerance", "0", "--iterations", "5", "--device", "interp"]
LINE = re.compile(r"kmeans: ([\d.]+(?: [kM])?) of 100 k records, [\d.]+(?: [kMG])?/s, interpreter(, \d+:\d\d left)?"
                  r"(, turn 1 of 5|, turn [2-5] of 5: moved [\d.e+-]+, [\d.e+-]+ s each)?")


def on_terminal(columns, *arguments):
    """What a program writes to a terminal that is its standard error, and its standard output."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave)
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:         # nobody has the other end any more
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    out = child.stdout.read()
    check(child.wait() == 0, f"code {child.returncode}: {shown}")
    return shown.decode(), out


def screen(shown, columns):
    """The last line of a terminal that knows how to go back to the begin of a line; and the widest it ever was."""
    line, at, widest = [], 0, 0
    for c in shown:
        if c == "\r":
            at = 0
        elif c == "\n":
            line, at = [], 0
        else:
            line[at:at + 1] = [c]
            at += 1
            widest = max(widest, at)
    check(widest < columns, f"a line of {widest} on a terminal with {columns} columns")
    return "".join(line)


def long_enough():
    """So many clusters that a run takes 1.5 s of all processors (a sanitizer's interpreter takes seven times as long as another), by processor time,
    which other programs do not change much."""
    begin = os.times()
    check(run(*RUN, "--clusters", "10")[0] == 0, "a run to measure")
    end = os.times()
    used = end.children_user + end.children_system - begin.children_user - begin.children_system
    return max(30, min(300, round(10 * 1.5 * os.cpu_count() / max(used, 0.01))))


def the_line_says_how_far_it_is():
    random.seed(1)
    write_npy("many.npy", 100000, 2, [random.random() for _ in range(200000)])
    RUN.extend(["--clusters", str(long_enough())])
    shown, out = on_terminal(150, *RUN)
    lines = [text.rstrip() for text in shown.split("\r") if text.strip()]
    check(len(lines) >= 2, f"lines {lines}")
    for text in lines:
        check(LINE.fullmatch(text), f"'{text}'")
    check(any(", turn 1 of 5" in text for text in lines), f"no first turn in {lines}")
    numbers = [int(text.split(", turn ")[1].split(" of ")[0]) for text in lines if ", turn " in text]
    check(max(numbers) > 1 and numbers == sorted(numbers), f"turns {numbers}")
    check(screen(shown, 150).strip() == "", f"something is left: '{screen(shown, 150)}'")
    check(out == run(*RUN)[1], "the line changes the result")


def it_fits_the_terminal():
    shown, _ = on_terminal(30, *RUN)
    check("kmeans: " in shown and screen(shown, 30).strip() == "", f"{shown!r}")


def messages_stand_alone():
    shown, _ = on_terminal(150, *RUN, "--explain")
    check(screen(shown, 150).strip() == "", f"{shown!r}")
    for text in shown.replace("\r\n", "\n").split("\n"):
        last = text.split("\r")[-1]
        check("kmeans: " not in last or " records" not in last, f"a message behind the line: {text!r}")


def there_is_none_elsewhere():
    for arguments in (RUN, [*RUN, "--json"]):
        code, _, err = run(*arguments)
        check(code == 0 and err == "", f"{code}: {err!r} where standard error is no terminal")
    shown, _ = on_terminal(150, *RUN, "--quiet")
    check(shown == "", f"--quiet: {shown!r}")


main(the_line_says_how_far_it_is, it_fits_the_terminal, messages_stand_alone, there_is_none_elsewhere)
