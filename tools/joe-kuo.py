#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes src/fronts/curand/joe_kuo.bin from the table of S. Joe and F. Y. Kuo
that the package scipy contains. joe-kuo.py NPZ BIN; needs numpy."""

import sys

import numpy

DIMENSIONS = 20000
POLYNOMIAL_BITS = 19


def main(npz, target):
    table = numpy.load(npz)
    stream, used = 0, 0
    parts = []
    for polynomial, numbers in zip(table["poly"][1:DIMENSIONS],
                                   table["vinit"][1:DIMENSIONS]):
        parts.append((int(polynomial), POLYNOMIAL_BITS))
        for i in range(1, int(polynomial).bit_length() - 1):
            parts.append((int(numbers[i]) >> 1, i))
    data = bytearray()
    for value, count in parts:
        stream |= value << used
        used += count
        while used >= 8:
            data.append(stream & 0xff)
            stream >>= 8
            used -= 8
    data.append(stream)
    with open(target, "wb") as file:
        file.write(data)


main(*sys.argv[1:])
