# SPDX-License-Identifier: Apache-2.0
"""`gpukit export` and `web` start before the driver, say so, and recover: when
it comes, when it is reloaded, and when a lost GPU returns."""

import os
import subprocess
import time

import pytest

from conftest import FAKE_DIR
from exporter import BUILT, Exporter, export
from web import Web

pytestmark = BUILT
assert export  # the fixture

NVML = os.path.join(FAKE_DIR, "libnvidia-ml.so.1")

# A driver library with one GPU. STUB names a file with the return code of all
# its functions; "hang": nvmlInit hangs, with a lock that exit() waits for.
STUB = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int answer(void)
{
	FILE *file = fopen(getenv("STUB"), "r");
	int code = 0;
	if (!file)
		return 0;
	if (fscanf(file, "%d", &code) != 1)
		code = -1;
	fclose(file);
	return code;
}
int nvmlInit_v2(void)
{
	pthread_mutex_lock(&lock);
	while (answer() < 0)
		usleep(10000);
	pthread_mutex_unlock(&lock);
	return answer();
}
static void __attribute__((destructor)) end(void)
{
	pthread_mutex_lock(&lock);
}
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 1; return answer(); }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **device)
{
	*device = (void *)(8L * (i + 1));
	return answer();
}
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned len)
{
	return snprintf(uuid, len, "GPU-stub") < 0;
}
int nvmlDeviceGetTemperature(void *device, int which, unsigned *celsius)
{
	*celsius = 40;
	return answer();
}
int nvmlDeviceGetPowerUsage(void *device, unsigned *mw)
{
	*mw = 100000;
	return answer();
}
int nvmlSystemGetDriverVersion(char *version, unsigned len)
{
	return snprintf(version, len, "%s", VERSION) < 0;
}
"""
NOT_LOADED, MISMATCH = 9, 18

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


class Stub:
    """A driver library in a folder, as packages install it: libnvidia-ml.so.1
    leads to a file that is named after the version."""

    def __init__(self, folder):
        self.folder, self.state = folder, folder / "state"
        self.link = folder / "libnvidia-ml.so.1"
        self.env = {"STUB": str(self.state), "LD_LIBRARY_PATH": str(folder)}

    def install(self, version):
        to = self.folder / f"libnvidia-ml.so.{version}"
        subprocess.run(["cc", "-shared", "-fPIC", "-w", "-x", "c", "-", "-o",
                        to, f'-DVERSION="{version}"',
                        "-Wl,-soname,libnvidia-ml.so.1"],
                       text=True, input=STUB, check=True)
        new = self.folder / "new"
        new.symlink_to(to.name)
        new.rename(self.link)

    def answer(self, code):
        self.state.with_suffix(".new").write_text(str(code))
        self.state.with_suffix(".new").rename(self.state)


@pytest.fixture
def stub(tmp_path):
    made = Stub(tmp_path)
    made.install("570.86.15")
    return made


def driver_of(m):
    (have, _), = m["gpukit_driver_info"]
    return have["driver_version"]


@pytest.mark.parametrize("named", [False, True])
def test_it_survives_an_update_of_the_driver(stub, named):
    """The kernel's driver is another one, then the new library comes; the old
    one must not be used any more."""
    options = ["--nvml", stub.link] if named else []
    e = Exporter(stub.env, "-i", "0.2", *options)
    w = Web(stub.env, *options)
    assert driver_of(present(e, 1)) == "570.86.15"
    stub.answer(MISMATCH)
    away(e)
    w.await_status("/api/v1/snapshot", 503)
    stub.install("580.95.05")
    stub.answer(0)
    assert driver_of(present(e, 1)) == "580.95.05"
    w.await_status("/api/v1/snapshot", 200)
    version = w.json()["driver_version"]
    assert version == "580.95.05"
    for one in (e, w):
        status, said = one.stop()
        assert (status, said.count("\n")) == (0, 1), said


def test_a_driver_that_hangs_at_the_start_is_none(stub):
    """At once, not after the time that a driver may take; and a signal is heard,
    although a thread is inside the driver."""
    stub.answer("hang")
    began = time.monotonic()
    e, w = Exporter(stub.env, ready=False), Web(stub.env, ready=False)
    away(e)
    assert time.monotonic() - began < 9
    assert w.get("/api/v1/snapshot")[0] == 503
    began = time.monotonic()
    for one in (e, w):
        assert one.stop() == (0, "")
    assert time.monotonic() - began < 8


def test_each_reason_is_said_once(stub):
    stub.answer("hang")
    e = Exporter(stub.env, "-i", "0.2", ready=False)
    away(e)

    def said(part):
        line = e.process.stderr.readline()
        assert line.startswith("gpukit export: ") and part in line, line

    said("the NVIDIA driver does not answer")
    stub.answer(NOT_LOADED)
    said("Driver Not Loaded (9)")
    stub.answer(MISMATCH)
    said("(18); reboot")
    stub.answer(0)
    present(e, 1)
    assert e.stop() == (0, "")


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


NAMES = ("gpukit", "dcgm", "nvitop", "nvidia_smi", "otel")


def on_all_names(env):
    return {name: Exporter(env, "-i", "0.2", "--names", name,
                           "--processes", ready=False) for name in NAMES}


@pytest.mark.parametrize("lost", [[], [1], [0, 1, 2]])
def test_no_series_comes_twice(machine, lost):
    """Whatever GPUs are lost, before the start or after. Metrics() checks it."""
    made = machine("--gpus", "h100-80gb-hbm3:3", "--mig", "2=1g.10gb+1g.10gb",
                   "--load", "train:0-1")
    early = on_all_names(made.env)
    for e in early.values():
        e.await_whole()
    for gpu in lost:
        assert made.ctl("fail", gpu, "lost").returncode == 0
    late = on_all_names(made.env)
    for name in NAMES:
        for e in (early[name], late[name]):
            e.await_status("/healthz", 200)
            end = time.monotonic() + 60
            while True:
                gone = {d["index"] for d in e.json()["devices"]
                        if d["health"] == "lost"}
                told = e.metrics()
                if gone == set(lost):
                    break
                assert time.monotonic() < end, (name, gone)
            if name == "nvidia_smi":
                e.until(lambda m: m.of("nvidia_smi_last_collect_success") ==
                        (not lost))
            assert len(lost) == 3 or told, name
    for e in (*early.values(), *late.values()):
        assert e.stop() == (0, "")


# Where each set of names tells who a GPU is, while it is lost, too.
WHO = {"gpukit": ("gpukit_device_info", "uuid", "name"),
       "dcgm": ("DCGM_FI_DEV_XID_ERRORS", "UUID", "modelName"),
       "nvitop": ("gpu_memory_total_MiB", "uuid", "devicename"),
       "nvidia_smi": ("nvidia_smi_gpu_info", "uuid", "name"),
       "otel": ("hw_status", "hw_id", "hw_model")}


@pytest.mark.parametrize("names", NAMES)
def test_a_lost_gpu_keeps_its_name(export, names):
    family, uuid, name = WHO[names]
    e = export(["--gpus", "h100:2"], "--names", names)

    def told(m):
        return {(have[uuid], have[name]) for have, _ in m[family]}

    # Xids are known as soon as the driver was asked to tell them.
    before = told(e.until(lambda m: len(told(m)) == 2))
    assert all(all(pair) for pair in before)
    assert export.made.ctl("fail", 1, "lost").returncode == 0
    end = time.monotonic() + 60
    while e.json()["devices"][1]["health"] != "lost":
        assert time.monotonic() < end
    assert told(e.metrics()) == before


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
