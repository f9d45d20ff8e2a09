# SPDX-License-Identifier: Apache-2.0
"""Checks handles and their settings, versions, transfers, logs, streams; and
every function without a handle."""

import os
import threading

from blas import *

PLAIN = ctypes.CFUNCTYPE(None, ctypes.c_char_p)


def call(symbol, *args):
    status = getattr(lib, "cublas" + symbol)(*args)
    if status == 0:
        checked.add("cublas" + symbol)
    return status


blas = modes[0]
number, pointer = ctypes.c_int(-1), ctypes.c_void_p()
out = ctypes.byref

# Versions agree with each other.
assert call("GetVersion_v2", blas.handle, out(number)) == 0
version = number.value
assert version // 10000 == MAJOR
parts = []
for which in range(3):
    assert call("GetProperty", which, out(number)) == 0
    parts.append(number.value)
assert version == parts[0] * 10000 + parts[1] * 100 + parts[2]
assert call("GetProperty", 3, out(number)) == INVALID_VALUE
assert call("GetVersion_v2", blas.handle, None) == INVALID_VALUE
lib.cublasGetCudartVersion.restype = ctypes.c_size_t
assert lib.cublasGetCudartVersion() // 1000 == MAJOR
checked.add("cublasGetCudartVersion")

# Settings: a new handle's value, what is accepted and what is refused.
SETTINGS = [("PointerMode", "_v2", 0, (1, 0), (2, -1)), ("AtomicsMode", "", 0, (1, 0), (2, -1)),
            ("MathMode", "", 0, (1, 2, 3, 4, 8, 16, 19, 0), (5, 9, -1, 32)),
            ("SmCountTarget", "", 0, (1, 108, 0), (-1, 10 ** 6)),
            ("EmulationStrategy", "", 0, (1, 2, 0), (3, -1))]
if MAJOR >= 13:
    SETTINGS += [("EmulationSpecialValuesSupport", "", 0xffff, (0, 1, 2, 3, 0xffff), (-1, 4)),
                 ("FixedPointEmulationMantissaControl", "", 0, (1, 0), (2, -1)),
                 ("FixedPointEmulationMaxMantissaBitCount", "", 0, (53, 0), (-1,)),
                 ("FixedPointEmulationMantissaBitOffset", "", 0, (4, -4, 0), ())]
    assert call("SetFixedPointEmulationMantissaBitCountPointer", blas.handle, ctypes.c_void_p(4096)) == 0
    assert call("GetFixedPointEmulationMantissaBitCountPointer", blas.handle, out(pointer)) == 0
    assert pointer.value == 4096
new = Blas()
for name, suffix, first, right, wrong in SETTINGS:
    assert call(f"Get{name}{suffix}", new.handle, out(number)) == 0
    assert number.value == first, name
    for value in right:
        assert call(f"Set{name}{suffix}", new.handle, value) == 0, (name, value)
        assert call(f"Get{name}{suffix}", new.handle, out(number)) == 0
        assert number.value == value
    for value in wrong:
        assert call(f"Set{name}{suffix}", new.handle, value) == INVALID_VALUE, (name, value)
    assert call(f"Get{name}{suffix}", new.handle, out(number)) == 0
    assert number.value == right[-1]
    assert call(f"Get{name}{suffix}", new.handle, None) == INVALID_VALUE

# Workspaces are accepted and not needed.
room = Memory(bytes(1 << 20))
assert call("SetWorkspace_v2", new.handle, room.at, ctypes.c_size_t(1 << 20)) == 0
assert call("SetWorkspace_v2", new.handle, ctypes.c_uint64(room.at.value + 8), ctypes.c_size_t(1)) == INVALID_VALUE
new("Sscal_v2", 1, Value(2, np.float32), Array(np.ones(1, np.float32)), 1)

# A destroyed handle is not a handle.
assert call("Create_v2", None) == INVALID_VALUE
assert call("Create_v2", out(pointer)) == 0
assert call("Destroy_v2", pointer) == 0
assert call("Destroy_v2", None) == NOT_INITIALIZED

# Work is in the order of its stream, including the legacy and the per-thread
# stream.
stream = ctypes.c_void_p()
driver("cuStreamCreate", out(stream), 1)
for one in (stream, ctypes.c_void_p(1), ctypes.c_void_p(2), None):
    assert call("SetStream_v2", new.handle, one) == 0
    assert call("GetStream_v2", new.handle, out(pointer)) == 0
    assert pointer.value == (one.value if one else None)
    n = 1000
    x, found = Array(np.ones(n, np.float32)), np.zeros(n, np.float32)
    driver("cuCtxSynchronize")
    for _ in range(20):
        new("Sscal_v2", n, Value(2, np.float32), x, 1)
    driver("cuMemcpyDtoHAsync_v2", found.ctypes.data_as(ctypes.c_void_p), x.at, ctypes.c_size_t(4 * n), one)
    driver("cuStreamSynchronize", one)
    assert (found == 2 ** 20).all()
assert call("GetStream_v2", new.handle, None) == INVALID_VALUE

# A thread without a context gets one with its first handle.
seen = []


def use_a_thread():
    mine = Blas()
    mine("Sscal_v2", 1, Value(3, np.float32), x, 1)
    driver("cuCtxSynchronize")
    seen.append(x.get()[0])


thread = threading.Thread(target=use_a_thread)
thread.start()
thread.join()
assert seen == [3 * 2 ** 20]

# Transfers: elements of any size, strides on either side.
for suffix, (n, incx, incy), size in product(("", "_64"), ((0, 1, 1), (1, 5, 2), (4, 1, 1), (4, 2, 3)), (1, 4, 12)):
    kind = np.dtype((np.void, size))
    x = rng.integers(0, 255, (4 * incx, size), np.uint8)
    for put, get in (("SetVector", "GetVector"), ("SetVectorAsync", "GetVectorAsync")):
        more = (None,) if "Async" in put else ()
        device = Memory(bytes(4 * incy * size))
        back = np.full((4 * incx, size), 7, np.uint8)
        ints = [ctypes.c_longlong(i) for i in (n, size, incx, incy)]
        host = [v.ctypes.data_as(ctypes.c_void_p) for v in (x, back)]
        assert call(put + suffix, ints[0], ints[1], host[0], ints[2], device.at, ints[3], *more) == 0
        driver("cuStreamSynchronize", None)
        there = np.frombuffer(device.read(), np.uint8).reshape(-1, size)
        expected = np.zeros_like(there)
        expected[[i * incy for i in range(n)]] = x[[i * incx for i in range(n)]]
        assert (there == expected).all()
        assert call(get + suffix, ints[0], ints[1], device.at, ints[3], host[1], ints[2], *more) == 0
        driver("cuStreamSynchronize", None)
        expected = np.full_like(back, 7)
        expected[[i * incx for i in range(n)]] = x[[i * incx for i in range(n)]]
        assert (back == expected).all()
for suffix, (rows, columns, lda, ldb) in product(("", "_64"), ((0, 2, 1, 1), (3, 0, 3, 3), (3, 4, 3, 3), (3, 4, 5, 4))):
    size = 8
    a = rng.integers(0, 2 ** 60, (columns, lda))
    for put, get in (("SetMatrix", "GetMatrix"), ("SetMatrixAsync", "GetMatrixAsync")):
        more = (None,) if "Async" in put else ()
        device = Memory(bytes(columns * ldb * size))
        back = np.full((columns, lda), -1)
        ints = [ctypes.c_longlong(i) for i in (rows, columns, size, lda, ldb)]
        host = [v.ctypes.data_as(ctypes.c_void_p) for v in (a, back)]
        assert call(put + suffix, *ints[:3], host[0], ints[3], device.at, ints[4], *more) == 0
        driver("cuStreamSynchronize", None)
        there = np.frombuffer(device.read(), np.int64).reshape(columns, ldb)
        assert (there[:, :rows] == a[:, :rows]).all() and (there[:, rows:] == 0).all()
        assert call(get + suffix, *ints[:3], device.at, ints[4], host[1], ints[3], *more) == 0
        driver("cuStreamSynchronize", None)
        assert (back[:, :rows] == a[:, :rows]).all() and (back[:, rows:] == -1).all()
x, at = np.zeros(8).ctypes.data_as(ctypes.c_void_p), Memory(bytes(64)).at
for wrong in ((-1, 8, 1, 1), (1, 0, 1, 1), (1, 8, 0, 1), (1, 8, 1, 0)):
    assert call("SetVector", wrong[0], wrong[1], x, wrong[2], at, wrong[3]) == INVALID_VALUE
    assert call("GetVector", wrong[0], wrong[1], at, wrong[2], x, wrong[3]) == INVALID_VALUE
for wrong in ((-1, 1, 8, 1, 1), (1, -1, 8, 1, 1), (1, 1, 0, 1, 1), (2, 1, 8, 1, 2), (2, 1, 8, 2, 1)):
    assert call("SetMatrix", *wrong[:4][:3], x, wrong[3], at, wrong[4]) == INVALID_VALUE
# In bytes: 2^64 in a column, from a column to the next, or in all.
LARGE = 2 ** 61
for wrong in ((LARGE, 1, 8, LARGE, LARGE), (1, 1, 8, LARGE, 1), (1, 1, 8, 1, LARGE), (2 ** 30, 2 ** 31, 8, 2 ** 30, 2 ** 30)):
    wide = [ctypes.c_longlong(i) for i in wrong]
    assert call("SetMatrix_64", *wide[:3], x, wide[3], at, wide[4]) == INVALID_VALUE
    assert call("GetMatrix_64", *wide[:3], at, wide[3], x, wide[4]) == INVALID_VALUE

# The log: each launch is a line, until nobody listens any more.
lines = []
listener = PLAIN(lines.append)
assert call("SetLoggerCallback", listener) == 0
assert call("GetLoggerCallback", out(pointer)) == 0
assert pointer.value == ctypes.cast(listener, ctypes.c_void_p).value
blas("Sscal_v2", 1, Value(1, np.float32), Array(np.ones(1, np.float32)), 1)
assert len(lines) == 1 and b"cublas_level1" in lines[0]
assert call("SetLoggerCallback", None) == 0
path = f"/tmp/gpukit-test-{os.getpid()}-cublas.log"
assert call("LoggerConfigure", 1, 0, 0, path.encode()) == 0
blas("Sscal_v2", 1, Value(1, np.float32), Array(np.ones(1, np.float32)), 1)
assert call("LoggerConfigure", 0, 0, 0, None) == 0
blas("Sscal_v2", 1, Value(1, np.float32), Array(np.ones(1, np.float32)), 1)
with open(path, encoding="ascii") as file:
    assert len(file.readlines()) == 1
os.unlink(path)
assert len(lines) == 1
assert call("LoggerConfigure", 1, 0, 0, b"/nowhere/log") == INVALID_VALUE

# Every function that takes a handle does nothing without one.
checked.discard("cublasSscal_v2")
WITHOUT = ("Create", "Xt", "GetVersion", "GetProperty", "Logger", "SetVector", "GetVector", "SetMatrix", "GetMatrix",
           "GetStatus", "GetCudart")
for line in sys.stdin:
    symbol = line.strip()
    if not any(word in symbol for word in WITHOUT):
        assert getattr(lib, symbol)(*[None] * 24) == NOT_INITIALIZED, symbol

lib.cublasGetStatusName.restype = lib.cublasGetStatusString.restype = ctypes.c_char_p
assert lib.cublasGetStatusName(7) == b"CUBLAS_STATUS_INVALID_VALUE"
assert lib.cublasGetStatusString(7) and lib.cublasGetStatusString(8) != lib.cublasGetStatusString(7)
checked.update(("cublasGetStatusName", "cublasGetStatusString"))
