# SPDX-License-Identifier: Apache-2.0
"""Memory of kinds that the fake driver lacks is tested on a stand-in driver
(standin.c): what is on the device counts, and nothing else does."""

import os
import subprocess
import sys

import pytest

from conftest import clean_env
from test_limit_memory import BUILD, VGPU

# A context takes 64 MiB; the limit leaves 200.
START = """
import ctypes as C, threading
MIB = 1 << 20
cuda = C.CDLL("libcuda.so.1", C.RTLD_GLOBAL)
cuda.cuInit(0)
ctx, left, total = C.c_void_p(), C.c_size_t(), C.c_size_t()
assert cuda.cuDevicePrimaryCtxRetain(C.byref(ctx), 0) == 0
def room():
    assert cuda.cuMemGetInfo_v2(C.byref(left), C.byref(total)) == 0
    return left.value // MIB
assert room() == 200
def create(mib):
    prop = (C.c_int * 8)(1, 0, 1, 0, 0, 0, 0, 0)  # pinned, on device 0
    handle = C.c_ulonglong()
    r = cuda.cuMemCreate(C.byref(handle), C.c_size_t(mib * MIB), prop,
                         C.c_ulonglong(0))
    return r or handle
"""

POOL = """
at, pool = C.c_ulonglong(), C.c_void_p()
props = (C.c_int * 24)(1, 0, {location}, 0)
assert cuda.cuMemPoolCreate(C.byref(pool), props) == 0
print(cuda.cuMemAllocFromPoolAsync(C.byref(at), C.c_size_t(300 * MIB), pool,
                                   None), room())
"""

# struct CUDA_ARRAY3D_DESCRIPTOR: 10,000 times 10,000 floats.
ARRAY = """
class Descriptor(C.Structure):
    _fields_ = [("sides", C.c_size_t * 3), ("format", C.c_int),
                ("channels", C.c_uint), ("flags", C.c_uint)]
d = Descriptor((10000, 10000, 0), 0x20, 1, {flags})
print(cuda.cuArray3DCreate_v2(C.byref(C.c_void_p()), C.byref(d)), room())
"""

# Released, but kept by what `call` has bound it to.
KEPT = """
handle = create(100)
assert room() == 100
{call}
assert cuda.cuMemRelease(handle) == 0
print(room())
"""
# struct CUarrayMapInfo: the handle is at byte 64, the operation at byte 56: 1
# maps.
MAP = """
info = (C.c_ulonglong * 12)()
C.c_int.from_buffer(info, 56).value = 1
info[8] = handle.value
assert cuda.cuMemMapArrayAsync(info, 1, None) == 0
"""
BIND = """
zero = C.c_ulonglong(0)
assert cuda.cuMulticastBindMem(zero, zero, handle, zero, zero, zero) == 0
"""

# Two launches at once of graphs that need 100 MiB: that much is in reserve from
# the launch before, and 60 MiB are left.
GRAPHS = """
launched, go = (C.c_char.in_dll(cuda, "standin_" + n)
                for n in ("launched", "go"))
def number(name):
    return C.c_ulonglong.in_dll(cuda, "standin_" + name)
def post(sem):
    assert C.CDLL(None).sem_post(C.byref(sem)) == 0
def came(sem):
    return C.CDLL(None).sem_trywait(C.byref(sem)) == 0
node, execs, results = C.c_void_p(), [C.c_void_p(), C.c_void_p()], []
params = (C.c_int * 64)(1, 0, 1, 0)
assert cuda.cuGraphAddMemAllocNode(C.byref(node), None, None, C.c_size_t(0),
                                   params) == 0
for e in execs:
    assert cuda.cuGraphInstantiateWithFlags(C.byref(e), None,
                                            C.c_ulonglong(0)) == 0
post(go)
assert cuda.cuGraphLaunch(execs[0], None) == 0 and came(launched)
number("used").value = 0
create(40)
assert room() == 60
threads = [threading.Thread(
    target=lambda e: results.append(cuda.cuGraphLaunch(e, None)), args=(e,))
    for e in execs]
for one in threads:
    one.start()
    while not came(launched) and one.is_alive():
        pass
post(go)
post(go)
for one in threads:
    one.join()
print(*sorted(results), (number("held").value + number("reserved").value) // MIB)
"""


@pytest.fixture
def run(tmp_path):
    def run(code):
        done = subprocess.run(
            [sys.executable, "-c", START + code], text=True, check=False,
            capture_output=True, timeout=60, env=clean_env(
                LD_LIBRARY_PATH=os.path.join(BUILD, "tests/limit/standin"),
                LD_PRELOAD=VGPU, CUDA_DEVICE_MEMORY_LIMIT="264m",
                CUDA_DEVICE_MEMORY_SHARED_CACHE=str(tmp_path / "x.cache")))
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    return run


@pytest.mark.parametrize("location, told", [
    (1, ["2", "200"]), (2, ["0", "200"]), (3, ["0", "200"]),
    (4, ["0", "200"])])
def test_pools_of_the_host_are_no_memory_of_the_device(run, location, told):
    assert run(POOL.format(location=location)) == told


@pytest.mark.parametrize("flags, told", [(0, ["2", "200"]),
                                         (0x40, ["0", "200"])])
def test_a_sparse_array_has_what_is_mapped_into_it(run, flags, told):
    assert run(ARRAY.format(flags=flags)) == told


@pytest.mark.parametrize("call, left", [("", "200"), (MAP, "100"),
                                        (BIND, "100")],
                         ids=["nothing", "array", "multicast"])
def test_what_is_released_and_mapped_elsewhere_is_held(run, call, left):
    assert run(KEPT.format(call=call)) == [left]


def test_what_graphs_have_in_reserve_is_for_one_launch_at_a_time(run):
    assert run(GRAPHS) == ["0", "2", "204"]
