# SPDX-License-Identifier: Apache-2.0
"""cuBLASLt as a program uses it, by ctypes, and plain arithmetic to compare
with: numpy's loops without a BLAS, in double. It does not depend on gpukit.
"""

import ctypes as c
import struct

import numpy as np

# cudaDataType
R_32F, R_64F, R_16F, R_8I, C_32F, C_64F, C_16F, C_8I = range(8)
R_32I, R_16BF, C_16BF = 10, 14, 15
E4M3, E5M2, E2M1 = 28, 29, 33
# cublasComputeType_t
COMPUTE_16F, COMPUTE_32F, COMPUTE_64F, COMPUTE_32I = 64, 68, 70, 72
FAST_16F, FAST_16BF, FAST_TF32 = 74, 75, 77
# cublasStatus_t
SUCCESS, NOT_INITIALIZED, ALLOC_FAILED = 0, 1, 3
INVALID_VALUE, NOT_SUPPORTED = 7, 15
# cublasLtEpilogue_t
DEFAULT, RELU, BIAS, GELU, AUX = 1, 2, 4, 32, 128
DRELU, DGELU, BGRAD, BGRADA, BGRADB = 136, 192, 16, 256, 512
# cublasLtOrder_t
COL, ROW, COL32, COL4_4R2_8C, COL32_2R_4R4 = range(5)
N, T, H = 0, 1, 2
# cublasLtPointerMode_t
HOST, DEVICE, VECTORS, VECTOR_ZERO, VECTOR_HOST = range(5)
# cublasLtMatmulMatrixScale_t
SCALAR, VEC16, VEC32, OUTER_VEC, VEC128, BLK128 = range(6)

# Attributes: (id, struct format).
LAYOUT = {"type": (0, "I"), "order": (1, "i"), "rows": (2, "Q"),
          "cols": (3, "Q"), "ld": (4, "q"), "batches": (5, "i"),
          "stride": (6, "q"), "plane": (7, "q"), "mode": (8, "I")}
MATMUL = {"compute": (0, "i"), "scale": (1, "i"), "pointer_mode": (2, "i"),
          "trans_a": (3, "i"), "trans_b": (4, "i"), "trans_c": (5, "i"),
          "fill": (6, "i"), "epilogue": (7, "I"), "bias": (8, "Q"),
          "bias_stride": (10, "q"), "aux": (11, "Q"), "aux_ld": (12, "q"),
          "aux_stride": (13, "q"), "alpha_stride": (14, "q"),
          "sm_count": (15, "i"), "a_scale": (17, "Q"), "b_scale": (18, "Q"),
          "c_scale": (19, "Q"), "d_scale": (20, "Q"), "amax_d": (21, "Q"),
          "aux_type": (22, "i"), "aux_scale": (23, "Q"),
          "aux_amax": (24, "Q"), "fast": (25, "b"), "bias_type": (26, "i"),
          "a_mode": (31, "i"), "b_mode": (32, "i"), "c_mode": (33, "i"),
          "d_mode": (34, "i"), "aux_mode": (35, "i"), "d_out": (36, "Q"),
          "d_out_mode": (37, "i"), "emulation": (38, "Q")}
TRANSFORM = {"scale": (0, "i"), "pointer_mode": (1, "i"), "trans_a": (2, "i"),
             "trans_b": (3, "i")}
EMULATION = {"strategy": (0, "i"), "special": (1, "i"), "control": (2, "i"),
             "bits": (3, "i"), "offset": (4, "i"), "told": (5, "Q")}
PREFERENCE = {"search": (0, "I"), "workspace": (1, "Q"), "schemes": (3, "I"),
              "align_a": (5, "I"), "align_b": (6, "I"), "align_c": (7, "I"),
              "align_d": (8, "I"), "waves": (9, "f"), "impl": (12, "Q")}


class Heuristic(c.Structure):
    _fields_ = [("algo", c.c_uint64 * 8), ("workspace", c.c_size_t),
                ("state", c.c_int), ("waves", c.c_float),
                ("reserved", c.c_int * 4)]


def floats_of(exponent, mantissa, infinity):
    """All values of a small float by its bits: 1 sign bit and the others."""
    bias, values = 2 ** (exponent - 1) - 1, []
    for bits in range(2 ** (exponent + mantissa)):
        e, m = bits >> mantissa, bits & (2 ** mantissa - 1)
        if e == 0:
            values.append(m * 2.0 ** (1 - bias - mantissa))
        else:
            values.append((2 ** mantissa + m) * 2.0 ** (e - bias - mantissa))
    if infinity:
        top = (2 ** exponent - 1) << mantissa
        values[top] = np.inf
        values[top + 1:] = [np.nan] * (2 ** mantissa - 1)
    elif exponent == 4:
        values[-1] = np.nan
    return np.array(values + [-v for v in values])


SMALL = {E4M3: floats_of(4, 3, False), E5M2: floats_of(5, 2, True),
         E2M1: floats_of(2, 1, False)}
NUMPY = {R_32F: np.float32, R_64F: np.float64, R_16F: np.float16,
         R_8I: np.int8, R_32I: np.int32, C_32F: np.complex64,
         C_64F: np.complex128}


def small_codes(kind, values):
    """The nearest codes; ties go to the even one; too large values to the
    largest."""
    table = SMALL[kind]
    half = table[:len(table) // 2]
    finite = half[np.isfinite(half)]
    size = np.abs(np.asarray(values, np.float64))
    size = np.minimum(size, finite[-1])
    above = np.clip(np.searchsorted(finite, size), 1, len(finite) - 1)
    low, high = size - finite[above - 1], finite[above] - size
    up = (high < low) | ((high == low) & (above % 2 == 0))
    code = np.where(up, above, above - 1)
    return np.where(np.signbit(values), code + len(half), code).astype(np.uint8)


def encode(kind, values):
    """The bytes of a flat array; E2M1 is packed."""
    values = np.asarray(values)
    if kind == R_16BF:
        bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
        return (((bits + 0x7fff + (bits >> 16 & 1)) >> 16)
                .astype(np.uint16).tobytes())
    if kind in (C_8I, C_16F, C_16BF):
        parts = np.stack([values.real, values.imag], -1).ravel()
        return encode({C_8I: R_8I, C_16F: R_16F, C_16BF: R_16BF}[kind], parts)
    if kind == E2M1:
        codes = small_codes(kind, values)
        codes = np.append(codes, [0] * (len(codes) % 2)).astype(np.uint8)
        return (codes[::2] | codes[1::2] << 4).astype(np.uint8).tobytes()
    if kind in SMALL:
        return small_codes(kind, values).tobytes()
    return values.astype(NUMPY[kind]).tobytes()


def decode(kind, data, count):
    if kind == R_16BF:
        bits = np.frombuffer(data, np.uint16, count).astype(np.uint32) << 16
        return bits.view(np.float32).astype(np.float64)
    if kind in (C_8I, C_16F, C_16BF):
        parts = decode({C_8I: R_8I, C_16F: R_16F, C_16BF: R_16BF}[kind], data,
                       2 * count)
        return parts[::2] + 1j * parts[1::2]
    if kind == E2M1:
        codes = np.frombuffer(data, np.uint8)
        return SMALL[kind][np.stack([codes & 15, codes >> 4], -1)
                           .ravel()[:count]]
    if kind in SMALL:
        return SMALL[kind][np.frombuffer(data, np.uint8, count)]
    wide = np.complex128 if kind in (C_32F, C_64F) else np.float64
    return np.frombuffer(data, NUMPY[kind], count).astype(wide)


def size_of(kind, count):
    return len(encode(kind, np.zeros(count)))


class Driver:
    """The driver, with the primary context of the first GPU."""

    def __init__(self, name="libcuda.so.1"):
        self.library = c.CDLL(name)
        ctx = c.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", c.byref(ctx), 0)
        self.call("cuCtxSetCurrent", ctx)

    def call(self, name, *args):
        r = getattr(self.library, name)(*args)
        assert r == 0, (name, r)

    def put(self, data):
        at = c.c_uint64()
        self.call("cuMemAlloc_v2", c.byref(at), c.c_size_t(max(len(data), 1)))
        if data:
            self.call("cuMemcpyHtoD_v2", at, bytes(data),
                      c.c_size_t(len(data)))
        return at.value

    def get(self, at, size):
        data = c.create_string_buffer(max(size, 1))
        if size:
            self.call("cuMemcpyDtoH_v2", data, c.c_uint64(at),
                      c.c_size_t(size))
        return data.raw[:size]

    def free(self, at):
        self.call("cuMemFree_v2", c.c_uint64(at))


class Object:
    """A descriptor of cuBLASLt: attributes by the names in a table."""

    def __init__(self, lt, name, table, *args):
        self.lt, self.name, self.table = lt, name, table
        self.handle = c.c_void_p()
        lt.ok(name + "Create", c.byref(self.handle), *args)

    def set(self, **values):
        for key, value in values.items():
            assert self.try_set(key, value) == SUCCESS, key
        return self

    def try_set(self, key, value):
        at, fmt = self.table[key]
        data = struct.pack("=" + fmt, value)
        return self.lt.call(self.name + "SetAttribute", self.handle, at, data,
                            c.c_size_t(len(data)))

    def get(self, key):
        at, fmt = self.table[key]
        data = c.create_string_buffer(struct.calcsize("=" + fmt))
        written = c.c_size_t()
        self.lt.ok(self.name + "GetAttribute", self.handle, at, data,
                   c.c_size_t(len(data)), c.byref(written))
        assert written.value == len(data)
        return struct.unpack("=" + fmt, data.raw)[0]

    def __del__(self):
        self.lt.call(self.name + "Destroy", self.handle)


class Lt:
    def __init__(self, major=13):
        self.driver = Driver()
        self.library = c.CDLL(f"libcublasLt.so.{major}")
        self.handle = c.c_void_p()
        self.ok("Create", c.byref(self.handle))

    def call(self, name, *args):
        return getattr(self.library, "cublasLt" + name)(*args)

    def ok(self, name, *args):
        r = self.call(name, *args)
        assert r == SUCCESS, (name, r)

    def layout(self, kind, rows, cols, ld, **more):
        return Object(self, "MatrixLayout", LAYOUT, kind, c.c_uint64(rows),
                      c.c_uint64(cols), c.c_int64(ld)).set(**more)

    def matmul_desc(self, compute, scale, **more):
        return Object(self, "MatmulDesc", MATMUL, compute, scale).set(**more)

    def preference(self, **more):
        return Object(self, "MatmulPreference", PREFERENCE).set(**more)

    def heuristic(self, desc, a, b, cc, d, preference=None, count=1):
        """(status, results)"""
        preference = preference or self.preference()
        found, got = (Heuristic * count)(), c.c_int()
        r = self.call("MatmulAlgoGetHeuristic", self.handle, desc.handle,
                      a.handle, b.handle, cc.handle, d.handle,
                      preference.handle, count, found, c.byref(got))
        return r, found[:got.value]

    def matmul(self, desc, alpha, a, la, b, lb, beta, cc, lc, d, ld,
               algo=None, workspace=0, size=0, stream=None):
        return self.call(
            "Matmul", self.handle, desc.handle, alpha, c.c_void_p(a),
            la.handle, c.c_void_p(b), lb.handle, beta, c.c_void_p(cc),
            lc.handle if lc else None, c.c_void_p(d), ld.handle,
            c.byref(algo) if algo else None, c.c_void_p(workspace),
            c.c_size_t(size), stream)


def place(order, ld, row, col):
    """The index of an element, from the documentation of cublasLtOrder_t."""
    if order == COL:
        return col * ld + row
    if order == ROW:
        return row * ld + col
    if order == COL32:
        return col // 32 * ld + row * 32 + col % 32
    r, k = row % 32, col % 32
    if order == COL32_2R_4R4:
        return (col // 32 * ld + row // 32 * 1024 +
                (((r % 8) // 2 * 4 + r // 8) * 2 + r % 2) * 32 + k)
    r = row % 8
    return (col // 32 * ld + row // 8 * 256 + (r % 2) * 128 + k // 8 * 32 +
            (k % 8) // 4 * 16 + r // 2 * 4 + k % 4)


def least_ld(order, rows, cols):
    tile = {COL32: 1, COL4_4R2_8C: 8, COL32_2R_4R4: 32}
    if order in (COL, ROW):
        return max(rows if order == COL else cols, 1)
    return -(-rows // tile[order]) * tile[order] * 32


class Matrix:
    """A batch of matrices on the GPU: values[batch][row][column]."""

    def __init__(self, lt, kind, values, order=COL, pad=0, gap=0):
        values = np.asarray(values)
        self.lt, self.kind, self.order = lt, kind, order
        self.batches, self.rows, self.cols = values.shape
        self.ld = least_ld(order, self.rows, self.cols) + pad
        where = [[place(order, self.ld, i, j) for j in range(self.cols)]
                 for i in range(self.rows)]
        self.where = np.array(where, int).reshape(self.rows, self.cols)
        lines = -(-self.cols // (32 if order > ROW else 1))
        span = self.ld * (self.rows if order == ROW else lines)
        self.stride = span + gap
        flat = np.zeros(self.stride * self.batches, values.dtype)
        for i in range(self.batches):
            flat[self.where + i * self.stride] = values[i]
        self.before = encode(kind, flat)
        self.at = lt.driver.put(self.before)
        self.layout = lt.layout(kind, self.rows, self.cols, self.ld,
                                order=order, batches=self.batches,
                                stride=self.stride if self.batches > 1 else 0)

    def values(self):
        flat = decode(self.kind, self.lt.driver.get(self.at, len(self.before)),
                      self.stride * self.batches)
        return np.stack([flat[self.where + i * self.stride]
                         for i in range(self.batches)])

    def rounded(self):
        """The values as the GPU had them at the start."""
        flat = decode(self.kind, self.before, self.stride * self.batches)
        return np.stack([flat[self.where + i * self.stride]
                         for i in range(self.batches)])

    def outside(self):
        """Checks that what is between the elements is unchanged."""
        now = self.lt.driver.get(self.at, len(self.before))
        inside = np.zeros(self.stride * self.batches, bool)
        for i in range(self.batches):
            inside[self.where + i * self.stride] = True
        then = decode(self.kind, self.before, len(inside))[~inside]
        after = decode(self.kind, now, len(inside))[~inside]
        return np.array_equal(then, after, equal_nan=then.dtype.kind == "f")


def operated(x, trans):
    """op() of a batch of matrices."""
    if trans == N:
        return x
    x = np.swapaxes(x, 1, 2)
    return np.conj(x) if trans == H else x


def product(a, b):
    return np.einsum("bik,bkj->bij", a, b, optimize=False)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) *
                                  (x + 0.044715 * x ** 3)))


def gelu_gradient(x):
    t = np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3))
    return (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * np.sqrt(2 / np.pi) *
            (1 + 3 * 0.044715 * x * x))


def scalar(kind, value):
    return encode(kind, np.array([value]))
