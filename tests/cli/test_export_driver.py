# SPDX-License-Identifier: Apache-2.0
"""`gpukit export` and `web` start before the driver, say so, and recover: when
it comes, when it is reloaded, and when a lost GPU returns."""

import os
import time

import pytest

from conftest import FAKE_DIR
from exporter import BUILT, Exporter, export
from web import Web

pytestmark = BUILT
assert export  # the fixture

NVML = os.path.join(FAKE_DIR, "libnvidia-ml.so.1")

# All functions by which the FAST values of a GPU are read, and its handle.
READS = ["nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetUtilizationRates",
         "nvmlDeviceGetEncoderUtilization", "nvmlDeviceGetDecoderUtilization",
         "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetMemoryInfo",
         "nvmlDeviceGetPowerUsage", "nvmlDeviceGetClockInfo",
         "nvmlDeviceGetTemperatureV", "nvmlDeviceGetTemperature"]


def await_text(server, path, part, seconds=60):
    """The page, once it contains a text."""
    end = time.monotonic() + seconds
    while True:
        status, _, body = server.get(path)
        if part in body:
            return status, body
        assert time.monotonic() < end, (status, body)
        time.sleep(0.05)


def away(e):
    """It says that there is no driver, and has no values of GPUs."""
    status, body = await_text(e, "/metrics", "gpukit_up 0")
    assert status == 200 and "gpukit_device" not in body
    for path in ("/healthz", "/api/v1/snapshot"):
        status, _, body = e.get(path)
        assert (status, body) == (
            503, "there is no driver; the log says why\n"), path


def present(e, gpus):
    told = e.until(lambda m: m.of("gpukit_up") == 1 and
                   len(m["gpukit_device_up"]) == gpus)
    assert e.get("/healthz")[0] == 200
    return told


@pytest.mark.parametrize("names, more", [
    ("gpukit", None), ("dcgm", None),
    ("nvidia_smi", "nvidia_smi_last_collect_success 0")])
def test_a_page_without_a_driver(machine, tmp_path, names, more):
    e = Exporter({}, "--nvml", tmp_path / "none.so", "--names", names,
                 ready=False)
    _, body = await_text(e, "/metrics", "gpukit_up 0")
    assert more is None or more in body
    status, said = e.stop()
    assert status == 0 and "no NVIDIA driver" in said
    assert said.endswith("; see `gpukit doctor`\n")
    assert said.count("\n") == 1


def test_it_starts_before_the_library(machine, tmp_path):
    library = tmp_path / "libnvidia-ml.so.1"
    made = machine("--gpus", "h100:2")
    e = Exporter(made.env, "-i", "0.2", "--nvml", library, ready=False)
    away(e)
    library.symlink_to(NVML)
    present(e, 2)
    assert e.stop()[0] == 0


def test_it_starts_before_the_machine(machine, tmp_path):
    path = tmp_path / "machine0"
    env = {"GPUKIT_MACHINE": str(path), "LD_LIBRARY_PATH": FAKE_DIR}
    e, w = Exporter(env, "-i", "0.2", ready=False), Web(env, ready=False)
    away(e)
    assert w.get("/api/v1/snapshot")[0] == 503
    machine("--gpus", "h100:2", name="machine0")
    present(e, 2)
    w.await_status("/api/v1/snapshot", 200)
    for one in (e, w):
        assert one.stop()[0] == 0


def test_it_survives_a_reload_of_the_driver(machine):
    made = machine("--gpus", "h100:2")
    e, w = Exporter(made.env, "-i", "0.2"), Web(made.env)
    present(e, 2)
    rules = [f"{name}=UNINITIALIZED" for name in READS]
    for rule in ["nvmlInit_v2=DRIVER_NOT_LOADED", *rules]:
        done = made.ctl("fail", "all", rule)
        assert done.returncode == 0, (rule, done.stderr)
    away(e)
    w.await_status("/api/v1/snapshot", 503)
    for name in ["nvmlInit_v2", *READS]:
        assert made.ctl("clear", name).returncode == 0, name
    told = present(e, 2)
    assert {value for _, value in told["gpukit_device_up"]} == {1}
    w.await_status("/api/v1/snapshot", 200)
    for one in (e, w):
        status, said = one.stop()
        assert (status, said.count("\n")) == (0, 1), said
        assert "the NVIDIA driver refuses: " in said


def test_a_lost_gpu_returns_and_its_last_xid_ends(export):
    e = export(["--gpus", "h100:2"])

    def last(m):
        return m.of("gpukit_xid_last", gpu="1")

    def count(m, number):
        return m.of("gpukit_xid_errors_by_number_total", gpu="1", xid=number)

    e.until(lambda m: last(m) == 0)
    assert export.made.ctl("fail", 1, "lost").returncode == 0
    told = e.until(lambda m: m.of("gpukit_device_up", gpu="1") == 0 and
                   last(m) == 79)
    assert count(told, "79") == 1
    assert told.of("gpukit_device_up", gpu="0") == 1
    assert told.of("gpukit_up") == 1
    assert export.made.ctl("clear", 1).returncode == 0
    told = e.until(lambda m: m.of("gpukit_device_up", gpu="1") == 1 and
                   last(m) == 0)
    assert count(told, "79") == 1
    # Xids are heard again, and one that breaks nothing stays the last.
    assert export.made.ctl("fail", 1, "xid=31").returncode == 0
    told = e.until(lambda m: last(m) == 31)
    assert (count(told, "31"), count(told, "79")) == (1, 1)


def test_a_slow_moment_does_not_end_an_xid(export):
    e = export(["--gpus", "h100:2"])
    assert export.made.ctl("fail", 0, "xid=31").returncode == 0
    e.until(lambda m: m.of("gpukit_xid_last", gpu="0") == 31)
    slow = "latency.nvmlDeviceGetPowerUsage"
    assert export.made.ctl("set", 0, f"{slow}=4s").returncode == 0
    e.until(lambda m: m.of("gpukit_device_up", gpu="0") == 0)
    assert export.made.ctl("set", 0, f"{slow}=0s").returncode == 0
    told = e.until(lambda m: m.of("gpukit_device_up", gpu="0") == 1)
    assert told.of("gpukit_xid_last", gpu="0") == 31


def test_the_last_xid_ends_with_a_reset(export):
    e = export(["--gpus", "h100"])
    assert export.made.ctl("fail", 0, "ecc-uncorrectable").returncode == 0
    e.until(lambda m: m.of("gpukit_xid_last") > 0 and any(
        have["state"] == "fault" for have, _ in m["gpukit_device_state"]))
    assert export.made.ctl("reset-gpu", 0).returncode == 0
    told = e.until(lambda m: m.of("gpukit_xid_last") == 0)
    assert told.of("gpukit_xid_errors_total") > 0
