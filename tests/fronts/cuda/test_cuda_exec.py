# SPDX-License-Identifier: Apache-2.0
"""A process that runs another program by exec holds nothing any more."""

import sys

HOLDS = r'''
import ctypes, os, sys
cuda = ctypes.CDLL("libcuda.so.1")
context, at = ctypes.c_void_p(), ctypes.c_uint64()
assert not cuda.cuInit(0)
assert not cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0)
assert not cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(1 << 30))
ask = ("nvidia-smi -i 0 --query-gpu=memory.used "
       "--format=csv,noheader,nounits")
print(os.popen(ask).read().strip(), flush=True)
# Whoever looks removes what the dead held, but not at every look.
os.execvp("sh", ["sh", "-c", f"""
for i in $(seq 100); do
	used=$({ask})
	[ "$used" = 0 ] && break
	sleep 0.05
done
echo $used"""])
'''


def test_memory_is_gone_after_exec(gpukit):
    done = gpukit("fake", "--", sys.executable, "-c", HOLDS)
    assert done.returncode == 0, done.stderr
    before, after = map(int, done.stdout.split())
    assert before > 1024
    assert after == 0
