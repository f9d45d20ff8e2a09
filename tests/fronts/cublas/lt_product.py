# SPDX-License-Identifier: Apache-2.0
"""One product of cuBLASLt and the values that it is made from."""

import ctypes as c

import numpy as np

from lt_client import *  # pylint: disable=wildcard-import,unused-wildcard-import

A100, H100, B200 = "a100-sxm4-80gb", "h100-80gb-hbm3", "b200"

# name: compute, scale, A, B, C, D
TYPES = {
    "half": (COMPUTE_16F, R_16F, R_16F, R_16F, R_16F, R_16F),
    "half-float": (COMPUTE_32F, R_32F, R_16F, R_16F, R_16F, R_16F),
    "half-to-float": (COMPUTE_32F, R_32F, R_16F, R_16F, R_32F, R_32F),
    "bf16": (COMPUTE_32F, R_32F, R_16BF, R_16BF, R_16BF, R_16BF),
    "bf16-to-float": (COMPUTE_32F, R_32F, R_16BF, R_16BF, R_32F, R_32F),
    "float": (COMPUTE_32F, R_32F, R_32F, R_32F, R_32F, R_32F),
    "tf32": (FAST_TF32, R_32F, R_32F, R_32F, R_32F, R_32F),
    "fast-half": (FAST_16F, R_32F, R_32F, R_32F, R_32F, R_32F),
    "double": (COMPUTE_64F, R_64F, R_64F, R_64F, R_64F, R_64F),
    "complex": (COMPUTE_32F, C_32F, C_32F, C_32F, C_32F, C_32F),
    "fast-complex": (FAST_TF32, C_32F, C_32F, C_32F, C_32F, C_32F),
    "double-complex": (COMPUTE_64F, C_64F, C_64F, C_64F, C_64F, C_64F),
    "bytes-to-float": (COMPUTE_32F, R_32F, R_8I, R_8I, R_32F, R_32F),
    "complex-bytes": (COMPUTE_32F, C_32F, C_8I, C_8I, C_32F, C_32F),
}
INTEGERS = (COMPUTE_32I, R_32I, R_8I, R_8I, R_32I, R_32I)
TO_BYTES = (COMPUTE_32I, R_32F, R_8I, R_8I, R_8I, R_8I)
EPILOGUE_TYPES = ["half-float", "half-to-float", "bf16", "float", "double"]
# Relative to the largest sums: for half their own rounding, for float that of
# sums in another order.
TOLERANCE = {R_16F: 2e-3, R_16BF: 1e-2, R_32F: 2e-6, R_64F: 1e-14,
             C_32F: 2e-6, C_64F: 1e-14, E4M3: 0.07, E5M2: 0.14}


def numbers(seed, kind, *shape):
    """Values that small types have, with mixed signs and sizes."""
    random = np.random.default_rng(seed)
    if kind in (C_32F, C_64F, C_8I, C_16F, C_16BF):
        part = R_8I if kind == C_8I else R_32F
        return (numbers(seed + 1, part, *shape) +
                1j * numbers(seed + 2, part, *shape))
    if kind == R_8I:
        return random.integers(-128, 128, shape).astype(np.float64)
    if kind == R_32I:
        return random.integers(-5000, 5000, shape).astype(np.float64)
    return np.round(random.standard_normal(shape) * 16) / 16


def near(got, right, kind, size=None):
    """Checks the largest error relative to the largest value."""
    size = np.max(np.abs(right), initial=1) if size is None else size
    error = np.max(np.abs(got - right), initial=0)
    assert error <= TOLERANCE[kind] * size, (error / size, got, right)


class Product:
    """One call of cublasLtMatmul and its operands."""

    # pylint: disable=too-many-instance-attributes
    def __init__(self, lt, types, m, n, k, batches=1, trans=(N, N),
                 orders=(COL, COL, COL), pad=0, gap=0, **attributes):
        self.lt = lt
        self.compute, self.scale, *self.kinds = types
        ta, tb = trans
        self.trans = trans
        shape_a = (batches, k, m) if ta else (batches, m, k)
        shape_b = (batches, n, k) if tb else (batches, k, n)
        kinds, (oa, ob, oc) = self.kinds, orders
        self.a = Matrix(lt, kinds[0], numbers(1, kinds[0], *shape_a), oa, pad,
                        gap)
        self.b = Matrix(lt, kinds[1], numbers(2, kinds[1], *shape_b), ob, pad,
                        gap)
        self.c = Matrix(lt, kinds[2], numbers(3, kinds[2], batches, m, n), oc,
                        pad, gap)
        self.d = Matrix(lt, kinds[3], np.zeros((batches, m, n)), oc, 2 * pad,
                        gap)
        self.desc = lt.matmul_desc(self.compute, self.scale, trans_a=ta,
                                   trans_b=tb, **attributes)

    def sums(self):
        return product(operated(self.a.rounded(), self.trans[0]),
                       operated(self.b.rounded(), self.trans[1]))

    def run(self, alpha, beta, algo=None):
        """alpha, beta: numbers on the host, or bytes and addresses."""
        host = [scalar(self.scale, x) if not isinstance(x, c.c_void_p) else x
                for x in (alpha, beta)]
        return self.lt.matmul(self.desc, host[0], self.a.at, self.a.layout,
                              self.b.at, self.b.layout, host[1], self.c.at,
                              self.c.layout, self.d.at, self.d.layout, algo)

    def done(self, alpha, beta, algo=None):
        r = self.run(alpha, beta, algo)
        assert r == SUCCESS, r
        return self.d.values()


def float8(a, b, c_kind, d):
    """The types of a product of narrow floats."""
    return (COMPUTE_32F, R_32F, a, b, c_kind, d)


def put_floats(lt, values):
    return lt.driver.put(encode(R_32F, np.asarray(values).ravel()))


def vector(lt, kind, count, seed=11):
    """A vector in the GPU, and its values."""
    values = numbers(seed, kind, count)
    return lt.driver.put(encode(kind, values)), values


def heuristic_of(lt, p, preference=None, count=1):
    return lt.heuristic(p.desc, p.a.layout, p.b.layout, p.c.layout,
                        p.d.layout, preference, count)
