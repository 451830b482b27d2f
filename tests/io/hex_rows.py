# SPDX-License-Identifier: Apache-2.0
# The fields of a .csv, or of a .tsv with escapes, as hexadecimal digits: "|" between fields, ";" behind each row.
# usage: hex_rows.py FILE
import csv
import re
import sys

with open(sys.argv[1], newline="", encoding="latin-1") as file:
    if sys.argv[1].endswith(".tsv"):
        names = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}
        rows = [[re.sub(r"\\(.)", lambda found: names[found[1]], field) for field in row] for row in csv.reader(file, "excel-tab")]
    else:
        rows = list(csv.reader(file))
sys.stdout.write("".join("|".join(field.encode("latin-1").hex() for field in row) + ";" for row in rows))
