# SPDX-License-Identifier: Apache-2.0
"""Cases for algorithms and heuristics of cuBLASLt."""

import ctypes as c
import struct

from lt_cases import case
from lt_client import *  # pylint: disable=wildcard-import,unused-wildcard-import
from lt_product import H100, INTEGERS, TYPES, Product, float8, heuristic_of, near


CAPABILITY = {"splits": (0, "i"), "schemes": (1, "I"), "swizzle": (2, "I"),
              "strided": (3, "i"), "out_of_place": (4, "i"),
              "triangles": (5, "i"), "tiles": (6, "I"),
              "custom_max": (7, "i"), "custom_order": (10, "i"),
              "pointer_modes": (11, "I"), "epilogues": (12, "I"),
              "stages": (13, "I"), "ld_negative": (14, "i"),
              "flags": (15, "Q"), "align_a": (16, "I"), "align_b": (17, "I"),
              "align_c": (18, "I"), "align_d": (19, "I"),
              "pointer_batch": (21, "i"), "emulates": (22, "i")}
CONFIG = {"id": (0, "i"), "tile": (1, "I"), "splits": (2, "i"),
          "scheme": (3, "I"), "swizzle": (4, "I"), "custom": (5, "I"),
          "stages": (6, "I"), "inner": (7, "H"), "cluster": (8, "H")}


def algo_attribute(lt, what, algo, table, key):
    at, fmt = table[key]
    data, written = c.create_string_buffer(struct.calcsize("=" + fmt)), c.c_size_t()
    lt.ok(f"MatmulAlgo{what}GetAttribute", c.byref(algo), at, data,
          c.c_size_t(len(data)), c.byref(written))
    assert written.value == len(data)
    return struct.unpack("=" + fmt, data.raw)[0]


def set_config(lt, algo, key, value):
    at, fmt = CONFIG[key]
    data = struct.pack("=" + fmt, value)
    return lt.call("MatmulAlgoConfigSetAttribute", c.byref(algo), at, data,
                   c.c_size_t(len(data)))


def made_algo(lt, types):
    ids, count = (c.c_int * 8)(), c.c_int(-1)
    lt.ok("MatmulAlgoGetIds", lt.handle, *types, 8, ids, c.byref(count))
    assert count.value >= 1
    algo = (c.c_uint64 * 8)()
    lt.ok("MatmulAlgoInit", lt.handle, *types, ids[0], algo)
    return algo


@case(few=True, types=TYPES)
def the_algorithm_that_is_told_computes(lt, types):
    p = Product(lt, TYPES[types], 12, 20, 36, trans=(T, N))
    r, found = lt.heuristic(p.desc, p.a.layout, p.b.layout, p.c.layout,
                            p.d.layout, count=3)
    assert r == SUCCESS and found[0].state == SUCCESS
    assert found[0].workspace == 0 and 0 < found[0].waves <= 1
    result = Heuristic()
    lt.ok("MatmulAlgoCheck", lt.handle, p.desc.handle, p.a.layout.handle,
          p.b.layout.handle, p.c.layout.handle, p.d.layout.handle,
          found[0].algo, c.byref(result))
    assert (result.state, result.workspace) == (SUCCESS, 0)
    assert result.waves == found[0].waves
    near(p.done(1, 0, found[0].algo), p.sums(), p.kinds[3])


@case(few=True, types=TYPES)
def an_algorithm_by_its_number_computes(lt, types):
    algo = made_algo(lt, TYPES[types])
    p = Product(lt, TYPES[types], 12, 20, 36, trans=(T, N))
    near(p.done(1, 0, algo), p.sums(), p.kinds[3])
    r, found = lt.heuristic(p.desc, p.a.layout, p.b.layout, p.c.layout,
                            p.d.layout)
    assert r == SUCCESS and list(found[0].algo) == list(algo)


@case()
def waves_count_tiles_of_all_processors(lt):
    p = Product(lt, TYPES["half-float"], 128 * 27 + 1, 128 * 2, 8)
    _, found = lt.heuristic(p.desc, p.a.layout, p.b.layout, p.c.layout,
                            p.d.layout)
    assert abs(found[0].waves - 28 * 2 / 108) < 1e-6


@case(few=True)
def an_algorithm_tells_what_it_can(lt):
    algo = made_algo(lt, TYPES["half-float"])
    told = {key: algo_attribute(lt, "Cap", algo, CAPABILITY, key)
            for key in CAPABILITY}
    assert told == {
        "splits": 0, "schemes": 0, "swizzle": 0, "strided": 1,
        "out_of_place": 1, "triangles": 0, "tiles": 0, "custom_max": 0,
        "custom_order": 0, "pointer_modes": 31, "epilogues": 1023,
        "stages": 0, "ld_negative": 0, "flags": 1 | 2 << 8 | 1 << 16,
        "align_a": 2, "align_b": 2, "align_c": 2, "align_d": 2,
        "pointer_batch": 1, "emulates": 0}
    algo = made_algo(lt, INTEGERS)
    assert algo_attribute(lt, "Cap", algo, CAPABILITY, "epilogues") == 1
    assert algo_attribute(lt, "Cap", algo, CAPABILITY, "align_a") == 4
    assert algo_attribute(lt, "Cap", algo, CAPABILITY,
                          "flags") == 1 | 8 << 8 | 0x20 << 16
    many, written = (c.c_uint32 * 16)(*[9] * 16), c.c_size_t()
    lt.ok("MatmulAlgoCapGetAttribute", algo, 6, many, c.c_size_t(64),
          c.byref(written))
    assert (written.value, many[0], many[1]) == (4, 0, 9)


@case(few=True)
def an_algorithm_is_configured(lt):
    algo = made_algo(lt, TYPES["half-float"])
    told = {key: algo_attribute(lt, "Config", algo, CONFIG, key)
            for key in CONFIG}
    assert told == {**dict.fromkeys(CONFIG, 0), "id": told["id"],
                    "splits": 1}
    assert set_config(lt, algo, "id", 5) == INVALID_VALUE
    assert set_config(lt, algo, "tile", 20) == SUCCESS
    assert algo_attribute(lt, "Config", algo, CONFIG, "tile") == 20
    assert lt.call("MatmulAlgoConfigSetAttribute", algo, 1, b"abcdefgh",
                   c.c_size_t(8)) == INVALID_VALUE


@case(key=[k for k in CONFIG if k != "id"])
def what_it_cannot_be_configured_as_does_not_run(lt, key):
    p = Product(lt, TYPES["half-float"], 8, 8, 8)
    algo, result = made_algo(lt, TYPES["half-float"]), Heuristic()
    assert set_config(lt, algo, key, 3) == SUCCESS
    assert lt.call("MatmulAlgoCheck", lt.handle, p.desc.handle,
                   p.a.layout.handle, p.b.layout.handle, p.c.layout.handle,
                   p.d.layout.handle, algo,
                   c.byref(result)) == NOT_SUPPORTED
    assert p.run(1, 0, algo) == NOT_SUPPORTED


@case()
def an_algorithm_is_for_its_types(lt):
    p, result = Product(lt, TYPES["half-float"], 8, 8, 8), Heuristic()
    for algo in (made_algo(lt, TYPES["float"]), (c.c_uint64 * 8)()):
        assert p.run(1, 0, algo) == INVALID_VALUE
        assert lt.call("MatmulAlgoCheck", lt.handle, p.desc.handle,
                       p.a.layout.handle, p.b.layout.handle,
                       p.c.layout.handle, p.d.layout.handle, algo,
                       c.byref(result)) == INVALID_VALUE


@case()
def algorithms_want_known_types_and_numbers(lt):
    types = (COMPUTE_32F, R_32F, R_16F, R_16BF, R_16F, R_16F)
    ids, count = (c.c_int * 1)(), c.c_int(7)
    algo = (c.c_uint64 * 8)()
    lt.ok("MatmulAlgoGetIds", lt.handle, *types, 1, ids, c.byref(count))
    assert count.value == 0
    assert lt.call("MatmulAlgoInit", lt.handle, *types, 1,
                   algo) == NOT_SUPPORTED
    good = TYPES["half-float"]
    assert lt.call("MatmulAlgoInit", lt.handle, *good, 77,
                   algo) == INVALID_VALUE
    assert lt.call("MatmulAlgoInit", lt.handle, *good, 1,
                   None) == INVALID_VALUE
    assert lt.call("MatmulAlgoInit", None, *good, 1, algo) == NOT_INITIALIZED
    assert lt.call("MatmulAlgoGetIds", lt.handle, *good, 0, ids,
                   c.byref(count)) == INVALID_VALUE
    assert not any(algo)


# Heuristics.
@case(H100)
def heuristics_follow_what_is_preferred(lt):
    p = Product(lt, float8(E4M3, E4M3, R_16BF, R_16BF), 16, 16, 32,
                trans=(T, N))
    good, none = (SUCCESS, 1), (NOT_SUPPORTED, 0)
    flags = 1 | 2 << 8 | 0x40 << 16
    for wish, right in (({}, good), ({"align_a": 16}, good),
                        ({"align_a": 8}, none), ({"align_d": 8}, none),
                        ({"impl": flags}, good), ({"impl": flags - 1}, none),
                        ({"waves": 1.0}, good), ({"waves": 1e-9}, none),
                        ({"search": 7}, none)):
        r, found = heuristic_of(lt, p, lt.preference(**wish))
        assert (r, len(found)) == right, wish


@case()
def heuristics_may_be_for_one_algorithm(lt):
    p = Product(lt, TYPES["half-float"], 8, 8, 8)
    found, got = Heuristic(), c.c_int()
    wish = lt.preference(search=1)
    args = [lt.handle, p.desc.handle, p.a.layout.handle, p.b.layout.handle,
            p.c.layout.handle, p.d.layout.handle]
    assert lt.call("MatmulAlgoGetHeuristic", *args, wish.handle, 1,
                   c.byref(found), c.byref(got)) == INVALID_VALUE
    wish_of_waves = lt.preference(waves=1e-9)
    assert lt.call("MatmulAlgoGetHeuristic", *args, wish_of_waves.handle, 1,
                   c.byref(found), c.byref(got)) == NOT_SUPPORTED
    assert not any(found.algo)
    found.algo = made_algo(lt, TYPES["half-float"])
    lt.ok("MatmulAlgoGetHeuristic", *args, wish.handle, 1, c.byref(found),
          c.byref(got))
    assert got.value == 1
    for count, wrong in ((0, wish.handle), (1, None)):
        assert lt.call("MatmulAlgoGetHeuristic", *args, wrong, count,
                       c.byref(found), c.byref(got)) == INVALID_VALUE
