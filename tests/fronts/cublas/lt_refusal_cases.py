# SPDX-License-Identifier: Apache-2.0
"""Cases that cuBLASLt refuses; heuristics and the product agree."""

import ctypes as c

import numpy as np

from lt_cases import case
from lt_client import *  # pylint: disable=wildcard-import,unused-wildcard-import
from lt_product import (A100, B200, H100, INTEGERS, TYPES, Product, float8,
                        heuristic_of)

T4, L4 = "t4", "l4"


def refusals(lt, p, status, **attributes):
    p.desc.set(**attributes)
    r, found = heuristic_of(lt, p)
    assert (r, len(found)) == (status, 0)
    before = p.d.values()
    assert p.run(1, 0) == status
    assert np.array_equal(p.d.values(), before)


WRONG = {
    "epilogue-3": (INVALID_VALUE, {"epilogue": 3}),
    "epilogue-0": (INVALID_VALUE, {"epilogue": 0}),
    "operation-3": (INVALID_VALUE, {"trans_a": 3}),
    "operation-7": (INVALID_VALUE, {"trans_b": 7}),
    "pointer-mode": (INVALID_VALUE, {"pointer_mode": 5}),
    "alpha-stride": (INVALID_VALUE, {"pointer_mode": VECTOR_ZERO,
                                     "alpha_stride": 8}),
    "aux-ld": (INVALID_VALUE, {"epilogue": RELU | AUX, "aux_ld": 64}),
    "aux-stride": (INVALID_VALUE, {"epilogue": RELU | AUX, "aux_ld": 128,
                                   "aux_stride": 64}),
    "gelu-ld": (INVALID_VALUE, {"epilogue": GELU | AUX, "aux_ld": 9}),
    "aux-ld-small": (INVALID_VALUE, {"epilogue": GELU | AUX, "aux_ld": 0}),
    "aux-type": (INVALID_VALUE, {"epilogue": GELU | AUX, "aux_ld": 16,
                                 "aux_type": R_64F}),
    "scale": (INVALID_VALUE, {"a_scale": 16}),
    "amax": (INVALID_VALUE, {"amax_d": 16}),
    "c-transposed": (NOT_SUPPORTED, {"trans_c": T}),
    "triangle": (NOT_SUPPORTED, {"fill": 0}),
    "bias-type": (NOT_SUPPORTED, {"epilogue": BIAS, "bias": 16,
                                  "bias_type": R_64F}),
    "compute": (NOT_SUPPORTED, {"compute": COMPUTE_64F}),
    "scale-type": (NOT_SUPPORTED, {"scale": R_64F}),
}


@case(few=True, what=WRONG)
def a_wrong_description_is_refused(lt, what):
    status, attributes = WRONG[what]
    refusals(lt, Product(lt, TYPES["half-float"], 12, 8, 8), status,
             **attributes)


LAYOUTS = {
    "rows": ("a", {"rows": 11}), "cols": ("b", {"cols": 7}),
    "k": ("b", {"rows": 9, "ld": 16}), "ld": ("a", {"ld": 11}),
    "negative": ("d", {"ld": -12}), "order": ("a", {"order": 9}),
    "batches": ("a", {"batches": 2}), "none": ("d", {"batches": 0}),
    "mode": ("c", {"mode": 1}), "c-order": ("c", {"order": ROW}),
    "broadcast": ("d", {"ld": 0}),
}


@case(few=True, what=LAYOUTS)
def layouts_that_do_not_fit_are_invalid(lt, what):
    p = Product(lt, TYPES["half-float"], 12, 8, 8)
    which, attributes = LAYOUTS[what]
    getattr(p, which).layout.set(**attributes)
    refusals(lt, p, INVALID_VALUE)


@case(few=True)
def what_a_product_needs_must_be_there(lt):
    p = Product(lt, TYPES["half-float"], 12, 8, 8)
    one = scalar(R_32F, 1)
    full = [p.desc.handle, one, p.a.at, p.a.layout.handle, p.b.at,
            p.b.layout.handle, one, p.c.at, p.c.layout.handle, p.d.at,
            p.d.layout.handle]
    pointers = [c.c_void_p(x) if isinstance(x, int) else x for x in full]
    rest = [None, None, c.c_size_t(0), None]
    assert lt.call("Matmul", None, *pointers, *rest) == NOT_INITIALIZED
    for missing in range(len(full)):
        if missing != 8:  # without a layout C is like D
            args = [None if i == missing else x
                    for i, x in enumerate(pointers)]
            assert lt.call("Matmul", lt.handle, *args,
                           *rest) == INVALID_VALUE, missing
    assert lt.call("Matmul", lt.handle, *pointers, None, c.c_void_p(100),
                   c.c_size_t(4096), None) == INVALID_VALUE
    assert not p.d.values().any()


@case(what=[BIAS, RELU | AUX, GELU | AUX | BIAS, DRELU | BGRAD, BGRADA])
def buffers_of_epilogues_are_wanted_by_the_product_alone(lt, what):
    p = Product(lt, TYPES["half-float"], 12, 8, 8, epilogue=what, aux_ld=128)
    r, found = heuristic_of(lt, p)
    assert (r, len(found)) == (SUCCESS, 1)
    assert p.run(1, 0) == INVALID_VALUE


@case()
def with_d_in_rows_activations_have_no_bias_and_tell_nothing(lt):
    for what in (RELU | BIAS, GELU | BIAS, RELU | AUX, GELU | AUX):
        p = Product(lt, TYPES["half-float"], 12, 8, 8,
                    orders=(COL, COL, ROW), aux_ld=128)
        refusals(lt, p, NOT_SUPPORTED, epilogue=what, bias=16, aux=16)


@case()
def integers_are_in_fours_and_without_epilogues(lt):
    for shape in ((6, 8, 8), (8, 8, 6)):
        refusals(lt, Product(lt, INTEGERS, *shape), NOT_SUPPORTED)
    refusals(lt, Product(lt, INTEGERS, 8, 8, 8), NOT_SUPPORTED, epilogue=RELU)
    refusals(lt, Product(lt, INTEGERS, 8, 8, 8), NOT_SUPPORTED,
             pointer_mode=VECTORS)


@case(A100, T4, H100)
def tiles_are_for_turing_and_ampere(lt):
    major = c.c_int()
    lt.driver.call("cuDeviceGetAttribute", c.byref(major), 75, 0)
    for order in (COL4_4R2_8C, COL32_2R_4R4):
        p = Product(lt, INTEGERS, 8, 8, 8, trans=(N, T),
                    orders=(COL32, order, COL32))
        good = major.value == 8 or (major.value == 7 and order == COL4_4R2_8C)
        assert heuristic_of(lt, p)[0] == (SUCCESS if good else NOT_SUPPORTED)
    p = Product(lt, INTEGERS, 8, 8, 8, trans=(T, N),
                orders=(COL32, COL4_4R2_8C, COL32))
    assert heuristic_of(lt, p)[0] == NOT_SUPPORTED


@case(A100, L4, H100, B200)
def floats_of_8_bits_are_for_gpus_that_have_them(lt):
    major = c.c_int()
    minor = c.c_int()
    lt.driver.call("cuDeviceGetAttribute", c.byref(major), 75, 0)
    lt.driver.call("cuDeviceGetAttribute", c.byref(minor), 76, 0)
    can = major.value * 10 + minor.value
    types = float8(E4M3, E4M3, R_16BF, R_16BF)
    for trans, modes, since, until in (
            ((T, N), (SCALAR, SCALAR), 89, 999),
            ((N, N), (SCALAR, SCALAR), 100, 119),
            ((T, N), (OUTER_VEC, OUTER_VEC), 90, 90),
            ((T, N), (VEC128, BLK128), 90, 90),
            ((T, N), (VEC32, VEC32), 100, 999)):
        p = Product(lt, types, 16, 16, 32, trans=trans, a_mode=modes[0],
                    b_mode=modes[1])
        right = SUCCESS if since <= can <= until else NOT_SUPPORTED
        assert heuristic_of(lt, p)[0] == right, (trans, modes)


@case(H100)
def floats_of_8_bits_have_rules(lt):
    types = float8(E4M3, E4M3, R_16BF, R_16BF)
    for shape in ((12, 16, 32), (16, 16, 24)):
        refusals(lt, Product(lt, types, *shape, trans=(T, N)), NOT_SUPPORTED)
    for modes in ((BLK128, BLK128), (VEC128, SCALAR), (OUTER_VEC, VEC128),
                  (9, 9), (-1, -1), (VEC16, VEC16)):
        refusals(lt, Product(lt, types, 16, 16, 32, trans=(T, N)),
                 NOT_SUPPORTED, a_mode=modes[0], b_mode=modes[1])
    p = Product(lt, types, 16, 16, 32, trans=(T, N))
    refusals(lt, p, INVALID_VALUE, d_scale=16)
    p = Product(lt, types, 16, 16, 32, trans=(T, N), a_mode=VEC128,
                b_mode=VEC128)
    assert p.run(1, 0) == INVALID_VALUE  # the scales are not there
    for attributes in ({"epilogue": BGRADA, "bias": 16},
                       {"epilogue": BGRADB, "bias": 16}, {"c_mode": 4}, {"d_mode": 4}, {"d_out_mode": 2}):
        refusals(lt, Product(lt, types, 16, 16, 32, trans=(T, N)),
                 NOT_SUPPORTED, **attributes)
    refusals(lt, Product(lt, types, 16, 16, 32, 2, trans=(T, N)),
             NOT_SUPPORTED, a_mode=OUTER_VEC, b_mode=OUTER_VEC)
    refusals(lt, Product(lt, float8(E4M3, E4M3, R_16F, E4M3), 16, 16, 32,
                         trans=(T, N)), NOT_SUPPORTED, a_mode=VEC128,
             b_mode=VEC128)
    p = Product(lt, float8(E4M3, E4M3, R_32F, R_32F), 16, 18, 32,
                trans=(T, N))
    refusals(lt, p, INVALID_VALUE, a_mode=VEC128, b_mode=VEC128)
    refusals(lt, Product(lt, float8(E5M2, E5M2, R_16BF, R_16BF), 16, 16, 32,
                         trans=(T, N)), NOT_SUPPORTED)
    p = Product(lt, types, 16, 16, 32, trans=(T, N))
    r = lt.matmul(p.desc, scalar(R_32F, 1), p.a.at + 8, p.a.layout, p.b.at,
                  p.b.layout, scalar(R_32F, 0), p.c.at, p.c.layout, p.d.at,
                  p.d.layout)
    assert r == NOT_SUPPORTED
