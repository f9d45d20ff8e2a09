# SPDX-License-Identifier: Apache-2.0
"""At the end `gpukit fake` reports what a program was refused."""

import sys

import pytest

# One kernel calls a function that does not exist, another reads a register of
# clusters; both are refused at the launch, and the program ignores that.
CARELESS = r'''
import ctypes
TEXT = b"""
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) nobody(.param .b64 a);
.visible .entry calls()
{
	.reg .b32 %r<2>;
	{
		.param .b64 a;
		.param .b32 r;
		call.uni (r), nobody, (a);
		ld.param.b32 %r1, [r];
	}
	ret;
}
.visible .entry reads()
{
	.reg .b32 %r<2>;
	mov.u32 %r1, %cluster_ctaid.x;
	ret;
}
"""
cuda = ctypes.CDLL("libcuda.so.1")
module, function, graph = (ctypes.c_void_p() for _ in range(3))
assert not cuda.cuInit(0)
assert not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(function), 0)
assert not cuda.cuCtxSetCurrent(function)
assert not cuda.cuModuleLoadData(ctypes.byref(module), TEXT)
for name, times in (b"calls", 3), (b"reads", 1):
    assert not cuda.cuModuleGetFunction(ctypes.byref(function), module, name)
    for i in range(times):
        assert cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, None,
                                   None) == 801
for i in range(2):
    assert cuda.cuCheckpointProcessGetState(1, None) == 801
print("PASSED")
'''

TOLD = ["gpukit fake: refused: kernel calls: call.uni nobody is not executed, "
        "3 times, by python",
        "gpukit fake: refused: cuCheckpointProcessGetState of libcuda, "
        "2 times, by python",
        "gpukit fake: refused: kernel reads: mov.u32 %cluster_ctaid.x is not "
        "executed, 1 time, by python"]


def run(gpukit, *options, code=CARELESS):
    return gpukit("fake", *options, "--", sys.executable, "-c",
                  code.replace("import ctypes", "import ctypes\nopen('/proc/"
                               "self/comm', 'w').write('python')", 1))


@pytest.mark.parametrize("options,status,lines", [
    ((), 0, TOLD),
    (("--refusals=tell",), 0, TOLD),
    (("--refusals=error",), 3, TOLD),
    (("--quiet",), 0, []),
    (("-q", "--refusals=error"), 3, []),
])
def test_what_was_refused_is_told(gpukit, options, status, lines):
    done = run(gpukit, *options)
    assert done.stdout == "PASSED\n"
    assert done.stderr.splitlines() == lines
    assert done.returncode == status


def test_who_was_refused_nothing_hears_nothing(gpukit):
    done = run(gpukit, "--refusals=error", code="import ctypes\n"
               "assert not ctypes.CDLL('libcuda.so.1').cuInit(0)\nexit(5)")
    assert (done.returncode, done.stderr) == (5, "")
    done = gpukit("fake", "--refusals=error", "--", "nvidia-smi", "-q")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_machine_may_be_removed_meanwhile(gpukit):
    done = run(gpukit, code=CARELESS + "import os\n"
               "os.unlink(os.environ['GPUKIT_MACHINE'])\n")
    assert done.stderr.splitlines() == TOLD


def test_an_image_that_has_no_ptx(gpukit):
    """Begins like an ELF file of NVIDIA's machine code, which is all that is
    read."""
    code = CARELESS.split("for name")[0].replace(
        "assert not cuda.cuModuleLoadData(ctypes.byref(module), TEXT)",
        "assert cuda.cuModuleLoadData(ctypes.byref(module), "
        "b'\\x7fELF' + bytes(99)) == 209")
    done = run(gpukit, code=code)
    assert done.stderr.splitlines() == [
        "gpukit fake: refused: an image without PTX for compute capability "
        "8.0, 1 time, by python"]


def test_a_wrong_word(gpukit):
    done = gpukit("fake", "--refusals=banana", "--", "true")
    assert done.returncode == 2
    assert "'banana'; allowed are tell, error" in done.stderr
