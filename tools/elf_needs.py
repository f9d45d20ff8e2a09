# SPDX-License-Identifier: Apache-2.0
"""Reads from a 64-bit ELF file for which machine it is, which libraries it
needs, and which versions of glibc."""

import re
import struct

MACHINES = {62: "x86_64", 183: "aarch64"}
LOAD, DYNAMIC = 1, 2  # types of segments
NEEDED, STRTAB, VERNEED, VERNEEDNUM = 1, 5, 0x6ffffffe, 0x6fffffff
DYN = 3
EXEC = 2
# Marks in the list of versions that need a version of glibc.
MARKS = {"GLIBC_ABI_DT_RELR": "GLIBC_2.36"}


def needs_of(data):
    """Returns (machine, libraries, versions of glibc, such as "2.17"), or None
    if the file is not a program or a shared library."""
    if data[:6] != b"\x7fELF\x02\x01":
        return None
    kind, machine = struct.unpack_from("<HH", data, 16)
    if kind not in (EXEC, DYN):
        return None
    segments = read_segments(data)
    rows = read_dynamic(data, segments)
    tables = dict(rows)
    if STRTAB not in tables:
        return MACHINES.get(machine, str(machine)), [], []
    strings = offset_of(tables[STRTAB], segments)
    libraries = [text_at(data, strings + value) for tag, value in rows
                 if tag == NEEDED]
    versions = set()
    if VERNEED in tables:
        versions = read_versions(data, offset_of(tables[VERNEED], segments),
                                 tables[VERNEEDNUM], strings)
    return MACHINES.get(machine, str(machine)), libraries, sorted(versions)


def read_segments(data):
    """[(type, offset, address, size in the file)]"""
    at, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    found = []
    for i in range(count):
        kind, _, offset, address, _, length = struct.unpack_from(
            "<IIQQQQ", data, at + i * size)
        found.append((kind, offset, address, length))
    return found


def offset_of(address, segments):
    return next(address - start + offset
                for kind, offset, start, length in segments
                if kind == LOAD and start <= address < start + length)


def read_dynamic(data, segments):
    """[(tag, value)]"""
    for kind, offset, _, length in segments:
        if kind == DYNAMIC:
            return list(struct.iter_unpack("<qQ", data[offset:offset + length
                                                       // 16 * 16]))
    return []


def text_at(data, at):
    return data[at:data.index(b"\0", at)].decode()


def read_versions(data, at, count, strings):
    """Versions of glibc in a list of needed versions."""
    found = set()
    for _ in range(count):
        _, needed, _, first, following = struct.unpack_from("<HHIII", data, at)
        here = at + first
        for _ in range(needed):
            _, _, _, name, further = struct.unpack_from("<IHHII", data, here)
            text = text_at(data, strings + name)
            text = re.fullmatch(r"GLIBC_(2[0-9.]*)", MARKS.get(text, text))
            found.update([text[1]] if text else [])
            here += further
        at += following
    return found
