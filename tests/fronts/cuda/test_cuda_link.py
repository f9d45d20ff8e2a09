"""A link is made for the GPU in whose context it was begun."""

import sys

CODE = r'''
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
PTX = 1
newer = b".version 7.0\n.target sm_80\n.address_size 64\n" \
        b".visible .entry work() { ret; }\n"
assert not cuda.cuInit(0)
contexts = []
for device in range(2):
    contexts.append(ctypes.c_void_p())
    assert not cuda.cuDevicePrimaryCtxRetain(
        ctypes.byref(contexts[-1]), device)

def link(began, goes_on):
    """The driver's answer to an image for A100 and newer."""
    state, image = ctypes.c_void_p(), ctypes.c_void_p()
    assert not cuda.cuCtxSetCurrent(contexts[began])
    assert not cuda.cuLinkCreate_v2(0, None, None, ctypes.byref(state))
    assert not cuda.cuCtxSetCurrent(contexts[goes_on])
    said = cuda.cuLinkAddData_v2(state, PTX, newer,
                                 ctypes.c_size_t(len(newer)), b"newer", 0,
                                 None, None)
    if not said:
        said = cuda.cuLinkComplete(state, ctypes.byref(image), None)
    assert not cuda.cuLinkDestroy(state)
    return said

print([link(0, 0), link(0, 1), link(1, 0) != 0, link(1, 1) != 0])
'''


def test_the_device_is_that_of_the_beginning(gpukit):
    done = gpukit("fake", "--gpus", "a100-sxm4-80gb:1,t4:1", "--",
                  sys.executable, "-c", CODE)
    assert (done.returncode, done.stdout) == (0, "[0, 0, True, True]\n"), \
        done.stderr
