# SPDX-License-Identifier: Apache-2.0
"""Every function of libcudart is called with only zeros and with only rubbish:
it works, returns an error, or refuses and is counted by name; it never crashes.
"""

import json
import os
import subprocess
import sys

import pytest

from conftest import FAKE_DIR

# A process for each call, since some end what the next would need.
CALLER = r"""
import ctypes, json, os, sys
library, word, names = sys.argv[1], int(sys.argv[2], 0), sys.argv[3:]
runtime = ctypes.CDLL(library)
for name in names:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        function = getattr(runtime, name)
        function.argtypes = [ctypes.c_uint64] * 10
        os.write(writing, b"%d" % function(*[word] * 10))
        os._exit(0)
    os.close(writing)
    status = os.waitpid(child, 0)[1]
    print(json.dumps([name, status, os.read(reading, 20).decode()]))
    os.close(reading)
"""

# They take or return structs, or follow pointers that must be valid.
NO_ZEROS = {"cudaCreateChannelDesc"}
NOT_SUPPORTED = 801


def symbols(major):
    """{name: 'T' or 'W'} for what a library exports."""
    told = subprocess.run(
        ["nm", "-D", "--defined-only",
         os.path.join(FAKE_DIR, f"libcudart.so.{major}")],
        check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in told.splitlines()]
    return {row[-1].split("@")[0]: row[-2] for row in rows if row[-2] in "TW"}


def called(machine, major, word, names):
    """{name: (wait status, result)} of calls in processes of their own."""
    done = subprocess.run(
        [sys.executable, "-c", CALLER, f"libcudart.so.{major}", str(word),
         *names], capture_output=True, text=True, check=True, timeout=300,
        env={**os.environ, **machine.env})
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == len(names), done.stderr
    return {name: (status, int(result or -1))
            for name, status, result in rows}


@pytest.mark.parametrize("major", [12, 13])
def test_zeros(machine, major):
    m = machine("--gpus", "t4:2")
    kinds = symbols(major)
    found = called(m, major, 0, sorted(set(kinds) - NO_ZEROS))
    assert {n: r for n, r in found.items() if r[0]} == {}
    refused = {n for n, kind in kinds.items() if kind == "W"}
    assert len(refused) > 30
    assert {n for n in refused if found[n][1] != NOT_SUPPORTED} == set()

    # An unimplemented function is counted, and nothing else is, by that name.
    coverage = json.loads(m.ctl("coverage", "--json").stdout)
    counted = {row["function"]: row["refused"] for row in coverage
               if row["library"] == "libcudart"}
    assert counted == dict.fromkeys(refused, 1)


# It is not a valid pointer, handle, size or enumerator of anything.
RUBBISH = 0xfeedfacecafe0001


@pytest.mark.parametrize("major", [12, 13])
def test_rubbish_in_functions_without_outputs(machine, major):
    names = ["cudaFree", "cudaFreeHost", "cudaFreeArray", "cudaFreeAsync",
             "cudaFreeMipmappedArray", "cudaStreamDestroy", "cudaStreamQuery",
             "cudaStreamSynchronize", "cudaStreamWaitEvent",
             "cudaEventDestroy", "cudaEventRecord", "cudaEventQuery",
             "cudaEventSynchronize", "cudaMemPoolDestroy", "cudaMemPoolTrimTo",
             "cudaSetDevice", "cudaSetDeviceFlags", "cudaInitDevice",
             "cudaDeviceEnablePeerAccess", "cudaDeviceDisablePeerAccess",
             "cudaDeviceSetLimit", "cudaFuncSetAttribute",
             "cudaFuncSetCacheConfig", "cudaHostUnregister",
             "cudaLibraryUnload", "cudaMemset", "cudaMemsetAsync",
             "cudaMemcpy", "cudaMemcpyAsync", "cudaMemcpyToSymbol",
             "cudaMemcpyPeer", "cudaKernelSetAttributeForDevice"]
    found = called(machine("--gpus", "t4:2"), major, RUBBISH, names)
    assert {n: r for n, r in found.items() if r[0] or r[1] <= 0} == {}
