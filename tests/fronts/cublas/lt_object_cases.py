# SPDX-License-Identifier: Apache-2.0
"""Cases for objects, handles and the log of cuBLASLt."""

import ctypes as c
import os
import struct
import tempfile

from lt_cases import case
from lt_client import *  # pylint: disable=wildcard-import,unused-wildcard-import
from lt_product import TYPES, Product

# The values of a new object, from cublasLt.h.
NEW = {
    "MatrixLayout": (LAYOUT, (R_16F, c.c_uint64(3), c.c_uint64(5),
                              c.c_int64(7)),
                     {"type": R_16F, "order": COL, "rows": 3, "cols": 5,
                      "ld": 7, "batches": 1, "stride": 0, "plane": 0,
                      "mode": 0}),
    "MatmulDesc": (MATMUL, (COMPUTE_32F, R_32F),
                   {**dict.fromkeys(MATMUL, 0), "compute": COMPUTE_32F,
                    "scale": R_32F, "fill": 2, "epilogue": DEFAULT,
                    "aux_type": -1, "bias_type": -1}),
    "MatrixTransformDesc": (TRANSFORM, (R_64F,),
                            {"scale": R_64F, "pointer_mode": HOST,
                             "trans_a": N, "trans_b": N}),
    "MatmulPreference": (PREFERENCE, (),
                         {"search": 0, "workspace": 0, "schemes": 7,
                          "align_a": 256, "align_b": 256, "align_c": 256,
                          "align_d": 256, "waves": 0.0, "impl": 2**64 - 1}),
}


@case(few=True, name=NEW)
def a_new_object_has_the_documented_values(lt, name):
    table, args, right = NEW[name]
    made = Object(lt, name, table, *args)
    assert {key: made.get(key) for key in table} == right


@case(few=True, name=NEW)
def an_object_answers_what_it_was_told(lt, name):
    table, args, _ = NEW[name]
    made = Object(lt, name, table, *args)
    right = {key: i + 1 for i, key in enumerate(table)}
    made.set(**right)
    assert {key: made.get(key) for key in table} == right


@case(few=True, name=NEW)
def attributes_have_one_size(lt, name):
    table, args, _ = NEW[name]
    made = Object(lt, name, table, *args)
    room, written = c.create_string_buffer(b"\xee" * 64), c.c_size_t(99)
    for at, fmt in table.values():
        size = struct.calcsize("=" + fmt)
        for wrong in (size - 1, size + 1, 2 * size):
            for function in ("Set", "Get")[:2 if wrong else 1]:
                extra = [c.byref(written)] * (function == "Get")
                assert lt.call(f"{name}{function}Attribute", made.handle, at,
                               room, c.c_size_t(wrong),
                               *extra) == INVALID_VALUE
        assert room.raw[:64] == b"\xee" * 64 and written.value == 99
        lt.ok(name + "GetAttribute", made.handle, at, None, c.c_size_t(0),
              c.byref(written))
        assert written.value == size
        written.value = 99
        for buf, length, told in ((None, size, written), (None, 0, None)):
            assert lt.call(name + "GetAttribute", made.handle, at, buf,
                           c.c_size_t(length),
                           told and c.byref(told)) == INVALID_VALUE


@case(name=NEW)
def no_object_and_no_attribute_are_invalid(lt, name):
    table, args, _ = NEW[name]
    made, room = Object(lt, name, table, *args), c.create_string_buffer(8)
    for handle, attribute in ((None, 0), (made.handle, 99),
                              (made.handle, -1)):
        for size in (1, 2, 4, 8):
            assert lt.call(name + "SetAttribute", handle, attribute, room,
                           c.c_size_t(size)) == INVALID_VALUE
            assert lt.call(name + "GetAttribute", handle, attribute, room,
                           c.c_size_t(size), None) == INVALID_VALUE
    assert lt.call(name + "SetAttribute", made.handle, 0, None,
                   c.c_size_t(4)) == INVALID_VALUE
    assert lt.call(name + "Create", None, *args) == INVALID_VALUE


@case(few=True, name=NEW)
def an_object_may_lie_in_memory_of_the_program(lt, name):
    table, args, right = NEW[name]
    size = 256 if name == "MatmulDesc" else 64
    room = c.create_string_buffer(b"\xee" * (size + 8))
    init = name + "Init_internal"
    assert lt.call(init, None, c.c_size_t(size), *args) == INVALID_VALUE
    assert lt.call(init, room, c.c_size_t(8), *args) == ALLOC_FAILED
    assert room.raw[:size] == b"\xee" * size
    lt.ok(init, room, c.c_size_t(size), *args)
    assert room.raw[size:size + 8] == b"\xee" * 8
    for key, (at, fmt) in table.items():
        data = c.create_string_buffer(struct.calcsize("=" + fmt))
        lt.ok(name + "GetAttribute", room, at, data, c.c_size_t(len(data)),
              None)
        assert struct.unpack("=" + fmt, data.raw)[0] == right[key], key


@case()
def emulation_is_described(lt):
    made = Object(lt, "EmulationDesc", EMULATION)
    assert {key: made.get(key) for key in EMULATION} == {
        "strategy": 0, "special": 0xffff, "control": 0, "bits": 0,
        "offset": 0, "told": 0}
    assert made.set(bits=23).get("bits") == 23
    room = c.create_string_buffer(64)
    lt.ok("EmulationDescInit_internal", room, c.c_size_t(64))
    assert lt.call("EmulationDescInit_internal", room,
                   c.c_size_t(8)) == ALLOC_FAILED


@case(few=True)
def handles_are_made_and_ended(lt):
    handle = c.c_void_p()
    assert lt.call("Create", None) == INVALID_VALUE
    assert lt.call("Destroy", None) == INVALID_VALUE
    lt.ok("Create", c.byref(handle))
    assert handle.value and handle.value != lt.handle.value
    lt.ok("Destroy", handle)


@case(few=True)
def properties_are_those_of_the_version(lt):
    parts = []
    for i in range(3):
        value = c.c_int(-1)
        lt.ok("GetProperty", i, c.byref(value))
        parts.append(value.value)
    version = lt.library.cublasLtGetVersion()
    assert version == parts[0] * 10000 + parts[1] * 100 + parts[2]
    for wrong, out in ((3, c.byref(c.c_int())), (-1, c.byref(c.c_int())),
                       (0, None)):
        assert lt.call("GetProperty", wrong, out) == INVALID_VALUE


@case()
def the_cache_has_a_capacity(lt):
    value = c.c_size_t()
    lt.ok("HeuristicsCacheGetCapacity", c.byref(value))
    assert value.value == 8192
    lt.ok("HeuristicsCacheSetCapacity", c.c_size_t(100))
    lt.ok("HeuristicsCacheGetCapacity", c.byref(value))
    assert value.value == 100
    assert lt.call("HeuristicsCacheGetCapacity", None) == INVALID_VALUE


# The log.
CALLBACK = c.CFUNCTYPE(None, c.c_int, c.c_char_p, c.c_char_p)


def log_lines(lt, how, value):
    """What a product, a setting and an error report to a callback."""
    told = []
    callback = CALLBACK(lambda *args: told.append(args))
    p = Product(lt, TYPES["half-float"], 12, 8, 8)
    lt.ok("LoggerSetCallback", callback)
    lt.ok("LoggerSet" + how, value)
    p.run(1, 0)
    p.desc.try_set("fast", 1)
    lt.call("MatmulDescSetAttribute", p.desc.handle, 99, b"1", c.c_size_t(1))
    lt.ok("LoggerSetMask", 0)
    lt.ok("LoggerSetCallback", None)
    return told


@case(few=True)
def a_callback_is_told_by_level_and_mask(lt):
    for how, value, right in (
            ("Level", 0, set()), ("Level", 1, {1}), ("Level", 2, {1, 2}),
            ("Level", 5, {1, 2, 5}), ("Mask", 2, {2}), ("Mask", 16, {5}),
            ("Mask", 17, {1, 5}), ("Mask", 0, set())):
        told = log_lines(lt, how, value)
        assert {level for level, _, _ in told} == right, (how, value, told)
        for level, function, message in told:
            assert function.startswith(b"cublasLtMatmul")
            if level == 1:
                assert message == b"CUBLAS_STATUS_INVALID_VALUE"
            if level == 2:
                assert message == b"m=12 n=8 k=8 batches=1"
    for wrong in (-1, 6):
        assert lt.call("LoggerSetLevel", wrong) == INVALID_VALUE


@case()
def a_file_gets_the_log(lt):
    with tempfile.TemporaryDirectory() as where:
        path = os.path.join(where, "log-%i")
        lt.ok("LoggerOpenFile", path.encode())
        lt.ok("LoggerSetLevel", 1)
        lt.call("MatmulDescSetAttribute", None, 99, b"1", c.c_size_t(1))
        lt.ok("LoggerSetLevel", 0)
        lt.ok("LoggerSetFile", None)
        with open(path.replace("%i", str(os.getpid())), encoding="ascii") as f:
            assert f.read() == (
                "[cublasLt][1][cublasLtMatmulDescSetAttribute] "
                "CUBLAS_STATUS_INVALID_VALUE\n")
        assert lt.call("LoggerOpenFile",
                       b"/nonexistent/log") == INVALID_VALUE
        assert lt.call("LoggerOpenFile", None) == INVALID_VALUE
