# SPDX-License-Identifier: Apache-2.0
"""More calls for gpu_shell.py, which reads this into its own names: kinds of
memory that limiters have overlooked. Sizes are in bytes."""
# flake8: noqa: F821
# pylint: disable=undefined-variable

OUT_OF_MEMORY = 2
PER_THREAD_STREAM = 2  # CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
pools = []


class ArrayWanted(ctypes.Structure):
    _fields_ = [("width", ctypes.c_size_t), ("height", ctypes.c_size_t),
                ("format", ctypes.c_int), ("channels", ctypes.c_uint)]


class Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class Allocation(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("handles", ctypes.c_int),
                ("location", Location), ("win32", ctypes.c_void_p),
                ("flags", ctypes.c_ubyte * 8)]


class Pool(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("handles", ctypes.c_int),
                ("location", Location), ("win32", ctypes.c_void_p),
                ("most", ctypes.c_size_t), ("usage", ctypes.c_ushort),
                ("reserved", ctypes.c_ubyte * 54)]


def granted(call, *args, times=40):
    """How often the call succeeds until memory is out; other errors are
    returned."""
    for count in range(times):
        result = call(*args)
        if result == OUT_OF_MEMORY:
            return count
        if result:
            return f"error {result}"
    return times


def array(size):
    wanted = ArrayWanted(16384, size // 16384 // 4, 0x20, 1)
    made = ctypes.c_void_p()
    return cuda.cuArrayCreate_v2(ctypes.byref(made), ctypes.byref(wanted))


def create(size, device):
    """Physical memory of a device, whatever context is current."""
    wanted = Allocation(type=1, location=Location(1, device))
    handle = ctypes.c_ulonglong()
    result = cuda.cuMemCreate(ctypes.byref(handle), ctypes.c_size_t(size),
                              ctypes.byref(wanted), ctypes.c_ulonglong(0))
    if not result:
        kept.append(handle)
    return result


def release():
    return cuda.cuMemRelease(kept.pop())


def pool(size, device=0):
    """From a pool of its own, on the legacy stream."""
    if not pools:
        made = ctypes.c_void_p()
        wanted = Pool(type=1, location=Location(1, device))
        result = cuda.cuMemPoolCreate(ctypes.byref(made), ctypes.byref(wanted))
        if result:
            return result
        pools.append(made)
    at = ctypes.c_ulonglong()
    result = cuda.cuMemAllocFromPoolAsync(
        ctypes.byref(at), ctypes.c_size_t(size), pools[0], None)
    if not result:
        kept.append(at)
    return result


def free_async():
    return (cuda.cuMemFreeAsync(kept.pop(), None)
            or cuda.cuStreamSynchronize(None))


def trim():
    return cuda.cuMemPoolTrimTo(pools[0], ctypes.c_size_t(0))


def named(name, size):
    """Allocates by a function that dlsym finds: (pointer, size, stream)."""
    at = ctypes.c_ulonglong()
    return getattr(cuda, name)(ctypes.byref(at), ctypes.c_size_t(size), None)


def proc(name, flags=0, version=12000):
    """[result, address, status] of cuGetProcAddress_v2."""
    at, status = ctypes.c_void_p(), ctypes.c_int(-1)
    result = cuda.cuGetProcAddress_v2(
        name.encode(), ctypes.byref(at), version, ctypes.c_ulonglong(flags),
        ctypes.byref(status))
    return [result, at.value or 0, status.value]


def alloc_by_proc(name, size, flags=0):
    """Like named(), with the function found by cuGetProcAddress_v2."""
    made = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t,
                            ctypes.c_void_p)(proc(name, flags)[1])
    at = ctypes.c_ulonglong()
    return made(ctypes.addressof(at), size, None)


def storm(size):
    """Allocates and frees until it is killed."""
    while True:
        if not alloc(size):
            free()


def symbol(handle, name):
    """dlsym(): 0 (RTLD_DEFAULT), -1 (RTLD_NEXT)."""
    find = ctypes.CDLL(None).dlsym
    find.restype = ctypes.c_void_p
    return find(ctypes.c_void_p(handle), name.encode()) or 0


def handlers():
    """The signals that this process catches or ignores, and its umask."""
    with open("/proc/self/status", encoding="ascii") as file:
        lines = dict(line.split(":", 1) for line in file)
    return [lines[key].strip() for key in ("SigCgt", "SigIgn", "Umask")]


def maps(part):
    with open("/proc/self/maps", encoding="ascii") as file:
        return part in file.read()


SPIN = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u32 rounds)
{
.reg .pred %p;
.reg .b32 %r<3>;
ld.param.u32 %r0, [rounds];
mov.u32 %r1, 1;
again:
mad.lo.s32 %r1, %r1, 1664525, 1013904223;
add.s32 %r0, %r0, -1;
setp.ne.s32 %p, %r0, 0;
@%p bra again;
ret;
}
"""


def spin_kernel():
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    return (cuda.cuModuleLoadData(ctypes.byref(module), SPIN)
            or cuda.cuModuleGetFunction(ctypes.byref(function), module,
                                        b"spin")
            or function)


def spin(function, rounds, stream=None):
    count = ctypes.c_uint(rounds)
    args = (ctypes.c_void_p * 1)(ctypes.addressof(count))
    return cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, args,
                               None)


def rounds_of(function, seconds):
    """How many rounds of the kernel take about this long, measured."""
    rounds = 1000
    while True:
        began = time.monotonic()
        assert spin(function, rounds) == 0 and cuda.cuCtxSynchronize() == 0
        took = time.monotonic() - began
        if took > seconds:
            return max(1000, int(rounds * seconds / took))
        rounds *= 2


def spin_graph(function, rounds):
    """A graph of one kernel, captured: (executable, stream)."""
    stream, graph, ready = (ctypes.c_void_p() for _ in range(3))
    assert cuda.cuStreamCreate(ctypes.byref(stream), 1) == 0
    assert cuda.cuStreamBeginCapture_v2(stream, 0) == 0
    assert spin(function, rounds, stream) == 0
    assert cuda.cuStreamEndCapture(stream, ctypes.byref(graph)) == 0
    assert cuda.cuGraphInstantiateWithFlags(ctypes.byref(ready), graph,
                                            ctypes.c_ulonglong(0)) == 0
    return ready, stream


def elapsed(call, *args):
    """The seconds that a call takes, and its result."""
    began = time.monotonic()
    result = call(*args)
    return [time.monotonic() - began, result]


def busy(seconds, way="kernel"):
    """Demands all of the GPU's time for this long, in pieces of about 4 ms.
    Returns when it had work there: [[begin, end]...], each from when a launch
    was let through."""
    function = spin_kernel()
    rounds = rounds_of(function, 0.004)
    ready, stream = (spin_graph(function, rounds) if way == "graph"
                     else (None, None))
    worked = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        assert (cuda.cuGraphLaunch(ready, stream) if ready
                else spin(function, rounds)) == 0
        began = time.monotonic()
        assert cuda.cuStreamSynchronize(stream) == 0
        worked.append([began, time.monotonic()])
    return worked


MEET = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry meet(.param .u64 mine, .param .u64 theirs, .param .u32 step,
                     .param .u32 rounds)
{
.reg .pred %p;
.reg .b32 %r<4>;
.reg .b64 %rd<2>;
ld.param.u32 %r0, [rounds];
mov.u32 %r1, 1;
work:
mad.lo.s32 %r1, %r1, 1664525, 1013904223;
add.s32 %r0, %r0, -1;
setp.ne.s32 %p, %r0, 0;
@%p bra work;
ld.param.u64 %rd0, [mine];
ld.param.u64 %rd1, [theirs];
ld.param.u32 %r2, [step];
st.volatile.global.u32 [%rd0], %r2;
wait:
ld.volatile.global.u32 %r3, [%rd1];
setp.lt.u32 %p, %r3, %r2;
@%p bra wait;
ret;
}
"""


def share_flags():
    """Two zeroed words of device memory, with a handle for others."""
    at, handle = ctypes.c_ulonglong(), ctypes.create_string_buffer(64)
    return (cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(8))
            or cuda.cuMemsetD32_v2(at, 0, ctypes.c_size_t(2))
            or cuda.cuCtxSynchronize() or kept.append(at)
            or cuda.cuIpcGetMemHandle(handle, at) or handle.raw.hex())


class IpcHandle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * 64)]


def open_flags(text):
    at = ctypes.c_ulonglong()
    return (cuda.cuIpcOpenMemHandle_v2(
        ctypes.byref(at), IpcHandle.from_buffer_copy(bytes.fromhex(text)), 1)
            or kept.append(at) or 0)


def meet(rank, steps):
    """Launches kernels that wait for those of the other rank; returns like
    busy()."""
    function = spin_kernel()
    rounds = rounds_of(function, 0.004)
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cuModuleLoadData(ctypes.byref(module), MEET) == 0
    assert cuda.cuModuleGetFunction(ctypes.byref(function), module,
                                    b"meet") == 0
    mine, theirs = (ctypes.c_ulonglong(kept[-1].value + 4 * at)
                    for at in (rank, 1 - rank))
    worked = []
    for step in range(1, steps + 1):
        values = [mine, theirs, ctypes.c_uint(step), ctypes.c_uint(rounds)]
        args = (ctypes.c_void_p * 4)(*map(ctypes.addressof, values))
        assert cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, args,
                                   None) == 0
        began = time.monotonic()
        assert cuda.cuCtxSynchronize() == 0
        worked.append([began, time.monotonic()])
    return worked
