# SPDX-License-Identifier: Apache-2.0
"""`gpukit fake --report FILE` says what a program did; the values are known
beforehand."""

import json
import os
import signal
import subprocess
import sys

import pytest

from conftest import ROOT, clean_env, needed

MIB = 1 << 20

# 192 MiB held, 96 MiB copied in, 32 out, 64 within; 7 launches of a kernel that
# spins for 20 ms.
WORK = r'''
import ctypes, os, signal, sys
open("/proc/self/comm", "w").write("worker")
TEXT = b"""
.version 7.0
.target sm_50
.address_size 64
.extern .func gpukit_spin_us(.param .b32 us);
.visible .entry spin()
{
	{
		.param .b32 p;
		st.param.b32 [p], 20000;
		call gpukit_spin_us, (p);
	}
	ret;
}
"""
MIB = 1 << 20
cuda = ctypes.CDLL("libcuda.so.1")
u64, size = ctypes.c_uint64, ctypes.c_size_t
def must(r):
    assert r == 0, r
at, ctx, module, spin = u64(), *(ctypes.c_void_p() for _ in range(3))
must(cuda.cuInit(0))
must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(ctx), 1))
must(cuda.cuCtxSetCurrent(ctx))
host = ctypes.create_string_buffer(96 * MIB)
must(cuda.cuMemAlloc_v2(ctypes.byref(at), size(192 * MIB)))
must(cuda.cuMemcpyHtoD_v2(at, host, size(96 * MIB)))
must(cuda.cuMemcpyDtoH_v2(host, at, size(32 * MIB)))
must(cuda.cuMemcpyDtoD_v2(at, u64(at.value + 64 * MIB), size(64 * MIB)))
must(cuda.cuModuleLoadData(ctypes.byref(module), TEXT))
must(cuda.cuModuleGetFunction(ctypes.byref(spin), module, b"spin"))
for i in range(7):
    must(cuda.cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, None, None, None))
must(cuda.cuCtxSynchronize())
must(cuda.cuMemFree_v2(at))
'''

KILLED = WORK + "os.kill(os.getpid(), signal.SIGKILL)\n"
NULL_DEVICE = {"copied_to_device_bytes": 0, "copied_from_device_bytes": 0,
               "copied_within_device_bytes": 0, "launches": 0,
               "library_operations": 0, "busy_seconds": 0,
               "memory_peak_bytes": 0}


def schema():
    with open(os.path.join(ROOT, "docs", "fake-report.schema.json"),
              encoding="utf-8") as f:
        return json.load(f)


def checked(text):
    report = json.loads(text)
    needed("jsonschema", "the schema").validate(report, schema())
    return report


def held(found, context):
    """Checks the report of the one process of WORK, on device 1."""
    assert found["device"] == 1 and found["name"] == "worker"
    assert found["pid"] > 0
    assert found["memory_peak_bytes"] == 192 * MIB + context
    assert 0 < found["begin_seconds"] < found["end_seconds"]
    work(found)


def work(found):
    assert found["copied_to_device_bytes"] == 96 * MIB
    assert found["copied_from_device_bytes"] == 32 * MIB
    assert found["copied_within_device_bytes"] == 64 * MIB
    assert found["launches"] == 7
    assert found["library_operations"] == 0
    assert 0.14 <= found["busy_seconds"] < 5


@pytest.mark.parametrize("code,status", [(WORK, 0), (KILLED, 137)],
                         ids=["ends", "is killed"])
def test_what_a_program_did(gpukit, tmp_path, code, status):
    """A kill -9 loses nothing."""
    path = tmp_path / "report.json"
    done = gpukit("fake", "--gpus", "a100-sxm4-80gb:3", "--report", path,
                  "--", sys.executable, "-c", code)
    assert done.returncode == status
    report = checked(path.read_text())
    assert report["command"][:2] == [sys.executable, "-c"]
    assert report["exit_status"] == status
    assert report["machine_seconds"] > 0
    (process,) = report["processes"]
    device = report["devices"][1]
    context = process["memory_peak_bytes"] - 192 * MIB
    assert 200 * MIB < context < 1024 * MIB
    held(process, context)
    work(device)
    assert device["memory_peak_bytes"] == process["memory_peak_bytes"]
    assert device["memory_total_bytes"] == 80 << 30
    for other in report["devices"][0], report["devices"][2]:
        assert {key: other[key] for key in NULL_DEVICE} == NULL_DEVICE
    assert report["refused"] == report["failing_functions"] == []
    table = done.stderr.splitlines()
    assert len(table) == 6 and table[0].startswith("GPU ")
    assert table[5].split()[:3] == ["worker", str(process["pid"]), "1"]
    assert table[5].split()[4:8] == ["0.094", "0.031", "0.062", "7"]
    assert os.listdir(tmp_path) == ["report.json"]


def test_each_process_has_its_own(gpukit):
    """Two devices and two processes, one of which comes twice, have a row each.
    """
    twice = WORK + r'''
must(cuda.cuDevicePrimaryCtxRelease_v2(1))
must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(ctx), 1))
must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(ctx), 0))
if sys.argv[1:]:
    os.execv(sys.executable, [sys.executable, "-c", sys.argv[1]])
'''
    done = gpukit("fake", "--gpus", "t4:2", "--report", "-", "-q", "--",
                  sys.executable, "-c", twice, WORK)
    assert done.stderr == ""
    processes = checked(done.stdout)["processes"]
    assert [p["device"] for p in processes] == [1, 0, 1]
    # After exec it is a new program.
    assert len({p["pid"] for p in processes}) == 1
    assert [p["launches"] for p in processes] == [7, 0, 7]
    assert all(p["end_seconds"] for p in processes)


def test_what_was_refused_is_in_it(gpukit, tmp_path):
    code = ("import ctypes\nopen('/proc/self/comm', 'w').write('asks')\n"
            "cuda = ctypes.CDLL('libcuda.so.1')\nassert not cuda.cuInit(0)\n"
            "for i in range(3):\n"
            "    assert cuda.cuCheckpointProcessGetState(1, None) == 801\n")
    later = ("import subprocess, sys\n"
             "for name in 'asks', 'later':\n"
             "    subprocess.run([sys.executable, '-c', sys.argv[1].replace("
             "'asks', name)], check=True)\n")
    path = tmp_path / "r.json"
    done = gpukit("fake", "--report", path, "--refusals=error", "--",
                  sys.executable, "-c", later, code)
    assert done.returncode == 3
    report = checked(path.read_text())
    assert report["refused"] == [
        {"call": "cuCheckpointProcessGetState", "library": "libcuda",
         "kernel": None, "reason": None, "times": 6, "first_caller": "asks"}]
    assert report["exit_status"] == 0
    # The table already says it.
    assert done.stderr.count("cuCheckpointProcessGetState") == 1


def test_a_table_in_a_file(gpukit, tmp_path):
    path = tmp_path / "report.txt"
    done = gpukit("fake", "--gpus", "t4", "--report", path, "--", "true")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert path.read_text().splitlines()[1].startswith("0  Tesla T4 ")


def test_faults_are_in_it(gpukit):
    done = gpukit("fake", "--gpus", "t4:2", "--report", "-", "-q", "--",
                  "sh", "-c", "gpukit() { %s fake ctl \"$@\"; }; "
                  "gpukit fail 1 lost && gpukit clear 1 && "
                  "gpukit fail 1 lost slowdown && gpukit clear 1 lost && "
                  "gpukit fail nvmlInit_v2=UNKNOWN times=1 && "
                  "! nvidia-smi >/dev/null" % gpukit.path)
    assert done.returncode == 0, done.stderr
    report = checked(done.stdout)
    assert report["devices"][0]["faults"] == []
    faulty = report["devices"][1]
    assert sorted(faulty["faults"], key=lambda f: f["fault"]) == [
        {"fault": "lost", "times": 2, "calls_failed": 0, "active": False},
        {"fault": "slowdown", "times": 1, "calls_failed": 0, "active": True}]
    assert (faulty["xids"], faulty["last_xid"]) == (2, 79)
    (rule,) = report["failing_functions"]
    assert rule["function"] == "nvmlInit_v2" and rule["failed"] == 1


OVERWRITTEN = """
import mmap, os, struct
with open(os.environ["GPUKIT_MACHINE"], "r+b") as file:
    at = mmap.mmap(file.fileno(), 0)
times = at.find(struct.pack("<QQ", 1234567, 7654321))
assert times > 0
at[times - 8:times - 4] = struct.pack("<I", 511)  # no row of nvml.def
"""


def test_a_rule_of_no_function_is_not_in_it(gpukit):
    done = gpukit("fake", "--report", "-", "-q", "--", "sh", "-c",
                  "%s fake ctl fail nvmlInit_v2=UNKNOWN after=1234567 "
                  "times=7654321 && exec %s -c '%s'"
                  % (gpukit.path, sys.executable, OVERWRITTEN))
    assert done.returncode == 0, done.stderr
    assert checked(done.stdout)["failing_functions"] == []


def test_a_place_where_no_file_can_be(gpukit, tmp_path):
    mark = tmp_path / "ran"
    done = gpukit("fake", "--report", tmp_path / "no" / "r.json", "--",
                  "touch", mark)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "no/r.json" in done.stderr
    assert not mark.exists()


@pytest.mark.parametrize("name", ["there", "there/"])
def test_a_directory_is_told_before_the_command(gpukit, tmp_path, name):
    (tmp_path / "there").mkdir()
    done = gpukit("fake", "--report", f"{tmp_path}/{name}", "--", "touch",
                  tmp_path / "ran")
    assert done.returncode == 2 and name in done.stderr
    assert not (tmp_path / "ran").exists()


def test_a_pipe_is_written_to(gpukit, tmp_path):
    """It is not replaced by a file, which would destroy /dev/null."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    done = gpukit("fake", "--gpus", "t4", "--report", path, "--", "true")
    assert (done.returncode, done.stderr) == (0, "")
    assert b"\n0  Tesla T4 " in os.read(reader, 4096)
    os.close(reader)
    assert path.is_fifo()


def test_a_pipe_without_a_reader_does_not_hold_the_launcher(gpukit, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    done = gpukit("fake", "--gpus", "t4", "--report", path, "--", "true")
    assert done.returncode == 1 and str(path) in done.stderr


def test_names_of_descriptors_are_written_to(gpukit, tmp_path):
    with open(tmp_path / "out", "wb") as out:
        out.write(b"before\n")
        out.flush()
        done = gpukit("fake", "--gpus", "t4", "--report",
                      f"/proc/{os.getpid()}/fd/{out.fileno()}", "--", "true")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out").read_text()
    assert text.startswith("before\nGPU ") and "\n0  Tesla T4 " in text


def test_without_a_reader_the_status_is_the_commands(gpukit, tmp_path):
    """The machine is removed too."""
    machine = tmp_path / "machine"
    reader, writer = os.pipe()
    with subprocess.Popen(
            [gpukit.path, "fake", "--name", machine, "--report", "-", "--",
             "sh", "-c", "read line; exit 5"], stdin=subprocess.PIPE,
            stdout=writer, stderr=writer, env=clean_env()) as launcher:
        os.close(writer)
        os.close(reader)
        launcher.communicate(b"go\n")
        assert launcher.returncode == 5
    assert not machine.exists()


def test_the_report_is_whole_or_not_there(gpukit, tmp_path):
    """The old report stays while CMD runs, and when the launcher is killed."""
    path = tmp_path / "report.json"
    path.write_text("old")
    done = gpukit("fake", "--report", path, "--", "sh", "-c",
                  f"cat {path}; kill -9 $PPID")
    assert done.returncode == -signal.SIGKILL and done.stdout == "old"
    assert path.read_text() == "old"


def test_the_file_behind_a_link_is_written(gpukit, tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "report.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to("there/report.json")
    done = gpukit("fake", "--gpus", "t4", "--report", link, "--", "true")
    assert done.returncode == 0, done.stderr
    assert link.is_symlink()
    assert json.loads(target.read_text())


TOLD = {"pid": 7, "version": "2.9", "capability": 75, "devices": [{
    "device": "?", "allocated_peak_bytes": 12 << 30,
    "reserved_peak_bytes": 13 << 30, "phase": "backward",
    "phases": {"forward": 1, "backward": 2, "optimizer": 3},
    "categories": {"parameters": 1 << 30, "gradients": 2, "optimizer": 3,
                   "activations": 4, "other": 5, "rounding": 6}}]}
TELLS = r"""
import json, os, subprocess, sys
folder = os.environ["GPUKIT_TORCH_REPORT"]
told = json.loads(sys.argv[1])
uuid = subprocess.check_output(["nvidia-smi", "--query-gpu=uuid",
                                "--format=csv,noheader"], text=True).split()[1]
told["devices"][0]["device"] = uuid
def tell(name, what):
    with open(os.path.join(folder, name), "w") as f:
        f.write(what)
tell("1.json", json.dumps(told))
tell("2.json", json.dumps(told)[:-40])
tell("3.json", "[" * 100000)
tell("4.json", json.dumps({**told, "pid": "x"}))
told["devices"][0]["categories"]["other"] = -1
tell("5.json", json.dumps(told))
told["devices"] = 3
tell("6.json", json.dumps(told))
tell("7.new", "")
"""


def test_what_programs_of_pytorch_tell_is_in_it(gpukit, tmp_path):
    """What is wrong in it is left out, and no file stays behind."""
    path = tmp_path / "r.json"
    done = gpukit("fake", "--gpus", "t4:2", "--report", path, "--",
                  sys.executable, "-c", TELLS, json.dumps(TOLD),
                  env={"TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    (row,) = checked(path.read_text())["pytorch"]
    told = TOLD["devices"][0]
    assert (row["pid"], row["device"]) == (7, 1)
    assert row["categories"] == told["categories"]
    assert row["needed_least_bytes"] == 12 << 30
    most = row["needed_most_bytes"]
    assert abs(most - (13 * 1.1 + 0.5) * (1 << 30)) < 200
    # 15 GiB may be enough; Pascal and Volta are not.
    assert row["smallest_gpu_perhaps"] == "NVIDIA A16"
    assert row["smallest_gpu"] == "NVIDIA GeForce RTX 5070 Ti"
    assert "parameters 1.000, " in done.stderr
    assert os.listdir(tmp_path) == ["r.json"]


def test_without_pytorchs_part_nobody_is_asked(gpukit):
    done = gpukit("fake", "--report", "-", "--quiet", "--no-torch", "--", "sh",
                  "-c", 'test -z "$GPUKIT_TORCH_REPORT"')
    assert done.returncode == 0
    assert checked(done.stdout)["pytorch"] == []
