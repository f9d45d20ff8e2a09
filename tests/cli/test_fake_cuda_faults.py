# SPDX-License-Identifier: Apache-2.0
"""Faults that CUDA programs meet: NVML, the driver, the runtime and a library
agree about them, in one program and at one moment."""

import json
import subprocess
import sys

import pytest

from conftest import clean_env

XID = 8  # nvmlEventTypeXidCriticalError
LOST = 15  # NVML_ERROR_GPU_IS_LOST
NOT_SUPPORTED = 15  # CUBLAS_STATUS_NOT_SUPPORTED

# A program that uses all four. It evaluates lines as Python.
PROGRAM = r'''
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
runtime = ctypes.CDLL("libcudart.so.13")
nvml = ctypes.CDLL("libnvidia-ml.so.1")
cublas = ctypes.CDLL("libcublas.so.13")
size, ref = ctypes.c_size_t, ctypes.byref
TEXT = b"""
.version 7.0
.target sm_50
.address_size 64
.visible .entry good() { ret; }
.visible .entry wild()
{
	.reg .b64 %rd<2>;
	mov.u64 %rd1, 64;
	st.global.u32 [%rd1], 7;
	ret;
}
"""
class Event(ctypes.Structure):
    _fields_ = [("device", ctypes.c_void_p), ("type", ctypes.c_uint64),
                ("data", ctypes.c_uint64), ("gi", ctypes.c_uint),
                ("ci", ctypes.c_uint)]
device, events, module, at = (ctypes.c_void_p() for _ in range(4))
assert not nvml.nvmlInit_v2()
assert not nvml.nvmlDeviceGetHandleByIndex_v2(0, ref(device))
assert not nvml.nvmlEventSetCreate(ref(events))
assert not nvml.nvmlDeviceRegisterEvents(device, ctypes.c_uint64(8), events)
assert not runtime.cudaMalloc(ref(at), size(4096))
assert not cuda.cuModuleLoadData(ref(module), TEXT)
handle = ctypes.c_void_p()
library = cublas.cublasCreate_v2(ref(handle))
def launch(name):
    function = ctypes.c_void_p()
    r = cuda.cuModuleGetFunction(ref(function), module, name)
    return r or cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, None,
                                    None)
def xids():
    found, event = [], Event()
    while not nvml.nvmlEventSetWait_v2(events, ref(event), 0):
        found.append((event.type, event.data))
    return found
def temperature():
    return nvml.nvmlDeviceGetTemperature(device, 0, ref(ctypes.c_uint()))
def malloc():
    return runtime.cudaMalloc(ref(ctypes.c_void_p()), size(64))
def scale():
    """The status of a library that computes; 15 of one that refuses."""
    return library or cublas.cublasSscal_v2(handle, 16,
                                            ref(ctypes.c_float(2)), at, 1)
print("ready", flush=True)
for line in sys.stdin:
    print(repr(eval(line)), flush=True)
'''


class Program:
    def __init__(self, machine):
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env=clean_env(**machine.env), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def __call__(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        # pylint: disable-next=eval-used
        return eval(self.process.stdout.readline())

    def stop(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()


@pytest.fixture
def begin(machine):
    made = []

    def make():
        one = machine("--gpus", "a100-sxm4-80gb:2", "--driver", "580")
        made.append(Program(one))
        return one, made[-1]
    yield make
    for program in made:
        program.stop()


def story(program, error, numbers, temperature=0):
    """When a program sees the error, NVML has already reported the Xids."""
    assert program("runtime.cudaDeviceSynchronize()") == error
    assert program("xids()") == [(XID, number) for number in numbers]
    assert program("cuda.cuCtxSynchronize()") == error
    assert program("runtime.cudaGetLastError()") == error
    assert program("malloc()") == error
    assert program("launch(b'good')") == error
    assert program("scale()") != 0
    assert program("temperature()") == temperature
    assert program("xids()") == []


@pytest.mark.parametrize("fault,error,numbers,temperature", [
    ("lost", 46, [79], LOST),
    ("fallen", 46, [79], LOST),
    ("xid=79", 46, [79], LOST),
    ("ecc-uncorrectable", 214, [48, 63], 0),
    ("xid=94", 214, [48, 94, 63], 0),
    ("sticky", 719, [13], 0),
    ("sticky=illegal-address", 700, [31], 0),
    ("sticky=assert", 710, [43], 0),
    ("sticky=unknown", 999, [], 0),
])
def test_a_gpu_fails_while_contexts_live(begin, fault, error, numbers,
                                         temperature):
    one, program = begin()
    assert program("scale()") in (0, NOT_SUPPORTED)
    assert program("(malloc(), temperature(), xids())") == (0, 0, [])
    assert one.ctl("fail", "0", fault).returncode == 0
    story(program, error, numbers, temperature)
    # The contexts are lost for good; the GPU is not.
    assert one.ctl("clear", "0").returncode == 0
    assert program("(malloc(), temperature())") == (error, 0)
    after = Program(one)
    assert after("(malloc(), launch(b'good'), "
                 "runtime.cudaDeviceSynchronize())") == (0, 0, 0)
    after.stop()


def test_a_programs_own_kernel(begin):
    _, program = begin()
    assert program("launch(b'wild')") == 0
    story(program, 700, [31])


def test_a_kernel_fails_by_its_name(begin):
    one, program = begin()
    assert one.ctl("fail", "0", "launch=launch-failed@good+1").returncode == 0
    assert "! launch=launch-failed@...+1" in one.ctl("show", "0").stdout
    assert program("(launch(b'good'), runtime.cudaDeviceSynchronize(), "
                   "xids())") == (0, 0, [])
    assert program("launch(b'good')") == 0
    story(program, 719, [13])


# Pinned memory of the first GPU, without exportable handles.
CREATE = """cuda.cuMemCreate(
    ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(1 << 21),
    __import__("struct").pack("<IIIiQ8x", 1, 0, 1, 0, 0), ctypes.c_uint64(0))
""".replace("\n", "")


def test_the_third_allocation_finds_no_memory(begin):
    one, program = begin()
    assert program(CREATE) == 0
    assert one.ctl("fail", "0", "oom=2").returncode == 0
    assert program("[malloc() for i in range(4)]") == [0, 0, 2, 2]
    assert program(CREATE) == 2
    # The failure does not affect the context.
    assert program("(runtime.cudaDeviceSynchronize(), "
                   "cuda.cuCtxSynchronize(), xids())") == (0, 0, [])
    assert one.ctl("clear", "0", "oom").returncode == 0
    assert program("malloc()") == 0


def test_a_lost_gpu_is_not_there_for_others(begin):
    one, program = begin()
    assert one.ctl("fail", "0", "lost").returncode == 0
    one.python("cuda = ctypes.CDLL('libcuda.so.1')\n"
                      "n = ctypes.c_int()\nassert not cuda.cuInit(0)\n"
                      "assert not cuda.cuDeviceGetCount(ctypes.byref(n))\n"
                      "assert n.value == 1\n")
    assert program("malloc()") == 46


def test_a_scenario_has_the_same_words(gpukit, tmp_path):
    path = tmp_path / "trouble.yaml"
    path.write_text("name: trouble\ndescription: of CUDA\ngpus: t4\n"
                    "duration: 1m\nsteps:\n"
                    "  - {at: 1s, gpu: 0, fail: oom=1}\n"
                    "  - {at: 2s, gpu: 0, clear: oom}\n"
                    "  - {at: 3s, gpu: 0, fail: launch=assert@good+1}\n"
                    "  - {at: 4s, gpu: 0, fail: sticky=illegal-address}\n")
    code = PROGRAM.split("print(\"ready\"")[0] + r'''
import json, os, subprocess
def step():
    subprocess.run([sys.argv[1], "fake", "ctl", "clock", "step", "1s"],
                   check=True, stdout=subprocess.DEVNULL)
said = []
step()
said.append([malloc() for i in range(3)])
step()
said.append([malloc(), launch(b"good"), runtime.cudaDeviceSynchronize()])
step()
step()
said.append([malloc(), cuda.cuCtxSynchronize(), xids()])
print(json.dumps(said))
'''
    done = gpukit("fake", "--scenario", path, "--frozen", "-q", "--",
                  sys.executable, "-c", code, gpukit.path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[0, 2, 2], [0, 0, 0],
                                       [700, 700, [[XID, 31]]]]


@pytest.mark.parametrize("word,says", [
    ("launch=banana", "illegal-address"),
    ("sticky=assert@k", "illegal-address"),
    ("slow-copies=0", "1 to 1000000"),
    ("oom=x", "0 to 1000000"),
])
def test_wrong_words(machine, word, says):
    done = machine().ctl("fail", "0", word)
    assert done.returncode == 2 and says in done.stderr
    assert done.stderr.count("\n") == 1
