# SPDX-License-Identifier: Apache-2.0
"""The host and its processes, in a program that cannot import psutil, are
compared with what psutil reports here."""

import json
import os
import subprocess
import sys

import pytest

import can
from conftest import clean_env
from python_package import PACKAGE, check_built, run

check_built()
psutil = pytest.importorskip("psutil")

BEGIN = """
import sys
sys.modules["psutil"] = None
import json, os, signal
import gpukit
from gpukit import host
def told(ask):
    try:
        value = ask()
    except host.PsutilError as error:
        return type(error).__name__, error.pid
    return list(value) if isinstance(value, tuple) else value
"""


def told(ask):
    """The same as in BEGIN, for psutil."""
    try:
        value = ask()
    except psutil.Error as error:
        return [type(error).__name__, error.pid]
    return list(value) if isinstance(value, tuple) else value


@pytest.fixture(name="stopped")
def stopped_child():
    """A stopped process with some history, whose values no longer change."""
    code = ("import os, signal, time\n"
            "while time.process_time() < 0.3: pass\n"
            "b = bytearray(50 << 20)\n"
            "os.kill(os.getpid(), signal.SIGSTOP)\n")
    with subprocess.Popen(["python3", "-c", code, "", "an 'argument'", ""],
                          env={"PATH": os.environ["PATH"], "SEEN": "a=b",
                               "EMPTY": ""}, cwd="/") as child:
        os.waitpid(child.pid, os.WUNTRACED)
        yield child.pid
        child.kill()


OF_A_PROCESS = [
    "name", "exe", "cmdline", "cwd", "environ", "uids", "username", "status",
    "ppid", "create_time", "cpu_times", "memory_info", "num_threads", "nice",
    "is_running"]


def test_a_process_is_psutils_value_by_value(stopped):
    ours = json.loads(run(BEGIN + """
process = gpukit.HostProcess(int(sys.argv[1]))
names = json.loads(sys.argv[2])
print(json.dumps({name: told(getattr(process, name)) for name in names}))
""", str(stopped), json.dumps(OF_A_PROCESS)))
    real = psutil.Process(stopped)
    theirs = {name: told(getattr(real, name)) for name in OF_A_PROCESS}
    while theirs["cmdline"][-1] == "":
        theirs["cmdline"].pop()  # as nvitop does
    assert ours == theirs
    assert ours["cpu_times"][0] > 0 and ours["memory_info"][0] > 50 << 20
    assert ours["environ"]["SEEN"] == "a=b" and ours["status"] == "stopped"


def test_a_share_of_the_cpu_is_that_of_the_time(stopped):
    """Half of the time, by a clock that the test sets."""
    out = run(BEGIN + """
from gpukit import _procfs
process, now = gpukit.HostProcess(int(sys.argv[1])), [100.0]
_procfs.time.monotonic = lambda: now[0]
used = process.cpu_times()
before = process.cpu_percent()
process._cpu = (now[0], 0.0)
now[0] += 2 * (used.user + used.system)
print(before, process.cpu_percent(), process.cpu_percent())
""", str(stopped))
    assert out.split() == ["0.0", "50.0", "0.0"]


def test_zombies_have_what_psutil_finds_of_them():
    with subprocess.Popen(["true"]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        ours = json.loads(run(BEGIN + """
process = gpukit.HostProcess(int(sys.argv[1]))
found = {name: told(getattr(process, name))
         for name in json.loads(sys.argv[2])}
shot = process.as_snapshot()
print(json.dumps([found, shot.command, shot.cwd, shot.status]))
""", str(child.pid), json.dumps(OF_A_PROCESS)))
        real = psutil.Process(child.pid)
        theirs = {name: told(getattr(real, name)) for name in OF_A_PROCESS}
    # The kernel shows a zombie's environment to root: psutil reports to others
    # that they may not read it, we that there is none.
    if theirs["environ"][0] == "AccessDenied":
        theirs["environ"][0] = "ZombieProcess"
    assert ours[0] == theirs
    assert ours[0]["cmdline"][0] == "ZombieProcess"
    assert ours[1:] == [None, None, "zombie"]


@can.needed("other-users")
def test_what_is_another_users_is_denied_as_by_psutil(stopped):
    names = json.dumps(OF_A_PROCESS + ["terminate"])
    out = run("""
import os, sys, json
import psutil
pid, names = int(sys.argv[1]), json.loads(sys.argv[2])
""" + BEGIN + """
ours = gpukit.HostProcess(pid)  # from files that the other user may not read
os.setuid(65534)
def seen(process):
    return [told(getattr(process, name)) for name in names]
ours = seen(ours)
host.PsutilError, sys.modules["psutil"] = psutil.Error, psutil
print(json.dumps([ours, seen(psutil.Process(pid))]))
""", str(stopped), names)
    ours, theirs = json.loads(out)
    theirs[OF_A_PROCESS.index("cmdline")].pop()  # the empty one at the end
    assert [each for each in ours if each != ["AccessDenied", stopped]] == [
        each for each in theirs if each != ["AccessDenied", stopped]]
    assert ours.count(["AccessDenied", stopped]) == 4  # exe cwd environ, kill


def test_the_host_is_psutils_name_by_name():
    ours = json.loads(run(BEGIN + """
print(json.dumps({
    "virtual_memory": host.virtual_memory()._fields,
    "swap_memory": host.swap_memory()._fields,
    "cpu_times": host.cpu_times()._fields,
    "memory": [host.virtual_memory().total, host.swap_memory().total],
    "cpus": [host.cpu_count(), host.cpu_count(logical=False),
             len(host.cpu_times(percpu=True)),
             len(host.cpu_percent(percpu=True))],
    "boot": host.boot_time(), "load": host.load_average(),
    "me": [os.getpid() in host.pids(), host.pid_exists(os.getpid()),
           host.pid_exists(4194303), host.pid_exists(-1)],
    "percent": [0 < host.memory_percent() < 100, host.swap_percent() <= 100],
    "constants": {name: getattr(host, name) for name in (
        "STATUS_RUNNING", "STATUS_ZOMBIE", "STATUS_DISK_SLEEP", "LINUX",
        "POSIX", "WINDOWS", "MACOS", "PROCFS_PATH")},
}))
"""))
    for name in ("virtual_memory", "swap_memory", "cpu_times"):
        assert ours[name] == list(getattr(psutil, name)()._fields)
    assert ours["memory"] == [psutil.virtual_memory().total,
                              psutil.swap_memory().total]
    assert ours["cpus"] == [psutil.cpu_count(), psutil.cpu_count(False),
                            psutil.cpu_count(), psutil.cpu_count()]
    assert ours["boot"] == psutil.boot_time() and len(ours["load"]) == 3
    assert ours["me"] == [True, True, False, False]
    assert ours["percent"] == [True, True]
    assert ours["constants"] == {name: getattr(psutil, name)
                                 for name in ours["constants"]}


STAT = "cpu  {0}\ncpu0 {1}\ncpu1 {2}\nintr 5 0\nbtime 77\nprocesses 9\n"
MEMINFO = """MemTotal:       1000 kB
MemFree:         100 kB
MemAvailable:    400 kB
Buffers:          30 kB
Cached:          200 kB
SwapCached:        7 kB
Active:          300 kB
Inactive:        250 kB
SwapTotal:       500 kB
SwapFree:        120 kB
Shmem:            40 kB
Slab:             60 kB
SReclaimable:     20 kB
HugePages_Total:       0
"""


def test_the_files_of_a_made_up_host_are_read_as_psutil_does(tmp_path):
    """psutil and ours read in turn in one program, on a /proc that does not
    change in between."""
    (tmp_path / "meminfo").write_text(MEMINFO)
    (tmp_path / "vmstat").write_text("nr_free_pages 8\npswpin 3\npswpout 5\n")
    out = run("""
import json, sys
import psutil
from gpukit import _procfs, _procfs_host
top = psutil.PROCFS_PATH = _procfs_host.PROCFS_PATH = sys.argv[1]
stat = sys.argv[2]
# A counter goes back (iowait may), and nothing happens at all.
moments = [("10 20 30 400 50 6 7 8 9 2",) * 3,
           ("40 25 50 460 15 6 9 18 19 2", "20 20 40 410 5 6 8 9 10 2",
            "30 25 40 480 15 6 9 18 19 2"),
           ("40 25 50 460 15 6 9 18 19 2", "20 20 40 410 5 6 8 9 10 2",
            "30 25 40 480 15 6 9 18 19 2")]
rows = []
for at, lines in enumerate(moments):
    with open(top + "/stat", "w") as file:
        file.write(stat.format(*lines))
    rows.append([[list(source.cpu_times()), source.cpu_times(percpu=True),
                  source.virtual_memory(), source.swap_memory(),
                  source.boot_time(), source.cpu_percent(),
                  source.cpu_percent(percpu=True)]
                 for source in (psutil, _procfs)])
print(json.dumps(rows))
""", str(tmp_path), STAT)
    rows = json.loads(out)
    first, *later = rows
    assert first[0][:5] == first[1][:5]  # the first percent is since the import
    assert first[1][5:] == [0.0, [0.0, 0.0]]
    for theirs, ours in later:
        assert ours == theirs
    assert later[0][1][5] > 0 and later[1][1][5] == 0


def test_what_only_psutil_has_says_so():
    out = run(BEGIN + """
process = gpukit.HostProcess()
for ask in (lambda: host.net_io_counters, lambda: host.disk_usage,
            lambda: host.sensors_temperatures, lambda: process.open_files,
            lambda: gpukit.HostProcess.nothing, lambda: process._hidden):
    try:
        ask()
    except AttributeError as error:
        print(error)
try:
    process.as_dict(["pid", "open_files"])
except ValueError as error:
    print(error)
print(hasattr(host, "users"), "net_io_counters" in dir(host),
      "swap_memory" in dir(host))
""").splitlines()
    missing = "; psutil, which may have it, is not installed"
    assert out == [
        f"module 'gpukit.host' has no attribute {name!r}{missing}"
        for name in ("net_io_counters", "disk_usage", "sensors_temperatures")
    ] + [f"'HostProcess' object has no attribute 'open_files'{missing}",
         "type object 'HostProcess' has no attribute 'nothing'",
         f"'HostProcess' object has no attribute '_hidden'{missing}",
         "not available without psutil: ['open_files']", "False False True"]


def test_errors_are_psutils():
    """They have the same attributes and base classes, and survive a pickle."""
    code = """
import copy, pickle
for error in (host.NoSuchProcess(5, "x"), host.ZombieProcess(5),
              host.AccessDenied(5, msg="no"), host.TimeoutExpired(3, 5)):
    for each in (error, pickle.loads(pickle.dumps(error)), copy.copy(error)):
        print(type(each).__name__, each.pid, each.name,
              isinstance(each, host.NoSuchProcess),
              getattr(each, "seconds", None))
for wrong in -1, "self", 1.5, 1 << 40:
    try:
        gpukit.HostProcess(wrong)
    except (ValueError, TypeError, host.NoSuchProcess) as error:
        print(type(error).__name__)
try:
    host.cpu_percent(-1)
except ValueError:
    print("negative")
"""
    ours = run(BEGIN + code)
    assert ours == run("import gpukit\nfrom gpukit import host\n" + code)
    assert "TimeoutExpired 5 None False 3" in ours


def test_signals_end_it_and_the_status_is_told():
    out = run(BEGIN + """
import subprocess
import sys
for end in ("terminate", "kill", lambda p: p.send_signal(signal.SIGINT)):
    child = subprocess.Popen(["sleep", "1000"])
    process = gpukit.HostProcess(child.pid)
    assert process is gpukit.HostProcess(child.pid)
    assert process.parent() is gpukit.HostProcess()
    assert process in gpukit.HostProcess().children()
    try:
        process.wait(timeout=0)
    except host.TimeoutExpired as error:
        assert (error.pid, error.seconds) == (child.pid, 0)
    getattr(process, end)() if isinstance(end, str) else end(process)
    print(process.wait(60), process.wait(), process.is_running())
    child.returncode = 0
    for method in ("kill", "suspend", "resume", "nice", "children", "status"):
        try:
            getattr(process, method)()
        except host.NoSuchProcess as error:
            assert error.pid == child.pid
        else:
            print(method, "found it")
    assert repr(process).endswith("status='terminated')"), process
child = subprocess.Popen(["sh", "-c", "exit 3"])
print(gpukit.HostProcess(child.pid).wait())
child.returncode = 0
""")
    assert out.splitlines() == ["-15 -15 False", "-9 -9 False",
                                "-2 -2 False", "3"]


REUSED = """
import subprocess
import sys
def start_as(pid):
    with open("/proc/sys/kernel/ns_last_pid", "w") as file:
        file.write(str(pid - 1))
    child = subprocess.Popen(["sleep", "1000"])
    assert child.pid == pid, child.pid
    return child
first = start_as(5000)
device = gpukit.Device(0)
old, on_gpu = gpukit.HostProcess(5000), gpukit.GpuProcess(5000, device)
assert old is gpukit.HostProcess(5000)
assert on_gpu is gpukit.GpuProcess(5000, device) and on_gpu.host is old
first.kill(); first.wait()
begun = [old._start] if hasattr(old, "_start") else [old.create_time()]
import time; time.sleep(0.05)  # the kernel's clock of starts has 10 ms
second = start_as(5000)
new, new_on_gpu = gpukit.HostProcess(5000), gpukit.GpuProcess(5000, device)
print(new is old, new == old, new.is_running(), old.is_running())
print(new_on_gpu is on_gpu, new_on_gpu == on_gpu, new_on_gpu.host is new)
for method in ("kill", "terminate", "children"):
    try:
        getattr(old, method)()
        print(method, "took the new one for the old one")
    except host.NoSuchProcess:
        pass
print(new.status() in ("sleeping", "running", "disk-sleep"), second.poll())
second.kill()
"""


@pytest.mark.parametrize("begin", [
    BEGIN, "import gpukit\nfrom gpukit import host\n"],
    ids=["without psutil", "with psutil"])
def test_the_next_process_of_an_id_is_another_one(machine, begin):
    on = machine("--gpus", "h100:1")
    own = ["unshare", "--user", "--map-root-user", "--pid", "--fork",
           "--mount-proc"]
    env = clean_env(PYTHONPATH=PACKAGE, **on.env)
    can.need("ids-of-processes")
    done = subprocess.run(
        own + [sys.executable, "-c", begin + REUSED],
        text=True, capture_output=True, env=env, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "False False True False", "False False True", "True None"]


