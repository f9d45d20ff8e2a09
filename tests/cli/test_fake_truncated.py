# SPDX-License-Identifier: Apache-2.0
"""Somebody truncates a machine's file while programs use it."""

import os
import signal
import subprocess
import sys
import time

import pytest

from conftest import GPUKIT, NVML, clean_env
from exporter import BUILT, Exporter

LOST = 15  # NVML_ERROR_GPU_IS_LOST
UNAVAILABLE = 46  # CUDA_ERROR_DEVICE_UNAVAILABLE
SAID = "the machine's file was truncated: its GPUs are lost"
SHARES = pytest.mark.parametrize("share", [0, 0.5, 0.999])

CUDA = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
made, at = ctypes.c_void_p(), ctypes.c_uint64()
free, total = ctypes.c_size_t(), ctypes.c_size_t()
assert cuda.cuInit(0) == 0
assert cuda.cuCtxCreate_v2(ctypes.byref(made), 0, 0) == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(at), 1 << 20) == 0
print("on it", flush=True)
input()
print(cuda.cuMemAlloc_v2(ctypes.byref(at), 1 << 20),
      cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)),
      cuda.cuCtxSynchronize(), cuda.cuCtxDestroy_v2(made))
"""

MONITOR = """
print(count(), flush=True)
input()
n = ctypes.c_uint()
handle = ctypes.c_void_p()
print(nvml.nvmlDeviceGetCount_v2(ctypes.byref(n)),
      nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)),
      nvml.nvmlShutdown(), nvml.nvmlInit_v2())
"""

# print() may be interrupted within another print().
OWN_HANDLER = """
import os, signal
signal.signal(signal.SIGBUS, lambda *_: os.write(1, b"mine\\n"))
"""


def cut(path, share):
    os.truncate(path, int(os.stat(path).st_size * share))


def told(made):
    return (f"gpukit: the file of machine {made.path} was truncated while in "
            "use: its GPUs are lost; remove it and create the machine "
            "again\n")


def await_that(what, process):
    end = time.monotonic() + 60
    while not what():
        assert process.poll() is None, process.returncode
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def start():
    """start(MACHINE, COMMAND..., NAME=VALUE...); all processes end with the
    test."""
    started = []

    def run(made, *command, **env):
        started.append(subprocess.Popen(
            [*map(str, command)], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=clean_env(**made.env, **env)))
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.communicate()


def ends(process):
    """Sends SIGINT; returns the status and the output."""
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=60)
    return process.returncode, out, said


@SHARES
def test_stat_tells_lost_gpus(start, machine, share):
    made = machine("--gpus", "h100:2")
    process = start(made, GPUKIT, "stat", "-i", "0.1", "--no-processes")
    assert process.stdout.readline()
    cut(made.path, share)
    lines = iter(process.stdout.readline, "")
    assert sum("GPU is lost" in next(lines) for _ in range(30)) > 2
    status, _, said = ends(process)
    assert (status, said) == (1, told(made))


@SHARES
@pytest.mark.parametrize("how", [(), ("--snapshots",)])
def test_record_goes_on(start, machine, tmp_path, how, share):
    made = machine("--gpus", "h100:2")
    path, log = tmp_path / "rows", tmp_path / "log"
    process = start(made, GPUKIT, "record", "-i", "0.1", "-o", path, *how,
                    GPUKIT_LOG=f"error:{log}")
    await_that(lambda: path.exists() and path.stat().st_size, process)
    cut(made.path, share)
    await_that(lambda: log.exists() and SAID in log.read_text(), process)
    status, _, said = ends(process)
    assert status == 1
    assert said.endswith(told(made))


@BUILT
@SHARES
def test_export_goes_on(machine, share):
    made = machine("--gpus", "h100:2")
    one = Exporter(made.env, "-i", "0.1")
    try:
        one.await_whole()
        cut(made.path, share)
        one.until(lambda page: "GPU is lost" in page.text or
                  page.of("gpukit_device_up", gpu="0") == 0)
    finally:
        status, said = one.stop(signal.SIGINT)
    assert (status, said) == (1, told(made))


@SHARES
def test_a_client_of_nvml_has_an_error(start, machine, tmp_path, share):
    made = machine("--gpus", "h100:2")
    log = tmp_path / "log"
    process = start(made, sys.executable, "-c", NVML + MONITOR,
                    GPUKIT_LOG=f"error:{log}")
    assert process.stdout.readline() == "2\n"
    cut(made.path, share)
    out, said = process.communicate("\n", timeout=60)
    # It has left the machine, and no driver is found again.
    assert (process.returncode, out) == (0, f"{LOST} {LOST} 0 9\n"), said
    assert SAID in log.read_text()


@SHARES
def test_a_cuda_program_has_an_error(start, machine, share):
    made = machine("--gpus", "h100:2")
    process = start(made, sys.executable, "-c", CUDA)
    assert process.stdout.readline() == "on it\n"
    cut(made.path, share)
    out, said = process.communicate("\n", timeout=60)
    assert (process.returncode, out) == \
        (0, " ".join([str(UNAVAILABLE)] * 4) + "\n"), said


def test_a_handler_of_the_program_is_kept(start, machine):
    """Its handler was set first and gets signals that are not about our file.
    """
    made = machine("--gpus", "h100:2")
    code = OWN_HANDLER + NVML + MONITOR
    process = start(made, sys.executable, "-c", code)
    assert process.stdout.readline() == "2\n"
    process.send_signal(signal.SIGBUS)
    assert process.stdout.readline() == "mine\n"
    cut(made.path, 0)
    out, said = process.communicate("\n", timeout=60)
    assert (process.returncode, out) == (0, f"{LOST} {LOST} 0 9\n"), said


def test_a_signal_of_somebody_else_ends_as_ever(start, machine):
    made = machine("--gpus", "h100:2")
    process = start(made, sys.executable, "-c", NVML + MONITOR)
    assert process.stdout.readline() == "2\n"
    process.send_signal(signal.SIGBUS)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGBUS


@SHARES
def test_what_is_truncated_before_is_no_machine(machine, share):
    made = machine("--gpus", "h100:2")
    cut(made.path, share)
    for verb in ("show", "topology"):
        done = made.ctl(verb)
        assert done.returncode == 1
        assert "is not a machine file" in done.stderr, done.stderr
