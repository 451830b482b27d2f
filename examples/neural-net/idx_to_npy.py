#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images and labels in MNIST's idx format (packed with gzip or not) as one .npy file: a row for each image, its pixels and then its label.

usage: idx_to_npy.py IMAGES LABELS OUTPUT"""
import gzip
import struct
import sys


def read_idx(path, dimensions):
    """Shape and bytes. The format: two zeros, 8 for bytes, the number of dimensions, their sizes as 32-bit numbers (big endian), the values."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    start = 4 + 4 * dimensions
    if len(data) < start or data[:4] != bytes([0, 0, 8, dimensions]):
        sys.exit(f"{path}: not an idx file of bytes with {dimensions} dimension(s)")
    shape = struct.unpack(f">{dimensions}I", data[4:start])
    size = 1
    for count in shape:
        size *= count
    if len(data) - start != size:
        sys.exit(f"{path}: {len(data) - start} values, not the {size} of its header")
    return shape, data[start:]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    (count, height, width), pixels = read_idx(sys.argv[1], 3)
    (labels,), classes = read_idx(sys.argv[2], 1)
    if labels != count:
        sys.exit(f"{count} images, but {labels} labels")
    size = height * width
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({count}, {size + 1}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(sys.argv[3], "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for i in range(count):
            file.write(pixels[i * size:(i + 1) * size] + classes[i:i + 1])


main()
