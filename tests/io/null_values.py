# SPDX-License-Identifier: Apache-2.0
# A table whose cells may be words that stand for no value, and what Python's csv module makes of it: for each row a double, two int32, two bytes (whether
# the first integer and the text are there), the length of the text (uint16) and its bytes.
# usage: null_values.py TABLE ANSWER SEED DELIMITER LINE_END QUOTING
import csv
import datetime
import math
import random
import struct
import sys

table, answer, seed, delimiter, line_end, quoting = sys.argv[1:7]
delimiter, line_end, quoting = {"tab": "\t"}.get(delimiter, delimiter), {"lf": "\n", "crlf": "\r\n"}[line_end], int(quoting)
random.seed(int(seed))
words = ["NA", "N/A", "-", "-999", "no value", "it's"]
near = ["NAN", "N", "NA.", "--", "-9990", "no  value", "a, b", "\"NA\"", "two\nlines", "longer than twelve bytes", ";"]


def cell(value):
    return random.choice(words + [""]) if random.random() < 0.4 else value


with open(table, "w", newline="") as file:
    out = csv.writer(file, delimiter=delimiter, lineterminator=line_end, quoting=quoting)
    out.writerow(["price", "n", "day", "note"])
    for i in range(1500):
        day = datetime.date(1970, 1, 1) + datetime.timedelta(random.randrange(20000))
        note = random.choice(near + words) if random.random() < 0.7 else ""
        n = random.choice([str(random.randrange(-2000, 2000)), "-9990", "-99"])
        out.writerow([cell(repr(random.uniform(-1000, 1000))), cell(n), cell(day.isoformat()), note])

with open(table, newline="") as file, open(answer, "wb") as out:
    rows = csv.reader(file, delimiter=delimiter)
    next(rows)
    for price, n, day, note in rows:
        nothing = [text == "" or text in words for text in (price, n, day, note)]
        nothing[3] = nothing[3] and quoting == csv.QUOTE_MINIMAL        # in quotes it is a text
        kept = b"" if nothing[3] else note.encode()
        days = 0 if nothing[2] else (datetime.date.fromisoformat(day) - datetime.date(1970, 1, 1)).days
        numbers = math.nan if nothing[0] else float(price), 0 if nothing[1] else int(n), days
        out.write(struct.pack("<diiBBH", *numbers, not nothing[1], not nothing[3], len(kept)) + kept)
