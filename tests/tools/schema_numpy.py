# SPDX-License-Identifier: Apache-2.0
# NumPy makes the dtypes that `hdst schema numpy` prints, with the sizes and offsets of C. usage: schema_numpy.py HDST SCHEMA
import ast
import subprocess
import sys

text = subprocess.run([sys.argv[1], "schema", "numpy", sys.argv[2], "--param", "D=2"], check=True, capture_output=True, text=True).stdout
described = ast.literal_eval(text)
assert list(described) == ["track", "place", "sample", "pixel"], list(described)
try:
    import numpy
except ImportError:
    print("skipped: no numpy here; the text is a Python literal")
    sys.exit(77)
dtypes = {name: numpy.dtype(description) for name, description in described.items()}
assert dtypes["place"].itemsize == 28 and dtypes["place"].fields["weight"][1] == 20
assert dtypes["track"].itemsize == 104 and dtypes["track"].fields["name"][1] == 88
assert dtypes["track"].fields["places"][0].subdtype == (dtypes["place"], (3,))
assert dtypes["pixel"].fields["depth"][0].subdtype == (numpy.dtype("<f4"), (2, 2))
table = numpy.zeros(4, dtypes["track"])
table["places"]["x"][3, 2, 1] = 7.5
assert table.tobytes()[3 * 104 + 4 + 2 * 28 + 8:][:8] == numpy.float64(7.5).tobytes()
