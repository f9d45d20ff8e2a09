# SPDX-License-Identifier: Apache-2.0
"""Calls functions of the libraries with inputs that may only be read, and in
turn with each output made read-only; prints the result of every case. It does
not depend on gpukit."""

import ctypes as c
import json
import os
import struct

SIZE = 2 << 20
DOUBLE, INT = 1, 2  # CUDA_R_64F, CUSPARSE_INDEX_32I
ONE = c.byref(c.c_double(1))
OFFSETS, COLUMNS, PIVOTS, MATRICES = 4096, 8192, 12288, 16384

cuda = c.CDLL("libcuda.so.1")
blas = c.CDLL("libcublas.so.13")
lt = c.CDLL("libcublasLt.so.13")
fft = c.CDLL("libcufft.so.12")
rand = c.CDLL("libcurand.so.10")
sparse = c.CDLL("libcusparse.so.12")
solver = c.CDLL("libcusolver.so.12")


class Prop(c.Structure):
    _fields_ = [("type", c.c_int), ("handles", c.c_int), ("place", c.c_int),
                ("device", c.c_int), ("meta", c.c_void_p),
                ("flags", c.c_ubyte * 8)]


def check(result):
    assert result == 0, result


def arguments(values):
    return [c.c_void_p(v) if isinstance(v, int) and v >= 1 << 31 else v
            for v in values]


def call(function, *values):
    check(function(*arguments(values)))


def made(function, *values):
    handle = c.c_void_p()
    call(function, c.byref(handle), *values)
    return handle


def mapped(physical, flags):
    at = c.c_uint64()
    check(cuda.cuMemAddressReserve(c.byref(at), c.c_size_t(SIZE),
                                   c.c_size_t(0), c.c_uint64(0),
                                   c.c_uint64(0)))
    check(cuda.cuMemMap(at, c.c_size_t(SIZE), c.c_size_t(0), physical,
                        c.c_uint64(0)))
    access = (c.c_int * 3)(1, 0, flags)
    check(cuda.cuMemSetAccess(at, c.c_size_t(SIZE), access, c.c_size_t(1)))
    return at.value


def both_ways():
    """The same memory mapped read-only, and mapped for reading and writing."""
    physical = c.c_uint64()
    check(cuda.cuMemCreate(c.byref(physical), c.c_size_t(SIZE),
                           c.byref(Prop(1, 0, 1, 0)), c.c_uint64(0)))
    return mapped(physical, 1), mapped(physical, 3)


def put(at, fmt, *values):
    data = struct.pack(fmt, *values)
    check(cuda.cuMemcpyHtoD_v2(c.c_uint64(at), data, c.c_size_t(len(data))))


def fill(at):
    matrix = [4.0 if i % 5 == 0 else 0.0 for i in range(16)]
    put(at, "16d", *matrix)
    put(at + OFFSETS, "5i", *range(5))
    put(at + COLUMNS, "4i", *range(4))
    put(at + PIVOTS, "4i", *range(1, 5))


class Memory:
    def __init__(self):
        self.read, self.written = both_ways()
        fill(self.written)
        self.work = both_ways()[1]

    def array_of(self, at, slot):
        put(self.written + MATRICES + 8 * slot, "Q", at)
        return self.read + MATRICES + 8 * slot


def blas_handle(on_device=False):
    h = made(blas.cublasCreate_v2)
    call(blas.cublasSetPointerMode_v2, h, int(on_device))
    return h


def csr(values, offsets, columns):
    return made(sparse.cusparseCreateCsr, *map(c.c_int64, (4, 4, 4)), offsets,
                columns, values, INT, INT, 0, DOUBLE)


def vector(at):
    return made(sparse.cusparseCreateDnVec, c.c_int64(4), at, DOUBLE)


def thin(values, indices):
    return made(sparse.cusparseCreateSpVec, c.c_int64(4), c.c_int64(4),
                indices, values, INT, 0, DOUBLE)


def dense(at):
    return made(sparse.cusparseCreateDnMat, *map(c.c_int64, (4, 4, 4)), at,
                DOUBLE, 1)


def with_blas(name, *values, on_device=False):
    call(getattr(blas, "cublas" + name), blas_handle(on_device), *values)


def with_sparse(name, *values):
    call(getattr(sparse, "cusparse" + name), made(sparse.cusparseCreate),
         *values)


def with_solver(name, *values):
    call(getattr(solver, "cusolverDn" + name),
         made(solver.cusolverDnCreate), *values)


def matmul(a, d):
    layout = [made(lt.cublasLtMatrixLayoutCreate, DOUBLE, c.c_uint64(4),
                   c.c_uint64(4), c.c_int64(4)) for _ in range(2)]
    desc = made(lt.cublasLtMatmulDescCreate, 70, DOUBLE)
    call(lt.cublasLtMatmul, made(lt.cublasLtCreate), desc, ONE, a, layout[0],
         a, layout[0], ONE, a, layout[0], d, layout[1], None, None,
         c.c_size_t(0), None)


def transform(a, d):
    layout = made(lt.cublasLtMatrixLayoutCreate, DOUBLE, c.c_uint64(4),
                  c.c_uint64(4), c.c_int64(4))
    desc = made(lt.cublasLtMatrixTransformDescCreate, DOUBLE)
    call(lt.cublasLtMatrixTransform, made(lt.cublasLtCreate), desc, ONE, a,
         layout, ONE, a, layout, d, layout, None)


def fourier(a, d):
    plan = c.c_int()
    check(fft.cufftPlan1d(c.byref(plan), 4, 0x69, 1))
    call(fft.cufftExecZ2Z, plan, a, d, -1)


def numbers(to):
    g = made(rand.curandCreateGenerator, 161)
    call(rand.curandGenerateUniformDouble, g, to, c.c_size_t(4))


def sparsify(m, a, *outputs):
    h, to = made(sparse.cusparseCreate), csr(*outputs)
    # Asynchronous: the result is asked for afterwards.
    sparse.cusparseDenseToSparse_analysis(h, dense(a), to, 0, c.c_void_p(m.work))
    sparse.cusparseDenseToSparse_convert(h, dense(a), to, 0, c.c_void_p(m.work))


HOST_INT = c.c_int()

# name: (number of outputs, its call: memory, inputs, outputs)
CASES = {
    "axpy": (1, lambda m, i, o: with_blas("Daxpy_v2", 4, ONE, i, 1, o, 1)),
    "scal": (1, lambda m, i, o: with_blas("Dscal_v2", 4, ONE, o, 1)),
    "copy": (1, lambda m, i, o: with_blas("Dcopy_v2", 4, i, 1, o, 1)),
    "swap": (2, lambda m, i, o, p: with_blas("Dswap_v2", 4, o, 1, p, 1)),
    "rotg": (4, lambda m, i, *o: with_blas("Drotg_v2", *o, on_device=True)),
    "rotmg": (4, lambda m, i, a, b, x, p: with_blas(
        "Drotmg_v2", a, b, x, i, p, on_device=True)),
    "dot": (1, lambda m, i, o: with_blas("Ddot_v2", 4, i, 1, i, 1, o,
                                         on_device=True)),
    "gemv": (1, lambda m, i, o: with_blas(
        "Dgemv_v2", 0, 4, 4, ONE, i, 4, i, 1, ONE, o, 1)),
    "ger": (1, lambda m, i, o: with_blas(
        "Dger_v2", 4, 4, ONE, i, 1, i, 1, o, 4)),
    "syr2": (1, lambda m, i, o: with_blas(
        "Dsyr2_v2", 0, 4, ONE, i, 1, i, 1, o, 4)),
    "trmv": (1, lambda m, i, o: with_blas(
        "Dtrmv_v2", 0, 0, 0, 4, i, 4, o, 1)),
    "trsv": (1, lambda m, i, o: with_blas(
        "Dtrsv_v2", 0, 0, 0, 4, i, 4, o, 1)),
    "gemm": (1, lambda m, i, o: with_blas(
        "Dgemm_v2", 0, 0, 4, 4, 4, ONE, i, 4, i, 4, ONE, o, 4)),
    "gemvBatched": (1, lambda m, i, o: with_blas(
        "DgemvBatched", 0, 4, 4, ONE, m.array_of(i, 0), 4, m.array_of(i, 0),
        1, ONE, m.array_of(o, 1), 1, 1)),
    "gemmBatched": (1, lambda m, i, o: with_blas(
        "DgemmBatched", 0, 0, 4, 4, 4, ONE, m.array_of(i, 0), 4,
        m.array_of(i, 0), 4, ONE, m.array_of(o, 1), 4, 1)),
    "syrk": (1, lambda m, i, o: with_blas(
        "Dsyrk_v2", 0, 0, 4, 4, ONE, i, 4, ONE, o, 4)),
    "trmm": (1, lambda m, i, o: with_blas(
        "Dtrmm_v2", 0, 0, 0, 0, 4, 4, ONE, i, 4, i, 4, o, 4)),
    "trsm": (1, lambda m, i, o: with_blas(
        "Dtrsm_v2", 0, 0, 0, 0, 4, 4, ONE, i, 4, o, 4)),
    "geam": (1, lambda m, i, o: with_blas(
        "Dgeam", 0, 0, 4, 4, ONE, i, 4, ONE, i, 4, o, 4)),
    "dgmm": (1, lambda m, i, o: with_blas(
        "Ddgmm", 0, 4, 4, i, 4, i, 1, o, 4)),
    "tpttr": (1, lambda m, i, o: with_blas("Dtpttr", 0, 4, i, o, 4)),
    "trttp": (1, lambda m, i, o: with_blas("Dtrttp", 0, 4, i, 4, o)),
    "getrfBatched": (3, lambda m, i, a, p, info: with_blas(
        "DgetrfBatched", 4, m.array_of(a, 0), 4, p, info, 1)),
    "getrsBatched": (1, lambda m, i, o: with_blas(
        "DgetrsBatched", 0, 4, 1, m.array_of(i, 0), 4, i + PIVOTS,
        m.array_of(o, 1), 4, c.byref(HOST_INT), 1)),
    "getriBatched": (2, lambda m, i, o, info: with_blas(
        "DgetriBatched", 4, m.array_of(i, 0), 4, i + PIVOTS,
        m.array_of(o, 1), 4, info, 1)),
    "matinvBatched": (2, lambda m, i, o, info: with_blas(
        "DmatinvBatched", 4, m.array_of(i, 0), 4, m.array_of(o, 1), 4, info,
        1)),
    "geqrfBatched": (2, lambda m, i, a, tau: with_blas(
        "DgeqrfBatched", 4, 4, m.array_of(a, 0), 4, m.array_of(tau, 1),
        c.byref(HOST_INT), 1)),
    "gelsBatched": (3, lambda m, i, a, b, info: with_blas(
        "DgelsBatched", 0, 4, 4, 1, m.array_of(a, 0), 4, m.array_of(b, 1), 4,
        c.byref(HOST_INT), info, 1)),
    "matmul": (1, lambda m, i, o: matmul(i, o)),
    "transform": (1, lambda m, i, o: transform(i, o)),
    "fft": (1, lambda m, i, o: fourier(i, o)),
    "fft in place": (1, lambda m, i, o: fourier(o, o)),
    "random": (1, lambda m, i, o: numbers(o)),
    "gather": (1, lambda m, i, o: with_sparse(
        "Gather", vector(i), thin(o, i + COLUMNS))),
    "scatter": (1, lambda m, i, o: with_sparse(
        "Scatter", thin(i, i + COLUMNS), vector(o))),
    "axpby": (1, lambda m, i, o: with_sparse(
        "Axpby", ONE, thin(i, i + COLUMNS), ONE, vector(o))),
    "rot": (2, lambda m, i, x, y: with_sparse(
        "Rot", ONE, ONE, thin(x, i + COLUMNS), vector(y))),
    "spmv": (1, lambda m, i, o: with_sparse(
        "SpMV", 0, ONE, csr(i, i + OFFSETS, i + COLUMNS), vector(i), ONE,
        vector(o), DOUBLE, 0, m.work)),
    "spmm": (1, lambda m, i, o: with_sparse(
        "SpMM", 0, 0, ONE, csr(i, i + OFFSETS, i + COLUMNS), dense(i), ONE,
        dense(o), DOUBLE, 0, m.work)),
    "sddmm": (1, lambda m, i, o: with_sparse(
        "SDDMM", 0, 0, ONE, dense(i), dense(i), ONE,
        csr(o, i + OFFSETS, i + COLUMNS), DOUBLE, 0, m.work)),
    "densify": (1, lambda m, i, o: with_sparse(
        "SparseToDense", csr(i, i + OFFSETS, i + COLUMNS), dense(o), 0,
        m.work)),
    "sparsify": (3, lambda m, i, *o: sparsify(m, i, *o)),
    "csr2csc": (3, lambda m, i, values, offsets, rows: with_sparse(
        "Csr2cscEx2", 4, 4, 4, i, i + OFFSETS, i + COLUMNS, values, offsets,
        rows, DOUBLE, 1, 0, 1, m.work)),
    "coo2csr": (1, lambda m, i, o: with_sparse(
        "Xcoo2csr", i + COLUMNS, 4, 4, o, 0)),
    "csr2coo": (1, lambda m, i, o: with_sparse(
        "Xcsr2coo", i + OFFSETS, 4, 4, o, 0)),
    "potrf": (2, lambda m, i, a, info: with_solver(
        "Dpotrf", 0, 4, a, 4, m.work, 1024, info)),
    "potrs": (2, lambda m, i, b, info: with_solver(
        "Dpotrs", 0, 4, 1, i, 4, b, 4, info)),
    "getrf": (3, lambda m, i, a, p, info: with_solver(
        "Dgetrf", 4, 4, a, 4, m.work, p, info)),
    "getrs": (2, lambda m, i, b, info: with_solver(
        "Dgetrs", 0, 4, 1, i, 4, i + PIVOTS, b, 4, info)),
    "geqrf": (3, lambda m, i, a, tau, info: with_solver(
        "Dgeqrf", 4, 4, a, 4, tau, m.work, 1024, info)),
    "orgqr": (2, lambda m, i, a, info: with_solver(
        "Dorgqr", 4, 4, 4, a, 4, i, m.work, 1024, info)),
    "ormqr": (2, lambda m, i, a, info: with_solver(
        "Dormqr", 0, 0, 4, 4, 4, i, 4, i, a, 4, m.work, 1024, info)),
    "syevd": (3, lambda m, i, a, w, info: with_solver(
        "Dsyevd", 1, 0, 4, a, 4, w, m.work, 1024, info)),
    "gesvd": (5, lambda m, i, a, s, u, v, info: with_solver(
        "Dgesvd", c.c_byte(65), c.c_byte(65), 4, 4, a, 4, s, u, 4, v, 4,
        m.work, 1024, None, info)),
}


def run(case, protected):
    """The result of a process; protected: the output that is read-only, -1:
    none."""
    check(cuda.cuInit(0))
    made(cuda.cuCtxCreate_v2, 0, 0)
    m = Memory()
    count, body = case
    outputs = []
    for n in range(count):
        only_read, written = both_ways()
        fill(written)
        outputs.append(only_read if n == protected else written)
    body(m, m.read, *outputs)
    return cuda.cuCtxSynchronize()


def run_alone(case, protected):
    """An error stays within its process."""
    end, begin = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.write(begin, b"%d" % run(case, protected))
        finally:
            os._exit(0)
    os.close(begin)
    with open(end, encoding="ascii") as told:
        answer = told.read()
    os.waitpid(pid, 0)
    return int(answer or -1)


def main():
    print(json.dumps({f"{name} {n}": run_alone(case, n)
                      for name, case in CASES.items()
                      for n in range(-1, case[0])}))


main()
