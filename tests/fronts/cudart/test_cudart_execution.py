# SPDX-License-Identifier: Apache-2.0
"""Execution contexts of the runtime of CUDA 13.1, by ctypes: its headers are
newer than the toolkit of the tests."""

import json
import os
import subprocess
import sys

import pytest

from generations import directory

PTX = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .entry where(.param .u64 to)
{
.reg .b32 %r<3>;
.reg .b64 %d<4>;
ld.param.u64 %d1, [to];
mov.u32 %r1, %ctaid.x;
mul.wide.u32 %d2, %r1, 4;
add.s64 %d3, %d1, %d2;
mov.u32 %r2, %smid;
st.global.u32 [%d3], %r2;
ret;
}
"""

PROGRAM = r"""
import ctypes, json, sys
rt = ctypes.CDLL("libcudart.so.13")
P, U = ctypes.c_void_p, ctypes.c_uint
told = {}

class Resource(ctypes.Structure):
    _fields_ = [("type", U), ("own", ctypes.c_ubyte * 92), ("sms", U),
                ("least", U), ("align", U), ("flags", U),
                ("more", ctypes.c_ubyte * 24), ("next", P)]

class Dim(ctypes.Structure):
    _fields_ = [("x", U), ("y", U), ("z", U)]

class Group(ctypes.Structure):
    _fields_ = [("sms", U), ("together", U), ("preferred", U), ("flags", U),
                ("reserved", U * 12)]

def ok(result):
    assert result == 0, result

def sms_of(stream):
    blocks, to = 1000, P()
    found = (U * blocks)()
    ok(rt.cudaMalloc(ctypes.byref(to), ctypes.sizeof(found)))
    args = (P * 1)(ctypes.addressof(to))
    ok(rt.cudaLaunchKernel(kernel, Dim(blocks, 1, 1), Dim(1, 1, 1), args,
                           ctypes.c_size_t(0), stream))
    ok(rt.cudaStreamSynchronize(stream))
    ok(rt.cudaMemcpy(found, to, ctypes.c_size_t(ctypes.sizeof(found)), 2))
    return sorted(set(found))

library, kernel = P(), P()
ok(rt.cudaLibraryLoadData(ctypes.byref(library), sys.argv[1].encode(), None,
                          None, 0, None, None, 0))
ok(rt.cudaLibraryGetKernel(ctypes.byref(kernel), library, b"where"))
all_sms, rest = Resource(), Resource()
parts, count = (Resource * 2)(), U(2)
ok(rt.cudaDeviceGetDevResource(0, ctypes.byref(all_sms), 1))
ok(rt.cudaDevSmResourceSplitByCount(parts, ctypes.byref(count),
                                    ctypes.byref(all_sms),
                                    ctypes.byref(rest), 0, 16))
told["sms"] = [all_sms.sms, parts[0].sms, parts[1].sms, rest.sms]
group = Group(sms=10, together=2)
told["split"] = rt.cudaDevSmResourceSplit(ctypes.byref(rest), 1,
                                          ctypes.byref(all_sms), None, 0,
                                          ctypes.byref(group))
ran, ids = [], []
for part in parts:
    desc, ctx, stream, event = P(), P(), P(), P()
    device, id = ctypes.c_int(-1), ctypes.c_ulonglong()
    ok(rt.cudaDevResourceGenerateDesc(ctypes.byref(desc), ctypes.byref(part),
                                      1))
    ok(rt.cudaGreenCtxCreate(ctypes.byref(ctx), desc, 0, 0))
    ok(rt.cudaExecutionCtxGetDevice(ctypes.byref(device), ctx))
    ok(rt.cudaExecutionCtxGetId(ctx, ctypes.byref(id)))
    ok(rt.cudaExecutionCtxStreamCreate(ctypes.byref(stream), ctx, 1, 0))
    ran.append(sms_of(stream))
    ids.append(id.value)
    ok(rt.cudaEventCreate(ctypes.byref(event)))
    ok(rt.cudaExecutionCtxRecordEvent(ctx, event))
    ok(rt.cudaExecutionCtxWaitEvent(ctx, event))
    ok(rt.cudaExecutionCtxSynchronize(ctx))
    ok(rt.cudaExecutionCtxGetDevResource(ctx, ctypes.byref(rest), 1))
    assert (device.value, rest.sms) == (0, 16)
    ok(rt.cudaExecutionCtxDestroy(ctx))
    told["detached"] = rt.cudaStreamQuery(stream)
told["ran"] = ran
primary = P()
ok(rt.cudaDeviceGetExecutionCtx(ctypes.byref(primary), 0))
id = ctypes.c_ulonglong()
ok(rt.cudaExecutionCtxGetId(primary, ctypes.byref(id)))
stream = P()
ok(rt.cudaExecutionCtxStreamCreate(ctypes.byref(stream), primary, 0, 0))
told["whole"] = len(sms_of(stream))
told["ids"] = len({*ids, id.value})
told["null"] = rt.cudaExecutionCtxSynchronize(None)
graph, handles = P(), (ctypes.c_ulonglong * 2)()
ok(rt.cudaGraphCreate(ctypes.byref(graph), 0))
for i in range(2):
    ok(rt.cudaGraphConditionalHandleCreate_v2(
        ctypes.byref(handles, 8 * i), graph, primary, 0, 0))
told["handles"] = len(set(handles))
number = U()
told["graph"] = rt.cudaGraphGetId(graph, ctypes.byref(number))
print(json.dumps(told))
"""


@pytest.mark.parametrize("driver, split, detached, numbered", [
    ("610", 0, 917, 0),
    ("580", 36, 709, 36)])      # the driver is too old; the context is destroyed
def test_execution_contexts(machine, driver, split, detached, numbered):
    m = machine("--gpus", "h100-sxm5-80gb", "--driver", driver)
    done = subprocess.run([sys.executable, "-c", PROGRAM, PTX.decode()],
                          capture_output=True, text=True, check=False,
                          timeout=120, env={**os.environ, **m.env,
                               "LD_LIBRARY_PATH": directory(driver)})
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "sms": [132, 16, 16, 100], "split": split, "detached": detached,
        "ran": [list(range(16)), list(range(16, 32))], "whole": 132,
        "ids": 3, "null": 1, "handles": 2, "graph": numbered}
