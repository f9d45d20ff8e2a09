# SPDX-License-Identifier: Apache-2.0
"""A CUDA and NVML program that executes commands: each line of its input is a
call of a function below, and the answer is a line of JSON. Errors are answered
as their numbers. Libraries are loaded as Python programs load them."""

import ctypes
import json
import os
import sys
import time

KINDS = {"compute": "nvmlDeviceGetComputeRunningProcesses",
         "graphics": "nvmlDeviceGetGraphicsRunningProcesses",
         "mps": "nvmlDeviceGetMPSComputeRunningProcesses"}
PTX = b""".version 7.0
.target sm_70
.address_size 64
.visible .entry nothing() { ret; }
.visible .entry spin()
{
	.reg .u32 %left;
	.reg .pred %on;
	mov.u32 %left, 1000000;
again:
	sub.u32 %left, %left, 1;
	setp.ne.u32 %on, %left, 0;
	@%on bra again;
	ret;
}
"""
cuda = nvml = kernel = spin = None
kept = []
graphs = []


class Memory(ctypes.Structure):
    _fields_ = [(n, ctypes.c_ulonglong) for n in ("total", "free", "used")]


class Memory2(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint)] + [
        (n, ctypes.c_ulonglong) for n in ("total", "reserved", "free", "used")]


class Process1(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong)]


class Process(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong),
                ("gi", ctypes.c_uint), ("ci", ctypes.c_uint)]


class Detail(ctypes.Structure):
    _fields_ = [*Process._fields_, ("protected", ctypes.c_ulonglong)]


class Sample(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("stamp", ctypes.c_ulonglong)] + [
        (n, ctypes.c_uint) for n in ("sm", "memory", "encoder", "decoder")]


class Busy(ctypes.Structure):
    _fields_ = [("stamp", ctypes.c_ulonglong)] + [
        (n, ctypes.c_uint) for n in ("pid", "sm", "memory", "encoder",
                                     "decoder", "jpg", "ofa")]


class Busies(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint), ("count", ctypes.c_uint),
                ("since", ctypes.c_ulonglong), ("at", ctypes.POINTER(Busy))]


class Details(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint), ("mode", ctypes.c_uint),
                ("count", ctypes.c_uint), ("at", ctypes.POINTER(Detail))]


def version(struct, number):
    return ctypes.sizeof(struct) | number << 24


def fields(struct):
    return {n: getattr(struct, n) for n, *_ in struct._fields_}


def cu_init():
    global cuda
    cuda = cuda or ctypes.CDLL("libcuda.so.1")
    return cuda.cuInit(0)


def cu_count():
    count = ctypes.c_int()
    return cuda.cuDeviceGetCount(ctypes.byref(count)) or count.value


def use(device):
    """Makes the primary context of a device current."""
    ctx = ctypes.c_void_p()
    return (cuda.cuDevicePrimaryCtxRetain(ctypes.byref(ctx), device)
            or cuda.cuCtxSetCurrent(ctx))


def alloc(size):
    """0, or the error."""
    at = ctypes.c_ulonglong()
    result = cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(size))
    if not result:
        kept.append(at)
    return result


def free():
    """Frees the latest allocation."""
    return cuda.cuMemFree_v2(kept.pop())


def load():
    """Loads two kernels: one does nothing, one is busy for a while."""
    global kernel, spin
    module, kernel, spin = (ctypes.c_void_p() for _ in range(3))
    return (cuda.cuModuleLoadData(ctypes.byref(module), PTX)
            or cuda.cuModuleGetFunction(ctypes.byref(kernel), module,
                                        b"nothing")
            or cuda.cuModuleGetFunction(ctypes.byref(spin), module, b"spin"))


def launch(function=None):
    return (cuda.cuLaunchKernel(function or kernel, 1, 1, 1, 1, 1, 1, 0, None,
                                None, None)
            or cuda.cuCtxSynchronize())


def capture(nodes):
    """Captures this many launches as a graph and launches it."""
    stream, graph, ready = (ctypes.c_void_p() for _ in range(3))
    result = (cuda.cuStreamCreate(ctypes.byref(stream), 1)
              or cuda.cuStreamBeginCapture_v2(stream, 0))
    for _ in range(nodes):
        result = result or cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0,
                                               stream, None, None)
    result = (result or cuda.cuStreamEndCapture(stream, ctypes.byref(graph))
              or cuda.cuGraphInstantiateWithFlags(ctypes.byref(ready), graph,
                                                  ctypes.c_ulonglong(0))
              or cuda.cuGraphLaunch(ready, stream)
              or cuda.cuStreamSynchronize(stream))
    graphs.append(ready)
    return result


def info():
    left, total = ctypes.c_size_t(), ctypes.c_size_t()
    return (cuda.cuMemGetInfo_v2(ctypes.byref(left), ctypes.byref(total))
            or [left.value, total.value])


def info_v1():
    left, total = ctypes.c_uint(), ctypes.c_uint()
    return (cuda.cuMemGetInfo(ctypes.byref(left), ctypes.byref(total))
            or [left.value, total.value])


def info_of_nothing():
    """Passes NULL for either argument, and for both."""
    one = ctypes.c_size_t()
    return [cuda.cuMemGetInfo_v2(None, None),
            cuda.cuMemGetInfo_v2(ctypes.byref(one), None) or one.value,
            cuda.cuMemGetInfo_v2(None, ctypes.byref(one)) or one.value]


def total(device):
    size = ctypes.c_size_t()
    return (cuda.cuDeviceTotalMem_v2(ctypes.byref(size), device)
            or size.value)


def total_v1(device):
    size = ctypes.c_uint()
    return cuda.cuDeviceTotalMem(ctypes.byref(size), device) or size.value


def uuid(device):
    """The UUID in NVML's notation."""
    raw = ctypes.create_string_buffer(16)
    assert cuda.cuDeviceGetUuid_v2(raw, device) == 0
    text = raw.raw.hex()
    cuts = [0, 8, 12, 16, 20, 32]
    return "GPU-" + "-".join(text[a:b] for a, b in zip(cuts, cuts[1:]))


def nvml_init():
    global nvml
    nvml = nvml or ctypes.CDLL("libnvidia-ml.so.1")
    return nvml.nvmlInit_v2()


def handle(device):
    at = ctypes.c_void_p()
    assert nvml.nvmlDeviceGetHandleByIndex_v2(device, ctypes.byref(at)) == 0
    return at


def mig_handle(device, index):
    at = ctypes.c_void_p()
    assert nvml.nvmlDeviceGetMigDeviceHandleByIndex(
        handle(device), index, ctypes.byref(at)) == 0
    return at


def remove(device):
    """Removes a GPU from the machine."""
    place = ctypes.create_string_buffer(256)
    return (nvml.nvmlDeviceGetPciInfo_v3(handle(device), place)
            or nvml.nvmlDeviceSetPersistenceMode(handle(device), 0)
            or nvml.nvmlDeviceModifyDrainState(place, 1)
            or nvml.nvmlDeviceRemoveGpu_v2(place, 0, 0))


def nvml_uuid(device):
    text = ctypes.create_string_buffer(96)
    assert nvml.nvmlDeviceGetUUID(handle(device), text, 96) == 0
    return text.value.decode()


def memory(device, mig=None):
    """Memory information of versions 1 and 2."""
    of = handle(device) if mig is None else mig_handle(device, mig)
    one, two = Memory(), Memory2(version=version(Memory2, 2))
    r = (nvml.nvmlDeviceGetMemoryInfo(of, ctypes.byref(one))
         or nvml.nvmlDeviceGetMemoryInfo_v2(of, ctypes.byref(two)))
    return r or [fields(one), fields(two)]


def processes(device, kind="compute", suffix="_v3", room=64, mig=None):
    """[[pid, bytes]...] or [error, number of processes]."""
    record = Process if suffix else Process1
    of = handle(device) if mig is None else mig_handle(device, mig)
    count = ctypes.c_uint(room)
    at = (record * room)() if room else None
    r = getattr(nvml, KINDS[kind] + suffix)(of, ctypes.byref(count), at)
    return ([r, count.value] if r else
            [[at[i].pid, at[i].used] for i in range(count.value)])


def details(device, mode):
    at = (Detail * 64)()
    told = Details(version(Details, 1), mode, 64, at)
    r = nvml.nvmlDeviceGetRunningProcessDetailList(handle(device),
                                                   ctypes.byref(told))
    return r or [[p.pid, p.used] for p in at[:told.count]]


def samples(device, room=64):
    """[[pid, share of time]...] or [error, number of samples]."""
    count = ctypes.c_uint(room)
    at = (Sample * room)() if room else None
    r = nvml.nvmlDeviceGetProcessUtilization(
        handle(device), at, ctypes.byref(count), ctypes.c_ulonglong(0))
    return [r, count.value] if r else [[s.pid, s.sm] for s in at[:count.value]]


def busies(device, room=64):
    """The same from the newer function."""
    at = (Busy * room)()
    told = Busies(version(Busies, 1), room, 0, at)
    r = nvml.nvmlDeviceGetProcessesUtilizationInfo(handle(device),
                                                   ctypes.byref(told))
    return [r, told.count] if r else [[s.pid, s.sm] for s in at[:told.count]]


def work(seconds):
    """Keeps the device busy."""
    end = time.monotonic() + seconds
    result = load()
    while not result and time.monotonic() < end:
        result = launch(spin)
    return result


def rests(seconds, part):
    """Works and rests, so that the device is busy for this part of the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        before = time.monotonic()
        must(launch(spin))
        time.sleep((time.monotonic() - before) * (1 - part) / part)
    return 0


def must(result):
    assert result == 0, result


def waited(launches):
    """Seconds of this many launches in which neither this process nor the
    device worked for it."""
    start, worked = time.monotonic(), time.process_time()
    for _ in range(launches):
        must(launch(spin))
    return time.monotonic() - start - (time.process_time() - worked)


def extremes(seconds):
    """The least and the most free memory seen meanwhile, and how often the
    figures of one call were inconsistent."""
    end = time.monotonic() + seconds
    found, odd = [], 0
    while time.monotonic() < end:
        one, two = memory(0)
        odd += one["free"] + one["used"] != one["total"]
        odd += two["free"] + two["used"] + two["reserved"] != two["total"]
        found += [info()[0], one["free"], two["free"]]
    return [min(found), max(found), odd]


def churn(seconds):
    """Allocates and frees memory, and loads and unloads code, which may reserve
    all."""
    end = time.monotonic() + seconds
    module = ctypes.c_void_p()
    while time.monotonic() < end:
        must(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
        for size in (1, 3 << 20, 64 << 20):
            must(alloc(size))
        for _ in range(3):
            must(free())
        must(cuda.cuModuleUnload(module))


def story(device, number):
    """All figures of a device, by its numbers in CUDA and in NVML."""
    return {"info": info(), "total": total(device), "memory": memory(number),
            "processes": processes(number)}


def child(line):
    """What a forked child answers."""
    ours, its = os.pipe()
    pid = os.fork()
    if not pid:
        os.write(its, json.dumps(eval(line)).encode())
        os._exit(0)
    os.close(its)
    with os.fdopen(ours) as answer:
        told = answer.read()
    os.waitpid(pid, 0)
    return json.loads(told)


def wait_until(condition, seconds):
    """Whether the condition became true in time."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return condition()


if __name__ == "__main__":
    for told in sys.stdin:
        print(json.dumps(eval(told)), flush=True)
