# SPDX-License-Identifier: Apache-2.0
"""Tapes that gpukit never writes, made byte by byte without a zstd library:
frames consist of raw blocks or of blocks that repeat one byte."""

import struct

KINDS = ("snapshot", "device", "detail", "link", "process", "place", "peer")
HEADER = b"GKTAPE\r\n\1" + bytes(7)
ZSTD_BLOCK = 128 << 10


def _table():
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
        yield i


CRC = list(_table())


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def number(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def text(data):
    data = data.encode() if isinstance(data, str) else data
    return number(len(data)) + data


def schema(**columns):
    """Columns by kind as (letter, name)...; kinds that are not named have none.
    """
    out = number(len(KINDS))
    for kind in KINDS:
        rows = columns.get(kind, ())
        out += number(len(rows))
        out += b"".join(letter.encode() + text(name) for letter, name in rows)
    return out + number(1) + number(0)


class Again:
    """One byte repeated `count` times, produced in pieces of this many bytes.
    """

    def __init__(self, byte, count, piece=ZSTD_BLOCK):
        self.byte, self.count, self.piece = byte, count, piece

    def __len__(self):
        return self.count


def zstd(parts, window_log):
    frame = [b"\x28\xb5\x2f\xfd\0", bytes([window_log - 10 << 3])]
    most = min(ZSTD_BLOCK, 1 << window_log)
    for part in parts:
        again = isinstance(part, Again)
        step = min(part.piece, most) if again else most
        for at in range(0, len(part), step):
            n = min(step, len(part) - at)
            frame.append(struct.pack("<I", n << 3 | again << 1)[:3])
            frame.append(part.byte if again else part[at:at + n])
    return b"".join(frame)


def head(flags, stored, raw, wall_ns, check):
    h = b"GKTB" + struct.pack("<IIIQI", flags, stored, raw, wall_ns, check)
    return h + struct.pack("<I", crc32c(h))


def block(*parts, key=True, window_log=17, wall_ns=10**18):
    stored = zstd(parts, window_log)
    return head(key, len(stored), sum(len(p) for p in parts), wall_ns,
                crc32c(stored)) + stored


def tape(*parts, **how):
    return HEADER + block(*parts, **how)


DEVICE = (("i", "mig_index"),)
GPU = b"\1" + b"\0"  # no MIG device, no details
ONE_GPU = number(1) + GPU
NO_PLACES = b"\0"


def of_devices(count, columns=DEVICE):
    return tape(schema(device=columns), number(count),
                (b"\1" * len(columns) + b"\0") * count, b"\0", NO_PLACES)


def of_details(count):
    """Each device has a detail of one byte and no link."""
    return tape(schema(device=DEVICE, detail=(("u", "nothing"),)),
                number(count),
                (b"\1" + b"\1" + b"\0" + b"\0") * count, b"\0", NO_PLACES)


def of_processes(count, columns, record=b"\0"):
    return tape(schema(device=DEVICE, process=columns), ONE_GPU,
                number(count), Again(record, count * len(columns)), NO_PLACES)


def of_places(count, place=(("i", "numa_node"),), peer=(("u", "path"),)):
    peers = count * count * len(peer)
    return tape(schema(device=DEVICE, place=place, peer=peer), ONE_GPU,
                b"\0", number(1), number(count),
                Again(b"\0", count * len(place)), Again(b"\0", peers, 4096))


def of_texts(count, length, byte=b"\xff"):
    """Processes whose command has this many bytes that are not text."""
    body = []
    for _ in range(count):
        body += [number(length), Again(byte, length, 4096)]
    return tape(schema(device=DEVICE, process=(("s", "command"),)), ONE_GPU,
                number(count), *body, NO_PLACES)


TAPES = {
    "processes of no bytes": lambda: of_processes(3_000_000, ()),
    "a few processes of no bytes": lambda: of_processes(60_000, ()),
    "processes of a byte": lambda: of_processes(4_000_000, (("i", "pid"),)),
    "as many processes as may be":
        lambda: of_processes(65_536, (("i", "pid"),)),
    "devices of no bytes": lambda: of_devices(4096, ()),
    "devices of a byte": lambda: of_devices(100_000),
    "as many devices as may be": lambda: of_devices(1024),
    "details": lambda: of_details(1024),
    "peers of no bytes": lambda: of_places(4096, peer=()),
    "places of no bytes": lambda: of_places(1024, place=()),
    "as many places as may be": lambda: of_places(1024),
    "columns": lambda: tape(b"".join([
        number(len(KINDS)), number(1 << 22), b"u\0" * (1 << 20)])),
    "texts that grow": lambda: of_texts(15, 1 << 20),
    "a text of 2^60": lambda: tape(
        schema(device=DEVICE, process=(("s", "command"),)), ONE_GPU,
        number(1), number(1 << 60), NO_PLACES),
    "a block of 256 MiB":
        lambda: tape(schema(), Again(b"\0", 256 << 20)),
    "a block of 15 MiB in a few bytes":
        lambda: tape(schema(), Again(b"\0", 15 << 20)),
    "a window of 128 MiB": lambda: tape(
        schema(device=DEVICE), ONE_GPU, b"\0", NO_PLACES, window_log=27),
    "blocks of no bytes": lambda: HEADER + block(schema()) +
        head(0, 0, 0, 1, crc32c(b"")) * 1_000_000,
    "blocks far from their key": lambda: HEADER + block(schema(), b"\7") +
        block(b"\7", key=False) * 100_000,
    "nothing but beginnings of heads": lambda: HEADER + b"GKTB" * (2 << 20),
}
