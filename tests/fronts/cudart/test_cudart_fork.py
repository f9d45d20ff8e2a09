# SPDX-License-Identifier: Apache-2.0
"""After a fork during the first call of another thread, the child starts its
own runtime or gets an error; it never waits for ever."""

import sys

ROUNDS = r"""
import ctypes, os, signal, threading, time
cudart = ctypes.CDLL("libcudart.so.13")
count = ctypes.c_int()

def child():
    signal.alarm(40)
    os._exit(cudart.cudaGetDeviceCount(ctypes.byref(count)))

def program(delay):
    first = threading.Thread(target=lambda: cudart.cudaFree(None))
    first.start()
    end = time.perf_counter() + delay
    while time.perf_counter() < end:
        pass
    pid = os.fork()
    if not pid:
        child()
    status = os.waitpid(pid, 0)[1]
    first.join()
    os._exit(0 if os.WIFEXITED(status) and
             os.WEXITSTATUS(status) in (0, 3) else 1)

for i in range(150):
    pid = os.fork()
    if not pid:
        program(i * 5e-6)
    assert os.waitpid(pid, 0)[1] == 0, i
"""


def test_a_fork_in_the_middle_of_the_start(gpukit):
    done = gpukit("fake", "--", sys.executable, "-c", ROUNDS)
    assert done.returncode == 0, done.stderr
