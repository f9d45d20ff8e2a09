# SPDX-License-Identifier: Apache-2.0
"""Checks the functions of cublas.h, which have no handle: each does the same as
its _v2 namesake, which other programs compare with plain loops."""

from blas import *


class Complex32(ctypes.Structure):
    _fields_ = [("x", ctypes.c_float), ("y", ctypes.c_float)]


class Complex64(ctypes.Structure):
    _fields_ = [("x", ctypes.c_double), ("y", ctypes.c_double)]


BY_VALUE = {np.float32: ctypes.c_float, np.float64: ctypes.c_double,
            np.complex64: lambda z: Complex32(z.real, z.imag),
            np.complex128: lambda z: Complex64(z.real, z.imag)}
RESTYPE = {np.float32: ctypes.c_float, np.float64: ctypes.c_double, np.complex64: Complex32,
           np.complex128: Complex64, np.int32: ctypes.c_int}

# The kind of a parameter: t, u, d, s letters of a transpose, triangle, diagonal
# and side; a an alpha or beta of the type, r a real one; A an array that is
# read, Y one that is changed; numbers are themselves.
GEMV = ["a", "A", 4, "A", 1, "a", "Y", 2]
RANK = ["A", 1, "Y"]
SPECS = {
    "copy": [5, "A", 1, "Y", 2], "swap": [5, "Y", 1, "Y", 2], "axpy": [5, "a", "A", 1, "Y", -2],
    "scal": [5, "a", "Y", 2], "rot": [5, "Y", 1, "Y", 2, "r", "a"],
    "gemv": ["t", 3, 3, *GEMV], "gbmv": ["t", 3, 3, 1, 1, *GEMV],
    **{f"t{kind}{what}": ["u", "t", "d", 3, *extra, "Y", -1] for what in ("mv", "sv")
       for kind, extra in (("r", ["A", 4]), ("b", [1, "A", 4]), ("p", ["A"]))},
    "gemm": ["t", "t", 3, 3, 2, "a", "A", 4, "A", 4, "a", "Y", 4],
    "syrk": ["u", "t", 3, 2, "a", "A", 4, "a", "Y", 4], "syr2k": ["u", "t", 3, 2, "a", "A", 4, "A", 4, "a", "Y", 4],
    "symm": ["s", "u", 3, 3, "a", "A", 4, "A", 4, "a", "Y", 4], "trsm": ["s", "u", "t", "d", 3, 3, "a", "A", 4, "Y", 4],
    "trmm": ["s", "u", "t", "d", 3, 3, "a", "A", 4, "Y", 4],
}
SYMMETRIC = {"symv": ["u", 3, *GEMV], "sbmv": ["u", 3, 1, *GEMV], "spmv": ["u", 3, "a", "A", "A", 1, "a", "Y", 2],
             "ger": [3, 3, "a", "A", 1, "A", 2, "Y", 4],
             "syr": ["u", 3, "r", "A", 1, "Y", 4], "spr": ["u", 3, "r", "A", 1, "Y"],
             "syr2": ["u", 3, "a", "A", 1, "A", 2, "Y", 4], "spr2": ["u", 3, "a", "A", 1, "A", 2, "Y"]}
HERMITIAN = {"he" + name[2:] if name[1] == "y" else "h" + name[1:]: spec for name, spec in SYMMETRIC.items()
             if name != "ger"}
COMPLEX = {**HERMITIAN, "geru": SYMMETRIC["ger"], "gerc": SYMMETRIC["ger"],
           "herk": ["u", "t", 3, 2, "r", "A", 4, "r", "Y", 4],
           "her2k": ["u", "t", 3, 2, "a", "A", 4, "A", 4, "r", "Y", 4], "hemm": SPECS["symm"]}
NORM = [5, "A", 2]
DOT = [5, "A", 1, "A", -2]

# (function, its type, its parameters, its result)
ROWS = []
for p, t in TYPES.items():
    for name, spec in {**SPECS, **(COMPLEX if is_complex(t) else SYMMETRIC)}.items():
        ROWS.append((p + name, t, spec, None))
    ROWS += [(f"I{p.lower()}{which}", t, NORM, np.int32) for which in ("amax", "amin")]
    r = real_of(t)
    prefix = {"C": "Sc", "Z": "Dz"}.get(p, p)
    ROWS += [(prefix + which, t, NORM, r) for which in ("nrm2", "asum")]
    ROWS += [(p + dot, t, DOT, t) for dot in (("dotu", "dotc") if is_complex(t) else ("dot",))]
    if is_complex(t):
        d = prefix[0].lower()
        ROWS += [(p + d + "scal", t, [5, "r", "Y", 2], None), (p + d + "rot", t, [5, "Y", 1, "Y", 2, "r", "r"], None)]

LETTERS = {"t": "nNtTcC", "u": "lLuU", "d": "nNuU", "s": "lLrR"}
MEANING = {"n": 0, "t": 1, "c": 2, "l": 0, "u": 1, "r": 1}
v2 = modes[0]


def fresh(spec, t):
    """Values for every array and factor; a triangle must not be singular."""
    return [random(64, t) + t(16) if part in ("A", "Y") else
            random((), real_of(t) if part == "r" else t)[()] for part in spec]


def call_both(name, t, spec, result, letters):
    values = fresh(spec, t)
    old, new, changed = [], [], []
    letters = iter(letters)
    for part, value in zip(spec, values):
        if part in LETTERS:
            letter = next(letters)
            old.append(ctypes.c_char(letter.encode()))
            new.append(MEANING[letter.lower()] if part != "d" else "nu".index(letter.lower()))
        elif part in ("A", "Y"):
            pair = Array(value), Array(value)
            old.append(pair[0].at)
            new.append(pair[1])
            changed.append(pair)
        elif part in ("a", "r"):
            kind = real_of(t) if part == "r" else t
            old.append(BY_VALUE[kind](value))
            new.append(Value(value, kind))
        else:
            old.append(ctypes.c_int(part))
            new.append(part)
    if name.endswith("trmm"):
        new += new[-2:]
    function = getattr(lib, "cublas" + name)
    function.restype = RESTYPE.get(result)
    found = function(*old)
    error = lib.cublasGetError()
    out = Value(0, result) if result else None
    assert v2.status(name + "_v2", *new, *([out] if result else [])) == error, (name, error)
    driver("cuCtxSynchronize")
    if result and is_complex(result):
        found = complex(found.x, found.y)
    assert not result or found == out.get(), (name, found, out.get())
    for mine, other in changed:
        assert mine.read() == other.read(), name
    if error == 0:
        checked.add("cublas" + name)


assert lib.cublasSaxpy(1, ctypes.c_float(1), None, 1, None, 1) is not None
assert lib.cublasGetError() == NOT_INITIALIZED
assert lib.cublasGetError() == SUCCESS
assert lib.cublasShutdown() == NOT_INITIALIZED
assert lib.cublasInit() == SUCCESS and lib.cublasInit() == SUCCESS
lib.cublasGetError()

for name, t, spec, result in ROWS:
    count = sum(part in LETTERS for part in spec)
    for i in range(6 if count else 1):
        # A Hermitian matrix is not transposed without being conjugated.
        letters = [LETTERS[part][(i + j) % len(LETTERS[part])] for j, part in
                   enumerate(part for part in spec if part in LETTERS)]
        call_both(name, t, spec, result, letters)
    free_all()

for p, t in TYPES.items():  # rotations of a point, on the host
    a, b, c, s = (np.full(1, v, kind) for v, kind in ((3, t), (4, t), (0, real_of(t)), (0, t)))
    args = [v.ctypes.data_as(ctypes.c_void_p) for v in (a, b, c, s)]
    if is_complex(t):
        args[1] = BY_VALUE[t](complex(4, 0))
    getattr(lib, f"cublas{p}rotg")(*args)
    assert lib.cublasGetError() == 0
    same("rotg", [a[0], c[0], s[0]], [5, .6, .8], t)
    checked.add(f"cublas{p}rotg")
for p in "SD":
    t = TYPES[p]
    points = [np.full(1, v, t) for v in (1, 2, 3, 4)] + [np.zeros(5, t)]
    args = [v.ctypes.data_as(ctypes.c_void_p) for v in points]
    getattr(lib, f"cublas{p}rotmg")(*args)
    same("rotmg", points[4], [1, .375, 0, 0, .75], t)
    x, y = Array(np.array([8, 0], t)), Array(np.array([4, 8], t))
    getattr(lib, f"cublas{p}rotm")(2, x.at, 1, y.at, 1, args[4])
    driver("cuCtxSynchronize")
    same("rotm", x.get(), [.375 * 8 + 4, 8], t)
    same("rotm", y.get(), [-8 + .75 * 4, 6], t)
    assert lib.cublasGetError() == 0
    checked.update((f"cublas{p}rotmg", f"cublas{p}rotm"))

# A wrong letter or size is an error that is kept, and nothing is done.
x = Array(np.ones(64, np.float32))
for args in ((b"x", b"n", 3), (b"n", b"q", 3), (b"n", b"n", -1)):
    lib.cublasSgemm(ctypes.c_char(args[0]), ctypes.c_char(args[1]), args[2], 3, 3, ctypes.c_float(1), x.at, 4, x.at, 4,
                    ctypes.c_float(1), x.at, 4)
    lib.cublasSscal(1, ctypes.c_float(1), x.at, 1)  # it has no error
    assert lib.cublasGetError() == INVALID_VALUE
driver("cuCtxSynchronize")
assert (x.get() == 1).all()

pointer, number = ctypes.c_void_p(), ctypes.c_int()
assert lib.cublasAlloc(10, 8, ctypes.byref(pointer)) == 0 and pointer.value
driver("cuMemsetD8_v2", ctypes.c_uint64(pointer.value), 1, ctypes.c_size_t(80))
assert lib.cublasFree(pointer) == 0
for n, size in ((0, 8), (-1, 8), (8, 0)):
    assert lib.cublasAlloc(n, size, ctypes.byref(pointer)) == INVALID_VALUE
assert lib.cublasGetVersion(ctypes.byref(number)) == 0 and number.value // 10000 == MAJOR
stream = ctypes.c_void_p()
driver("cuStreamCreate", ctypes.byref(stream), 1)
assert lib.cublasSetKernelStream(stream) == 0
lib.cublasSscal(1, ctypes.c_float(2), x.at, 1)
driver("cuStreamSynchronize", stream)
assert x.get()[0] == 2
lib.cublasXerbla(b"SGEMM", 3)
assert lib.cublasShutdown() == 0
assert lib.cublasSetKernelStream(None) == NOT_INITIALIZED
checked.update("cublas" + name for name in (
    "Init", "Shutdown", "GetError", "Alloc", "Free", "GetVersion", "SetKernelStream", "Xerbla"))
